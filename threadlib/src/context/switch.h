/* Context switch: saves the registers of one thread and restores those of another.
 *
 * Owns:    the layout of a saved context (struct qzi_context), which lies in the stack frame of the function that
 *          switched.
 * Writer:  the thread that is left, when it switches; qzi_context_make for a thread that has not started.
 * Reader:  the code that switches to it, once.
 * Must not: be called: it is expanded in the few functions that switch. There the compiler saves the registers that it
 * needs anyway, so each register is stored once, in a frame that is in the cache. Since there is no call, the CPU's
 * return stack stays in step, and the returns of those functions are predicted.
 */
#ifndef QZI_SWITCH_H
#define QZI_SWITCH_H

#include "threadlib/src/base/compiler.h"

#pragma GCC visibility push(hidden)

/* A saved context. The compiler has saved the other registers in the same frame. entry_*.S depends on this layout. */
struct qzi_context {
  uint64_t control; /* floating-point control words: qzi_fp_control() */
  void *pc;         /* where it continues */
  void *sp;
  void *fp; /* frame pointer; in a new context its first function */
};

/* Passed from the context that is left to the one that continues, which calls `after(arg)` unless `after` is NULL. */
struct qzi_passed {
  void (*after)(void *);
  void *arg;
};

/* Start of a new context, on an empty stack (entry_*.S). */
void qzi_thread_entry(void);

/* Floating-point control words of new threads: those that main had when it created the first thread. */
extern uint64_t qzi_fp_usual;

#if defined(__x86_64__)

/* Returns mxcsr (without status bits) in the lower half and the x87 control word in the upper half. */
static inline uint64_t qzi_fp_control(void) {
  uint32_t word[2] = {0, 0};
  __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(word[0]), "=m"(word[1]));
  return (word[0] & UINT64_C(0xffc0)) | (uint64_t)(word[1] & 0xffff) << 32;
}
/* The x87 control word of control words in memory: a load of 16 bits, in place of one of 64 and a shift. */
static inline uint16_t qzi_fp_x87(const uint64_t *control) {
  typedef uint16_t __attribute__((may_alias)) quarter;
  return ((const quarter *)control)[2];
}
/* Reading mxcsr takes 4 to 5 ns, reading the x87 control word almost nothing, and the functions that set rounding or
 * traps (fesetround, feenableexcept, fesetenv) set both. So mxcsr is read only if the x87 word differs from the
 * usual one. A thread that changes only mxcsr is not detected (docs/reference/threads.md). */
static inline uint64_t qzi_fp_leave(void) {
  uint16_t x87;
  __asm__ volatile("fnstcw %0" : "=m"(x87));
  return QZI_LIKELY(x87 == qzi_fp_x87(&qzi_fp_usual)) ? qzi_fp_usual : qzi_fp_control();
}
/* Loads the control words `wanted` if they differ from the current ones, `has`. */
static inline void qzi_fp_take(const uint64_t *has, const uint64_t *wanted) {
  if (QZI_LIKELY(qzi_fp_x87(has) == qzi_fp_x87(wanted))) return;
  uint32_t word[2] = {(uint32_t)*wanted, (uint32_t)(*wanted >> 32)};
  __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(word[0]), "m"(word[1]));
}

/* If the other thread was left at this same place, execution continues without a jump: an indirect jump would cost
 * more than the rest of the switch. */
#define QZI_SWITCH(here, to, after, arg)                                                                         \
  __asm__ volatile("leaq 1f(%%rip), %%r8\n\t"                                                                    \
                   "movq %%r8, 8(%[here_])\n\t"                                                                  \
                   "movq %%rsp, 16(%[here_])\n\t"                                                                \
                   "movq %%rbp, 24(%[here_])\n\t"                                                                \
                   "movq 16(%[to_]), %%rsp\n\t"                                                                  \
                   "movq 24(%[to_]), %%rbp\n\t"                                                                  \
                   "cmpq %%r8, 8(%[to_])\n\t"                                                                    \
                   "jne qzi_switch_elsewhere\n"                                                                  \
                   "1:"                                                                                          \
                   : "+a"(after), "+d"(arg), [here_] "+D"(here), [to_] "+S"(to)                                  \
                   :                                                                                             \
                   : "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", \
                     "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", \
                     "xmm14", "xmm15", "cc", "memory")

#elif defined(__aarch64__)

static inline uint64_t qzi_fp_control(void) {
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  return fpcr;
}
static inline uint64_t qzi_fp_leave(void) { return qzi_fp_control(); }
static inline void qzi_fp_take(const uint64_t *has, const uint64_t *wanted) {
  if (QZI_UNLIKELY(*has != *wanted)) __asm__ volatile("msr fpcr, %0" : : "r"(*wanted));
}

/* hint #36 is "bti j". The lower halves of v8 to v15 are callee-saved; the compiler saves only those. */
#define QZI_SWITCH(here, to, after, arg)                                                                               \
  do {                                                                                                                 \
    register void (*after_)(void *) __asm__("x0") = after;                                                             \
    register void *arg_ __asm__("x1") = arg;                                                                           \
    register struct qzi_context *here_ __asm__("x2") = here;                                                           \
    register struct qzi_context *to_ __asm__("x3") = to;                                                               \
    __asm__ volatile("adr x9, 1f\n\t"                                                                                  \
                     "mov x10, sp\n\t"                                                                                 \
                     "stp x9, x10, [x2, #8]\n\t"                                                                       \
                     "str x29, [x2, #24]\n\t"                                                                          \
                     "ldp x9, x10, [x3, #8]\n\t"                                                                       \
                     "ldr x29, [x3, #24]\n\t"                                                                          \
                     "mov sp, x10\n\t"                                                                                 \
                     "br x9\n"                                                                                         \
                     "1:\n\t"                                                                                          \
                     "hint #36"                                                                                        \
                     : "+r"(after_), "+r"(arg_), "+r"(here_), "+r"(to_)                                                \
                     :                                                                                                 \
                     : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",     \
                       "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", \
                       "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",       \
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",      \
                       "v29", "v30", "v31", "cc", "memory");                                                           \
    (after) = after_;                                                                                                  \
    (arg) = arg_;                                                                                                      \
  } while (0)

#endif

/* Switches to context `to`: saves the caller's context in its own stack frame, stores its address in *save, and
 * passes (after, arg) to the code that continues at `to`. Returns the pair that is passed when the caller is
 * switched to again. `control` is the result of qzi_fp_leave(), which should be called as early as possible, because
 * instructions right after it wait. */
static inline __attribute__((always_inline)) struct qzi_passed
qzi_switch(uint64_t control, struct qzi_context **save, struct qzi_context *to, void (*after)(void *), void *arg) {
  struct qzi_context context, *here = &context;
  __asm__("" : "+r"(here)); /* keeps gcc from assuming that the frame is never used again */
  here->control = control;
  qzi_fp_take(&here->control, &to->control);
  *save = here;
  QZI_SWITCH(here, to, after, arg);
  return (struct qzi_passed){after, arg};
}

/* Makes the initial context at the top of a stack: it starts at qzi_thread_entry, which calls `first`. */
static inline struct qzi_context *qzi_context_make(char *high, void (*first)(void (*after)(void *), void *arg)) {
  struct qzi_context *context = (struct qzi_context *)high - 1;
  context->control = qzi_fp_usual;
  context->pc = (void *)qzi_thread_entry;
  context->sp = context;
  context->fp = (void *)first;
  return context;
}

#pragma GCC visibility pop
#endif
