/* State of each tracked thread, and the steps of tracking: what it waits for (tracked_waits.c), and what it executes,
 * by samples (tracked_samples.c); thread_tracker.c chooses between them.
 *
 * Owns:    what was last found for each thread.
 * Writer and reader: the aggregating thread.
 * Must not: be used by any other file.
 */
#ifndef QZI_TRACKED_H
#define QZI_TRACKED_H

#include "sampler/callpath/creations.h"
#include "sampler/callpath/hooked_paths.h"
#include "sampler/callpath/left_samples.h"
#include "sampler/waits/lock_code.h"
#include "sampler/waits/cpu_use.h"
#include "sampler/waits/pause_detector.h"
#include "sampler/waits/poll_detector.h"
#include "sampler/waits/repeating_loop.h"
#include "sampler/waits/kernel_work.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/linux/task_state.h"
#include "sampler/snapshot/thread_look.h"
#include "read_descriptors.h"
#include "samples_due.h"
#include "sample_pace.h"
#include "copied_stack.h"
#include "executed.h"
#include "counters.h"
#include "shared_lines.h"
#include "switch_time.h"
#include "sampler/waits/no_progress.h"

/* What is known about a thread record. */
struct qzi_tracked {
  uint64_t serial;
  uint64_t word, state;   /* of the record, when `node` was made */
  uint64_t sp, pc;        /* where it slept at that time, according to the kernel */
  uint64_t first;         /* first argument of the call: the futex's address, the descriptor */
  uint32_t from, node;    /* from: node of the record only; node: with frames */
  uint32_t object;        /* index of the object that only the sampler knows, */
  uint64_t waits;         /* or key of an object of the session for which it waits (outside/objects.h); 0: none */
  uint32_t plain;         /* a node that was not made by hooks */
  uint32_t ran_from, ran; /* the same as from and node, for the last sample */
  uint32_t run_record;    /* node of the record only, when it was last seen running */
  uint32_t cpu_record;    /* the same, when it was last seen to have a CPU */
  uint64_t ran_word;      /* word of the record, at the last snapshot that saw it running */
  struct qzi_sample_queue samples;
  struct qzi_sampled *shown; /* the sample in `samples` that the path of this snapshot shows; NULL: none */
  uint64_t ran_number;       /* number of the sample that `ran` shows; 0: none */
  struct qzi_walk *slept;    /* walk of the last sleep that only the kernel knows */
  uint64_t again_ns;         /* when to walk the wait again, for inlined procedures and lines; 0: never */
  uint8_t walks;             /* number of walks of that wait */
  struct qzi_tracked_call {
    uint64_t site, called;
    uint32_t site_module;
    enum qzi_mpi mpi;
  } mpi; /* MPI call in which its last sample found it */
  struct qzi_switch_time switches;
  uint32_t left;             /* node of the path on which it last gave up its CPU; 0: unknown */
  uint8_t left_kernel;       /* what the kernel did for it at that time: enum qz_kernel */
  uint32_t tid;              /* kernel thread id under which it is in the slots; 0: none, or not known yet */
  uint64_t start;            /* its start routine */
  uint64_t ended_serial;     /* the thread that had this record before, if its end has not been reported yet, */
  struct qzi_executed ended; /* and what it executed last */
  uint8_t hooked;
  uint32_t inside; /* object as which the published wait is reported (waits_inside); 0: as the record says */
  struct qzi_no_progress stalled;
  struct qzi_pause_detector pausing;
  struct qzi_repeating_loop repeating;
  uint64_t tries;  /* `tries` of the record at the last sample */
  uint64_t polls;  /* loop of the sample shown, or with hooks of the last sample */
  uint32_t looped; /* with hooks: node of the record from which on it is in that loop; 0: not determined since the
                      sample */
};

