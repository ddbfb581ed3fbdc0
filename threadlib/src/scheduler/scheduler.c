/* Which thread runs next, and how a thread gives up its processor to another.
 *
 * Owns:    the order of ready threads on one processor; parking, waking, yielding.
 * Writer:  a processor's own kernel thread, under its biased lock.
 * Reader:  thread.c, join.c, fork_join.c, blocking_region.c, and every synchronization object through park.h.
 * Must not: search other processors (steal.c), or sleep (worker.c).
 *
 * Order: first the thread made ready last (it shares cache lines with its waker), then new threads, youngest first
 * (depth-first order bounds memory, and lets the joiner call the thread), then threads that ran before, oldest first.
 * Every 64th decision uses the reverse order, so that no ready thread waits forever.
 */
#include "dispatch.h"

#include <unistd.h>

/* Takes the oldest entry of p's deque that is not called in place. */
static struct qzi_thread *oldest(struct qzi_processor *p) {
  struct qzi_thread *slot;
  const struct qzi_entry *entry = qzi_deque_leaves(&p->deque, &slot);
  if (!entry) return NULL;
  return qzi_is_task(slot) ? qzi_task_becomes(p, p, qzi_task_scope(slot), entry) : slot;
}

/* Every 64th decision: runs due timers, then takes a thread without a processor, else the oldest one. Returns NULL
 * if there is none. */
__attribute__((noinline)) struct qzi_thread *qzi_take_fairly(struct qzi_processor *p) {
  if (qzi_timers_pending()) {
    qzi_leave(p);
    qzi_timers_run();
    qzi_enter(p);
  }
  struct qzi_thread *thread = qzi_injected();
  if (thread) qzi_pub_enqueued(&p->head.pub); /* it was in no processor's queue, but the caller counts it as dequeued */
  if (!thread) thread = qzi_ring_take_oldest(&p->fifo);
  if (!thread) thread = oldest(p);
  return thread;
}

/* For two threads that have woken each other for so long that other threads had to wait. */
__attribute__((noinline)) struct qzi_thread *qzi_take_instead(struct qzi_processor *p, struct qzi_thread *next) {
  p->streak = 0;
  qzi_ring_push(&p->fifo, next);
  return qzi_ring_take_oldest(&p->fifo);
}

struct qzi_thread *qzi_take(struct qzi_processor *p) {
  return qzi_take_next(p);
}

void qzi_prepare(struct qzi_thread *thread) {
  qzi_life_set(thread, QZI_ALIVE);
  thread->pub.stack_low = (uintptr_t)qzi_own_low(thread);
  thread->pub.stack_high = (uintptr_t)thread;
  thread->exit_sp = NULL;
  qzi_sanitize_fresh(thread);
#ifdef QZI_ASAN
  thread->sanitizer_stack = NULL;
#endif
  thread->context = qzi_context_make((char *)thread, qzi_thread_main);
}

/* Switches from thread `self` to the scheduler loop of its kernel thread, because no thread is ready here. */
__attribute__((noinline)) struct qzi_passed qzi_switch_to_scheduler(struct qzi_processor *p, struct qzi_thread *self,
                                                                    void (*after)(void *), void *arg) {
  struct qzi_context *gone;
  struct qzi_kernel *kernel = p->kernel;
  if (QZI_UNLIKELY(!kernel->context)) qzi_start(); /* main blocks before it has created a thread */
  qzi_current_set(p, NULL);
  qzi_pub_leave(&p->head.pub, QZ_STATE_OVERHEAD);
  qzi_sanitize_to_scheduler(self ? &self->sanitizer_stack : NULL, kernel);
  return qzi_switch(qzi_fp_leave(), self ? &self->context : &gone, kernel->context, after, arg);
}

__attribute__((noinline)) struct qzi_passed qzi_switch_to_other(struct qzi_processor *p, struct qzi_thread *self,
                                                                struct qzi_thread *next, void (*after)(void *),
                                                                void *arg) {
  return qzi_switch_to(p, self, next, after, arg);
}

static __attribute__((noinline)) void park_published(void (*after)(void *), void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_park_here(p, qzi_self(), after, arg, true);
}
static __attribute__((noinline)) void park_usual(void (*after)(void *), void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_park_here(p, qzi_self(), after, arg, false);
}
void qzi_park(void (*after)(void *), void *arg) {
  if (qzi_publishing())
    park_published(after, arg);
  else
    park_usual(after, arg);
}

