/* How much of the stack samples copy.
 *
 * Owns:    the size, and the number of walks that it was too small for.
 * Writer and reader: the aggregating thread.
 *
 * What a sample does not contain is read from the program's memory later, when other calls may have replaced it: the
 * walk ends there, or goes on at a caller of another moment. Most programs need less than the least size; compilers
 * (deep recursion, large frames) lost a fifth of the walks with 8 KiB. The size grows where it is needed, since the
 * kernel copies all of it for each sample.
 */
#ifndef QZI_COPIED_STACK_H
#define QZI_COPIED_STACK_H

#include "sampler/linux/perf_samples.h"

#define QZI_COPIED_WALKS 64u /* before one decides */
#define QZI_COPIED_SHARE 32u /* the size doubles if more than 1/SHARE of them went beyond */

struct qzi_copied_stack {
  uint32_t bytes; /* 0: the least size */
  uint32_t walks, beyond;
  int refused; /* 1: the kernel gave no larger buffers */
};

static inline uint32_t qzi_copied_stack_bytes(const struct qzi_copied_stack *its) {
  return its->bytes ? its->bytes : QZI_RUNNING_STACK;
}

/* beyond: 1: the walk read memory outside the copy. Returns 1 if the samples must be opened again, with `bytes`. */
static inline int qzi_copied_stack_walked(struct qzi_copied_stack *its, int beyond) {
  its->beyond += beyond != 0;
  if (++its->walks < QZI_COPIED_WALKS) return 0;
  int more = its->beyond * QZI_COPIED_SHARE > its->walks && !its->refused &&
             qzi_copied_stack_bytes(its) < QZI_RUNNING_STACK_MOST;
  its->walks = its->beyond = 0;
  if (more) its->bytes = 2 * qzi_copied_stack_bytes(its);
  return more;
}

#endif
