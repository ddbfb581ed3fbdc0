/* Argobots: user-level threads of one pool for each execution stream; with more than one, streams steal from each
 * other. */
#include <abt.h>

#define PROCEDURE(f) static void f(void *argument)
#define END          return
#define HAVE_BARRIER
#define HAVE_PINNED
typedef ABT_thread thread_t;
typedef ABT_mutex lock_t;
typedef ABT_cond cond_t;
typedef ABT_barrier barrier_t;

#include "measure.h"
enum { STREAMS = 64 };
static ABT_pool pools[STREAMS];
static int streams = 1;
static inline ABT_pool own_pool(void) {
  int rank = 0;
  if (streams > 1) ABT_self_get_xstream_rank(&rank);
  return pools[rank];
}
/* Threads that are joined at once are best run at once; in other cases that costs more (fib: 128 ns instead of 78). */
static int child_first;
#if ABT_NUMVERSION < 10200000
#define ABT_thread_create_to ABT_thread_create
#endif
static inline void thread_start(thread_t *t, void (*f)(void *), void *argument) {
  int failed = child_first ? ABT_thread_create_to(own_pool(), f, argument, ABT_THREAD_ATTR_NULL, t)
                           : ABT_thread_create(own_pool(), f, argument, ABT_THREAD_ATTR_NULL, t);
  must(failed == ABT_SUCCESS, "ABT_thread_create failed");
}
static inline void thread_start_on(thread_t *t, int processor, void (*f)(void *), void *argument) {
  must(ABT_thread_create(pools[processor % streams], f, argument, ABT_THREAD_ATTR_NULL, t) == ABT_SUCCESS,
       "ABT_thread_create failed");
}
static inline void thread_join(thread_t *t) { ABT_thread_free(t); }
static inline void thread_yield(void) { ABT_thread_yield(); }
static inline void lock_init(lock_t *l) { ABT_mutex_create(l); }
static inline void lock_take(lock_t *l) { ABT_mutex_lock(*l); }
static inline void lock_give(lock_t *l) { ABT_mutex_unlock(*l); }
static inline void cond_init(cond_t *c) { ABT_cond_create(c); }
static inline void cond_wait(cond_t *c, lock_t *l) { ABT_cond_wait(*c, *l); }
static inline void cond_wake_one(cond_t *c) { ABT_cond_signal(*c); }
static inline void cond_wake_all(cond_t *c) { ABT_cond_broadcast(*c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { ABT_barrier_create(parties, b); }
static inline void barrier_wait(barrier_t *b) { ABT_barrier_wait(*b); }

#include "cases.h"

int main(int count, char **arguments) {
  ABT_xstream xstreams[STREAMS];
  read_arguments(count, arguments);
  streams = processors;
  must(streams <= STREAMS, "too many processors");
  child_first = !strcmp(case_name, "spawn");
  int pinned = !strcmp(case_name, "cond-pinned"); /* then nobody steals */
  must(ABT_init(count, arguments) == ABT_SUCCESS, "ABT_init failed");
  ABT_xstream_self(&xstreams[0]);
  for (int k = 0; k < streams; k++)
    ABT_pool_create_basic(ABT_POOL_RANDWS, streams == 1 ? ABT_POOL_ACCESS_PRIV : ABT_POOL_ACCESS_MPMC, ABT_TRUE,
                          &pools[k]);
  ABT_sched_predef kind = streams == 1 || pinned ? ABT_SCHED_BASIC : ABT_SCHED_RANDWS;
  ABT_xstream_set_main_sched_basic(xstreams[0], kind, pinned ? 1 : streams, pools);
  for (int k = 1; k < streams; k++) {
    ABT_pool order[STREAMS];
    for (int other = 0; other < streams; other++) order[other] = pools[(k + other) % streams];
    ABT_xstream_create_basic(kind, pinned ? 1 : streams, order, ABT_SCHED_CONFIG_NULL, &xstreams[k]);
  }
  int status = run_case(case_name, case_threads);
  for (int k = 1; k < streams; k++) ABT_xstream_free(&xstreams[k]);
  ABT_finalize();
  return status;
}
