/* Checks of a session and consistent copies from it. See session_read.h. */
#include "session_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SESSION_MAX_BYTES (UINT64_C(1) << 42)

/* Returns whether a table lies completely inside the session, is aligned like its elements, and each element has at
 * least the size that is read. */
static int table_fits(const struct qz_table *table, uint64_t bytes, uint64_t element, uint64_t alignment) {
  if (table->capacity == 0 || table->stride < element || table->stride % alignment || table->offset % alignment)
    return 0;
  if (table->offset < sizeof(struct qz_session) || table->offset > bytes) return 0;
  return table->stride <= (bytes - table->offset) / table->capacity;
}

static int refuse(const char **why, const char *text) {
  *why = text;
  return -1;
}

static int check(struct qz_session_view *view, const char **why) {
  struct qz_session head;
  memset(&head, 0, sizeof head);
  if (view->bytes < sizeof head) return refuse(why, "the session is smaller than its head");
  const struct qz_session *live = qz_session_head(view);
  if (QZ_LOAD_ACQUIRE(&live->magic) != QZ_SESSION_MAGIC) return refuse(why, "it is not a Quartz session");
  memcpy(&head, live,
         offsetof(struct qz_session, publishing)); /* the constant part is read once, and checked in the copy */
  if (head.version != QZ_SESSION_VERSION)
    return refuse(why, "the program was built with another version of Quartz: build it again");
  if (head.head_bytes != sizeof head) return refuse(why, "the session's head has another size");
  if (head.total_bytes > view->bytes) return refuse(why, "the session is cut short");
  if (head.publisher != QZ_PUBLISHER_THREADLIB && head.publisher != QZ_PUBLISHER_PTHREAD)
    return refuse(why, "the session's publisher is unknown");
  if (head.processors == 0 || head.processors > QZ_PROCESSORS_MAX || head.processors > head.processor_table.capacity)
    return refuse(why, "the session's number of processors makes no sense");
  if (head.stack_limit == 0 || head.stack_limit > (0xffff - QZ_WORD_EMPTY) / sizeof(struct qz_entry))
    return refuse(why, "the session's stack limit makes no sense");
  if (head.call_slots == 0 || (head.call_slots & (head.call_slots - 1)) || head.call_slots > head.call_table.capacity)
    return refuse(why, "the session's number of call slots makes no sense");
  if (head.short_limit == 0 || head.short_limit > head.stack_limit ||
      (head.long_table.capacity == 0) != (head.short_limit == head.stack_limit))
    return refuse(why, "the session's short stacks make no sense");
  uint64_t short_bytes = sizeof(struct qz_thread) + (uint64_t)head.short_limit * sizeof(struct qz_entry);
  uint64_t long_bytes = sizeof(struct qz_thread) + (uint64_t)head.stack_limit * sizeof(struct qz_entry);
  if (!table_fits(&head.processor_table, head.total_bytes, sizeof(struct qz_processor), 128) ||
      !table_fits(&head.thread_table, head.total_bytes, short_bytes, 64) ||
      (head.long_table.capacity && !table_fits(&head.long_table, head.total_bytes, long_bytes, 64)) ||
      !table_fits(&head.object_table, head.total_bytes, sizeof(struct qz_object), 64) ||
      !table_fits(&head.call_table, head.total_bytes, sizeof(struct qz_call), 8) ||
      (head.mark_table.capacity && (!table_fits(&head.mark_table, head.total_bytes, 1, 1) ||
                                    head.mark_table.offset % 64 || head.mark_table.stride != 1 ||
                                    head.mark_table.capacity != QZ_MARKS || head.thread_table.capacity > QZ_MARKS)) ||
      (head.creation_table.capacity &&
       !table_fits(&head.creation_table, head.total_bytes, sizeof(struct qz_creation), 64)) ||
      !table_fits(&head.string_table, head.total_bytes, 1, 1) || head.string_table.stride != 1)
    return refuse(why, "a table of the session lies outside it");
  if (head.path_table.capacity &&
      (head.crumbs_limit == 0 || (head.crumbs_limit & (head.crumbs_limit - 1)) || head.crumbs_limit > 1u << 16 ||
       !table_fits(&head.path_table, head.total_bytes,
                   sizeof(struct qz_path) + (uint64_t)head.crumbs_limit * sizeof(struct qz_crumb), 64)))
    return refuse(why, "the session's path table makes no sense");
  if (head.span_table.capacity &&
      (head.span_table.capacity > head.path_table.capacity ||
       head.span_path_table.capacity != head.span_table.capacity ||
       !table_fits(&head.span_path_table, head.total_bytes,
                   sizeof(struct qz_path) + (uint64_t)head.crumbs_limit * sizeof(struct qz_crumb), 64) ||
       !table_fits(&head.span_table, head.total_bytes, sizeof(struct qz_span), 64)))
    return refuse(why, "the session's span table makes no sense");
  if (head.long_table.capacity &&
      (head.long_table.capacity != head.thread_table.capacity ||
       head.long_table.offset < head.thread_table.offset + head.thread_table.stride * head.thread_table.capacity))
    return refuse(why, "the session's long records are not where they belong");
  view->publisher = head.publisher;
  view->pid = head.pid;
  view->flags = head.flags;
  view->processors = head.processors;
  view->call_slots = head.call_slots;
  view->stack_limit = head.stack_limit;
  view->short_limit = head.short_limit;
  view->start_ns = head.start_ns;
  view->hook = head.hook;
  view->hook_inside_ps = head.hook_inside_ps;
  view->lock = head.lock;
  view->spawn_ps = head.spawn_ps;
  view->wait_ps = head.wait_ps;
  view->start_low = head.start_low;
  view->start_high = head.start_high;
  view->processor_table = head.processor_table;
  view->thread_table = head.thread_table;
  view->long_table = head.long_table;
  view->long_low = view->base + (head.long_table.capacity ? head.long_table.offset : 0);
  view->object_table = head.object_table;
  view->call_table = head.call_table;
  view->mark_table = head.mark_table;
  view->string_table = head.string_table;
  view->path_table = head.path_table;
  view->span_path_table = head.span_path_table;
  view->span_table = head.span_table;
  view->creation_table = head.creation_table;
  view->crumbs_limit = head.crumbs_limit;
  return 0;
}

