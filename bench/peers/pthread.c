/* The kernel's threads; with GROWTH, amid what lies idle: idle_load.h. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#define HAVE_BARRIER
#define HAVE_PINNED
#define FIB_FIRST 8
#define FIB_MOST  16
#ifdef GROWTH
enum { STACK_BYTES = 256 << 10 }; /* a thousand procedures deep */
#else
enum { STACK_BYTES = 64 << 10 };
#endif
typedef pthread_t thread_t;
typedef pthread_mutex_t lock_t;
typedef pthread_cond_t cond_t;
typedef pthread_barrier_t barrier_t;

#include "measure.h"
static pthread_attr_t small;
static inline void thread_start(thread_t *t, void *(*f)(void *), void *argument) {
  must(pthread_create(t, &small, f, argument) == 0, "pthread_create failed");
}
static inline void thread_start_on(thread_t *t, int processor, void *(*f)(void *), void *argument) {
  pthread_attr_t pinned;
  cpu_set_t cpus;
  pthread_attr_init(&pinned);
  CPU_ZERO(&cpus);
  CPU_SET((size_t)processor, &cpus);
  pthread_attr_setaffinity_np(&pinned, sizeof cpus, &cpus);
  must(pthread_create(t, &pinned, f, argument) == 0, "pthread_create failed");
  pthread_attr_destroy(&pinned);
}
static inline void thread_join(thread_t *t) { pthread_join(*t, NULL); }
static inline void thread_yield(void) { sched_yield(); }
static inline void lock_init(lock_t *l) { pthread_mutex_init(l, NULL); }
static inline void lock_take(lock_t *l) { pthread_mutex_lock(l); }
static inline void lock_give(lock_t *l) { pthread_mutex_unlock(l); }
static inline void cond_init(cond_t *c) { pthread_cond_init(c, NULL); }
static inline void cond_wait(cond_t *c, lock_t *l) { pthread_cond_wait(c, l); }
static inline void cond_wake_one(cond_t *c) { pthread_cond_signal(c); }
static inline void cond_wake_all(cond_t *c) { pthread_cond_broadcast(c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { pthread_barrier_init(b, NULL, parties); }
static inline void barrier_wait(barrier_t *b) { pthread_barrier_wait(b); }

#ifdef GROWTH
static long gathered; /* idle_load.h */
#define GROWTH_EVENTS "spawn", "lock", "lock-eight", "cond", "barrier"
/* Not for a condition: a call of the kernel for one passes threads that wait for others, as many as their futexes lie
 * beside its own there. */
static void idle_wait(void) {
  __atomic_fetch_add(&gathered, 1, __ATOMIC_SEQ_CST);
  for (;;) pause();
}
static void idle_sleeps(void) { nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); }

/* Mutexes and conditions in turn; each mutex is taken, each condition signalled, and one of a hundred waited for. */
struct idle {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
};
static void objects_make(long count) {
  static const struct timespec past;
  struct idle *idle = calloc((size_t)count / 2 + 1, sizeof *idle);
  must(idle != NULL, "no memory");
  for (long k = 0; k < count / 2; k++) {
    pthread_mutex_init(&idle[k].mutex, NULL);
    pthread_cond_init(&idle[k].cond, NULL);
    pthread_mutex_lock(&idle[k].mutex);
    pthread_cond_signal(&idle[k].cond);
    if (k % 100 == 0) pthread_cond_timedwait(&idle[k].cond, &idle[k].mutex, &past);
    pthread_mutex_unlock(&idle[k].mutex);
  }
}
#include "idle_load.h"
#else
#define PROCEDURE(f) static void *f(void *argument)
#define END          return NULL
#include "cases.h"
#endif

static pthread_mutex_t quiet = PTHREAD_MUTEX_INITIALIZER;
static void *waits(void *unused) {
  (void)unused;
  pthread_mutex_lock(&quiet);
  pthread_mutex_unlock(&quiet);
  return NULL;
}

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  if (processors == 1) { /* as user-level packages with one processor: one CPU */
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(0, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
  }
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  pthread_t other; /* glibc has a shorter way for processes that never had a second thread */
  pthread_mutex_lock(&quiet);
  must(pthread_create(&other, &small, waits, NULL) == 0, "pthread_create failed");
#ifdef GROWTH
  int status = run_beside_idle(count, arguments);
#else
  int status = run_case(case_name, case_threads);
#endif
  pthread_mutex_unlock(&quiet);
  pthread_join(other, NULL);
  return status;
}
