/* The functions of run-time libraries (OpenMP, oneTBB) that the layer stands in front of.
 *
 * Owns:    nothing. Writer: runtime_function.c. Reader: what intercepts them.
 * Must not: be asked for a function of the C library (libc/real.h).
 */
#ifndef QZL_RUNTIME_FUNCTION_H
#define QZL_RUNTIME_FUNCTION_H

#include "pthread-layer/src/state/path.h"

#define QZL_RUNTIME_PLACES 64u /* that call, of libraries which not everything sees */
struct qzl_runtime_function {
  const char *name;
  void *real; /* that everything sees; NULL: not looked for yet */
  void *own;  /* the layer's */
  struct {
    uint64_t caller; /* stored last */
    void *real;
  } by[QZL_RUNTIME_PLACES];
  _Atomic uint32_t lock; /* of `by` */
  _Atomic bool llvm;     /* it was found in LLVM's OpenMP, which has GCC's functions, too (openmp_tool.c) */
};

#pragma GCC visibility push(hidden)
/* Code that used such a library in this thread last, or 0: where a call comes from if its return address does not show
 * it. */
extern _Thread_local uint64_t qzl_runtime_user __attribute__((tls_model("initial-exec")));
void *qzl_runtime_real_slow(struct qzl_runtime_function *function, uint64_t caller);
/* That which the code at `caller` would reach without the layer. NULL: there is none, as where the program only asks
 * whether there is. */
static inline void *qzl_runtime_real(struct qzl_runtime_function *function, uint64_t caller) {
  void *real = __atomic_load_n(&function->real, __ATOMIC_ACQUIRE);
  return __builtin_expect(real != NULL, 1) ? real : qzl_runtime_real_slow(function, caller);
}
#pragma GCC visibility pop

/* In lists of parameters and arguments that follow others, and may be empty. */
#define WITH(...) , ##__VA_ARGS__

#endif
