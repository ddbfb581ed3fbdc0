/* Threads of which a snapshot need not look at each: they sleep, and their records have not changed since.
 *
 * Owns:    which threads rest, and the time that is still to be added for them.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: decide who sleeps, or ask the kernel.
 *
 * Beside thousands of sleeping threads nearly all that a snapshot could see is what it saw before. Of threads that rest
 * in the same way (path, thread's entity, state) only the number is kept; what snapshots found otherwise (b, s and r)
 * is summed up, and added to their tuples all at once: when a thread goes on, for that one, else several times a
 * second. So the sums of a finished profile are those that visits of all threads would give. That a thread goes on is
 * shown by its mark (abi/session.h), which a snapshot finds without looking at records.
 */
#ifndef QZI_RESTING_THREADS_H
#define QZI_RESTING_THREADS_H

#include "sampler/snapshot/round.h"

struct qzi_resting;

/* NULL: out of memory. */
struct qzi_resting *qzi_resting_open(const struct qz_session_view *view);
void qzi_resting_close(struct qzi_resting *resting);

/* A snapshot begins, with so many records in use: threads whose marks have changed go on. */
void qzi_resting_begin(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t high);
/* The first record from `index` on that does not rest; `high`: there is none. */
uint32_t qzi_resting_next(const struct qzi_resting *resting, uint32_t index, uint32_t high);
/* A bit for each record that does not rest; NULL: none does. */
const uint64_t *qzi_resting_awake(const struct qzi_resting *resting);
/* How the thread rests; NULL: it does not. */
const struct qzi_tuple_key *qzi_resting_as(const struct qzi_resting *resting, uint32_t index);
/* How many do; of those, how many wait for an object. */
uint32_t qzi_resting_count(const struct qzi_resting *resting);
uint32_t qzi_resting_waiters(const struct qzi_resting *resting);
/* Such time of one that rests is this now; that of all who rest. */
void qzi_resting_owe(struct qzi_resting *resting, uint32_t index, int64_t owed_ns);
int64_t qzi_resting_owed_ns(const struct qzi_resting *resting);
/* The record is free: it need not be looked at either. */
void qzi_resting_free(struct qzi_resting *resting, uint32_t index);
/* One goes on: it is in no sum from this snapshot on. */
void qzi_resting_wake(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index);

/* A part of a snapshot was added. */
void qzi_resting_add(struct qzi_resting *resting, const struct qzi_counts *counts, uint64_t ns);
/* 1: time to settle, and then to let further threads rest. */
int qzi_resting_due(const struct qzi_resting *resting, uint64_t now_ns);
/* Adds what was summed up to the tuples. */
void qzi_resting_settle(struct qzi_sampler *sampler, struct qzi_resting *resting, uint64_t now_ns);
/* Just after that: a thread that was seen like this in the last snapshot rests, unless its mark has changed since that
 * began. Only stack, thread, state and waiting of the key count. waits: for an object; external: that object, where
 * only the kernel knows of it, else 0; owed_ns: processor time of it that is still to be reported. */
void qzi_resting_rest(struct qzi_sampler *sampler, struct qzi_resting *resting, uint32_t index,
                      const struct qzi_tuple_key *key, int waits, uint32_t external, int64_t owed_ns);

#endif
