/* Who holds a lock that others wait for, where the program does not say it: whoever has it on the stack and does not
 * wait for it. So the readers of a lock are its holders too, and a free lock costs the program nothing for it.
 *
 * Owns:    the locks on each known stack; who had which lock in the snapshot under way.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_LOCK_HOLDERS_H
#define QZI_LOCK_HOLDERS_H

#include "snapshot.h"

/* NULL: out of memory. */
struct qzi_holders *qzi_holders_open(const struct qzi_file *file);
void qzi_holders_close(struct qzi_holders *holders);
void qzi_holders_begin(struct qzi_holders *holders);
/* A thread with that stack, which waits for that object (0: for none). */
void qzi_holders_add(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t entity,
                     uint32_t waits_for);
/* Whether a thread at this node, which waits for `waits_for`, holds the object. */
int qzi_holders_has(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t object,
                    uint32_t waits_for);
/* Whether it holds any lock. */
int qzi_holders_any(struct qzi_sampler *sampler, struct qzi_holders *holders, uint32_t node, uint32_t waits_for);
/* The next one who holds the object: *at is 0 before the first, the result is 0 after the last. */
uint32_t qzi_holders_of(const struct qzi_sampler *sampler, const struct qzi_holders *holders, uint32_t object,
                        uint32_t *at, uint32_t *node, uint32_t *entity);

#endif
