/* Holders of a lock that others wait for, if the program does not report them: the threads that have the lock on the
 * stack and do not wait for it. So the readers of a lock are found, too, and a free lock costs the program nothing.
 *
 * Owns:    the locks on each known stack; the holders of each lock in the current snapshot.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_LOCK_HOLDERS_H
#define QZI_LOCK_HOLDERS_H

#include "sampler_state.h"

/* Returns NULL if there is no memory. */
struct qzi_holders *qzi_holders_open(const struct qzi_file *file);
void qzi_holders_close(struct qzi_holders *holders);
void qzi_holders_begin(struct qzi_holders *holders);
/* Adds the locks on the stack of a thread, which waits for that object (0: for none). */
void qzi_holders_add(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t entity,
                     uint32_t waits_for);
/* Whether a thread at this node that waits for `waits_for` holds the object. */
int qzi_holders_has(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t object,
                    uint32_t waits_for);
/* Whether such a thread holds any lock. */
int qzi_holders_any(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t waits_for);
/* Iterates over the holders of the object: *at is 0 before the first; returns 0 after the last. */
uint32_t qzi_holders_of(const struct qzi_sampler *sampler, const struct qzi_holders *holders, uint32_t object,
                        uint32_t *at, uint32_t *node, uint32_t *entity);

#endif
