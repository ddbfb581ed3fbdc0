/* Calls in place: tasks that their parent calls in qz_sync, and that are no threads yet.
 *
 * Owns:    struct qzi_in_place, in the frame of qz_sync; qzi_processor.in_place, the innermost one, and how many there
 *          are.
 * Writer:  the kernel thread that runs it. Signal handlers' hooks read and change it, but not while the processor is
 *          `busy`.
 * Reader:  qzi_self and whoever needs the thread that runs.
 * Must not: outlive a switch: whoever gives the processor up asks for its thread before (qzi_self), and then all calls
 *           in place on that stack become threads. So none ever moves to another processor.
 *
 * While one runs that is no thread, qzi_tls_thread is NULL, and the processor's `current` is the thread on whose stack
 * it runs.
 */
#ifndef QZI_IN_PLACE_H
#define QZI_IN_PLACE_H

#include "threadlib/src/scheduler/processor.h"

#pragma GCC visibility push(hidden)

struct qzi_in_place {
  void *sp, *fp;              /* where qz_exit goes (entry_x86_64.S); elsewhere the token of qzi_call */
  struct qzi_in_place *outer; /* the next one below on the stack that is no thread yet; NULL: none */
  struct qzi_scope *scope;
  struct qzi_task task;
  struct qzi_thread *thread; /* once it is a thread */
  struct qzi_thread *caller; /* then: the thread that called it */
};

/* All calls in place on the stack that p runs become threads, the innermost one p's current thread. Takes p's biased
 * lock where the caller does not have it. */
void qzi_in_place_become(struct qzi_processor *p);

/* Calls entry(argument), so that qz_exit can end it from any depth; false: not here, the caller has other control
 * words than usual. An exception ends there, too, in a function that begins with QZI_IN_PLACE_FRAME. Expanded where it
 * is called: the compiler has saved the registers of that function's caller. */
#if defined(__x86_64__)
#define QZI_IN_PLACE_FRAME __asm__ volatile(".cfi_personality 0x9b, qzi_personality_at")
/* Makes the call that `own` describes return. */
__attribute__((noreturn)) void qzi_leave_in_place(struct qzi_in_place *own);
void qzi_fp_put_back(void);
/* Where it is, made anew each time: a compiler that made it once would store it for the time of the call. */
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
/* The same of a call that is one of own->thread already. */
static inline __attribute__((always_inline)) void qzi_in_place_call_thread(struct qzi_in_place *own,
                                                                           void (*entry)(void *), void *argument) {
  own->thread->exit_sp = qzi_in_place_exit(own);
  qzi_in_place_call(own, entry, argument);
}
/* NULL: the token is one of qzi_call. */
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
