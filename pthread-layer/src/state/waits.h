/* Waits of a thread for objects: what they publish when they begin and end.
 *
 * Owns:    nothing: it is in the thread (thread.h). Writer and reader: the calling thread.
 */
#ifndef QZL_WAITS_H
#define QZL_WAITS_H

#include "usual_waits.h"

#pragma GCC visibility push(hidden)

/* A wait that ended with qzl_wait_end_later is written down. */
void qzl_write_waited_slow(struct qzl_thread *me);
static inline void qzl_write_waited(struct qzl_thread *me) {
  if (me->waited.index) qzl_write_waited_slow(me);
}
/* Where not all is as usual, or might not be any more. */
void qzl_wait_from(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state);
/* Where the calling function stands. */
__attribute__((always_inline)) static inline struct qz_frame qzl_frame_here(void) {
  uint64_t pc, sp, fp;
#if defined(__x86_64__)
  __asm__ volatile("leaq 0f(%%rip), %0\n0:\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#elif defined(__aarch64__)
  __asm__ volatile("adr %0, 0f\n0:\tmov %1, sp\n\tmov %2, x29" : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#endif
  return (struct qz_frame){.pc = pc, .sp = sp, .fp = fp};
}
/* Part of the function that waits: the frame must last as long as the wait. */
__attribute__((always_inline)) static inline void qzl_wait_begin(struct qzl_wait *wait, struct qzl_thread *me,
                                                                 uint32_t index, unsigned state) {
  wait->frame = qzl_frame_here();
  if (__builtin_expect(!qzl_is_usual(me) || !qzl_has_own(index), 0)) {
    qzl_wait_from(wait, me, index, state);
    return;
  }
  qzl_write_waited(me);
  qzl_wait_usual(wait, me, index, 0, state);
}
/* Where all is as usual, and the object has a record of its own. */
__attribute__((always_inline)) static inline void qzl_wait_begin_usual(struct qzl_wait *wait, struct qzl_thread *me,
                                                                       uint32_t index, uint32_t then, unsigned state) {
  wait->frame = qzl_frame_here();
  qzl_write_waited(me);
  qzl_wait_usual(wait, me, index, then, state);
}
/* Finds out whether all is as usual. */
void qzl_look_at_regime(struct qzl_thread *me);
/* counted: 1: it had to wait. */
void qzl_wait_end(struct qzl_wait *wait, int counted);
/* Of one that began with state SPINNING. */
void qzl_spin_end(struct qzl_wait *wait);
/* The same for threads that have the lock now: how long they waited is written down by qzl_write_waited, when they have
 * let it go (qzl_write_at_release), for until then others wait. */
void qzl_wait_end_later(struct qzl_wait *wait);
void qzl_spin_end_later(struct qzl_wait *wait);

#pragma GCC visibility pop
#endif
