/* Calls in place: tasks that their parent calls in qz_sync and that are not threads yet.
 *
 * Owns:    struct qzi_in_place, in the frame of qz_sync; qzi_processor.in_place, the innermost one; and their number.
 * Writer:  the kernel thread that runs the call. Hooks in signal handlers read and change it, but not while the
 *          processor is `busy`.
 * Reader:  qzi_self and other code that needs the running thread.
 * Must not: exist across a switch: code that gives up the processor calls qzi_self first, which turns all calls in
 * place on that stack into threads. So none ever moves to another processor.
 *
 * During a call in place, qzi_tls_thread is NULL, and the processor's `current` is the thread on whose stack the call
 * runs.
 */
#ifndef QZI_IN_PLACE_H
#define QZI_IN_PLACE_H

#include "threadlib/src/scheduler/processor.h"

#pragma GCC visibility push(hidden)

struct qzi_in_place {
  void *sp, *fp; /* stack and frame pointer that qz_exit restores (entry_x86_64.S); elsewhere the token of qzi_call */
  struct qzi_in_place *outer; /* the next outer one on this stack that is not a thread yet; NULL: none */
  struct qzi_scope *scope;
  struct qzi_task task;
  struct qzi_thread *thread; /* the thread that the call has become */
  struct qzi_thread *caller; /* valid with `thread`: the thread that called it */
};

/* Turns all calls in place on the stack that p runs into threads; the innermost one becomes p's current thread.
 * Takes p's biased lock unless the caller holds it. */
void qzi_in_place_become(struct qzi_processor *p);

/* qzi_in_place_call calls entry(argument) so that qz_exit can end the call from any depth; qzi_in_place_usual
 * returns false if that is not possible, because the caller's floating-point control words are not the usual ones.
 * An exception also stops there if the calling function begins with QZI_IN_PLACE_FRAME. Always inlined: the clobber
 * list makes the compiler save the callee-saved registers in the prologue of the calling function. */
#if defined(__x86_64__)
#define QZI_IN_PLACE_FRAME __asm__ volatile(".cfi_personality 0x9b, qzi_personality_at")
/* Makes the call that `own` describes return. */
__attribute__((noreturn)) void qzi_leave_in_place(struct qzi_in_place *own);
void qzi_fp_put_back(void);
/* Returns the address of *own, computed again each time: if the compiler computed it once, it would have to store it
 * during the call. */
static inline __attribute__((always_inline)) struct qzi_in_place *qzi_in_place_at(struct qzi_in_place *own) {
  struct qzi_in_place *at;
  __asm__ volatile("leaq %1, %0" : "=r"(at) : "m"(*own));
  return at;
}
static inline bool qzi_in_place_usual(void) {
  uint16_t x87;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return x87 == (uint16_t)(qzi_fp_usual >> 32);
}
static inline __attribute__((always_inline)) void qzi_in_place_call(struct qzi_in_place *own, void (*entry)(void *),
                                                                    void *argument) {
  __asm__ volatile("movq %%rsp, %0\n\tmovq %%rbp, %1" : "=m"(own->sp), "=m"(own->fp));
  __asm__ volatile("call *%0"
                   : "+a"(entry), "+D"(argument)
                   :
                   : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                     "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                     "xmm14", "xmm15", "cc", "memory");
  if (QZI_UNLIKELY(!qzi_in_place_usual())) qzi_fp_put_back();
}
static inline void *qzi_in_place_exit(struct qzi_in_place *own) { return (char *)own + 1; }
/* The same for a call that is a thread from the beginning: own->thread. */
static inline __attribute__((always_inline)) void qzi_in_place_call_thread(struct qzi_in_place *own,
                                                                           void (*entry)(void *), void *argument) {
  own->thread->exit_sp = qzi_in_place_exit(own);
  qzi_in_place_call(own, entry, argument);
}
/* Returns NULL if the token is one of qzi_call. */
static inline struct qzi_in_place *qzi_in_place_of(void *exit_sp) {
  return (uintptr_t)exit_sp & 1 ? (struct qzi_in_place *)((char *)exit_sp - 1) : NULL;
}
#else
#define QZI_IN_PLACE_FRAME
static inline struct qzi_in_place *qzi_in_place_at(struct qzi_in_place *own) { return own; }
static inline bool qzi_in_place_usual(void) { return true; }
static inline void qzi_in_place_call(struct qzi_in_place *own, void (*entry)(void *), void *argument) {
  qzi_call((void *)entry, argument, &own->sp);
}
static inline void *qzi_in_place_exit(struct qzi_in_place *own) { return own->sp; }
static inline void qzi_in_place_call_thread(struct qzi_in_place *own, void (*entry)(void *), void *argument) {
  qzi_call((void *)entry, argument, &own->thread->exit_sp);
}
static inline struct qzi_in_place *qzi_in_place_of(void *exit_sp) { return NULL; }
static inline __attribute__((noreturn)) void qzi_leave_in_place(struct qzi_in_place *own) { __builtin_unreachable(); }
#endif

#pragma GCC visibility pop
#endif
