/* libfibre (of the University of Waterloo), by its interface for C. */
#include <cfibre.h>

#define PROCEDURE(f) static void *f(void *argument)
#define END          return NULL
#define HAVE_BARRIER
typedef cfibre_t thread_t;
typedef cfibre_mutex_t lock_t;
typedef cfibre_cond_t cond_t;
typedef cfibre_barrier_t barrier_t;

#include "measure.h"
static inline void thread_start(thread_t *t, void *(*f)(void *), void *argument) {
  must(cfibre_create(t, NULL, f, argument) == 0, "cfibre_create failed");
}
static inline void thread_join(thread_t *t) { cfibre_join(*t, NULL); }
static inline void thread_yield(void) { cfibre_yield(); }
static inline void lock_init(lock_t *l) { cfibre_mutex_init(l, NULL); }
static inline void lock_take(lock_t *l) { cfibre_mutex_lock(l); }
static inline void lock_give(lock_t *l) { cfibre_mutex_unlock(l); }
static inline void cond_init(cond_t *c) { cfibre_cond_init(c, NULL); }
static inline void cond_wait(cond_t *c, lock_t *l) { cfibre_cond_wait(c, l); }
static inline void cond_wake_one(cond_t *c) { cfibre_cond_signal(c); }
static inline void cond_wake_all(cond_t *c) { cfibre_cond_broadcast(c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { cfibre_barrier_init(b, NULL, parties); }
static inline void barrier_wait(barrier_t *b) { cfibre_barrier_wait(b); }

#include "cases.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  cfibre_init_n(1, (size_t)processors);
  int status = run_case(case_name, case_threads);
  fflush(stdout);
  _exit(status); /* its pollers have no end of their own */
}
