/* MassiveThreads: child first, work stealing. */
#include <myth/myth.h>

#define PROCEDURE(f) static void *f(void *argument)
#define END          return NULL
#define HAVE_BARRIER
typedef myth_thread_t thread_t;
typedef myth_mutex_t lock_t;
typedef myth_cond_t cond_t;
typedef myth_barrier_t barrier_t;

#include "measure.h"
static inline void thread_start(thread_t *t, void *(*f)(void *), void *argument) { *t = myth_create(f, argument); }
static inline void thread_join(thread_t *t) {
  void *result;
  myth_join(*t, &result);
}
static inline void thread_yield(void) { myth_yield(); }
static inline void lock_init(lock_t *l) { myth_mutex_init(l, NULL); }
static inline void lock_take(lock_t *l) { myth_mutex_lock(l); }
static inline void lock_give(lock_t *l) { myth_mutex_unlock(l); }
static inline void cond_init(cond_t *c) { myth_cond_init(c, NULL); }
static inline void cond_wait(cond_t *c, lock_t *l) { myth_cond_wait(c, l); }
static inline void cond_wake_one(cond_t *c) { myth_cond_signal(c); }
static inline void cond_wake_all(cond_t *c) { myth_cond_broadcast(c); }
static inline void barrier_init(barrier_t *b, unsigned parties) { myth_barrier_init(b, NULL, (int)parties); }
static inline void barrier_wait(barrier_t *b) { myth_barrier_wait(b); }

#include "cases.h"

int main(int count, char **arguments) {
  char text[16];
  read_arguments(count, arguments);
  snprintf(text, sizeof text, "%d", processors);
  setenv("MYTH_NUM_WORKERS", text, 1);
  myth_init();
  int status = run_case(case_name, case_threads);
  fflush(stdout);
  _exit(status); /* its end waits for ever when threads were made by the hundred thousand */
}
