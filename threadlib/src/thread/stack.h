/* Stacks and the descriptors in them: allocation, release, and iteration over all that were ever made. */
#ifndef QZI_STACK_H
#define QZI_STACK_H

#include "threadlib/src/scheduler/processor.h"

#pragma GCC visibility push(hidden)

/* Returns a descriptor with a stack of at least `stack_bytes` (0: default), or NULL with *error EAGAIN or ENOMEM. */
struct qzi_thread *qzi_stack_get(struct qzi_processor *p, size_t stack_bytes, int *error);
/* Adds free descriptors to p's list, below those that are there; returns false if there are none, and no more may be
 * made. The list must not be nearly full. */
bool qzi_stack_more(struct qzi_processor *p);
/* For a stack of another size, or when the processor's list is full. */
void qzi_stack_put_slow(struct qzi_processor *p, struct qzi_thread *thread);
/* Calls visit for every descriptor ever made. No other kernel thread may run at the same time. */
void qzi_stack_each(void (*visit)(struct qzi_thread *thread, void *arg), void *arg);
void qzi_stack_forked(void);

#define QZI_FREE_ROOM 4096u /* maximum number of free descriptors in a processor's list */

/* Puts a descriptor on the free list, so that it may be used again. Under the biased lock. */
static inline void qzi_stack_put(struct qzi_processor *p, struct qzi_thread *thread) {
  __atomic_store_n(&thread->pub.serial, 0, __ATOMIC_RELAXED);
  qzi_life_set(thread, QZI_FREE);
  if (QZI_UNLIKELY(thread->stack_class != 0 || p->free_count >= p->free_room)) {
    qzi_stack_put_slow(p, thread);
    return;
  }
  p->free[p->free_count++] = thread;
}

#pragma GCC visibility pop
#endif