void qzi_handoff(struct qzi_thread *thread, void (*after)(void *), void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *self = qzi_self();
  self->blocked = 1;
  thread->blocked = 0;
  struct qzi_exceptions exceptions = qzi_exceptions_save(p);
  qzi_enter(p);
  struct qzi_passed passed = qzi_switch_to(p, self, thread, after, arg);
  qzi_sanitize_arrived(self->sanitizer_stack);
  qzi_exceptions_restore(exceptions);
  qzi_arrive(passed);
}

void qzi_switch_away(struct qzi_thread *next, void (*after)(void *), void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_enter(p);
  if (next)
    next->blocked = 0;
  else
    next = qzi_take_next(p);
  if (next)
    qzi_switch_to(p, NULL, next, after, arg);
  else
    qzi_switch_to_scheduler(p, NULL, after, arg);
  __builtin_unreachable();
}

/* Publishes waking as overhead of the thread that wakes, if a thread runs. */
static inline void waking(struct qzi_processor *p, unsigned state) {
  if (p->head.current) qzi_pub_state(&p->head.pub, state);
}

static inline __attribute__((always_inline)) void ready_next(struct qzi_thread *thread, struct qzi_thread *away) {
  struct qzi_processor *p = qzi_processor_checked();
  thread->blocked = 0;
  waking(p, QZ_STATE_WAKING);
  qzi_enter(p);
  qzi_pub_ready(&p->head.pub, &thread->pub);
  struct qzi_thread *before = atomic_load_explicit(&p->next, memory_order_relaxed);
  atomic_store_explicit(&p->away, away, memory_order_relaxed);
  atomic_store_explicit(&p->next, thread, memory_order_release);
  if (before) qzi_ring_push(&p->fifo, before);
  qzi_leave(p);
  qzi_wake_idle(p);
  waking(p, QZ_STATE_USEFUL);
}

void qzi_ready(struct qzi_thread *thread) { ready_next(thread, NULL); }
void qzi_ready_away(struct qzi_thread *thread) { ready_next(thread, thread); }

void qzi_ready_last(struct qzi_thread *thread) {
  struct qzi_processor *p = qzi_processor_checked();
  thread->blocked = 0;
  waking(p, QZ_STATE_WAKING);
  qzi_enter(p);
  qzi_pub_ready(&p->head.pub, &thread->pub);
  qzi_ring_push(&p->fifo, thread);
  qzi_leave(p);
  qzi_wake_idle(p);
  waking(p, QZ_STATE_USEFUL);
}

static void wake_after(void *processor) { qzi_wake_one(processor); }

/* Puts the caller at the end of the queue, if another thread is ready. New threads have precedence. Between taking
 * the next thread and queueing the caller, no thread is in a queue: a processor that looks for work at that moment
 * goes to sleep, and no wake-up would follow, since no thread becomes ready here. So, if there are idle processors,
 * the next context calls qzi_wake_one. */
__attribute__((noinline)) void qzi_yield(void) {
  struct qzi_processor *p = qzi_processor_checked();
  struct qzi_thread *self = qzi_self();
  qzi_enter(p);
  struct qzi_thread *next = qzi_take_next(p);
  if (!next) {
    qzi_leave(p);
    return;
  }
  qzi_pub_park(&p->head.pub, &self->pub);
  struct qzi_exceptions exceptions = qzi_exceptions_save(p);
  qzi_pub_ready(&p->head.pub, &self->pub);
  qzi_ring_push(&p->fifo, self);
  /* the biased lock, which the next context releases, keeps thieves out until the caller's context is saved */
  struct qzi_passed passed = qzi_switch_to(p, self, next, qzi_some_idle() ? wake_after : NULL, p);
  qzi_sanitize_arrived(self->sanitizer_stack);
  qzi_exceptions_restore(exceptions);
  qzi_arrive(passed);
}

/* The fast yield, for the case that only threads that ran before are ready: queues the caller and takes the oldest.
 * The caller is queued first: so the queue never seems empty, and it is not necessary to look for sleepers. The
 * numbers of threads enqueued and dequeued are left unchanged, since both would increase by one. Returns false,
 * without having switched, if the case is uncommon. */
