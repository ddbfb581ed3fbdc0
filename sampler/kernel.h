/* Snapshots of programs whose threads are kernel threads.
 *
 * Owns:    struct qzi_kernel, what is remembered of such threads.
 * Writer and reader: the aggregating thread, through snapshot.c.
 */
#ifndef QZI_KERNEL_H
#define QZI_KERNEL_H

#include "snapshot.h"

/* NULL: out of memory. */
struct qzi_kernel *qzi_kernel_open(const struct qz_session_view *view);
void qzi_kernel_close(struct qzi_kernel *kernel);
/* Visits all threads and adds what was seen; as qzi_snapshot_add. */
int qzi_kernel_add(struct qzi_sampler *sampler, uint64_t now_ns);

#endif
