/* Processors and their queues of ready threads.
 *
 * Owns:    struct qzi_processor, struct qzi_runtime, the owner's side of the queues.
 * Writer:  a processor's kernel thread, between qzi_enter() and qzi_leave(); a thief that has revoked it (steal.c).
 * Reader:  the scheduler; thieves and idle processors read the sizes of queues without the lock.
 * Must not: be included by synchronization objects or by publishing.
 *
 * A queue is guarded by a lock that is biased to its owner: the owner stores `busy` and then loads `revoked`, without a
 * locked instruction; a thief stores `revoked` and then executes a memory barrier on all CPUs (membarrier), unless the
 * owner answers first. So at least one of the two sees the other. If the kernel has no membarrier, the owner uses a
 * fence.
 */
#ifndef QZI_PROCESSOR_H
#define QZI_PROCESSOR_H

#include "threadlib/src/base/clock.h"
#include "threadlib/src/base/die.h"
#include "threadlib/src/base/self.h"
#include "threadlib/src/base/spinlock.h"
#include "threadlib/src/context/switch.h"
#include "deque.h"
#include "kernel_thread.h"
#include "park.h"

#pragma GCC visibility push(hidden)

/* ---- processors ---- */

/* Which kernel thread, if any, has the processor. */
enum qzi_status {
  QZI_RUNNING = 0, /* a kernel thread that runs threads or searches */
  QZI_PARKED,      /* a kernel thread asleep */
  QZI_VACANT,      /* no kernel thread */
  QZI_IN_IO        /* its kernel thread is in a blocking region; another one may take the processor */
};

struct qzi_processor {
  struct qzi_processor_head head;

  QZI_LINE _Atomic(uint32_t) busy; /* the owner is accessing its queues */
  _Atomic(uint32_t) tick;          /* number of scheduling decisions */
  uint32_t streak;                 /* how many times in a row `next` was taken */
  uint32_t index;
  _Atomic(struct qzi_thread *) next; /* the thread made ready last; runs next */
  _Atomic(struct qzi_thread *)
    away;                   /* the same thread if another processor should take it: a thief need not watch it first */
  struct qzi_thread **free; /* descriptors with stacks of the default size; NULL: none yet */
  uint32_t free_count;
  uint32_t free_room; /* QZI_FREE_ROOM; 0: no list yet */
  uint32_t cpu;
  uint64_t serial; /* serial number given out last */
  struct qzi_kernel *kernel;
  struct qzi_exceptions *exceptions; /* of its kernel thread (exceptions.h), or NULL */

  struct qzi_deque deque; /* new threads and tasks: the owner takes the youngest first, thieves the oldest */
  struct qzi_ring fifo;   /* threads that ran before: oldest first */

  QZI_LINE _Atomic(uint32_t) revoked; /* a thief requests the queues */
  _Atomic(uint32_t) answered;         /* the owner has seen `revoked` and stays out of its queues */
  qzi_spinlock thief;                 /* held by a thief; only one at a time */
  _Atomic(uint32_t) status;           /* enum qzi_status */

  QZI_LINE qzi_spinlock timer_lock;
  uint32_t timer_count, timer_capacity;
  struct qzi_thread **timer_heap;
  _Atomic(uint64_t) timer_first_ns; /* earliest deadline of the heap; QZI_NEVER: none */
} __attribute__((aligned(128)));

struct qzi_runtime {
  unsigned processor_count;
  bool membarrier; /* supported by the kernel; else owners use fences */
  bool pin;
  uint32_t spin_ns; /* how long idle processors and adaptive waits spin */
  size_t stack_bytes;
  size_t stack_half; /* minimum stack of a call on its parent's stack */
  size_t max_threads;
  size_t page_bytes;
  struct qzi_processor *processors;
  unsigned cpu_count;
  uint32_t *cpus; /* the CPUs that processors are pinned to; cpu_count of them */
  bool started;   /* a thread has been created */

