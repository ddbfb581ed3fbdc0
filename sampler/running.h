/* What running threads execute, without hooks: samples that the kernel takes of them (perf_event_open).
 *
 * Owns:    one event and its buffer for each of the first threads.
 * Writer:  the kernel. Reader: the aggregating thread.
 * Must not: disturb the program more than the timer interrupt that takes a sample; need privileges (it does without at
 *          perf_event_paranoid <= 2, Linux's own default; Debian's 3 and some containers forbid it).
 *
 * A sample is taken after each interval of a thread's own processor time: instruction, stack pointer, frame pointer, and a
 * copy of the top of the stack, from which the callers are found (unwind.h).
 */
#ifndef QZI_RUNNING_H
#define QZI_RUNNING_H

#include "unwind.h"

#define QZI_RUNNING_STACK 4096u /* bytes of stack in a sample */

struct qzi_running; /* of one thread */

/* Begins to sample a thread. NULL and errno: not allowed, not there, no memory left for it. */
struct qzi_running *qzi_running_open(uint32_t tid, uint64_t interval_ns);
void qzi_running_close(struct qzi_running *running);

struct qzi_sample {
  struct qzi_registers at;
  uint64_t registers; /* sum of all general registers */
  int user;           /* 1: in code of the program, not in the kernel on its behalf */
  struct qzi_stack_copy copy; /* `data` lies in `bytes` */
  unsigned char bytes[QZI_RUNNING_STACK];
};
/* The newest sample since the last call. 1: there is one. */
int qzi_running_read(struct qzi_running *running, struct qzi_sample *sample);

#endif
