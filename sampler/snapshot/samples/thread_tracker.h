/* What each thread of an unhooked program is doing, from three sources: the frame that its record names while it waits,
 * the kernel's word on the call in which it sleeps, and the kernel's samples while it runs.
 *
 * Owns:    what was found of each thread last, and the samples' buffers.
 * Writer and reader: the aggregating thread, through kernel_threads.c.
 * Must not: show an older path for a wait than that wait's own.
 */
#ifndef QZI_THREAD_TRACKER_H
#define QZI_THREAD_TRACKER_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/task_state.h"
#include "sampler/snapshot/thread_look.h"

struct qzi_tracker;

struct qzi_tracker *qzi_tracker_open(struct qzi_sampler *sampler); /* NULL: no memory */
void qzi_tracker_close(struct qzi_tracker *tracker);
void qzi_tracker_prepare(struct qzi_tracker *tracker); /* qzi_unwinder_prepare */
/* The rate of the recording is known, and the program waits to begin. */
void qzi_tracker_start(struct qzi_tracker *tracker);
/* Samples of the running threads of the program that `head` describes, at its rate; what each costs goes into the head.
 * NULL: there are none. */
struct qzi_running *qzi_tracker_samples(struct qz_profile *head);
/* A snapshot begins: takes the kernel's samples of running threads. run_ns: processor time of the program since the
 * recording began. */
void qzi_tracker_begin(struct qzi_tracker *tracker, uint64_t now_ns, uint64_t run_ns);
/* Thread `index`, which look describes, is in `state`. published: its record says so, and what for. Sets look->node,
 * and for a wait that only the kernel knows of, or for a condition or a loop that a library made for itself, *object (a
 * futex, external_waits.h), and returns 1. */
int qzi_tracker(struct qzi_tracker *tracker, uint32_t index, struct qzi_look *look, unsigned state, int published,
                const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);
/* The kernel counts so much processor time for the thread with that record, and gave it a CPU so often. aside: 1: what
 * is new of both is not part of the recording. */
void qzi_tracker_counted(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t run_ns,
                         uint64_t dispatches, int aside);
/* The thread counts as having executed for so long. Node of the path on which it did: of one of its samples, which
 * stands for that much less, or where it last gave up its CPU (switch_time.h); 0: as it was found. spins: it was found
 * spinning, and is reported so. *kernel: what the kernel did for it then (enum qz_kernel). *instruction: row of the
 * instruction that it was at (instructions.h). */
uint32_t qzi_tracker_executed(struct qzi_tracker *tracker, uint32_t index, uint64_t ns, int spins, uint8_t *kernel,
                              uint32_t *instruction);
/* The record is free. */
void qzi_tracker_gone(struct qzi_tracker *tracker, uint32_t index);
void qzi_tracker_taken(struct qzi_tracker *tracker, uint64_t key, uint64_t site); /* qzi_paths_taken_at */
/* The loop in which the thread only waits, as its samples show (qzi_loop); 0: it may be at work. After qzi_tracker. */
uint32_t qzi_tracker_loop(const struct qzi_tracker *tracker, uint32_t index);
/* Node of the last path found; 0: none. */
/* The record of that thread is looked at soon. */
void qzi_tracker_fetch(const struct qzi_tracker *tracker, uint32_t index);
/* Time that walks of stacks took in all. */
uint64_t qzi_tracker_walks_ns(const struct qzi_tracker *tracker);
uint32_t qzi_tracker_node(const struct qzi_tracker *tracker, uint32_t index);

#endif
