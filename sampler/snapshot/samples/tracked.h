/* What is kept of each thread that is tracked, and the steps of tracking: what it waits for (tracked_waits.c), and what
 * it executes, by samples (tracked_samples.c); thread_tracker.c chooses between them.
 *
 * Owns:    what was found of each thread last.
 * Writer and reader: the aggregating thread.
 * Must not: be used by any other file.
 */
#ifndef QZI_TRACKED_H
#define QZI_TRACKED_H

#include "sampler/callpath/creations.h"
#include "sampler/callpath/hooked_paths.h"
#include "sampler/callpath/sample_queue.h"
#include "sampler/waits/lock_code.h"
#include "sampler/waits/cpu_use.h"
#include "sampler/waits/pause_detector.h"
#include "sampler/waits/poll_detector.h"
#include "sampler/waits/repeating_loop.h"
#include "sampler/waits/kernel_work.h"
#include "sampler/linux/perf_samples.h"
#include "samples_due.h"
#include "counters.h"
#include "shared_lines.h"
#include "switch_time.h"
#include "thread_tracker.h"
#include "sampler/waits/no_progress.h"

/* What is known of a thread record. */
struct qzi_tracked {
  uint64_t serial;
  uint64_t word, state;   /* of the record, when `node` was made */
  uint64_t sp, pc;        /* where the kernel said that it sleeps, then */
  uint64_t futex;         /* on which address */
  uint32_t from, node;    /* node of the record alone; with frames */
  uint32_t object;        /* index of the futex, */
  uint64_t waits;         /* or, of one of the session (outside/objects.h), its key; 0: it is none */
  uint32_t plain;         /* a node that hooks have not made */
  uint32_t ran_from, ran; /* the same as from and node, of the last sample */
  uint32_t run_record;    /* node of the record alone, when it was last seen running */
  uint64_t ran_word;      /* of the record, at the last snapshot that saw it running */
  struct qzi_sample_queue samples;
  struct qzi_sampled *shown; /* the sample that the path of this snapshot shows, of those; NULL: none */
  uint64_t ran_number;       /* of the sample that `ran` shows; 0: none */
  struct qzi_walk *slept;    /* of the last sleep that only the kernel knows of */
  uint64_t again_ns;         /* when the wait is walked again, for inlined procedures and lines; 0: not at all */
  uint8_t walks;             /* of that wait */
  struct qzi_tracked_call {
    uint64_t site, called;
    uint32_t site_module;
    enum qzi_mpi mpi;
  } mpi; /* of MPI in which its last sample found it */
  struct qzi_switch_time switches;
  uint32_t left;       /* node of the path on which it last gave up its CPU; 0: it was not seen to */
  uint8_t left_kernel; /* what the kernel did for it then: enum qz_kernel */
  uint32_t tid;        /* whose samples it has; 0: none, or not known yet */
  uint8_t hooked;
  uint32_t
    inside; /* what the wait is reported as that the record publishes (waits_inside); 0: as what the record says */
  struct qzi_no_progress stalled;
  struct qzi_pause_detector pausing;
  struct qzi_repeating_loop repeating;
  uint64_t polls;  /* of the sample shown; with hooks, of the last one */
  uint32_t looped; /* with hooks: node of the record from which it is in that loop; 0: not looked at since the sample */
};

struct qzi_tracker {
  struct qzi_sampler *sampler;
  struct qzi_paths *paths; /* NULL: no unwinding */
  struct qzi_creations *creations;
  struct qzi_hooked *hooked; /* NULL: no unwinding */
  struct qzi_tracked *all;
  size_t all_bytes;
  struct qzi_running *running; /* NULL: no samples */
  uint64_t interval_ns;        /* of processor time between a thread's samples */
  struct qzi_switch_times switches;
  struct qzi_samples_due due;
  uint64_t used_ns; /* when samples were last of use */
  uint32_t *slots;  /* index + 1 of the thread with some id, in one of the slots from there on */
  struct qzi_walk walk;
  struct qzi_sample sample;
  struct qzi_poll_detector polling;
  struct qzi_stateless_known stateless;
  struct qzi_call_sites call_sites;
  struct qzi_lock_code lock_code;
  struct qzi_cpu_use cpu_use;
  struct qzi_shared_lines shared_lines;
  struct qzi_counters counters;
};

/* Of the sample that its path shows; NULL: none. */
static inline const struct qzi_walk *qzi_tracked_walk(const struct qzi_tracked *known) {
  return known->shown ? &known->shown->walk : NULL;
}
/* Where a thread is that is in that call. */
static inline void qzi_tracked_in_call(const struct qzi_tracked_call *call, struct qzi_walk *walk) {
  walk->site = call->site;
  walk->site_module = call->site_module;
  walk->own = 1;
  walk->called = call->called;
  walk->mpi = call->mpi;
}
/* Closes the events of all threads, and opens new ones. */
void qzi_tracker_reopen(struct qzi_tracker *tracker);
/* Record of the thread with that number in the system, index + 1; 0: it is not known. */
uint32_t qzi_tracker_index(const struct qzi_tracker *tracker, uint32_t tid);

/* ---- tracked_waits.c ---- */

/* From outside nobody says what a thread began with: that is the outermost procedure of its path. */
void qzi_track_start(struct qzi_tracker *tracker, uint32_t entity, const struct qzi_walk *walk);
/* The record says what the thread waits for, and where it was when it began to. */
void qzi_track_wait(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    uint32_t *object, uint64_t now_ns);
/* Only the kernel knows that it sleeps. */
void qzi_track_sleep(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                     int hooked, const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);
/* It was found spinning on the object, for which the record has no state. 1: *object is a futex then. */
int qzi_track_spinning(struct qzi_tracker *tracker, const struct qzi_tracked *known, struct qzi_look *look,
                       uint32_t *object);

/* ---- tracked_samples.c ---- */

/* It could run. *object: what it has just been woken by, if the session has that. */
void qzi_track_running(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                       const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);

#endif
