/* State of an interrupted thread as the kernel copies it: registers, and the top of its stack. */
#ifndef QZI_THREAD_SAMPLE_H
#define QZI_THREAD_SAMPLE_H

#include <stdint.h>

struct qzi_registers {
  uint64_t pc, sp, fp, link; /* link: return address in a register (aarch64), 0: unknown */
  int fp_known;
};

/* A copy of a part of a thread's stack; bytes 0: none. Memory above it is read from the program. */
struct qzi_stack_copy {
  uint64_t address, bytes;
  const unsigned char *data;
};

#endif
