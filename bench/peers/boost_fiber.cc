/* Boost.Fiber: stacks of 16 KiB from a pool on one processor (they cannot move between allocators of two); round robin
 * there, work stealing on more. */
#include <boost/fiber/all.hpp>
#include <thread>
#include <vector>

#define PROCEDURE(f) static void f(void *argument)
#define END          return
#define HAVE_BARRIER
#define HAVE_CHANNEL
#define FIB_FIRST 14
#define FIB_MOST  22
namespace fibers = boost::fibers;
typedef fibers::fiber thread_t;
typedef fibers::mutex lock_t;
typedef fibers::condition_variable cond_t;
typedef fibers::barrier *barrier_t;
static fibers::unbuffered_channel<long> channels[2];

#include "measure.h"
static fibers::fixedsize_stack *plain;
static fibers::pooled_fixedsize_stack *pooled;
static inline void thread_start(thread_t *t, void (*f)(void *), void *argument) {
  *t = pooled ? thread_t(std::allocator_arg, *pooled, f, argument) : thread_t(std::allocator_arg, *plain, f, argument);
}
static inline void thread_join(thread_t *t) { t->join(); }
static inline void thread_yield(void) { boost::this_fiber::yield(); }
static inline void lock_init(lock_t *) {}
static inline void lock_take(lock_t *l) { l->lock(); }
static inline void lock_give(lock_t *l) { l->unlock(); }
static inline void cond_init(cond_t *) {}
static inline void cond_wait(cond_t *c, lock_t *l) {
  std::unique_lock<lock_t> held(*l, std::adopt_lock);
  c->wait(held);
  held.release();
}
static inline void cond_wake_one(cond_t *c) { c->notify_one(); }
static inline void cond_wake_all(cond_t *c) { c->notify_all(); }
static inline void barrier_init(barrier_t *b, unsigned parties) { *b = new fibers::barrier(parties); }
static inline void barrier_wait(barrier_t *b) { (*b)->wait(); }
static inline void channel_init(int) {}
static inline void channel_send(int k, long value) { channels[k].push(value); }
static inline long channel_receive(int k) {
  long value = -1;
  channels[k].pop(value);
  return value;
}

#include "cases.h"

int main(int count, char **arguments) {
  read_arguments(count, arguments);
  plain = new fibers::fixedsize_stack(16384);
  std::vector<std::thread> others;
  static fibers::mutex end_lock;
  static fibers::condition_variable_any never;
  if (processors == 1) {
    pooled = new fibers::pooled_fixedsize_stack(16384);
  } else {
    auto join_in = [] {
      fibers::use_scheduling_algorithm<fibers::algo::work_stealing>((std::uint32_t)processors, false);
    };
    for (int k = 1; k < processors; k++) {
      others.emplace_back([join_in] {
        join_in();
        std::unique_lock<fibers::mutex> held(end_lock);
        never.wait(held);
      });
    }
    join_in();
  }
  int status = run_case(case_name, case_threads);
  fflush(stdout);
  _exit(status); /* the other processors wait for ever */
}