  QZI_LINE _Atomic(uint32_t) idle;      /* number of processors that are not QZI_RUNNING, plus QZI_FENCED_WAKES */
  _Atomic(uint32_t) searching;          /* running processors that search for work */
  _Atomic(struct qzi_kernel *) napping; /* one of the searching kernel threads that nap */
  _Atomic(uint32_t) in_io;              /* threads inside blocking regions */
  _Atomic(uint32_t) keeper;             /* index + 1 of the parked processor that watches the timers */
  _Atomic(uint64_t) keeper_ns;          /* until when it sleeps */

  QZI_LINE qzi_spinlock lock; /* guards `spare` and the injected threads */
  struct qzi_kernel *spare;
  struct qzi_thread *injected_first, *injected_last; /* ready threads without a processor */
  _Atomic(uint32_t) injected_count;
};
extern struct qzi_runtime qzi_runtime;

/* ---- the biased lock ---- */

void qzi_enter_slow(struct qzi_processor *processor);
/* Memory barrier on all CPUs, for the thief; the counterpart of the owner's qzi_light_fence. */
void qzi_heavy_fence(void);

static inline void qzi_light_fence(void) {
  if (QZI_LIKELY(qzi_runtime.membarrier))
    atomic_signal_fence(memory_order_seq_cst);
  else
    __sync_synchronize();
}
static inline void qzi_enter(struct qzi_processor *p) {
  atomic_store_explicit(&p->busy, 1, memory_order_relaxed);
  qzi_light_fence();
  if (QZI_UNLIKELY(atomic_load_explicit(&p->revoked, memory_order_acquire))) qzi_enter_slow(p);
}
static inline void qzi_leave(struct qzi_processor *p) { atomic_store_explicit(&p->busy, 0, memory_order_release); }

/* ---- switching (switch.h, scheduler.c) ---- */

/* Calls start(argument) so that qzi_leave_call can end it from any depth; *exit_sp is its token. */
void *qzi_call(void *start, void *argument, void **exit_sp);
__attribute__((noreturn)) void qzi_leave_call(void *exit_sp, void *result);

/* Turns the task that was taken from the deque of `from` into a thread, with a descriptor of `from` and a serial number
 * of p. Under the biased lock of `from`. Implemented in thread/task.c. */
struct qzi_thread *qzi_task_becomes(struct qzi_processor *from, struct qzi_processor *p, struct qzi_scope *scope,
                                    const struct qzi_entry *entry);
/* Returns how many places of p's own deque, which is empty, may hold tasks, at most `most`: as many descriptors are
 * reserved. Tasks that another processor's deque had, and for which there is no such place, become threads. */
uint32_t qzi_tasks_room(struct qzi_processor *p, uint32_t most);
/* Takes the youngest entry of p's deque; p has no calls in place. */
static inline __attribute__((always_inline)) struct qzi_thread *qzi_deque_take(struct qzi_processor *p) {
  struct qzi_deque *deque = &p->deque;
  if (QZI_LIKELY(QZI_GET(deque->bottom) == deque->base)) return NULL;
  qzi_deque_ahead_youngest(deque);
  struct qzi_entry *entry = qzi_deque_youngest(deque);
  if (!entry) return NULL;
  struct qzi_thread *thread = QZI_GET(entry->slot);
  qzi_deque_taken(deque, entry);
  if (QZI_LIKELY(!qzi_is_task(thread))) return thread;
  qzi_deque_limit(deque, deque->limit - 1);
  return qzi_task_becomes(p, p, qzi_task_scope(thread), entry);
}

/* Takes the thread to run next from the caller's own queues; returns NULL if there is none. Under the biased lock. */
struct qzi_thread *qzi_take(struct qzi_processor *p);
/* Makes the initial context of a new thread, so that it can be switched to. */
void qzi_prepare(struct qzi_thread *thread);
/* Leaves the calling thread for good; after(arg) runs after the switch away from its stack. Runs `next`, or with
 * NULL any ready thread. */
__attribute__((noreturn)) void qzi_switch_away(struct qzi_thread *next, void (*after)(void *), void *arg);
/* Runs the caller's scheduler loop until the process ends. */
__attribute__((noreturn)) void qzi_schedule(struct qzi_kernel *kernel);
/* The first function of a thread on its own stack. */
__attribute__((noreturn)) void qzi_thread_main(void (*after)(void *), void *arg);

