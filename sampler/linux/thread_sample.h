/* What the kernel gives of a thread that was interrupted: registers, and a copy of the top of its stack. */
#ifndef QZI_THREAD_SAMPLE_H
#define QZI_THREAD_SAMPLE_H

#include <stdint.h>

struct qzi_registers {
  uint64_t pc, sp, fp, link; /* link: return address in a register (aarch64), 0: unknown */
  int fp_known;
};

/* Memory of a thread's stack that was copied before; bytes 0: none. Above it the program's own memory is read. */
struct qzi_stack_copy {
  uint64_t address, bytes;
  const unsigned char *data;
};

#endif