int qz_session_open_memory(struct qz_session_view *view, const void *memory, size_t bytes, const char **why) {
  memset(view, 0, sizeof *view);
  view->fd = -1;
  view->base = memory;
  view->bytes = bytes;
  if ((uintptr_t)memory % 128) return refuse(why, "the session is not aligned");
  return check(view, why);
}

int qz_session_open(struct qz_session_view *view, int fd, const char **why) {
  memset(view, 0, sizeof *view);
  view->fd = -1;
  struct stat status;
  if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size <= 0)
    return refuse(why, "what the program sent is not a memory file");
  if ((uint64_t)status.st_size > SESSION_MAX_BYTES) return refuse(why, "the session is too large");
  int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK)) return refuse(why, "the session is not sealed against shrinking");
  size_t bytes = (size_t)status.st_size;
  void *base = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return refuse(why, "the session can't be mapped");
  view->base = base;
  view->bytes = bytes;
  if (check(view, why) || (view->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0) {
    if (!*why) *why = "too many open files";
    munmap(base, bytes);
    memset(view, 0, sizeof *view);
    view->fd = -1;
    return -1;
  }
  return 0;
}

void qz_session_close(struct qz_session_view *view) {
  if (view->fd >= 0) {
    close(view->fd);
    munmap((void *)(uintptr_t)view->base, view->bytes);
  }
  memset(view, 0, sizeof *view);
  view->fd = -1;
}

static const void *element(const struct qz_session_view *view, const struct qz_table *table, uint32_t index) {
  if (index >= table->capacity) return NULL;
  return view->base + table->offset + (uint64_t)index * table->stride;
}

