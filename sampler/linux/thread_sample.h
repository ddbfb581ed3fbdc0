/* State of an interrupted thread as the kernel copies it (registers, and the top of its stack), and samples, which
 * consist of that. */
#ifndef QZI_THREAD_SAMPLE_H
#define QZI_THREAD_SAMPLE_H

#include <stdint.h>
#include "abi/signal_samples.h"

struct qzi_registers {
  uint64_t pc, sp, fp, link; /* link: return address in a register (aarch64), 0: unknown */
  int fp_known;
};

/* A copy of a part of a thread's stack; bytes 0: none. Memory above it is read from the program. */
struct qzi_stack_copy {
  uint64_t address, bytes;
  const unsigned char *data;
};

#define QZI_RUNNING_STACK      QZ_SIGNAL_STACK /* bytes of stack copied into a sample, at least, */
#define QZI_RUNNING_STACK_MOST 32768u          /* and at most (../snapshot/samples/copied_stack.h) */
/* A sample of a running thread. */
struct qzi_sample {
  struct qzi_registers at;
  uint64_t registers;   /* sum of all general registers */
  uint64_t general[16]; /* by register number (x86-64) */
  uint32_t tid;
  int cpu;                    /* where it was taken; -1: unknown */
  uint64_t count;             /* of a timer: 1 + samples lost before it on that CPU (with events of CPUs: of unknown
                                 threads); of a counted event: the number of events for which these stand */
  uint32_t stands;            /* of a timer: number of samples for which it stands, with those that were left out */
  int user;                   /* 1: in the program's code; 0: in the kernel on its behalf */
  struct qzi_stack_copy copy; /* `data` may point to `bytes` */
  unsigned char bytes[QZI_RUNNING_STACK_MOST];
};

#endif
