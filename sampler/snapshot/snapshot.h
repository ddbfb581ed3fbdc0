/* Snapshots of one session, added up in one profile.
 *
 * Owns:    everything that one recording knows of a session, and the profile that it fills.
 * Writer and reader: the aggregating thread; during a visit, the visiting threads, each a range of processors.
 * Must not: keep time (the caller says what time it is), wait, or make a system call but for room in the file.
 *
 * A snapshot has two phases. All processors are visited first: state, thread and stack of each are copied. Then b, s
 * and r are known, and every observation is added with them. So several threads may visit (their ranges at the
 * same time, which also makes the snapshot shorter), and still one b holds for the whole snapshot: only one thread
 * adds, after all have visited. (docs/reference/metrics.md, sections 1, 5 and 6)
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

/* What was seen at one processor, and what is remembered from the time before. */
struct qzi_visit {
  _Alignas(128) uint64_t now;
  uint64_t serial; /* of the thread; 0: no thread */
  uint64_t word;   /* packed word of the copy in `keys`; QZI_NO_WORD: not to be relied on */
  uint64_t ready;  /* enqueued - dequeued */
  uint32_t thread; /* index */
  uint32_t object; /* that the thread waits for */
  uint32_t held;   /* keys in `keys`, and their fingerprints in `prints` */
  uint8_t state;   /* enum qz_state */
  uint8_t retries, torn, invalid;
  uint8_t overhead;      /* what the package's work is for, as tuples have it (enum qz_kernel) */
  uint32_t node, entity; /* of the snapshot, once resolved */
  uint32_t loop;         /* in which it was found to wait, unmarked (waits/external_waits.h); 0: none */
  uint32_t instruction;  /* that its thread was at: instructions.h */
  uint64_t node_print;   /* fingerprint that `node` is for */
  uint32_t top, top_of;  /* qzi_timeline_entity of the node top_of */
  uint32_t tuple;        /* index + 1 of the tuple for last_key */
  struct qzi_tuple_key last_key;
  uint64_t *keys, *prints;
};

struct qzi_object_memo {
  uint64_t visit_ns;   /* last visit + 1; 0: none */
  uint64_t round;      /* snapshot that `spinners` and `woken` are of */
  uint32_t spinners;   /* beside those that the session knows of */
  uint32_t woken;      /* of those: they wait no more, but for a CPU */
  uint32_t stats;      /* index + 1 into QZ_SECTION_OBJECTS */
  uint64_t held_round; /* snapshot that `holdings` is of */
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
  uint64_t timed_samples; /* samples of running threads by events that belong to threads: with a timer that is set at
                             switches */
  uint64_t apart_ns; /* time of the sampling thread for what it does at intervals, however many snapshots there are */
  uint64_t others_cpu_ns; /* processor time of threads that work for the sampling ones */
  _Atomic uint64_t
    sleep_ns; /* what a sleep takes of a thread's processor time; 0: not measured. The control thread's */
  const struct qz_session_view *view;
  struct qzi_file *file;
  struct qzi_interner in;
  struct qzi_tuples tuples;
  struct qzi_instructions instructions;
  struct qzi_timeline timeline;
  struct qzi_slices slices;              /* .file NULL: none are asked for */
  const struct qzi_threading *threading; /* threading.h */
  struct qzi_kernel *kernel;             /* where the program's threads are kernel threads, else NULL */
  struct qzi_processor_loops *loops;     /* where they are those of the thread package, else NULL */
  struct qzi_outside *outside;           /* makes the session, where the program publishes nothing; else NULL */
  struct qzi_holders *holders;
  struct qzi_path path;     /* opened by who has the page */
  struct qzi_visit *visits; /* by processor */
  void *visit_memory;
  size_t visit_bytes;
  uint64_t round;          /* snapshots begun, the base included */
  uint64_t last_ns;        /* time of the last snapshot or base */
  uint32_t runnable;       /* r of the last snapshot */
  uint16_t busy, spinning; /* its b and s */
  /* threads without a processor, in turn */
  uint64_t *keys, *prints; /* scratch: stack_limit */
  uint32_t thread_cursor;
  struct qzi_growth threads_grown;
  /* objects, in turn */
  struct qzi_object_memo *objects;
  size_t objects_bytes;
  uint32_t object_cursor;
  uint32_t reader_cursor; /* thread from which readers of a lock are looked for */
  struct qzi_growth objects_grown;
  struct qzi_table blame;
  struct qzi_table wait_overlap;
  uint32_t random;         /* state of the choice of processors in wait_overlap.c */
  uint64_t *asked;         /* pthread layer: calls to each object since recording began, by index; else NULL */
  struct qz_object *bases; /* exact numbers from before recording began, by object index; NULL: all zero */
  uint32_t bases_count;
  /* calls */
  struct qzi_table calls;
  struct qzi_call_sum *sums;
  uint32_t sums_count, sums_room;
  struct qzi_totals totals_base;
};

