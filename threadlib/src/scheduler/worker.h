/* Kernel threads that run processors.
 *
 * Owns:    struct qzi_kernel.
 * Writer:  the kernel thread itself; whoever wakes it or gives it a processor, the words that say so.
 */
#ifndef QZI_WORKER_H
#define QZI_WORKER_H

#include "threadlib/src/base/self.h"

#pragma GCC visibility push(hidden)

struct qzi_kernel {
  struct qzi_context *context;        /* of its scheduler loop, which has a stack of its own */
  struct qzi_thread *io_thread;       /* in a blocking region: the thread that it stays with */
  struct qzi_processor *io_processor; /* and the processor that it had */
  struct qzi_processor *processor;    /* that it is, or NULL: spare, or inside a blocking region */
  struct qzi_kernel *link;            /* list of spare ones */
  _Atomic(uint32_t) wake;             /* futex: 1 = go on */
  int tid;                            /* of the kernel; 0 before it runs */
  uint32_t cpu;                       /* that it is pinned to now, UINT32_MAX: none */
  uint32_t pub_index;                 /* processor that it was last introduced to publishing as, UINT32_MAX: none */
  uint64_t search_seed;
  bool searching;                        /* it was woken, and is counted as searching */
  _Atomic(uint32_t) claimed;             /* its waker has claimed its processor for it */
  _Atomic(struct qzi_processor *) given; /* while it has none: the one that it is to become */
  void *sanitizer_fiber;
  void *sanitizer_stack;
  const void *stack_low; /* of the scheduler's stack, for ASan */
  size_t stack_bytes;
};
extern _Thread_local struct qzi_kernel *qzi_tls_kernel __attribute__((tls_model("initial-exec")));
struct qzi_kernel *qzi_kernel_self(void); /* out of line: see qzi_processor_self */

struct qzi_kernel *qzi_kernel_new(void);
void qzi_kernel_take(struct qzi_kernel *kernel, struct qzi_processor *p); /* becomes p, which it has claimed */
void qzi_kernel_release(struct qzi_kernel *kernel);                       /* gives its processor up */
void qzi_kernel_start_for(struct qzi_processor *p); /* a spare or new one becomes p, which the caller has claimed */
void qzi_kernel_wait(struct qzi_kernel *kernel, uint64_t deadline_ns);
void qzi_kernel_nudge(struct qzi_kernel *kernel);
void qzi_kernel_wake(struct qzi_kernel *kernel);
void qzi_kernel_spare(struct qzi_kernel *kernel); /* sleeps until it is given a processor */

#pragma GCC visibility pop
#endif
