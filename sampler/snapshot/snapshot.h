/* Snapshots of one session, summed up in one profile.
 *
 * Owns:    everything that one recording knows about a session, and the profile that it fills.
 * Writer and reader: the aggregating thread; during a visit, the visiting threads, each for a range of processors.
 * Must not: read a clock (the caller passes the time), wait, or make a system call except for room in the file.
 *
 * A snapshot has two phases. First all processors are visited: state, thread and stack of each are copied. Then b, s
 * and r are known, and every observation is added with them. So several threads can visit at the same time (which also
 * makes the snapshot shorter), and still one b is valid for the whole snapshot: only one thread adds, after all visits.
 * (docs/reference/metrics.md, sections 1, 5 and 6)
 */
#ifndef QZI_SNAPSHOT_H
#define QZI_SNAPSHOT_H

#include "sampler_state.h"
#include "threading.h"

/* Prepares for sampling into `file`, whose head receives what the session contains about itself. `now_ns` is the base:
 * the first snapshot's weight is the time since then. Returns 0, or -1 if there is no memory. */
int qzi_sampler_open(struct qzi_sampler *sampler, const struct qz_session_view *view, struct qzi_file *file,
                     uint64_t now_ns);
void qzi_sampler_close(struct qzi_sampler *sampler);

/* Leaves out the time since the last snapshot, because the program or the sampler was stopped. */
void qzi_sampler_rebase(struct qzi_sampler *sampler, uint64_t now_ns);

/* The session's number of processors has changed from `before` to view->processors (qz_init). Earlier observations
 * apply to the new number: added processors were idle, and so were removed ones. To be called between two snapshots,
 * while no helper visits. Returns 0, or -1 if a removed one was not idle, or if there is no memory or no room; then
 * nothing has changed. */
int qzi_sampler_resize(struct qzi_sampler *sampler, uint32_t before);

/* Visits processors first .. end-1. Several threads may visit distinct ranges at the same time. */
static inline void qzi_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  sampler->threading->visit(sampler, first, end);
}
/* Adds what the visits saw; they began at now_ns, and the snapshot stands for the time from the last one's until_ns to
 * its own, which is not less than now_ns. Of kernel threads, what comes after now_ns may be added by the next call
 * only, or by qzi_snapshot_add_rest, which comes before what was seen gets another meaning (other modules). Both return
 * 0, or -1 if the file has no room (`full`) and nothing was added. Times must not decrease. */
static inline int qzi_snapshot_add(struct qzi_sampler *sampler, uint64_t now_ns, uint64_t until_ns) {
  return sampler->threading->add(sampler, now_ns, until_ns);
}
static inline int qzi_snapshot_add_rest(struct qzi_sampler *sampler, uint64_t now_ns) {
  return sampler->threading->add_rest ? sampler->threading->add_rest(sampler, now_ns) : 0;
}
static inline int qzi_snapshot(struct qzi_sampler *sampler, uint64_t now_ns) {
  qzi_visit(sampler, 0, sampler->view->processors);
  return qzi_snapshot_add(sampler, now_ns, now_ns);
}

/* Visits at most `most` of the threads that are not running, or of the objects, continuing where the last call ended,
 * none twice. To be called after qzi_snapshot_add, as part of that snapshot. The weight of an observation is the time
 * since the same record was last visited, or came into use. Returns the number of visited records. */
uint32_t qzi_threads_visit(struct qzi_sampler *sampler, uint32_t most);
/* first: 1 in the first call after a snapshot. */
uint32_t qzi_objects_visit(struct qzi_sampler *sampler, uint32_t most, int first);
/* Updates exact counts: totals of the session's head and processors; calls; statistics of objects, some of which are
 * derived from calls. */
void qzi_totals_read(struct qzi_sampler *sampler);
void qzi_calls_read(struct qzi_sampler *sampler);
void qzi_objects_read(struct qzi_sampler *sampler);
/* Counts pushes refused since threads were last examined, at the end of a recording, for threads that no snapshot saw
 * again. */
void qzi_overflows_read(struct qzi_sampler *sampler);
/* To be called once, before the first snapshot: remembers which records are in use, and, if the program ran before
 * (attached), what processors, objects and calls have counted so far, in order to subtract it. Returns 0, or -1 if
 * there is no memory. */
int qzi_sampler_base(struct qzi_sampler *sampler, int attached);

#endif
