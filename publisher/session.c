/* The session: creation, switching publishing on and off, fork.
 *
 * Owns:    the memory file and its head; the flag. publisher_port.c, or the pthread layer, knows the publishers.
 * Writer:  main before there are other kernel threads, then the channel's kernel thread.
 * Reader:  publisher/; the sampler, which maps the file read-only.
 * Must not: unmap or move a session: a kernel thread may be about to write to it.
 *
 * Switching: the flag is changed, then a barrier is executed on every CPU that runs this process (membarrier), then the
 * qzi_hot of every kernel thread is set. When publishing begins, it is set to a line without room, so that the next
 * hook takes its slow path and finds its thread's record, even if that thread never calls the package; when publishing
 * ends, it is set to NULL. So neither direction adds an atomic operation to the fast paths.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/launcher.h"
#include "private.h"
#include "publisher.h"
#include "session_layout.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* Bounds of the code section that calls start routines (thread.c, entry_*.S); the linker defines them if that
 * section is linked. */
extern const char __start_quartz_start[] __attribute__((weak, visibility("hidden")));
extern const char __stop_quartz_start[] __attribute__((weak, visibility("hidden")));

#ifdef __aarch64__
#define FLAG_PAGE 65536u /* the largest page size of aarch64 */
#else
#define FLAG_PAGE QZI_PAGE
#endif
#define DEPTH_DEFAULT   88u /* 1536 bytes per thread once its stack is deep */
#define OBJECTS_DEFAULT 262144u

/* Alone on its page, which the kernel gives to a child zeroed (MADV_WIPEONFORK): so a child whose at-fork handlers
 * did not run (_Fork, a bare clone) publishes nothing, either. */
_Alignas(FLAG_PAGE) static char flag_page[FLAG_PAGE];
extern _Atomic uint32_t qzi_publishing_flag __attribute__((alias("flag_page")));
bool qzi_pub_on;

QZI_READ_OFTEN _Atomic uint32_t qzi_pub_epoch;
QZI_READ_OFTEN uint32_t qzi_pub_limit, qzi_pub_hook_limit;
QZI_READ_OFTEN uint32_t qzi_pub_exact_hold;
QZI_READ_OFTEN struct qz_object *qzi_pub_objects;
struct qzi_session qzi_session = {.fd = -1};
_Atomic(bool) qzi_no_system_calls;

static bool started;
static bool barrier_works;
static dev_t file_device; /* identity of the file of qzi_session.fd when it was made */
static ino_t file_inode;

void qzi_pub_complain(const char *format, ...) {
  const char *children = getenv(QZ_CHILDREN_ENV);
  if (children && !strcmp(children, QZ_CHILDREN_FOLLOWED))
    return; /* recording was not requested: the program's stderr must not change */
  char line[512];
  va_list arguments;
  va_start(arguments, format);
  int bytes = snprintf(line, sizeof line, "quartz: ");
  bytes += vsnprintf(line + bytes, sizeof line - (size_t)bytes - 1, format, arguments);
  va_end(arguments);
  if (bytes > (int)sizeof line - 2) bytes = (int)sizeof line - 2;
  line[bytes++] = '\n';
  ssize_t written = write(STDERR_FILENO, line, (size_t)bytes);
  (void)written;
}

