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
#include "sampler/profile/file.h"
#include "sampler/profile/interner.h"
#include "sampler/profile/timeline.h"
#include "sampler/profile/tuples.h"

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
  uint32_t node, entity; /* of the snapshot, once resolved */
  uint32_t loop;         /* in which it was found to wait, unmarked (waits/external_waits.h); 0: none */
  uint64_t node_print;   /* fingerprint that `node` is for */
  uint32_t tuple;        /* index + 1 of the tuple for last_key */
  struct qzi_tuple_key last_key;
  uint64_t *keys, *prints;
};

/* When records came into use, as far as it is remembered: those from high[k - 1] to below high[k] after since_ns[k],
 * the last time that was looked at before they were there. What such a record is first seen to do stands for the time
 * from then on: at the random instant of an interval it is seen with the probability with which it was there by then.
 */
#define QZI_GROWTH_STEPS 64
struct qzi_growth {
  uint64_t now_ns, before_ns; /* of the last look, and of the one before */
  uint32_t count;
  uint32_t high[QZI_GROWTH_STEPS];
  uint64_t since_ns[QZI_GROWTH_STEPS];
};

/* The k-th of `count` shares of `all`, which sum to it. */
static inline uint64_t qzi_share(uint64_t all, uint32_t count, uint32_t k) {
  return (uint64_t)((unsigned __int128)all * (k + 1) / count - (unsigned __int128)all * k / count);
}

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
struct qzi_kernel; /* kernel_threads.h */
struct qzi_processor_loops;
struct qzi_holders;
struct qzi_totals {
  uint64_t spawns, switches, steals, parks, calls_lost;
};

struct qzi_sampler {
  uint64_t timed_samples; /* samples of running threads by events that belong to threads: with a timer that is set at
                             switches */
  uint64_t others_cpu_ns; /* processor time of threads that work for the sampling ones */
  const struct qz_session_view *view;
  struct qzi_file *file;
  struct qzi_interner in;
  struct qzi_tuples tuples;
  struct qzi_timeline timeline;
  struct qzi_kernel *kernel;         /* where the program's threads are kernel threads, else NULL */
  struct qzi_processor_loops *loops; /* where they are those of the thread package, else NULL */
  struct qzi_holders *holders;
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
  struct qzi_table meanwhile;
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
 * helper visits meanwhile. 0, or -1: one that goes was not idle, no memory, or no room; nothing has changed. */
int qzi_sampler_resize(struct qzi_sampler *sampler, uint32_t before);

/* Visits processors first .. end-1; nothing where the program's threads are kernel threads (kernel_threads.h). Distinct
 * ranges may be visited by distinct threads at once. */
void qzi_visit(struct qzi_sampler *sampler, uint32_t first, uint32_t end);
/* Adds what the visits saw, `now_ns` being the time at which they began. 0, or -1: the file has no room (`full`) and
 * nothing was added. Times must not run backwards. */
int qzi_snapshot_add(struct qzi_sampler *sampler, uint64_t now_ns);
static inline int qzi_snapshot(struct qzi_sampler *sampler, uint64_t now_ns) {
  qzi_visit(sampler, 0, sampler->view->processors);
  return qzi_snapshot_add(sampler, now_ns);
}

/* What is remembered of an object, for the snapshot under way. */
static inline struct qzi_object_memo *qzi_object_in_round(struct qzi_sampler *sampler, uint32_t index) {
  struct qzi_object_memo *memo = &sampler->objects[index];
  if (memo->round != sampler->round) memo->spinners = memo->woken = 0;
  memo->round = sampler->round;
  return memo;
}

/* Visits up to `most` of the threads that are not running, or of the objects, going on where the last call ended,
 * none twice. Called after qzi_snapshot_add, and part of that snapshot. The weight of an observation is the time
 * since that same record was last visited, or came into use. Returns how many were visited. */
uint32_t qzi_threads_visit(struct qzi_sampler *sampler, uint32_t most);
/* first: 1 in the first call after a snapshot. */
uint32_t qzi_objects_visit(struct qzi_sampler *sampler, uint32_t most, int first);
/* An object that is not in the session had that many waiters in the snapshot just added; *stats_plus_1 is its
 * statistics', 0: none yet. */
void qzi_object_seen(struct qzi_sampler *sampler, uint32_t entity, uint32_t *stats_plus_1, uint32_t waiters,
                     uint64_t ns);
/* The same of all objects that are known from outside alone, once for each snapshot (profile/external_objects.h). */
void qzi_externals_seen(struct qzi_sampler *sampler, uint64_t ns);
/* Charges the busy processors of this snapshot with `waiters` threads that waited for `object` (entity, 0: input or
 * output) during ns: struct qz_meanwhile. Nothing where all processors, or none, are busy. */
void qzi_meanwhile(struct qzi_sampler *sampler, uint32_t object, uint32_t waiters, uint64_t ns);
/* Node of the path of a thread of the session, running or not; *entity is the thread's. 0, 0: nobody. */
uint32_t qzi_thread_path(struct qzi_sampler *sampler, uint32_t index, uint32_t *entity);

/* What one consistent look at a thread record gave; serial 0: no thread. */
struct qzi_look {
  uint64_t serial, state;
  uint32_t node, entity;
  int torn;
};
void qzi_thread_look(struct qzi_sampler *sampler, uint32_t index, struct qzi_look *look);
/* Counts pushes refused since the last call. */
void qzi_thread_overflows(struct qzi_sampler *sampler, uint32_t index);
/* The thread was there in the snapshot that is being added, whose weight is ns. */
void qzi_thread_seen(struct qzi_sampler *sampler, uint32_t index, uint64_t ns);
/* The top of the path is that object. */
int qzi_waits_at_top(const struct qzi_sampler *sampler, uint32_t node, uint32_t object);

/* Adding a snapshot, between its observations' tuples being found and added: begin finds room for the rest and gives
 * the weight (-1: no room, nothing was added); end adds balance and timeline, and makes the snapshot count. */
struct qzi_counts {
  unsigned useful, overhead, spinning, running;
  uint32_t runnable;
  uint64_t retries, torn, invalid;
  int more;          /* 1: a part of a snapshot, which is not the last one: it counts with that */
  uint64_t whole_ns; /* weight of the whole snapshot, where it has parts; else 0 */
  uint32_t balance;  /* set by begin */
};
int qzi_snapshot_begin(struct qzi_sampler *sampler, uint64_t now_ns, struct qzi_counts *counts, uint64_t *ns);
void qzi_snapshot_end(struct qzi_sampler *sampler, uint64_t now_ns, const struct qzi_counts *counts, uint64_t ns);

/* Remembers that `high` records are in use at now_ns; and since when record `index` is. */
void qzi_growth_note(struct qzi_growth *growth, uint32_t high, uint64_t now_ns);
uint64_t qzi_growth_since(const struct qzi_growth *growth, uint32_t index);

/* Brings exact numbers up to date: totals of the session's head and processors; calls; statistics of objects, some of
 * which come from the calls. */
void qzi_totals_read(struct qzi_sampler *sampler);
void qzi_calls_read(struct qzi_sampler *sampler);
void qzi_objects_read(struct qzi_sampler *sampler);
/* Once, before the first snapshot: remembers which records are in use, and, where the program ran before (attached),
 * what processors, objects and calls counted so far, to leave it out. 0, or -1: out of memory. */
int qzi_sampler_base(struct qzi_sampler *sampler, int attached);
int qzi_objects_base(struct qzi_sampler *sampler); /* its part for objects */

#endif
