/* libfiber: fibers on stacks of 16 KiB, work stealing; bounded channels. */
#define _GNU_SOURCE
#define FIBER_STACK_MALLOC
#include <fiber_manager.h>
#include <fiber.h>
#include <fiber_mutex.h>
#include <fiber_cond.h>
#include <fiber_barrier.h>
#include <fiber_channel.h>

#define PROCEDURE(f) static void *f(void *argument)
#define END          return NULL
#define HAVE_BARRIER
#define HAVE_CHANNEL
typedef fiber_t *thread_t;
typedef fiber_mutex_t lock_t;
typedef fiber_cond_t cond_t;
typedef fiber_barrier_t barrier_t;
static fiber_bounded_channel_t *channels[2];
static fiber_signal_t signals[2];

#include "measure.h"
static inline void thread_start(thread_t *t, void *(*f)(void *), void *argument) {
  *t = fiber_create(16384, f, argument);
  must(*t != NULL, "fiber_create failed");
}
static inline void thread_join(thread_t *t) { fiber_join(*t, NULL); }
static inline void thread_yield(void) { fiber_yield(); }
static inline void lock_init(lock_t *l) { fiber_mutex_init(l); }
static inline void lock_take(lock_t *l) { fiber_mutex_lock(l); }
static inline void lock_give(lock_t *l) { fiber_mutex_unlock(l); }
static inline void cond_init(cond_t *c) { fiber_cond_init(c); }
static inline void cond_wait(cond_t *c, lock_t *l) { fiber_cond_wait(c, l); }
static inline void cond_wake_one(cond_t *c) { fiber_cond_signal(c); }
static inline void cond_wake_all(cond_t *c) { fiber_cond_broadcast(c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { fiber_barrier_init(b, parties); }
static inline void barrier_wait(barrier_t *b) { fiber_barrier_wait(b); }
static inline void channel_init(int k) {
  fiber_signal_init(&signals[k]);
  channels[k] = fiber_bounded_channel_create(1, &signals[k]); /* two items, the least that it can have */
}
static inline void channel_send(int k, long value) {
  fiber_bounded_channel_send(channels[k], (void *)(intptr_t)(value + 1));
}
static inline long channel_receive(int k) { return (long)(intptr_t)fiber_bounded_channel_receive(channels[k]) - 1; }

#include "cases.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  fiber_manager_init((size_t)processors);
  int status = run_case(case_name, case_threads);
  fflush(stdout);
  _exit(status); /* its other kernel threads have no end of their own */
}