void qzi_pub_thread_refused(int error) {
  static bool said;
  struct rlimit limit;
  if (error != EAGAIN || !geteuid() || getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur == RLIM_INFINITY ||
      __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
    return;
  qzi_pub_complain("the program could not create a thread. If the limit of processes is why (ulimit -u %llu): Quartz's "
                   "own threads count, too, 3 in quartz record and 14 in quartz run; raise it by as many",
                   (unsigned long long)limit.rlim_cur);
}

void *qzi_pub_reserve(size_t bytes) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

uint64_t qzi_pub_setting(const char *name, uint64_t otherwise, uint64_t low, uint64_t high) {
  const char *text = getenv(name);
  if (!text || !*text) return otherwise;
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (*end || errno || *text == '-') {
    qzi_pub_complain("%s=%s is not a number; using %llu", name, text, (unsigned long long)otherwise);
    return otherwise;
  }
  if (value >= low && value <= high) return value;
  uint64_t nearer = value < low ? low : high;
  qzi_pub_complain("%s=%s is outside of %llu to %llu; using %llu", name, text, (unsigned long long)low,
                   (unsigned long long)high, (unsigned long long)nearer);
  return nearer;
}

uint64_t qzi_pub_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void barrier(void) {
  if (barrier_works && !syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0)) return;
  /* without membarrier (old kernels, emulators): wait long enough for pending stores */
  struct timespec pause = {0, 20000000};
  __sync_synchronize();
  nanosleep(&pause, NULL);
}

/* ---- making ---- */

bool qzi_session_fd_valid(void) {
  struct stat state;
  return qzi_session.fd >= 0 && !qzi_no_system_calls && !fstat(qzi_session.fd, &state) && state.st_dev == file_device &&
         state.st_ino == file_inode;
}

void qzi_session_forget_file(void) {
  if (qzi_session_fd_valid()) close(qzi_session.fd);
  qzi_session.fd = -1;
}

void qzi_session_populate(const void *from, size_t bytes) {
  if (!qzi_session_fd_valid()) return;
  uintptr_t low = (uintptr_t)from & ~(uintptr_t)(QZI_PAGE - 1),
            high = ((uintptr_t)from + bytes) & ~(uintptr_t)(QZI_PAGE - 1);
  if (high <= low) return;
  /* allocate the file's pages first: this takes a quarter less time than when they are mapped */
  fallocate(qzi_session.fd, FALLOC_FL_KEEP_SIZE, (off_t)(low - (uintptr_t)qzi_session.head), (off_t)(high - low));
  madvise((void *)low, high - low, MADV_POPULATE_WRITE);
}

/* Creates a file of that size; a limit on file sizes must not kill the program. */
static int memory_file(size_t bytes) {
  int fd = memfd_create("quartz-session", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return -1;
  int high =
    fcntl(fd, F_DUPFD_CLOEXEC, 512); /* do not occupy the low numbers, which the program may expect to be free */
  if (high >= 0) {
    close(fd);
    fd = high;
  }
  sigset_t file_size, before, pending;
  sigemptyset(&file_size);
  sigaddset(&file_size, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &file_size, &before);
  int failed = ftruncate(fd, (off_t)bytes);
  int error = errno;
  if (failed && !sigismember(&before, SIGXFSZ) && !sigpending(&pending) && sigismember(&pending, SIGXFSZ))
    sigtimedwait(&file_size, NULL, &(struct timespec){0, 0});
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!failed) {
    fchmod(fd, 0600);
    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    return fd;
  }
  close(fd);
  errno = error;
  return -1;
}

