/* Samples that a program's threads take of themselves, by a signal of each thread's processor-time clock, where the
 * kernel gives the sampler none (perf_event_open is refused): a memory file that the pthread layer makes and sends to
 * the sampler (QZ_SAMPLES of channel.h) when the sampler's clock page asks for it (QZ_WANTS_SAMPLES).
 *
 * Owns:    the layout. A ring: new samples replace the oldest ones.
 * Writer:  signal handlers of the program's threads, each in the slot whose number it has taken from `count`.
 * Reader:  the sampler, which trusts nothing in it.
 */
#ifndef QZ_ABI_SIGNAL_SAMPLES_H
#define QZ_ABI_SIGNAL_SAMPLES_H

#include <stdint.h>

#define QZ_SIGNAL_MAGIC UINT32_C(0x515a5347)
#define QZ_SIGNAL_SLOTS 256u
#define QZ_SIGNAL_STACK 8192u /* most bytes of the stack in a sample */

struct qz_signal_sample {
  uint64_t number;      /* 2 n + 1 while sample n is written here, 2 n + 2 afterwards; 0: none was */
  uint64_t general[16]; /* by register number (x86-64) */
  uint64_t pc;
  uint32_t tid;
  int32_t cpu;    /* -1: unknown */
  uint32_t user;  /* 1: in the program's code; 0: in the kernel on its behalf */
  uint32_t bytes; /* of the stack, from the stack pointer on */
  unsigned char stack[QZ_SIGNAL_STACK];
};

struct qz_signal_ring {
  uint32_t magic;
  uint32_t interval_ns; /* processor time between a thread's samples */
  uint64_t cost_ns;     /* what a sample takes from its thread, measured; 0: not yet */
  uint64_t count;       /* samples begun; n is in slot n modulo QZ_SIGNAL_SLOTS */
  uint64_t reserved[5];
  struct qz_signal_sample slots[QZ_SIGNAL_SLOTS];
};

#endif
