/* The call path of each thread of a program without hooks, from three sources: the frame in its record while it waits,
 * the system call in which it sleeps according to the kernel, and the kernel's samples while it runs.
 *
 * Owns:    what was last found for each thread, and the samples' buffers.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: show for a wait a path that is older than the wait.
 */
#ifndef QZI_THREAD_TRACKER_H
#define QZI_THREAD_TRACKER_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/task_state.h"
#include "sampler/snapshot/thread_look.h"
#include "executed.h"

struct qzi_tracker;

struct qzi_tracker *qzi_tracker_open(struct qzi_sampler *sampler); /* returns NULL if there is no memory */
void qzi_tracker_close(struct qzi_tracker *tracker);
void qzi_tracker_prepare(struct qzi_tracker *tracker); /* calls qzi_unwinder_prepare */
/* To be called when the rate of the recording is known, and the program has not begun. */
void qzi_tracker_start(struct qzi_tracker *tracker);
/* Begins to sample the running threads of the program described by `head`, at a rate derived from its rate; the cost of
 * a sample is stored in the head. Returns NULL if there are no samples. */
struct qzi_running *qzi_tracker_samples(struct qz_profile *head, uint32_t stack);
/* To be called at the beginning of a snapshot: takes the kernel's samples of running threads. run_ns: processor time of
 * the program since the recording began. */
void qzi_tracker_begin(struct qzi_tracker *tracker, uint64_t now_ns, uint64_t run_ns);
/* Finds the path of thread `index`, which `look` describes and which is in `state`. published: its record contains this
 * state and the object. Sets look->node. For a wait that only the kernel knows, or for a condition or a loop inside a
 * library, sets *object (a futex, external_waits.h), and returns 1; for a futex that the pthread layer reports,
 * QZI_BY_LAYER. */
enum { QZI_BY_LAYER = 2 };
int qzi_tracker(struct qzi_tracker *tracker, uint32_t index, struct qzi_look *look, unsigned state, int published,
                const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);
/* Records the kernel's counts for the thread with that record: processor time, and how often it got a CPU. aside: 1:
 * their increase is not part of the recording. */
void qzi_tracker_counted(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t run_ns,
                         uint64_t dispatches, int aside);
/* For a runnable thread at which this snapshot has looked: whether it has a CPU. What one without a CPU executed before
 * belongs to the record with which it was last seen to have one: where it lost its CPU is no random instant. */
void qzi_tracker_on_cpu(struct qzi_tracker *tracker, uint32_t index, int has);
/* The thread counts as having executed for `ns`. Returns the node of the path on which it did: that of one of its
 * samples, which then stands for that much less, or where it last gave up its CPU (switch_time.h); 0: the path with
 * which it was seen. spins: it was found spinning, and is reported so. *kernel: what the kernel did for it at that time
 * (enum qz_kernel). *instruction: row of its instruction (instructions.h). */
uint32_t qzi_tracker_executed(struct qzi_tracker *tracker, uint32_t index, uint64_t ns, int spins, uint8_t *kernel,
                              uint32_t *instruction);
/* Whether what the thread executed last, of which it is to be reported next, was anything but calls of sched_yield and
 * what looks again between them. */
int qzi_tracker_has_worked(const struct qzi_tracker *tracker, uint32_t index);
/* For the span: *node: the path of the thread's newest sample, whichever samples still have to be attributed. */
enum qzi_newest {
  QZI_NEWEST_NONE, /* its paths do not come from samples, or there is none yet */
  QZI_NEWEST_OLD,  /* it has been taken before the last snapshot, or the thread only waited there */
  QZI_NEWEST_NOW   /* it has been taken since */
};
enum qzi_newest qzi_tracker_newest(struct qzi_tracker *tracker, uint32_t index, uint32_t *node);
/* Likewise for the time that is left of the thread that had that record and that serial number. */
struct qzi_executed qzi_tracker_ended(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t ns);
/* Likewise for a thread that no snapshot saw, if it is like that one. */
uint32_t qzi_tracker_unseen(struct qzi_tracker *tracker, const struct qzi_executed *like, uint64_t ns, uint8_t *kernel,
                            uint32_t *instruction);
/* To be called when the record is free. */
void qzi_tracker_gone(struct qzi_tracker *tracker, uint32_t index);
void qzi_tracker_taken(struct qzi_tracker *tracker, uint64_t key, uint64_t site); /* calls qzi_paths_taken_at */
/* The loop (qzi_loop) in which the thread only waits, as its samples show; 0: it may be working. To be called after
 * qzi_tracker. */
uint32_t qzi_tracker_loop(const struct qzi_tracker *tracker, uint32_t index);
/* Node of the last path found; 0: none. */
/* Prefetches the state of that thread, which will be used soon. */
void qzi_tracker_fetch(const struct qzi_tracker *tracker, uint32_t index);
/* Time in ns that walks of stacks, and analyses of code, took. */
uint64_t qzi_tracker_apart_ns(const struct qzi_tracker *tracker);
uint32_t qzi_tracker_node(const struct qzi_tracker *tracker, uint32_t index);

#endif
