/* Writes the trace that trace.h describes.
 *
 * Owns:    the trace files: QUARTZ_ORACLE.TID for every kernel thread that publishes.
 * Must not: be part of the installed library; change what is published.
 */
#ifdef QZI_ORACLE
#include "flag.h"
#include "trace.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (UINT64_C(256) << 20) /* sparse: only what is written occupies space */

struct trace {
  struct qzi_oracle_head *head;
  struct qzi_oracle_event *events;
  uint64_t capacity;
};

static const struct qz_session *session;
static _Thread_local struct trace own;
static _Thread_local int own_opened;

static uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void open_trace(void) {
  const char *stem = getenv("QUARTZ_ORACLE");
  char path[4096];
  own_opened = 1;
  if (!stem) return;
  snprintf(path, sizeof path, "%s.%ld", stem, (long)syscall(SYS_gettid));
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, (off_t)FILE_BYTES)) {
    fprintf(stderr, "quartz: cannot write the trace %s; set QUARTZ_ORACLE to a path that can be written\n", path);
    abort();
  }
  void *at = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) abort();
  own.head = at;
  own.events = (struct qzi_oracle_event *)((char *)at + 64);
  own.capacity = (FILE_BYTES - 64) / sizeof *own.events;
  own.head->magic = QZI_ORACLE_MAGIC;
}

/* Never inlined, because the calling thread may have moved to another kernel thread since its last call. */
static __attribute__((noinline)) void add(uint64_t ns, unsigned kind, uint32_t subject, uint64_t value) {
  if (!own_opened) open_trace();
  if (!own.head) return;
  uint64_t count = own.head->count;
  if (count == own.capacity) {
    own.head->lost++;
    return;
  }
  own.events[count] = (struct qzi_oracle_event){ns, kind, subject, value};
  __atomic_store_n(&own.head->count, count + 1, __ATOMIC_RELEASE);
}

/* Calibration publishes, too, but must not be traced. */
static int tracing(void) { return session && qzi_publishing(); }

static uint32_t index_in(const struct qz_table *table, const void *record) {
  return (uint32_t)(((uint64_t)((const char *)record - (const char *)session) - table->offset) / table->stride);
}

static uint32_t thread_index(const struct qz_thread *thread) {
  bool is_long = session->long_table.capacity &&
                 (uint64_t)((const char *)thread - (const char *)session) >= session->long_table.offset;
  return index_in(is_long ? &session->long_table : &session->thread_table, thread);
}

void qzi_oracle_session(const struct qz_session *of) { session = of; }

void qzi_oracle_now(const struct qz_processor *processor, uint64_t now) {
  if (tracing()) add(clock_ns(), QZI_ORACLE_NOW, index_in(&session->processor_table, processor), now);
}

void qzi_oracle_thread(const struct qz_thread *thread, unsigned kind, uint64_t value) {
  if (tracing()) add(clock_ns(), kind, thread_index(thread), value);
}

void qzi_oracle_stack(const struct qz_thread *thread, uint64_t word) {
  if (!tracing()) return;
  uint64_t ns = clock_ns();
  uint32_t index = thread_index(thread);
  uint32_t depth = QZ_WORD_DEPTH(word);
  add(ns, QZI_ORACLE_STACK, index, depth);
  for (uint32_t k = 0; k < depth; k++) add(ns, QZI_ORACLE_ENTRY, index, thread->stack[k].key);
}

void qzi_oracle_queue(uint32_t object, uint32_t length) {
  if (tracing()) add(clock_ns(), QZI_ORACLE_QUEUE, object, length);
}

#endif
