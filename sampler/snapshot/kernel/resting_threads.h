/* Resting threads: they sleep, and their records have not changed since, so that a snapshot does not have to look at
 * each.
 *
 * Owns:    which threads rest, and the time that is still to be added for them.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: decide which threads sleep, or ask the kernel.
 *
 * In a program with thousands of sleeping threads, a snapshot would see almost only what it saw before. Of threads that
 * rest in the same way (path, thread's entity, state) only the number is kept; snapshots only sum up time by b, s and
 * r, and the sums are added to the tuples together: for a single thread when it continues, and for all of them several
 * times a second. So the sums of a finished profile are the same as if all threads were visited. That a thread
 * continues is shown by its mark (abi/session.h), which a snapshot finds without reading records.
 */
#ifndef QZI_RESTING_THREADS_H
#define QZI_RESTING_THREADS_H

#include "sampler/snapshot/round.h"

struct qzi_resting;

/* Returns NULL if there is no memory. */
struct qzi_resting *qzi_resting_open(const struct qz_session_view *view);
void qzi_resting_close(struct qzi_resting *resting);

/* To be called at the beginning of a snapshot, with `high` records in use: threads whose marks have changed no longer
 * rest. */
void qzi_resting_begin(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t high);
/* The first record from `index` on that does not rest; `high` if there is none. */
uint32_t qzi_resting_next(const struct qzi_resting *resting, uint32_t index, uint32_t high);
/* A bit for each record that does not rest; NULL: no thread rests. */
const uint64_t *qzi_resting_awake(const struct qzi_resting *resting);
/* Key of the tuple with which the thread rests; NULL: it does not rest. */
const struct qzi_tuple_key *qzi_resting_as(const struct qzi_resting *resting, uint32_t index);
/* Number of resting threads; of those that wait for an object. */
uint32_t qzi_resting_count(const struct qzi_resting *resting);
uint32_t qzi_resting_waiters(const struct qzi_resting *resting);
/* Sets the processor time still to be reported of one resting thread; returns that of all. */
void qzi_resting_owe(struct qzi_resting *resting, uint32_t index, int64_t owed_ns);
int64_t qzi_resting_owed_ns(const struct qzi_resting *resting);
/* The record is free, so it need not be examined either. */
void qzi_resting_free(struct qzi_resting *resting, uint32_t index);
/* Ends the rest of a thread: from this snapshot on it is in no sum. */
void qzi_resting_wake(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index);

/* To be called when a part of a snapshot was added. */
void qzi_resting_add(struct qzi_resting *resting, const struct qzi_counts *counts, uint64_t ns);
/* 1: time to settle, and then to let further threads rest. */
int qzi_resting_due(const struct qzi_resting *resting, uint64_t now_ns);
/* Adds the sums to the tuples. */
void qzi_resting_settle(struct qzi_sampler *sampler, struct qzi_resting *resting, uint64_t now_ns);
/* To be called just after settling, for a thread that was seen with this key in the last snapshot: it rests unless its
 * mark has changed since that snapshot began. Only stack, thread, state and waiting of the key count. waits: 1: it
 * waits for an object; external: that object if only the kernel knows it, else 0; owed_ns: its processor time that is
 * still to be reported. */
void qzi_resting_rest(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index,
                      const struct qzi_tuple_key *key, int waits, uint32_t external, int64_t owed_ns);

#endif