int qzi_session_make(void) {
  struct qzi_session *s = &qzi_session;
  struct qz_session head = {.version = QZ_SESSION_VERSION, .head_bytes = sizeof head, .publisher = qzi_publishers_kind};
  uint64_t total = qzi_session_lay_out(s, &head);
  head.total_bytes = total;
  head.pid = (uint32_t)getpid();
  head.processors = s->processors;
  head.flags = qzi_pub_exact_hold & QZI_HOLD_EXACT ? QZ_SESSION_EXACT_HOLD : 0;
  if (qz_launcher_processes_here() > 1) head.flags |= QZ_SESSION_SHARED;
  head.start_ns = qzi_pub_clock_ns();
  head.call_slots = QZI_CALL_SLOTS;
  head.stack_limit = s->stack_limit;
  head.short_limit = s->short_limit;

  if (total > qzi_pub_space()) return ENOMEM;
  int fd = memory_file(total);
  if (fd < 0) return errno;
  bool same_place = s->head && total <= s->bytes;
  void *at =
    mmap(same_place ? s->head : NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED | (same_place ? MAP_FIXED : 0), fd, 0);
  if (at == MAP_FAILED) {
    int error = errno;
    close(fd);
    return error;
  }
  head.start_low = (uint64_t)(uintptr_t)__start_quartz_start;
  head.start_high = (uint64_t)(uintptr_t)__stop_quartz_start;
  char *base = at;
  struct qz_session *map = at;
  if (s->head) head.epoch = qzi_pub_epoch;       /* in a forked child, or for another number of processors */
  if (s->calibrated || qzi_calibration_take()) { /* the earlier calibration remains valid */
    head.lock = s->lock, head.spawn_ps = s->spawn_ps, head.wait_ps = s->wait_ps;
  }
  *map = head;
  if (!same_place) s->bytes = total;
  s->fd = fd;
  struct stat state;
  if (!fstat(fd, &state)) file_device = state.st_dev, file_inode = state.st_ino;
  s->thread_base = base + head.thread_table.offset;
  s->long_base = head.long_table.capacity ? base + head.long_table.offset : NULL;
  s->processor_base = (struct qz_processor *)(base + head.processor_table.offset);
  s->call_base = (struct qz_call *)(base + head.call_table.offset);
  s->marks = head.mark_table.capacity ? (unsigned char *)base + head.mark_table.offset : NULL;
  s->creations =
    head.creation_table.capacity ? (struct qz_creation *)(void *)(base + head.creation_table.offset) : NULL;
  s->string_base = base + head.string_table.offset;
  s->path_base = head.path_table.capacity ? base + head.path_table.offset : NULL;
  s->span_path_base = head.span_path_table.capacity ? base + head.span_path_table.offset : NULL;
  s->span_base = head.span_table.capacity ? (struct qz_span *)(void *)(base + head.span_table.offset) : NULL;
  qzi_publishers_head(map);
  if (qzi_threads_make() || qzi_objects_make()) {
    close(fd);
    s->fd = -1;
    return ENOMEM;
  }
  qzi_pub_objects = (struct qz_object *)(base + head.object_table.offset);
  qzi_threads_mapped();
  qzi_objects_mapped();
  qzi_names_mapped();
  if (!s->calibrated) {
    qzi_calibrate();
    s->calibrated = true;
    s->lock = map->lock, s->spawn_ps = map->spawn_ps, s->wait_ps = map->wait_ps;
  }
  qzi_calibrated();
  qzi_publishers_mapped();
  __atomic_store_n(&map->magic, QZ_SESSION_MAGIC, __ATOMIC_RELEASE);
  return 0;
}

/* ---- switching ---- */

void qzi_session_on(void) {
  struct qz_session *head = qzi_session.head;
  __atomic_store_n(&head->usage_end.ns, 0, __ATOMIC_RELAXED);
  qzi_session_usage(&head->usage_begin);
  qzi_pub_epoch = __atomic_add_fetch(&head->epoch, 1, __ATOMIC_RELAXED);
  __atomic_fetch_and(&head->flags, ~(QZ_SESSION_SPAN | QZ_SESSION_CPU_WAITS), __ATOMIC_RELAXED);
  qzi_publishers_prepare();
  QZI_TRACE(session(head));
  barrier();
  qzi_pub_on = true;
  atomic_store_explicit(&qzi_publishing_flag, 1, memory_order_release);
  barrier();
  qzi_publishers_on();
  /* Last, so that whoever reads it knows that every call from now on is published, hooks included. */
  __atomic_store_n(&head->publishing, 1, __ATOMIC_RELEASE);
  qzi_session_span();
}

void qzi_session_span(void) {
  if (!qzi_publishing() || qzi_spanning() || !qzi_span_prepare()) return;
  qzi_publishers_span();
  atomic_store_explicit(&qzi_publishing_flag, 1 | QZI_SPANNING, memory_order_release);
  barrier();
  qzi_publishers_spanning();
}