struct qzi_tracker {
  struct qzi_sampler *sampler;
  struct qzi_paths *paths; /* NULL: no unwinding */
  struct qzi_creations *creations;
  struct qzi_hooked *hooked; /* NULL: no unwinding */
  struct qzi_tracked *all;
  size_t all_bytes;
  struct qzi_running *running; /* NULL: no samples are taken */
  struct qzi_sample_pace pace; /* which part of them is used */
  uint64_t interval_ns;        /* processor time between a thread's samples, used or not */
  struct qzi_switch_times switches;
  struct qzi_samples_due due;
  struct qzi_copied_stack copied;
  int reopens; /* 1: at the end of this reading, for larger copies */
  struct qzi_left_samples left;
  uint64_t used_ns;      /* when samples were last used */
  uint64_t search_round; /* when new threads were last looked for because of a sample of an unknown one, */
  uint32_t search_pause; /* and after how many snapshots this may be done again */
  uint32_t *slots;       /* hash table: index + 1 of threads by kernel thread id */
  struct qzi_walk walk;
  struct qzi_sample sample;
  struct qzi_new_code new_code;
  struct qzi_poll_detector polling;
  struct qzi_stateless_known stateless;
  struct qzi_pause_known pauses;
  struct qzi_call_sites call_sites;
  struct qzi_lock_code lock_code;
  struct qzi_cpu_use cpu_use;
  struct qzi_shared_lines shared_lines;
  struct qzi_counters counters;
  struct qzi_read_descriptors descriptors;
};

/* Processor time that a used sample stands for. */
static inline uint64_t qzi_tracked_stands_ns(const struct qzi_tracker *tracker) {
  return tracker->interval_ns * (tracker->pace.one_of ? tracker->pace.one_of : 1);
}
/* Walk of the sample that its path shows; NULL: none. */
static inline const struct qzi_walk *qzi_tracked_walk(const struct qzi_tracked *known) {
  return known->shown ? &known->shown->walk : NULL;
}
/* Sets the place of a walk to that call. */
static inline void qzi_tracked_in_call(const struct qzi_tracked_call *call, struct qzi_walk *walk) {
  walk->site = call->site;
  walk->site_module = call->site_module;
  walk->own = 1;
  walk->called = call->called;
  walk->mpi = call->mpi;
}
/* Closes the events of all threads, and opens new ones. */
void qzi_tracker_reopen(struct qzi_tracker *tracker);
/* Uses the samples that the program takes of itself, once it does, if the kernel gives none. */
void qzi_tracker_look_for_signals(struct qzi_tracker *tracker);
/* Index + 1 of the record of the thread with that kernel thread id; 0: unknown. */
uint32_t qzi_tracker_index(const struct qzi_tracker *tracker, uint32_t tid);
/* The same for the thread of a sample: it may have begun since the last snapshot. */
uint32_t qzi_tracker_sampled(struct qzi_tracker *tracker, uint32_t tid);

/* ---- tracked_waits.c ---- */

/* In a program observed from outside, nothing reports a thread's start routine; it is set to the outermost procedure of
 * the path. */
void qzi_track_start(struct qzi_tracker *tracker, uint32_t entity, const struct qzi_walk *walk);
/* For a wait that the record publishes, with the frame in which it began. */
void qzi_track_wait(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    uint32_t *object, uint64_t now_ns);
/* For a wait at a futex that the pthread layer reports: returns 1, and sets *object (external_waits.h); else 0. */
int qzi_track_futex(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    int hooked, uint32_t *object, uint64_t now_ns);
/* For a sleep that only the kernel knows. */
void qzi_track_sleep(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                     int hooked, const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);
/* For a thread found spinning on an object for which the record has no state. Returns 1 if *object is a futex. */
int qzi_track_spinning(struct qzi_tracker *tracker, const struct qzi_tracked *known, struct qzi_look *look,
                       uint32_t *object);

/* ---- tracked_samples.c ---- */

/* For a runnable thread. *object: the object of the session by which it has just been woken, if any. */
void qzi_track_running(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                       const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns);

#endif
