/* Quartz's own thread package, measured like the others. THREADS, for cases other than `blocked`, is a crowd: so many threads that only
 * wait, each with a mutex of its own, exist meanwhile. */
#define _GNU_SOURCE
#include <quartz/quartz.h>

#define PROCEDURE(f) static void *f(void *argument)
#define END return NULL
#define HAVE_BARRIER
#define HAVE_CHANNEL
#define HAVE_PINNED
#define HAVE_OWN_FIB
typedef qz_thread_t thread_t;
typedef qz_mutex lock_t;
typedef qz_cond cond_t;
typedef qz_barrier barrier_t;
static qz_channel channels[2];

#include "measure.h"
static inline void thread_start(thread_t *t, void *(*f)(void *), void *argument) {
  must(qz_create(t, NULL, f, argument) == 0, "qz_create failed");
}
/* Threads can't be pinned to processors here: the scheduler decides, and that is what is compared. */
static inline void thread_start_on(thread_t *t, int processor, void *(*f)(void *), void *argument) {
  (void)processor;
  thread_start(t, f, argument);
}
static inline void thread_join(thread_t *t) { qz_join(*t, NULL); }
static inline void thread_yield(void) { qz_yield(); }
static inline void lock_init(lock_t *l) { qz_mutex_init(l, "lock", QZ_ADAPTIVE); }
static inline void lock_take(lock_t *l) { qz_mutex_lock(l); }
static inline void lock_give(lock_t *l) { qz_mutex_unlock(l); }
static inline void cond_init(cond_t *c) { qz_cond_init(c, "condition"); }
static inline void cond_wait(cond_t *c, lock_t *l) { qz_cond_wait(c, l); }
static inline void cond_wake_one(cond_t *c) { qz_cond_signal(c); }
static inline void cond_wake_all(cond_t *c) { qz_cond_broadcast(c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { qz_barrier_init(b, "barrier", parties, QZ_ADAPTIVE); }
static inline void barrier_wait(barrier_t *b) { qz_barrier_wait(b); }
static inline void channel_init(int k) { qz_channel_init(&channels[k], "channel", sizeof(long), 1); }
static inline void channel_send(int k, long value) { qz_channel_send(&channels[k], &value); }
static inline long channel_receive(int k) {
  long value = 0;
  qz_channel_receive(&channels[k], &value);
  return value;
}

/* fib by fork-join, which is what a user of the package would write. */
struct fib { long n, value; };
static void fib_call(void *argument) {
  struct fib *own = argument;
  if (own->n < 2) {
    own->value = own->n;
    return;
  }
  struct fib a = { own->n - 1, 0 }, b = { own->n - 2, 0 };
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, fib_call, &a);
  fib_call(&b);
  qz_sync(&scope);
  own->value = a.value + b.value;
}
static double fib(long n) {
  struct fib whole = { n, 0 };
  double begin = now_ns();
  fib_call(&whole);
  double took = now_ns() - begin;
  must(whole.value == serial_fib(n), "fib is wrong");
  return took;
}

#include "cases.h"

static qz_sem crowd_gate;
static long crowd_waits;
static void *waits(void *own_lock) {
  qz_mutex_lock(own_lock);
  qz_mutex_unlock(own_lock);
  __atomic_fetch_add(&crowd_waits, 1, __ATOMIC_SEQ_CST);
  qz_sem_wait(&crowd_gate);
  return NULL;
}
static void make_crowd(long threads) {
  lock_t *locks = calloc((size_t)threads, sizeof *locks);
  qz_sem_init(&crowd_gate, "crowd", 0);
  for (long k = 0; k < threads; k++) {
    thread_t t;
    qz_mutex_init(&locks[k], NULL, QZ_ADAPTIVE);
    thread_start(&t, waits, &locks[k]);
  }
  /* all of them: else some would begin amid what is measured */
  while (__atomic_load_n(&crowd_waits, __ATOMIC_SEQ_CST) < threads) qz_yield();
}

/* Threads that compute, as many as there are processors: what the sampler has to look at. */
static void *computes(void *milliseconds) {
  double end = wall_ns() + (double)(intptr_t)milliseconds * 1e6;
  while (wall_ns() < end) counter = counter + 1;
  return NULL;
}
static int busy(void) {
  thread_t t[256];
  const char *ms = getenv("QUARTZ_BENCH_MS");
  must(processors <= 256, "too many processors");
  for (int k = 0; k < processors; k++) thread_start(&t[k], computes, (void *)(intptr_t)(ms ? atol(ms) : 1000));
  for (int k = 0; k < processors; k++) thread_join(&t[k]);
  return 0;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  must(qz_init(&(qz_options){ .processors = (unsigned)processors }) == 0, "qz_init failed");
  if (count > 3 && case_threads > 0 && strcmp(case_name, "blocked")) make_crowd(case_threads);
  int status = !strcmp(case_name, "busy") ? busy() : run_case(case_name, case_threads);
  fflush(stdout);
  _exit(status); /* the crowd goes on waiting */
}
