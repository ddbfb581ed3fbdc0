/* The session of a program that publishes nothing: this one, whose threads begin, get names and end. The time is what
 * the test says. */
#include "sampler/outside/session.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "abi/session_read.h"
#include "sampler/outside/state.h"
#include "sampler/util/clock.h"
#include "test/support/check.h"

#define MS UINT64_C(1000000)

static sem_t ready, end;
static uint64_t now_ns;
static struct qzi_outside *outside;

static void *waits(void *tid) {
  *(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
  sem_post(&ready);
  sem_wait(&end);
  return NULL;
}
/* Begins a thread; returns its number. */
static uint32_t begin(pthread_t *thread) {
  uint32_t tid = 0;
  CHECK_IS(pthread_create(thread, NULL, waits, &tid), 0);
  sem_wait(&ready);
  return tid;
}
/* A snapshot, so many ms later than the last one. */
static void snapshot(unsigned ms) {
  now_ns += ms * MS;
  qzi_outside_begin(outside, now_ns);
}
/* The thread's record; NULL: it has none. */
static struct qz_thread *record_of(uint32_t tid) {
  uint32_t index = outside->record_of[tid];
  struct qz_thread *its = index ? qzi_outside_record(outside, index - 1) : NULL;
  CHECK(!its || (its->os_tid == tid && its->serial));
  return its;
}
static const char *name_of(uint32_t tid) {
  return (const char *)outside->base + outside->head->string_table.offset + record_of(tid)->name;
}

int main(void) {
  const char *why = NULL;
  pthread_t threads[2];
  sem_init(&ready, 0, 0);
  sem_init(&end, 0, 0);
  uint32_t own = (uint32_t)getpid(), first = begin(&threads[0]);
  CHECK((outside = qzi_outside_open(getpid(), &why)));
  now_ns = qzi_clock_ns();

  /* Whoever reads sessions can read it. */
  struct qz_session_view view;
  int fd = dup(qzi_outside_fd(outside));
  CHECK(fd >= 0 && !qz_session_open(&view, fd, &why));
  CHECK(qz_session_head(&view)->pid == own && qz_session_head(&view)->flags & QZ_SESSION_OUTSIDE);
  uint32_t high = qz_session_thread_high(&view); /* a sanitizer may have a thread of its own */
  CHECK(high >= 2);

  /* Threads that were there, and threads that begin. */
  CHECK(record_of(own) && record_of(first) && record_of(own) != record_of(first));
  uint32_t second = begin(&threads[1]);
  snapshot(1000);
  CHECK(record_of(second) && record_of(second) != record_of(first));
  CHECK(record_of(first)->serial < record_of(second)->serial);
  CHECK_IS(qz_session_thread_high(&view), high + 1);
  CHECK(QZ_STATE_OF(record_of(second)->state) == QZ_STATE_USEFUL);

  /* A thread has the process's name, which says nothing, until it sets one. */
  CHECK(record_of(first)->name == 0);
  pthread_setname_np(threads[0], "reader");
  snapshot(5000);
  CHECK(!strcmp(name_of(first), "reader") && !record_of(second)->name);
  pthread_setname_np(threads[1], "reader");
  pthread_setname_np(threads[0], "writer");
  snapshot(20000);
  CHECK(!strcmp(name_of(first), "writer") && !strcmp(name_of(second), "reader"));
  CHECK(outside->head->string_bytes == 1 + 2 * sizeof "reader"); /* each name once */

  /* A thread that ends; its record is used for the next one. */
  struct qz_thread *used = record_of(first);
  uint64_t serial = used->serial;
  sem_post(&end);
  sem_post(&end);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  for (unsigned k = 0; (record_of(first) || record_of(second)) && k < 1000; k++) { /* the kernel may still list them */
    usleep(1000);
    snapshot(1000);
  }
  CHECK(!record_of(first) && !record_of(second) && !used->serial);
  uint32_t third = begin(&threads[0]);
  snapshot(1000);
  CHECK(qz_session_thread_high(&view) == high + 1 && record_of(third)->serial > serial && !record_of(third)->name);

  /* Not searched for again at once. */
  uint32_t fourth = begin(&threads[1]);
  now_ns = outside->due_ns - 1;
  CHECK(qzi_outside_begin(outside, now_ns) == 0 && !record_of(fourth));
  snapshot(1);
  CHECK(record_of(fourth));
  sem_post(&end);
  sem_post(&end);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  qz_session_close(&view);
  qzi_outside_close(outside);

  /* A process that is none. */
  CHECK(!qzi_outside_open(0x3fffff, &why) && !strcmp(why, "/proc does not list its threads"));
  return 0;
}
