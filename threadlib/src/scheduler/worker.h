/* Kernel threads that run processors.
 *
 * Owns:    struct qzi_kernel.
 * Writer:  the kernel thread itself; the fields that wake it or assign it a processor are written by its waker.
 */
#ifndef QZI_WORKER_H
#define QZI_WORKER_H

#include "threadlib/src/base/self.h"

#pragma GCC visibility push(hidden)

struct qzi_kernel {
  struct qzi_context *context;        /* context of its scheduler loop, which has a stack of its own */
  struct qzi_thread *io_thread;       /* in a blocking region: the thread that it runs */
  struct qzi_processor *io_processor; /* in a blocking region: the processor that it had */
  struct qzi_processor *processor;    /* the processor that it has; NULL: it is spare or inside a blocking region */
  struct qzi_kernel *link;            /* next in the list of spare ones */
  _Atomic(uint32_t) wake;             /* futex: 1 = continue */
  int tid;                            /* kernel's thread ID; 0 before it runs */
  uint32_t cpu;                       /* CPU that it is pinned to; UINT32_MAX: none */
  uint32_t pub_index;                 /* index of the processor last passed to publishing; UINT32_MAX: none */
  uint64_t search_seed;
  bool searching;                        /* it was woken and is counted as searching */
  _Atomic(uint32_t) claimed;             /* its waker has claimed its processor for it */
  _Atomic(struct qzi_processor *) given; /* while it has no processor: the one assigned to it */
  void *sanitizer_fiber;
  void *sanitizer_stack;
  const void *stack_low; /* of the scheduler's stack, for ASan */
  size_t stack_bytes;
};
extern _Thread_local struct qzi_kernel *qzi_tls_kernel __attribute__((tls_model("initial-exec")));
struct qzi_kernel *qzi_kernel_self(void); /* not inlined: see qzi_processor_self */

struct qzi_kernel *qzi_kernel_new(void);
void qzi_kernel_take(struct qzi_kernel *kernel, struct qzi_processor *p); /* takes p, which the caller has claimed */
void qzi_kernel_release(struct qzi_kernel *kernel);                       /* gives up its processor */
void qzi_kernel_start_for(
  struct qzi_processor *p); /* a spare or new kernel thread takes p, which the caller has claimed */
void qzi_kernel_wait(struct qzi_kernel *kernel, uint64_t deadline_ns);
void qzi_kernel_nudge(struct qzi_kernel *kernel);
void qzi_kernel_wake(struct qzi_kernel *kernel);
void qzi_kernel_spare(struct qzi_kernel *kernel); /* sleeps until it is assigned a processor */

#pragma GCC visibility pop
#endif
