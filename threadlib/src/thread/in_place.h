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
/* Turns all tasks in p's deque into threads, which are published as ready. */
void qzi_tasks_become(struct qzi_processor *p);
/* If a task is what p runs next (of that scope, unless it is NULL), takes it, and makes it the thread whose descriptor
 * `thread` is: the stack, which is that of the caller, is used again. Else returns false. */
bool qzi_task_next(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_scope *scope);
/* What the tasks in a deque have in common: 0: they are not published; else the epoch in which they are, and whether
 * work and span are recorded; or that no task may exist, because there is no room for their work and span. */
#define QZI_NO_TASKS      UINT32_MAX
#define QZI_SPANNED_TASKS (UINT32_C(1) << 31)
static inline uint32_t qzi_task_mode(void) {
  uint32_t flag = atomic_load_explicit(&qzi_publishing_flag, QZI_PUBLISHING_ORDER);
  if (QZI_LIKELY(!flag)) return 0;
  if (!(flag & QZI_SPANNING)) return qzi_pub_epoch;
  return qzi_span_tasks ? qzi_pub_epoch | QZI_SPANNED_TASKS : QZI_NO_TASKS;
}
/* For the first spawn or sync after the mode has changed: no task of another mode remains. */
void qzi_tasks_change(struct qzi_processor *p);
static inline void qzi_tasks_of_now(struct qzi_processor *p) {
  if (QZI_UNLIKELY(p->deque.mode != qzi_task_mode())) qzi_tasks_change(p);
}
/* Returns whether one more task may be put into the deque, i.e. whether there is a free descriptor for it.
 * qzi_deque_reopen opens the deque for tasks of its mode, unless the mode has changed. Under the biased lock. */
bool qzi_more_tasks(struct qzi_processor *p);
void qzi_deque_reopen(struct qzi_processor *p);
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
  return x87 == qzi_fp_x87(&qzi_fp_usual);
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

/* ---- a call in place begins and ends ---- */

enum qzi_in_place { QZI_CALLED, QZI_NOT_CALLED, QZI_CALLED_AS_THREAD };

/* The deque is closed: a thief has requested it, or has just taken the task, or what is published has changed. Opens it
 * again, if possible. Returns whether the task may not be called in place. */
bool qzi_in_place_refused(struct qzi_processor *p, struct qzi_entry *task, const struct qzi_scope *scope,
                          uintptr_t frame);
/* A call in place has ended, and its entry is not the youngest: it has become a thread, or has created threads. Returns
 * whether it was in place still; then its entry leaves. */
bool qzi_in_place_ended_below(struct qzi_processor *p, uintptr_t frame);

/* Marks the youngest entry of the deque, a task of the scope, as called in place by the calling function. Its entry
 * remains in the deque until the call has ended. `open`: the limit of such tasks. The owner sets `frame`, then looks
 * whether the deque is open; a thief closes it and executes a barrier, then looks at `frame`. While the deque is open,
 * no thief has taken anything since the owner opened it. */
static inline __attribute__((always_inline)) bool qzi_in_place_starts(struct qzi_processor *p, struct qzi_entry *task,
                                                                      const struct qzi_scope *scope,
                                                                      struct qzi_entry *const *open) {
  qzi_in_place_begins(task);
  QZI_SET(task->frame, QZI_IN_PLACE_AT());
  atomic_signal_fence(memory_order_seq_cst); /* tasks exist only with membarrier */
  return QZI_LIKELY(QZI_PEEK(*open)) || !qzi_in_place_refused(p, task, scope, QZI_IN_PLACE_AT());
}
/* The call has ended. `shown`: from qzi_current_hide, before it. */
static inline __attribute__((always_inline)) enum qzi_in_place qzi_in_place_over(struct qzi_processor *p,
                                                                                 struct qzi_thread *shown) {
  struct qzi_entry *task = QZI_GET(p->deque.bottom) - 1;
  if (QZI_UNLIKELY(QZI_PEEK(task->frame) != QZI_IN_PLACE_AT())) {
    if (!qzi_in_place_ended_below(p, QZI_IN_PLACE_AT())) return QZI_CALLED_AS_THREAD;
    qzi_current_show(shown);
    return QZI_CALLED;
  }
  QZI_SET(p->deque.bottom, task);
  atomic_signal_fence(memory_order_seq_cst);
  if (QZI_UNLIKELY(QZI_PEEK(task->frame) != QZI_IN_PLACE_AT())) {
    /* the hook of a signal handler has made a thread of it at the last moment, and its place is still in the deque */
    QZI_SET(p->deque.bottom, task + 1);
    return QZI_CALLED_AS_THREAD;
  }
  __atomic_store_n(&task->frame, 0, __ATOMIC_RELEASE); /* after `bottom`: see qzi_deque_leaves */
  if (QZI_UNLIKELY(task < QZI_PEEK(p->deque.low))) QZI_SET(p->deque.low, task);
  qzi_current_show(shown);
  return QZI_CALLED;
}

#pragma GCC visibility pop
#endif
