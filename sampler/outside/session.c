/* See session.h. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sampler/linux/affinity.h"
#include "sampler/linux/process_usage.h"
#include "sampler/util/clock.h"
#include "state.h"

#define PAGE       4096u
#define THREADS    16384u
#define STACK      16u /* maximum depth of a record's stack */
#define OBJECTS    4096u
#define STRINGS    (64u << 10)
#define CALL_SLOTS 16u
#define LOOK_NS    UINT64_C(2000000) /* minimum interval between searches for threads, */
#define COST       200u              /* which may take 1 / 200 of a CPU */
#define NAME_NS    UINT64_C(2000000) /* delay before a new thread's name is read again, doubled each time */

/* ---- creation ---- */

static uint64_t place(uint64_t *total, uint64_t bytes) {
  uint64_t at = *total;
  *total = (at + bytes + PAGE - 1) & ~(uint64_t)(PAGE - 1);
  return at;
}
static struct qz_table table(uint64_t *total, uint64_t stride, uint32_t capacity) {
  return (struct qz_table){.offset = place(total, stride * capacity), .stride = stride, .capacity = capacity};
}

static uint64_t lay_out(struct qz_session *head, uint32_t processors) {
  uint64_t total = 0, record = sizeof(struct qz_thread) + STACK * sizeof(struct qz_entry);
  place(&total, sizeof *head);
  head->processor_table = table(&total, sizeof(struct qz_processor), processors);
  head->thread_table = table(&total, (record + 63) & ~UINT64_C(63), THREADS);
  head->object_table = table(&total, sizeof(struct qz_object), OBJECTS);
  head->call_table = table(&total, sizeof(struct qz_call), CALL_SLOTS);
  head->string_table = table(&total, 1, STRINGS);
  return total;
}

