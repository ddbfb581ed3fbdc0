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

#include "abi/session_read.h"
#include "sampler/path/path.h"
#include "sampler/profile/file.h"
#include "sampler/profile/instructions.h"
#include "sampler/profile/interner.h"
#include "sampler/profile/slices.h"
#include "sampler/profile/timeline.h"
#include "sampler/profile/tuples.h"
#include "growth.h"
#include "threading.h"

/* What was seen at one processor, and what is remembered from earlier snapshots. */
struct qzi_visit {
  _Alignas(128) uint64_t now;
  uint64_t serial; /* of the thread; 0: no thread */
  uint64_t word;   /* packed word of the copy in `keys`; QZI_NO_WORD: the copy is invalid */
  uint64_t ready;  /* length of its queue: enqueued - dequeued */
  uint32_t thread; /* index of the record */
  uint32_t object; /* object that the thread waits for */
  uint32_t held;   /* number of keys in `keys` and of their fingerprints in `prints` */
  uint8_t state;   /* enum qz_state */
  uint8_t retries, torn, invalid;
  uint8_t overhead;      /* purpose of the package's work, as in tuples (enum qz_kernel) */
  uint32_t node, entity; /* call path and thread in this snapshot */
  uint32_t loop;         /* unmarked loop in which the thread was found to wait (waits/external_waits.h); 0: none */
  uint32_t instruction;  /* row of the thread's instruction: instructions.h */
  uint64_t node_print;   /* fingerprint of the stack that `node` is for */
  uint32_t top, top_of;  /* top: qzi_timeline_entity of the node top_of */
  uint32_t tuple;        /* index + 1 of the tuple for last_key */
  struct qzi_tuple_key last_key;
  uint64_t *keys, *prints;
};

struct qzi_object_memo {
  uint64_t visit_ns;   /* time of the last visit + 1; 0: none */
  uint64_t round;      /* number of the snapshot that `spinners` and `woken` belong to */
  uint32_t spinners;   /* in addition to the waiters in the session */
  uint32_t woken;      /* waiters in the session that wait only for a CPU */
  uint32_t stats;      /* index + 1 into QZ_SECTION_OBJECTS */
  uint64_t held_round; /* number of the snapshot that `holdings` belongs to */
  uint32_t holdings;   /* lock_holders.c */
};

struct qzi_call_sum;
struct qzi_kernel;          /* kernel_threads.c */
struct qzi_processor_loops; /* processor_loops.h */
struct qzi_outside;         /* sampler/outside/session.h */
struct qzi_holders;
struct qzi_totals {
  uint64_t spawns, switches, steals, parks, calls_lost;
};

struct qzi_sampler {
  uint64_t timed_samples; /* samples of running threads by events that belong to threads, whose timer is set at
                             switches */
  uint64_t apart_ns; /* time that the sampling thread uses for periodic work, independent of the number of snapshots */
  uint64_t others_cpu_ns;    /* processor time of threads that work for the sampling threads */
  _Atomic uint64_t sleep_ns; /* processor time of a sleep in ns; 0: not measured; written by the control thread */
  const struct qz_session_view *view;
  struct qzi_file *file;
  struct qzi_interner in;
  struct qzi_tuples tuples;
  struct qzi_instructions instructions;
  struct qzi_timeline timeline;
  struct qzi_slices slices;                     /* file NULL: no slices are recorded */
  const struct qzi_threading *threading;        /* threading.h */
  struct qzi_kernel *kernel;                    /* if the program's threads are kernel threads; else NULL */
  struct qzi_processor_loops *loops;            /* if they are those of the thread package; else NULL */
  const struct qz_signal_ring *_Atomic signals; /* samples that the program takes of itself; NULL: none, or not yet */
  struct qzi_outside *outside;                  /* creates the session if the program publishes nothing; else NULL */
  struct qzi_holders *holders;
  struct qzi_path path;     /* opened by the owner of the clock page */
  struct qzi_visit *visits; /* by processor */
  void *visit_memory;
  size_t visit_bytes;
  uint64_t round;          /* number of snapshots begun, including the base */
  uint64_t last_ns;        /* time of the last snapshot or base */
  uint32_t runnable;       /* r of the last snapshot */
  uint16_t busy, spinning; /* its b and s */
  /* visiting threads without a processor */
  uint64_t *keys, *prints; /* scratch memory: stack_limit elements */
  uint32_t thread_cursor;
  struct qzi_growth threads_grown;
  /* visiting objects */
  struct qzi_object_memo *objects;
  size_t objects_bytes;
  uint32_t object_cursor;
  uint32_t reader_cursor; /* thread at which the search for readers of a lock begins */
  struct qzi_growth objects_grown;
  struct qzi_table blame;
  struct qzi_table wait_overlap;
  uint32_t random;         /* state of the random generator of wait_overlap.c */
  uint64_t *asked;         /* pthread layer: calls to each object since recording began, by index; else NULL */
  struct qz_object *bases; /* exact counts from before recording began, by index of the object; NULL: all zero */
  uint32_t bases_count;
  /* calls */
  struct qzi_table calls;
  struct qzi_call_sum *sums;
  uint32_t sums_count, sums_room;
  struct qzi_totals totals_base;
};

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
