/* A kernel thread that runs processors.
 *
 * Owns:    struct qzi_kernel.
 * Writer:  the kernel thread itself; the fields that wake it or assign it a processor are written by its waker.
 */
#ifndef QZI_KERNEL_THREAD_H
#define QZI_KERNEL_THREAD_H

#include "threadlib/src/base/self.h"

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

#endif