/* Prepares for sampling into `file`, whose head gets what the session says of itself. `now_ns` is the base: the first
 * snapshot's weight is the time since then. 0, or -1: out of memory. */
int qzi_sampler_open(struct qzi_sampler *sampler, const struct qz_session_view *view, struct qzi_file *file,
                     uint64_t now_ns);
void qzi_sampler_close(struct qzi_sampler *sampler);

/* Leaves out the time since the last snapshot: the program or the sampler stood still. */
void qzi_sampler_rebase(struct qzi_sampler *sampler, uint64_t now_ns);

/* The session has another number of processors from now on (qz_init). What was seen holds for all of them: those that
 * are new were idle, and so were those that go. view->processors is the new number already. Between two snapshots; no
 * helper visits during that time. 0, or -1: one that goes was not idle, no memory, or no room; nothing has changed. */
int qzi_sampler_resize(struct qzi_sampler *sampler, uint32_t before);

/* Visits processors first .. end-1. Distinct ranges may be visited by distinct threads at once. */
static inline void qzi_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end) {
  sampler->threading->visit(sampler, first, end);
}
/* Adds what the visits saw, `now_ns` being the time at which they began. 0, or -1: the file has no room (`full`) and
 * nothing was added. Times must not run backwards. */
static inline int qzi_snapshot_add(struct qzi_sampler *sampler, uint64_t now_ns) {
  return sampler->threading->add(sampler, now_ns);
}
static inline int qzi_snapshot(struct qzi_sampler *sampler, uint64_t now_ns) {
  qzi_visit(sampler, 0, sampler->view->processors);
  return qzi_snapshot_add(sampler, now_ns);
}

/* Visits up to `most` of the threads that are not running, or of the objects, going on where the last call ended,
 * none twice. Called after qzi_snapshot_add, and part of that snapshot. The weight of an observation is the time
 * since that same record was last visited, or came into use. Returns how many were visited. */
uint32_t qzi_threads_visit(struct qzi_sampler *sampler, uint32_t most);
/* first: 1 in the first call after a snapshot. */
uint32_t qzi_objects_visit(struct qzi_sampler *sampler, uint32_t most, int first);
/* Brings exact numbers up to date: totals of the session's head and processors; calls; statistics of objects, some of
 * which come from the calls. */
void qzi_totals_read(struct qzi_sampler *sampler);
void qzi_calls_read(struct qzi_sampler *sampler);
void qzi_objects_read(struct qzi_sampler *sampler);
/* Pushes refused since threads were looked at last: at the end of a recording, of those that no snapshot saw again. */
void qzi_overflows_read(struct qzi_sampler *sampler);
/* Once, before the first snapshot: remembers which records are in use, and, where the program ran before (attached),
 * what processors, objects and calls counted so far, to leave it out. 0, or -1: out of memory. */
int qzi_sampler_base(struct qzi_sampler *sampler, int attached);

#endif