static inline __attribute__((always_inline)) bool take_turns(struct qzi_processor *p, struct qzi_thread *self,
                                                             bool published) {
#if defined(QZI_TSAN) || defined(QZI_ASAN)
  return false;
#else
  struct qzi_ring *fifo = &p->fifo;
  if (published && !qzi_pub_may_switch(&p->head.pub, &self->pub)) return false;
  uint64_t control = qzi_fp_leave();
  qzi_enter(p);
  uint32_t tick = atomic_load_explicit(&p->tick, memory_order_relaxed) + 1;
  uint32_t top = atomic_load_explicit(&fifo->top, memory_order_relaxed);
  uint32_t bottom = atomic_load_explicit(&fifo->bottom, memory_order_relaxed);
  if (QZI_UNLIKELY(tick % 64 == 0 || atomic_load_explicit(&p->next, memory_order_relaxed) || bottom == top ||
                   QZI_GET(p->deque.bottom) != QZI_GET(p->deque.top)))
    return false; /* the lock remains held; the caller takes it again */
  struct qzi_thread *next = fifo->slot[top & fifo->mask];
  if (QZI_UNLIKELY(qzi_life(next) == QZI_NEW)) return false;
  if (published && !qzi_pub_known(&next->pub)) return false;
  qzi_ring_ahead(fifo, top, bottom);
  if (published) qzi_pub_now(&p->head.pub, QZ_STATE_OVERHEAD);
  struct qzi_exceptions exceptions = qzi_exceptions_save(p);
  fifo->slot[bottom & fifo->mask] = self;
  atomic_store_explicit(&fifo->bottom, bottom + 1, memory_order_release);
  atomic_store_explicit(&fifo->top, top + 1, memory_order_release);
  atomic_store_explicit(&p->tick, tick, memory_order_relaxed);
  p->streak = 0;
  if (published) {
    qzi_pub_turn(&p->head.pub, &self->pub, &next->pub);
    qzi_current_set(p, next);
    qzi_pub_run_usual(&p->head.pub, &next->pub, QZ_STATE_USEFUL);
  } else {
    qzi_current_set(p, next);
    qzi_pub_store(&p->head.pub.switches, p->head.pub.switches + 1);
  }
  struct qzi_passed passed = qzi_switch(control, &self->context, next->context, NULL, NULL);
  p = qzi_processor_self();
  if (QZI_UNLIKELY(p->exceptions)) *p->exceptions = exceptions;
  qzi_leave(p);
  if (QZI_UNLIKELY(passed.after)) passed.after(passed.arg);
  return true;
#endif
}

static __attribute__((noinline)) void yield_published(struct qzi_thread *self) {
  if (QZI_UNLIKELY(!take_turns(qzi_processor_self(), self, true))) qzi_yield();
  if (QZI_UNLIKELY(__atomic_load_n(&qzi_spin_marked, __ATOMIC_RELAXED))) qzi_spin_go_on();
}
static __attribute__((noinline)) void yield_usual(struct qzi_thread *self) {
  if (QZI_UNLIKELY(!take_turns(qzi_processor_self(), self, false))) {
    qzi_yield();
    qzi_spin_go_on();
  }
}

/* Only chooses, so that it needs no frame of its own. A caller that is a thread also has a processor. */
void qz_yield(void) {
  struct qzi_thread *self = qzi_thread_self();
  if (QZI_UNLIKELY(!self)) {
    qzi_yield();
    qzi_spin_go_on();
  } else if (qzi_publishing()) {
    yield_published(self);
  } else {
    yield_usual(self);
  }
}

/* ---- a kernel thread's scheduler loop ---- */

struct qzi_passed qzi_run_from_scheduler(struct qzi_kernel *kernel, struct qzi_thread *next) {
  struct qzi_processor *p = kernel->processor;
  qzi_enter(p);
  if (qzi_life(next) == QZI_NEW) qzi_prepare(next);
  qzi_current_set(p, next);
  qzi_pub_switched(&p->head.pub);
  qzi_pub_go_on(&p->head.pub, &next->pub);
  qzi_sanitize_to_thread(&kernel->sanitizer_stack, next);
  struct qzi_passed passed = qzi_switch(qzi_fp_leave(), &kernel->context, next->context, NULL, NULL);
  qzi_sanitize_arrived(kernel->sanitizer_stack);
  return passed;
}