/* Called after work has been queued: wakes a processor if one sleeps and none searches. A fence must lie between
 * queueing and looking at `idle`: the caller's, or the barrier that a processor executes before it sleeps (idle.c).
 * A thread that enters a blocking region executes none (blocking_region.c). */
void qzi_wake_one(struct qzi_processor *self);
void qzi_wake_idle_slow(struct qzi_processor *self);
/* In `idle`, so that one look is enough: code that queues work executes a fence before it looks for idle processors. */
#define QZI_FENCED_WAKES (UINT32_C(1) << 31)
static inline uint32_t qzi_idle(void) { return atomic_load(&qzi_runtime.idle) & ~QZI_FENCED_WAKES; }
static inline bool qzi_look_for_idle(void) {
  atomic_signal_fence(memory_order_seq_cst);
  return QZI_UNLIKELY(QZI_PEEK(*(uint32_t *)&qzi_runtime.idle) != 0);
}
static inline bool qzi_some_idle(void) {
  if (QZI_LIKELY(!qzi_look_for_idle())) return false;
  __sync_synchronize();
  return qzi_idle() != 0;
}
static inline void qzi_wake_idle(struct qzi_processor *self) {
  if (qzi_look_for_idle()) qzi_wake_idle_slow(self);
}
/* Steals for `p`, which searches. Returns NULL if it got nothing; *young: there were threads, but too young to be
 * taken. */
struct qzi_thread *qzi_steal(struct qzi_processor *p, struct qzi_kernel *kernel, bool *young);
/* Take and return exclusive access to the queues of another processor. */
bool qzi_revoke(struct qzi_processor *victim);
void qzi_give_back(struct qzi_processor *victim);

/* ---- idle.c ---- */

void qzi_inject(struct qzi_thread *thread);
struct qzi_thread *qzi_injected(void);
struct qzi_processor *qzi_claim_processor(uint32_t status, unsigned first);
bool qzi_claim_this(struct qzi_processor *p, uint32_t status);
bool qzi_idle_wanted(void);
bool qzi_work_at(struct qzi_processor *p);
bool qzi_work_anywhere(const struct qzi_processor *self);
struct qzi_passed qzi_run_from_scheduler(struct qzi_kernel *kernel, struct qzi_thread *next);

/* Returns the lowest usable address of the thread's own stack. For stacks of the default size it is computed from
 * the descriptor's address, so that a cache line of the descriptor that is otherwise unused stays untouched. */
static inline char *qzi_own_low(const struct qzi_thread *thread) {
  if (QZI_UNLIKELY(thread->stack_class != 0)) return thread->own_low;
  return (char *)(((uintptr_t)thread | (qzi_runtime.page_bytes - 1)) + 1 - qzi_runtime.stack_bytes);
}

/* ---- start-up (runtime.c, config.c) ---- */

int qzi_config(const qz_options *options); /* 0 or EINVAL */
void qzi_start(void);                      /* when the first thread is created */

/* ---- timers (timer.c) ---- */

/* Fires the due timers of all processors. */
void qzi_timers_run(void);
uint64_t qzi_timers_first(void); /* QZI_NEVER: there is none */
extern _Atomic(uint32_t) qzi_timer_count;
static inline bool qzi_timers_pending(void) {
  return atomic_load_explicit(&qzi_timer_count, memory_order_relaxed) != 0;
}
void qzi_timer_arm(struct qzi_thread *thread);
void qzi_timer_disarm(struct qzi_thread *thread);

/* ---- stack overflow (stack_overflow.c) ---- */

void qzi_overflow_start(void);  /* once */
void qzi_overflow_kernel(void); /* for each kernel thread */

/* ---- deadlock (deadlock.c) ---- */

/* Called when nothing runs, nothing is ready and nothing can become ready: ends the program, or reports which thread
 * waits for what and aborts. */
__attribute__((noreturn)) void qzi_deadlock(void);

#pragma GCC visibility pop
#endif