static int make_session(struct qzi_outside *outside) {
  unsigned cpus = qzi_affinity_count((int)outside->pid);
  if (!cpus) cpus = qzi_affinity_count(0);
  struct qz_session head = {.version = QZ_SESSION_VERSION,
                            .head_bytes = sizeof head,
                            .publisher = QZ_PUBLISHER_PTHREAD,
                            .pid = (uint32_t)outside->pid,
                            .processors = cpus ? cpus : 1,
                            .flags = QZ_SESSION_OUTSIDE,
                            .start_ns = qzi_clock_ns(),
                            .call_slots = CALL_SLOTS,
                            .stack_limit = STACK,
                            .short_limit = STACK,
                            .publishing = 1,
                            .epoch = 1,
                            .object_high = 1,
                            .string_bytes = 1};
  outside->bytes = (size_t)lay_out(&head, head.processors);
  head.total_bytes = outside->bytes;
  qzi_process_usage_now(outside->pid, &head.usage_begin);
  outside->fd = memfd_create("quartz-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (outside->fd < 0 || ftruncate(outside->fd, (off_t)outside->bytes)) return -1;
  fcntl(outside->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  void *base = mmap(NULL, outside->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, outside->fd, 0);
  if (base == MAP_FAILED) return -1;
  outside->base = base;
  outside->head = base;
  *outside->head = head;
  for (uint32_t p = 0; p < head.processors; p++) {
    struct qz_processor *processor = qzi_outside_at(outside, &head.processor_table, p);
    processor->cpu = UINT32_MAX;
  }
  __atomic_store_n(&outside->head->magic, QZ_SESSION_MAGIC, __ATOMIC_RELEASE);
  return 0;
}

/* ---- names ---- */

static int read_name(const struct qzi_outside *outside, uint32_t tid, char name[QZI_OUTSIDE_NAME]) {
  char path[32];
  snprintf(path, sizeof path, "%u/comm", tid);
  int fd = openat(dirfd(outside->tasks), path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : read(fd, name, QZI_OUTSIDE_NAME);
  if (fd >= 0) close(fd);
  if (bytes <= 0) return -1;
  name[bytes - 1] = 0; /* without the newline */
  return 0;
}

/* The offset of the name in the session's strings; 0 if there is no room. */
static uint32_t intern(struct qzi_outside *outside, const char *name) {
  char *strings = (char *)outside->base + outside->head->string_table.offset;
  uint32_t used = outside->head->string_bytes;
  for (uint32_t at = 1; at < used; at += (uint32_t)strlen(strings + at) + 1)
    if (!strcmp(strings + at, name)) return at;
  size_t bytes = strlen(name) + 1;
  if (used + bytes > outside->head->string_table.capacity) {
    outside->head->strings_dropped++;
    return 0;
  }
  memcpy(strings + used, name, bytes);
  __atomic_store_n(&outside->head->string_bytes, used + (uint32_t)bytes, __ATOMIC_RELEASE);
  return used;
}

/* A thread inherits the name of its creator until it sets its own, which is often one of its first actions. */
static void look_at_name(struct qzi_outside *outside, uint32_t index, uint64_t now_ns) {
  struct qzi_outside_thread *known = &outside->threads[index];
  char name[QZI_OUTSIDE_NAME];
  if (now_ns < known->name_due_ns) return;
  uint64_t age_ns = now_ns - known->born_ns;
  known->name_due_ns = now_ns + (age_ns > NAME_NS ? age_ns : NAME_NS);
  if (read_name(outside, known->tid, name) || !*name || !strcmp(name, outside->own_name)) return;
  uint32_t offset = intern(outside, name);
  if (offset) __atomic_store_n(&qzi_outside_record(outside, index)->name, offset, __ATOMIC_RELAXED);
}

/* ---- threads ---- */

static void begin(struct qzi_outside *outside, uint32_t tid, uint64_t now_ns) {
  uint32_t index = outside->free_count ? outside->free_list[--outside->free_count] : outside->high;
  if (index >= THREADS) {
    outside->head->threads_dropped++;
    return;
  }
  struct qz_thread *thread = qzi_outside_record(outside, index);
  thread->name = 0;
  thread->os_tid = tid;
  thread->word = QZ_WORD_EMPTY;
  thread->state = QZ_STATE_WORD(QZ_STATE_USEFUL, 0);
  thread->limit = QZ_WORD_EMPTY + STACK * (uint32_t)sizeof(struct qz_entry);
  thread->epoch = outside->head->epoch;
  outside->threads[index] =
    (struct qzi_outside_thread){.tid = tid, .look = outside->look, .born_ns = now_ns, .name_due_ns = now_ns};
  outside->record_of[tid] = index + 1;
  look_at_name(outside, index, now_ns);
  __atomic_store_n(&thread->serial, ++outside->serials, __ATOMIC_RELEASE);
  if (index < outside->high) return;
  outside->high = index + 1;
  __atomic_store_n(&outside->head->thread_high, outside->high, __ATOMIC_RELEASE);
}

static void end(struct qzi_outside *outside, uint32_t index) {
  struct qzi_outside_thread *known = &outside->threads[index];
  __atomic_store_n(&qzi_outside_record(outside, index)->serial, 0, __ATOMIC_RELEASE);
  outside->record_of[known->tid] = 0;
  known->tid = 0;
  outside->free_list[outside->free_count++] = index;
}

/* Checks a single thread, because a directory that is read while threads end may omit others. */
static int is_gone(const struct qzi_outside *outside, uint32_t tid) {
  char name[16];
  snprintf(name, sizeof name, "%u", tid);
  return faccessat(dirfd(outside->tasks), name, F_OK, 0) && errno == ENOENT;
}

static void look_for_threads(struct qzi_outside *outside, uint64_t now_ns) {
  outside->look++;
  rewinddir(outside->tasks);
  for (const struct dirent *entry; (entry = readdir(outside->tasks));) {
    uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (!tid || tid >= QZI_OUTSIDE_TIDS) continue;
    if (!outside->record_of[tid])
      begin(outside, tid, now_ns);
    else
      outside->threads[outside->record_of[tid] - 1].look = outside->look;
  }
  for (uint32_t k = 0; k < outside->high; k++) {
    struct qzi_outside_thread *known = &outside->threads[k];
    if (!known->tid) continue;
    if (known->look != outside->look && is_gone(outside, known->tid))
      end(outside, k);
    else
      look_at_name(outside, k, now_ns);
  }
}

uint64_t qzi_outside_begin(struct qzi_outside *outside, uint64_t now_ns) {
  qzi_outside_owners(outside, now_ns);
  if (now_ns < outside->due_ns) return 0;
  uint64_t begin_ns = qzi_thread_cpu_ns();
  look_for_threads(outside, now_ns);
  uint64_t took_ns = qzi_thread_cpu_ns() - begin_ns;
  outside->due_ns = now_ns + (took_ns * COST > LOOK_NS ? took_ns * COST : LOOK_NS);
  return took_ns;
}

/* ---- life ---- */

struct qzi_outside *qzi_outside_open(pid_t pid, const char **why) {
  char name[32];
  struct qzi_outside *outside = calloc(1, sizeof *outside);
  *why = "there is not enough memory";
  if (!outside) return NULL;
  outside->pid = pid;
  outside->fd = -1;
  outside->threads = calloc(THREADS, sizeof *outside->threads);
  outside->free_list = calloc(THREADS, sizeof *outside->free_list);
  outside->record_of = calloc(QZI_OUTSIDE_TIDS, sizeof *outside->record_of); /* takes memory only where it is touched */
  snprintf(name, sizeof name, "/proc/%ld/task", (long)pid);
  outside->tasks = opendir(name);
  if (!outside->tasks)
    *why = errno == EACCES ? "its threads may not be listed" : "/proc does not list its threads";
  else if (outside->threads && outside->free_list && outside->record_of && !make_session(outside)) {
    if (read_name(outside, (uint32_t)pid, outside->own_name)) outside->own_name[0] = 0;
    look_for_threads(outside, qzi_clock_ns());
    return outside;
  }
  qzi_outside_close(outside);
  return NULL;
}

void qzi_outside_close(struct qzi_outside *outside) {
  if (!outside) return;
  if (outside->base) munmap(outside->base, outside->bytes);
  if (outside->fd >= 0) close(outside->fd);
  if (outside->tasks) closedir(outside->tasks);
  free(outside->threads);
  free(outside->free_list);
  qzi_table_free(&outside->objects);
  free(outside->record_of);
  free(outside);
}

int qzi_outside_fd(const struct qzi_outside *outside) { return outside->fd; }
