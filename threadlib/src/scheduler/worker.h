/* Kernel threads that run processors: how they begin, sleep, and get processors.
 *
 * Owns:    nothing; worker.c says what it does.
 */
#ifndef QZI_WORKER_H
#define QZI_WORKER_H

#include "kernel_thread.h"

#pragma GCC visibility push(hidden)

extern _Thread_local struct qzi_kernel *qzi_tls_kernel __attribute__((tls_model("initial-exec")));
struct qzi_kernel *qzi_kernel_self(void); /* not inlined: see qzi_processor_self */

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
