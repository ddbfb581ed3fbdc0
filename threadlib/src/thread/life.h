/* Start and end of threads, and waiting for them: the interface between the files of this folder and the scheduler's
 * first frame. */
#ifndef QZI_LIFE_H
#define QZI_LIFE_H

#include "threadlib/src/scheduler/processor.h"

#pragma GCC visibility push(hidden)

enum join_word {
  QZI_JOIN_TIMED = 1, /* added to the joining thread: it waits with a deadline */
  QZI_JOIN_ENDED = 1, /* ended, and no joiner has taken it */
  QZI_JOIN_DETACHED = 2,
  QZI_JOIN_TAKEN = 3, /* a joiner has taken it */
  QZI_JOIN_ENDING = 4 /* it is ending and about to claim its joiner, which waits for QZI_JOIN_ENDED */
};
static inline struct qzi_thread *qzi_joiner(uintptr_t join) {
  return (struct qzi_thread *)(join > QZI_JOIN_ENDING ? join & ~(uintptr_t)QZI_JOIN_TIMED : 0);
}

/* Runs a thread that has not started on the caller's stack, under its own identity; the caller waits for it. While
 * publishing is on, the caller's state is then overhead until it publishes that application code continues. */
void qzi_run_inline(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child);
/* The same while publishing is on: the parent is shown as waiting at the join with call site `site`. */
void qzi_run_inline_published(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child,
                              uint64_t site);
/* The same while work and span are recorded, between qzi_span_sync_begins and qzi_span_sync_ended; merge NULL: for a
 * join that waits for nothing else, after qzi_span_sync_begins. */
void qzi_run_inline_span(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child, uint64_t site,
                         struct qzi_merge *merge);
/* A thread starts on its parent's stack. */
static inline void qzi_inline_begins(struct qzi_processor *p, const struct qzi_thread *parent,
                                     struct qzi_thread *child) {
  qzi_life_set(child, QZI_ALIVE);
  child->pub.stack_low = parent->pub.stack_low;
  child->pub.stack_high = parent->pub.stack_high;
#ifdef QZI_TSAN
  child->sanitizer_fiber = parent->sanitizer_fiber; /* a TSan fiber belongs to the stack */
#endif
  qzi_current_set(p, child);
}
/* A thread that ran on its parent's stack has ended, and the parent continues. qzi_inline_over updates the package's
 * state, qzi_inline_ended also the published state. */
static inline __attribute__((always_inline)) void qzi_inline_over(struct qzi_processor *p, struct qzi_thread *parent,
                                                                  struct qzi_thread *child) {
  qzi_life_set(child, QZI_ENDED);
#ifdef QZI_TSAN
  child->sanitizer_fiber = NULL;
#endif
  qzi_current_set(p, parent);
}
static inline __attribute__((always_inline)) void qzi_inline_ended(struct qzi_processor *p, struct qzi_thread *parent,
                                                                   struct qzi_thread *child) {
  qzi_inline_over(p, parent, child);
  qzi_pub_run_as(&p->head.pub, &parent->pub, QZ_STATE_MAKING);
  qzi_pub_ended(&p->head.pub, &child->pub);
}
/* The same, and publishes the end of the wait at the join `object`, whose call site is `site`. */
static inline __attribute__((always_inline)) void qzi_inline_ended_published(struct qzi_processor *p,
                                                                             struct qzi_thread *parent,
                                                                             struct qzi_thread *child, uint64_t site,
                                                                             uint32_t object) {
  struct qzi_publisher *publisher = &p->head.pub;
  uint64_t key = QZI_PUB_KEY(QZ_KIND_JOIN, object);
  qzi_inline_over(p, parent, child);
  if (QZI_LIKELY(qzi_pub_call_usual(publisher, &parent->pub, &child->pub))) {
    qzi_pub_run_usual(publisher, &parent->pub, QZ_STATE_MAKING);
    qzi_pub_call_ended(publisher, &child->pub);
  } else {
    qzi_pub_run_as(publisher, &parent->pub, QZ_STATE_MAKING);
    qzi_pub_ended(publisher, &child->pub);
  }
  if (QZI_UNLIKELY(!qzi_pub_pop_fast(&parent->pub, key))) qzi_pub_pop(&parent->pub, key);
  qzi_pub_joined(publisher, site, object);
}
__attribute__((noreturn)) void qzi_thread_end(struct qzi_thread *self, void *result);
void qzi_thread_free(struct qzi_thread *thread);
/* Returns the number of bytes that are left on the caller's stack. */
static inline size_t qzi_stack_left(const struct qzi_thread *self) {
  return (size_t)((uintptr_t)__builtin_frame_address(0) - self->pub.stack_low);
}
/* So many children of the scope have ended on a stack other than their parent's. Returns the parent if it must be made
 * ready, else NULL.
 */
struct qzi_scope;
struct qzi_thread *qzi_scope_child_ended(struct qzi_scope *scope, uint32_t children);
/* While publishing is on: the child begins to run on its own stack for its scope, and ends. */
void qzi_scope_child_begins(struct qzi_thread *child);
void qzi_scope_child_ends(struct qzi_thread *child);
/* The start routine of a thread of a parallel loop, and the loop body that it calls. */
void qzi_run_range(void *range);
uintptr_t qzi_range_body(const void *range);

#pragma GCC visibility pop
#endif
