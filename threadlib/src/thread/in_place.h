/* Calls in place: tasks that their parent calls in qz_sync and that are not threads yet.
 *
 * Owns:    qzi_entry.sp and .frame of the entries of a deque, which remain there until their calls have ended.
 * Writer:  the kernel thread that runs the call. Hooks in signal handlers read and change them between any two
 *          instructions, but not while the processor is `busy`.
 * Reader:  thieves, which leave such entries alone; qzi_self and other code that needs the running thread.
 * Must not: exist across a switch: code that gives up the processor calls qzi_self first, which turns all calls in
 * place on that stack into threads. So none ever moves to another processor.
 *
 * During a call in place, qzi_tls_thread is NULL, and the processor's `current` is the thread on whose stack the call
 * runs. (If a hook has made threads of the calls around one that was about to end, it can also be NULL without a call
 * in place.)
 */
#ifndef QZI_IN_PLACE_H
#define QZI_IN_PLACE_H

#include "threadlib/src/scheduler/processor.h"

#pragma GCC visibility push(hidden)

/* Turns all calls in place on the stack that p runs into threads; the innermost one becomes p's current thread, and
 * the qzi_caller of each is the thread that called it. Returns whether there were any. Takes p's biased lock unless the
 * caller holds it. */
bool qzi_in_place_become(struct qzi_processor *p);
/* Turns all tasks in p's deque into threads, which are published as ready: for the first spawn or sync after publishing
 * has begun. */
void qzi_tasks_become(struct qzi_processor *p);
/* The thread that called `thread` in place: in a field that is otherwise the result, which a spawned call has not. */
static inline struct qzi_thread *qzi_caller(const struct qzi_thread *thread) { return thread->result; }

/* qzi_in_place_call calls entry(argument) so that qz_exit can end the call from any depth; qzi_in_place_begins must be
 * called in the same function before. qzi_in_place_usual returns false if that is not possible, because the caller's
 * floating-point control words are not the usual ones. An exception also stops there if the calling function begins
 * with QZI_IN_PLACE_FRAME. Always inlined: the clobber list makes the compiler save the callee-saved registers in the
 * prologue of the calling function. */
#define QZI_IN_PLACE_AT() ((uintptr_t)__builtin_frame_address(0))
#if defined(__x86_64__)
#define QZI_IN_PLACE_FRAME __asm__ volatile(".cfi_personality 0x9b, qzi_personality_at")
/* Makes the call return; sp and frame are those of the function that called. */
__attribute__((noreturn)) void qzi_in_place_return(void *sp, uintptr_t frame);
void qzi_fp_put_back(void);
static inline bool qzi_in_place_usual(void) {
  uint16_t x87;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return x87 == (uint16_t)(qzi_fp_usual >> 32);
}
static inline __attribute__((always_inline)) void qzi_in_place_begins(struct qzi_entry *task) {
  __asm__ volatile("movq %%rsp, %0" : "=m"(task->sp));
}
static inline __attribute__((always_inline)) void qzi_in_place_call(struct qzi_entry *task, void (*entry)(void *),
                                                                    void *argument) {
  __asm__ volatile("call *%0"
                   : "+a"(entry), "+D"(argument)
                   :
                   : "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1",
                     "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                     "xmm14", "xmm15", "cc", "memory");
  if (QZI_UNLIKELY(!qzi_in_place_usual())) qzi_fp_put_back();
}
/* What qz_exit of a thread called in place needs: exit_sp, with its lowest bit set, which is clear in a token of
 * qzi_call, and the frame in a field that is otherwise the argument. */
static inline void qzi_in_place_exits(struct qzi_thread *thread, void *sp, uintptr_t frame) {
  thread->exit_sp = (char *)sp + 1;
  thread->argument = (void *)frame;
}
static inline bool qzi_in_place_left(void *exit_sp) { return (uintptr_t)exit_sp & 1; }
static inline __attribute__((noreturn)) void qzi_leave_in_place(const struct qzi_thread *thread) {
  qzi_in_place_return((char *)thread->exit_sp - 1, (uintptr_t)thread->argument);
}
/* The same for a call that is a thread from the beginning. */
static inline __attribute__((always_inline)) void qzi_in_place_call_thread(struct qzi_thread *thread,
                                                                           void (*entry)(void *), void *argument) {
  void *sp;
  __asm__ volatile("movq %%rsp, %0" : "=r"(sp));
  qzi_in_place_exits(thread, sp, QZI_IN_PLACE_AT());
  qzi_in_place_call(NULL, entry, argument);
}
#else
#define QZI_IN_PLACE_FRAME
static inline bool qzi_in_place_usual(void) { return true; }
static inline void qzi_in_place_begins(struct qzi_entry *task) {}
static inline void qzi_in_place_call(struct qzi_entry *task, void (*entry)(void *), void *argument) {
  qzi_call((void *)entry, argument, &task->sp);
}
static inline void qzi_in_place_exits(struct qzi_thread *thread, void *sp, uintptr_t frame) { thread->exit_sp = sp; }
static inline bool qzi_in_place_left(void *exit_sp) { return false; }
static inline __attribute__((noreturn)) void qzi_leave_in_place(const struct qzi_thread *thread) {
  __builtin_unreachable();
}
static inline void qzi_in_place_call_thread(struct qzi_thread *thread, void (*entry)(void *), void *argument) {
  qzi_call((void *)entry, argument, &thread->exit_sp);
}
#endif

#pragma GCC visibility pop
#endif
