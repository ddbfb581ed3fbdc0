/* Quartz's own thread package, measured like the others; with GROWTH, amid what lies idle: idle_load.h. */
#define _GNU_SOURCE
#include <quartz/quartz.h>
#include <unistd.h>

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
struct fib {
  long n, value;
};
static void fib_call(void *argument) {
  struct fib *own = argument;
  if (own->n < 2) {
    own->value = own->n;
    return;
  }
  struct fib a = {own->n - 1, 0}, b = {own->n - 2, 0};
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, fib_call, &a);
  fib_call(&b);
  qz_sync(&scope);
  own->value = a.value + b.value;
}
static double fib(long n) {
  struct fib whole = {n, 0};
  double begin = now_ns();
  fib_call(&whole);
  double took = now_ns() - begin;
  must(whole.value == serial_fib(n), "fib is wrong");
  return took;
}

/* Fork-join programs and loops. */
struct sum {
  int64_t (*body)(int64_t from, int64_t to, void *argument);
  void *argument;
  int64_t sum;
};
static inline void add_part(int64_t from, int64_t to, void *argument) {
  struct sum *own = argument;
  __atomic_fetch_add(&own->sum, own->body(from, to, own->argument), __ATOMIC_RELAXED);
}
static inline int64_t sum_of(int64_t begin, int64_t end, int64_t (*body)(int64_t, int64_t, void *), void *argument) {
  struct sum whole = {body, argument, 0};
  qz_parallel_for(begin, end, 0, add_part, &whole);
  return whole.sum;
}
#define SCOPE(s)                           qz_scope s = QZ_SCOPE_INIT
#define FORK(s, procedure, argument)       qz_spawn(&(s), procedure, argument)
#define JOIN(s, procedure)                 qz_sync(&(s))
#define LOOP(begin, end, body, argument)   qz_parallel_for(begin, end, 0, body, argument)
#define LOOP_UNEVEN                        LOOP
#define REDUCE(begin, end, body, argument) sum_of(begin, end, body, argument)

#ifdef GROWTH
static long gathered; /* idle_load.h */
#define GROWTH_EVENTS "hook", "spawn", "spawn-switch", "yield-eight", "lock", "lock-eight", "cond", "channel", "barrier"
static void idle_wait(void) {
  static qz_sem gate; /* nobody opens it */
  __atomic_fetch_add(&gathered, 1, __ATOMIC_SEQ_CST);
  qz_sem_wait(&gate);
}
static void idle_sleeps(void) { qz_yield(); }

/* Conditions and channels, each with a wait; mutexes, held at the same time. */
struct idle {
  qz_mutex mutex;
  qz_cond cond;
  qz_channel channel;
  long turn;
};
static void *uses_objects(void *objects) {
  struct idle *idle = objects;
  for (long k = 0, end = idle->turn; k < end; k++) {
    long value;
    qz_mutex_lock(&idle[k].mutex);
    while (idle[k].turn) qz_cond_wait(&idle[k].cond, &idle[k].mutex);
    qz_mutex_unlock(&idle[k].mutex);
    qz_channel_receive(&idle[k].channel, &value);
  }
  return NULL;
}
static void objects_make(long count) {
  long sets = count / 3;
  if (sets == 0) return;
  struct idle *idle = calloc((size_t)sets, sizeof *idle);
  must(idle != NULL, "no memory");
  for (long k = 0; k < sets; k++) {
    qz_mutex_init(&idle[k].mutex, NULL, QZ_ADAPTIVE);
    qz_cond_init(&idle[k].cond, NULL);
    qz_channel_init(&idle[k].channel, NULL, sizeof(long), 1);
    idle[k].turn = 1;
  }
  idle->turn = sets;
  thread_t t;
  thread_start(&t, uses_objects, idle);
  for (long k = 0; k < sets; k++) {
    qz_yield(); /* the other waits now */
    qz_mutex_lock(&idle[k].mutex);
    idle[k].turn = 0;
    qz_cond_signal(&idle[k].cond);
    qz_mutex_unlock(&idle[k].mutex);
    qz_yield();
    qz_channel_send(&idle[k].channel, &k);
  }
  thread_join(&t);
}
#include "idle_load.h"
#else
#define PROCEDURE(f) static void *f(void *argument)
#define END          return NULL
#include "cases.h"
#include "fork_join.h"
/* One task at a time, and 1,000. */
static void nothing(void *argument) { (void)argument; }
static double task(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    SCOPE(scope);
    FORK(scope, nothing, NULL);
    JOIN(scope, nothing);
  }
  return now_ns() - begin;
}
static double task_batch(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k += 1000) {
    SCOPE(scope);
    for (int i = 0; i < 1000; i++) FORK(scope, nothing, NULL);
    JOIN(scope, nothing);
  }
  return now_ns() - begin;
}
static int run_tasks(const char *name) {
  if (!strcmp(name, "task"))
    measure(task, 1000, 1);
  else if (!strcmp(name, "task-batch"))
    measure(task_batch, 1000, 1000);
  else
    return run_fork_join(name);
  return 0;
}
#endif

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  must(qz_init(&(qz_options){.processors = (unsigned)processors}) == 0, "qz_init failed");
#ifdef GROWTH
  return run_beside_idle(count, arguments);
#else
  int status = run_case(case_name, case_threads);
  return status == 3 ? run_tasks(case_name) : status;
#endif
}
