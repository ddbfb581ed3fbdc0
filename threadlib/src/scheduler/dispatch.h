/* Selection of a processor's next thread, and the switch to it: code that is expanded in the few functions that switch.
 *
 * Owns:    the order of decisions (described in scheduler.c), and what a switch publishes.
 * Writer:  a processor's own kernel thread, under its biased lock.
 * Reader:  scheduler.c, wait.c.
 * Must not: be included by files that do not switch.
 */
#ifndef QZI_DISPATCH_H
#define QZI_DISPATCH_H

#include "exceptions.h"
#include "processor.h"
#include "sanitizers.h"

#pragma GCC visibility push(hidden)

#define QZI_STREAK_LIMIT 64u

struct qzi_thread *qzi_take_fairly(struct qzi_processor *p);
struct qzi_thread *qzi_take_instead(struct qzi_processor *p, struct qzi_thread *next);
struct qzi_passed qzi_switch_to_scheduler(struct qzi_processor *p, struct qzi_thread *self, void (*after)(void *),
                                          void *arg);
/* qzi_switch_to, called where it is rare. */
struct qzi_passed qzi_switch_to_other(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *next,
                                      void (*after)(void *), void *arg);

/* The last step of every switch, on the new context. */
static inline void qzi_arrive(struct qzi_passed passed) {
  qzi_leave(qzi_processor_self());
  if (passed.after) passed.after(passed.arg);
}

/* *queued: it was in a queue of p, so that it counts as dequeued. */
static inline __attribute__((always_inline)) struct qzi_thread *qzi_take_uncounted(struct qzi_processor *p,
                                                                                   bool *queued) {
  uint32_t tick = atomic_load_explicit(&p->tick, memory_order_relaxed) + 1;
  atomic_store_explicit(&p->tick, tick, memory_order_relaxed);
  struct qzi_thread *thread = NULL;
  if (QZI_UNLIKELY(tick % 64 == 0)) thread = qzi_take_fairly(p);
  if (QZI_LIKELY(!thread)) {
    thread = atomic_load_explicit(&p->next, memory_order_relaxed);
    if (thread) {
      atomic_store_explicit(&p->next, NULL, memory_order_relaxed);
      if (QZI_UNLIKELY(++p->streak >= QZI_STREAK_LIMIT)) thread = qzi_take_instead(p, thread);
    } else {
      p->streak = 0;
      thread = qzi_deque_take(p);
      if (!thread) thread = qzi_ring_take_oldest(&p->fifo);
      if (!thread) {
        *queued = false;
        return qzi_injected();
      }
    }
  }
  *queued = true;
  return thread;
}
static inline __attribute__((always_inline)) struct qzi_thread *qzi_take_next(struct qzi_processor *p) {
  bool queued;
  struct qzi_thread *thread = qzi_take_uncounted(p, &queued);
  if (queued) qzi_pub_dequeued(&p->head.pub);
  return thread;
}

/* Switches from thread `self` (NULL: it has ended) to `next` on the same processor, under the biased lock. */
static inline __attribute__((always_inline)) struct qzi_passed qzi_switch_to(struct qzi_processor *p,
                                                                             struct qzi_thread *self,
                                                                             struct qzi_thread *next,
                                                                             void (*after)(void *), void *arg) {
  struct qzi_context *gone;
  if (QZI_UNLIKELY(qzi_life(next) == QZI_NEW)) qzi_prepare(next);
  qzi_current_set(p, next);
  qzi_pub_switch_run(&p->head.pub, &next->pub);
  qzi_sanitize_to_thread(self ? &self->sanitizer_stack : NULL, next);
  return qzi_switch(qzi_fp_leave(), self ? &self->context : &gone, next->context, after, arg);
}

/* Leaves `self`, which waits: the usual case while something is published, in which all is published at once. Nobody
 * can wake the caller before `after` has run, so its chain is given as late as that. */
static inline __attribute__((always_inline)) struct qzi_passed
qzi_park_published(struct qzi_processor *p, struct qzi_thread *self, void (*after)(void *), void *arg) {
  struct qzi_publisher *pub = &p->head.pub;
  uint64_t control = qzi_fp_leave(); /* early, because instructions right after it wait */
  qzi_pub_now(pub, QZ_STATE_OVERHEAD);
  qzi_enter(p);
  bool queued;
  struct qzi_thread *next = qzi_take_uncounted(p, &queued);
  if (QZI_LIKELY(next && qzi_pub_known(&next->pub))) {
    if (QZI_UNLIKELY(qzi_life(next) == QZI_NEW)) qzi_prepare(next);
    qzi_pub_waits_while(pub, &self->pub, &next->pub, queued);
    qzi_current_set(p, next);
    qzi_pub_run_usual(pub, &next->pub, QZ_STATE_USEFUL);
    qzi_sanitize_to_thread(&self->sanitizer_stack, next);
    return qzi_switch(control, &self->context, next->context, after, arg);
  }
  qzi_path_give(pub, &self->pub, QZ_ARRIVAL_OWN);
  if (queued) qzi_pub_dequeued(pub);
  return next ? qzi_switch_to_other(p, self, next, after, arg) : qzi_switch_to_scheduler(p, self, after, arg);
}
/* The body of qzi_park. `published`: the caller has seen that something is. */
static inline __attribute__((always_inline)) void qzi_park_here(struct qzi_processor *p, struct qzi_thread *self,
                                                                void (*after)(void *), void *arg, bool published) {
  self->blocked = 1;
  struct qzi_exceptions exceptions = qzi_exceptions_save(p);
  struct qzi_passed passed;
  if (published && QZI_LIKELY(qzi_pub_may_switch(&p->head.pub, &self->pub))) {
    passed = qzi_park_published(p, self, after, arg);
  } else {
    qzi_pub_park(&p->head.pub, &self->pub);
    qzi_enter(p);
    struct qzi_thread *next = qzi_take_next(p);
    if (published)
      passed = next ? qzi_switch_to_other(p, self, next, after, arg) : qzi_switch_to_scheduler(p, self, after, arg);
    else
      passed = QZI_LIKELY(next != NULL) ? qzi_switch_to(p, self, next, after, arg)
                                        : qzi_switch_to_scheduler(p, self, after, arg);
  }
  qzi_sanitize_arrived(self->sanitizer_stack);
  qzi_exceptions_restore(exceptions);
  qzi_arrive(passed);
}

#pragma GCC visibility pop
#endif