void qzi_session_off(void) {
  qzi_session_usage_end();
  qzi_pub_on = false;
  atomic_store_explicit(&qzi_publishing_flag, 0, memory_order_release);
  __atomic_store_n(&qzi_session.head->publishing, 0, __ATOMIC_RELEASE);
  barrier();
  qzi_session.head->path_clock = qzi_path_time();
  qzi_publishers_off();
}

/* ---- fork ---- */

/* The child must not write into the parent's session: until it makes one of its own, unused memory replaces it at
 * the same addresses. */
static void forked(void) {
  if (!started) return;
  qzi_pub_on = false;
  atomic_store_explicit(&qzi_publishing_flag, 0, memory_order_relaxed);
  qzi_hot_set(NULL);
  qzi_publishers_forked();
  if (qzi_session.head && mmap(qzi_session.head, qzi_session.bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
    abort();
  qzi_session_forget_file();
  qzi_threads_forked();
  qzi_objects_forked();
  qzi_names_forked();
  qzi_channel_forked();
}

void qzi_pub_perhaps_forked(void) {
  if (qzi_pub_copied()) forked();
}

void qzi_pub_at_fork(void) {
  static bool done;
  if (done) return;
  done = true; /* set first: the pthread layer calls this function when it sees a registration, also for this one */
  pthread_atfork(NULL, NULL, forked);
}

void qzi_pub_forked(unsigned processors, const char *sampler) {
  if (!started || qzi_no_system_calls) return;
  qzi_session.processors = processors;
  qzi_publishers_started_again();
  qzi_channel_start(sampler);
}

/* Changes the number of processors before there is a second kernel thread, if the session has room; the sampler reads
 * the new number.
 */
static bool resize(uint32_t processors) {
  struct qzi_session *s = &qzi_session;
  if (processors > s->call_tables) return false;
  uint32_t before = s->processors;
  s->processors = processors;
  if (!qzi_publishers_make()) return false;
  if (!s->head) return true;
  for (uint32_t k = before; k < processors; k++) s->processor_base[k].cpu = UINT32_MAX;
  __atomic_store_n(&s->head->processors, processors, __ATOMIC_RELEASE);
  return true;
}

void qzi_pub_init(unsigned processors, size_t max_threads) {
  struct qzi_session *s = &qzi_session;
  if (!started && qzi_pub_forbidden()) return;
  if (started) {
    /* The tables keep their sizes; threads for which there is no record are counted. */
    if (processors == s->processors || resize(processors)) return;
    qzi_channel_stop();
    qzi_session_forget_file();
  } else {
    s->threads = max_threads > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uint32_t)max_threads;
    s->objects = (uint32_t)qzi_pub_setting("QUARTZ_MAX_OBJECTS", OBJECTS_DEFAULT, QZI_OBJECTS_LEAST, 1u << 26);
    s->strings = QZI_PUB_STRING_BYTES;
    s->stack_limit = (uint32_t)qzi_pub_setting("QUARTZ_PROFILE_DEPTH", DEPTH_DEFAULT, 16, 4000);
    qzi_pub_exact_hold = (uint32_t)qzi_pub_setting("QUARTZ_EXACT_HOLD", 0, 0, 1);
    s->short_limit =
      qzi_publishers_short && qzi_publishers_short < s->stack_limit ? qzi_publishers_short : s->stack_limit;
    qzi_pub_limit = QZ_WORD_EMPTY + s->stack_limit * (uint32_t)sizeof(struct qz_entry);
    qzi_pub_hook_limit = qzi_pub_limit - QZI_PUB_RESERVED_ENTRIES * (uint32_t)sizeof(struct qz_entry);
    qzi_hooks_init();
    barrier_works = !syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    qzi_pub_at_fork();
    if (sysconf(_SC_PAGESIZE) <= (long)FLAG_PAGE) madvise(flag_page, sizeof flag_page, MADV_WIPEONFORK);
  }
  s->processors = processors;
  if (!qzi_publishers_make()) {
    qzi_pub_complain("no memory to publish with; the program runs unsampled: raise the limit of memory");
    return;
  }
  qzi_session_fit(s, started);
  started = true;
  qzi_channel_start(NULL);
}