const struct qz_processor *qz_session_processor(const struct qz_session_view *view, uint32_t index) {
  return index < view->processors ? element(view, &view->processor_table, index) : NULL;
}
const unsigned char *qz_session_marks(const struct qz_session_view *view) {
  return view->mark_table.capacity ? view->base + view->mark_table.offset : NULL;
}
const struct qz_creation *qz_session_creation(const struct qz_session_view *view, uint64_t number) {
  return element(view, &view->creation_table, (uint32_t)(number % view->creation_table.capacity));
}
const struct qz_thread *qz_session_thread(const struct qz_session_view *view, uint32_t index) {
  const struct qz_thread *thread = element(view, &view->thread_table, index);
  if (view->long_table.capacity && thread && QZ_LOAD_ACQUIRE(&thread->limit) == QZ_LIMIT_LONG)
    thread = element(view, &view->long_table, index);
  return thread;
}
const struct qz_object *qz_session_object(const struct qz_session_view *view, uint32_t index) {
  return index ? element(view, &view->object_table, index) : NULL;
}
const struct qz_path *qz_session_span_path(const struct qz_session_view *view, uint32_t index) {
  return element(view, &view->span_path_table, index);
}
const struct qz_span *qz_session_span(const struct qz_session_view *view, uint32_t index) {
  return element(view, &view->span_table, index);
}
const struct qz_path *qz_session_path(const struct qz_session_view *view, uint32_t index) {
  return element(view, &view->path_table, index);
}
const struct qz_call *qz_session_calls(const struct qz_session_view *view, uint32_t index) {
  uint64_t tables = view->call_table.capacity / view->call_slots, table = index;
  if (view->publisher == QZ_PUBLISHER_THREADLIB && index >= view->processors) {
    if (index > view->processors || tables <= view->processors) return NULL;
    table = tables - 1;
  }
  return table < tables ? element(view, &view->call_table, (uint32_t)(table * view->call_slots)) : NULL;
}

uint32_t qz_session_thread_high(const struct qz_session_view *view) {
  uint32_t high = QZ_LOAD_ACQUIRE(&qz_session_head(view)->thread_high);
  return high < view->thread_table.capacity ? high : view->thread_table.capacity;
}
uint32_t qz_session_object_high(const struct qz_session_view *view) {
  uint32_t high = QZ_LOAD_ACQUIRE(&qz_session_head(view)->object_high);
  return high < view->object_table.capacity ? high : view->object_table.capacity;
}

size_t qz_session_string(const struct qz_session_view *view, uint32_t offset, char *text, size_t bytes) {
  size_t length = 0;
  if (offset) {
    const unsigned char *from = view->base + view->string_table.offset;
    while (length + 1 < bytes && offset + length < view->string_table.capacity) {
      char letter = (char)QZ_LOAD(from + offset + length);
      if (!letter) break;
      text[length++] = letter;
    }
  }
  if (bytes) text[length] = 0;
  return length;
}

/* Returns the depth for a packed word; UINT32_MAX for a value that no publisher can have written. */
static uint32_t depth_of(uint64_t word, uint32_t limit) {
  uint32_t top = QZ_WORD_TOP(word);
  if (top < QZ_WORD_EMPTY || (top - QZ_WORD_EMPTY) % sizeof(struct qz_entry)) return UINT32_MAX;
  uint32_t depth = QZ_WORD_DEPTH(word);
  return depth <= limit ? depth : UINT32_MAX;
}

/* Returns the stack of a thread record by its offset, because a record extends beyond its declared type. */
static const struct qz_entry *entries_of(const struct qz_thread *thread) {
  return (const struct qz_entry *)(const void *)((const unsigned char *)thread + offsetof(struct qz_thread, stack));
}

int qz_session_copy_stack(const struct qz_session_view *view, const struct qz_thread *thread, uint64_t *keys,
                          uint32_t held, struct qz_stack_copy *copy) {
  const struct qz_entry *entries = entries_of(thread);
  uint64_t before = QZ_LOAD_ACQUIRE(&thread->word);
  uint32_t depth =
    depth_of(before, (const unsigned char *)thread < view->long_low ? view->short_limit : view->stack_limit);
  *copy = (struct qz_stack_copy){.word = before};
  if (depth == UINT32_MAX) {
    copy->invalid = 1;
    return 1;
  }
  uint32_t k = 0, shared = depth < held ? depth : held;
  while (k < shared && QZ_LOAD(&entries[k].key) == keys[k]) k++;
  copy->common = k;
  copy->depth = depth;
  const struct qz_entry *from = entries + k, *end = entries + depth;
  uint64_t *to = keys + k;
  for (; end - from >= 4; from += 4, to += 4) {
    uint64_t first = QZ_LOAD(&from[0].key), second = QZ_LOAD(&from[1].key), third = QZ_LOAD(&from[2].key),
             fourth = QZ_LOAD(&from[3].key);
    to[0] = first;
    to[1] = second;
    to[2] = third;
    to[3] = fourth;
  }
  while (from < end) *to++ = QZ_LOAD(&(from++)->key);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return QZ_LOAD(&thread->word) == before && !(before & QZ_WORD_FLUX);
}
