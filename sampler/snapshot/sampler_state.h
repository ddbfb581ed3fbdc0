/* Everything that one recording knows about a session: the state of its sampling (snapshot.h).
 *
 * Owns:    the types alone. Writer and reader: as snapshot.h says.
 */
#ifndef QZI_SAMPLER_STATE_H
#define QZI_SAMPLER_STATE_H

#include "abi/session_read.h"
#include "sampler/path/path.h"
#include "sampler/profile/file.h"
#include "sampler/profile/instructions.h"
#include "sampler/profile/interner.h"
#include "sampler/profile/slices.h"
#include "sampler/profile/timeline.h"
#include "sampler/profile/tuples.h"
#include "growth.h"
#include "used_cpus.h"
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
  uint64_t spawns, switches, steals, parks, calls_lost, rounds, rounds_ns, tasks_ns;
};

struct qzi_sampler {
  uint64_t timed_samples; /* samples of running threads by events that belong to threads, whose timer is set at
                             switches */
  uint64_t
    samples_ns;      /* CPU time that the sampling thread uses for samples of running threads (samples/sample_pace.h) */
  uint64_t apart_ns; /* CPU time that the sampling thread uses for periodic work, whatever the number of snapshots */
  uint64_t others_cpu_ns; /* processor time of threads that work for the sampling threads */
  struct qzi_used_cpus used_cpus;
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

#endif
