/* Snapshots of programs whose threads are kernel threads.
 *
 * Owns:    struct qzi_kernel, what is remembered of such threads.
 * Writer and reader: the aggregating thread, through snapshot.c.
 */
#ifndef QZI_KERNEL_H
#define QZI_KERNEL_H

#include "snapshot.h"

/* NULL: out of memory. */
struct qzi_kernel *qzi_kernel_open(struct qzi_sampler *sampler);
void qzi_kernel_close(struct qzi_kernel *kernel);
void qzi_kernel_prepare(struct qzi_kernel *kernel); /* qzi_unwinder_prepare */
void qzi_kernel_start(struct qzi_kernel *kernel);   /* qzi_follow_start */
/* Nothing was published for a while: what the program's threads ran meanwhile is not told. */
void qzi_kernel_skip(struct qzi_kernel *kernel);
/* Visits all threads and adds what was seen; as qzi_snapshot_add. */
int qzi_kernel_add(struct qzi_sampler *sampler, uint64_t now_ns);
void qzi_kernel_taken(struct qzi_sampler *sampler, uint64_t key, uint64_t site); /* qzi_paths_taken_at */
/* Time that walks of stacks took in all. */
uint64_t qzi_kernel_walks_ns(const struct qzi_kernel *kernel);
/* Node of the path on which the last snapshot saw the thread `index`; 0: none. */
uint32_t qzi_kernel_node(const struct qzi_sampler *sampler, uint32_t index);

/* Who holds which lock in a snapshot (lock_holders.c). NULL: out of memory. */
struct qzi_holders *qzi_holders_open(const struct qzi_file *file);
void qzi_holders_close(struct qzi_holders *holders);
void qzi_holders_begin(struct qzi_holders *holders);
/* A thread with that stack, which waits for that object (0: for none). */
void qzi_holders_add(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t entity,
                     uint32_t waits_for);
/* Whether a thread at this node, which waits for `waits_for`, holds the object. */
int qzi_holders_has(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t object,
                    uint32_t waits_for);
/* The next one who holds the object: *at is 0 before the first, the result is 0 after the last. */
uint32_t qzi_holders_of(const struct qzi_sampler *sampler, const struct qzi_holders *holders, uint32_t object,
                        uint32_t *at, uint32_t *node, uint32_t *entity);

#endif
