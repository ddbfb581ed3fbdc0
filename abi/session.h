/* The session: shared memory in which a program publishes its state.
 *
 * Owns:    the layout of a session, and nothing else (no code except for packing of fields).
 * Writer:  the application (thread package or pthread layer). Every cache line has one writer at a time.
 * Reader:  the sampler, which maps the session read-only and trusts nothing in it.
 *
 * A session is one anonymous memory file (memfd) of the application. It starts with a qz_session, whose tables give the
 * location of everything else. All offsets are in bytes from the start of the session; all integers have the machine's
 * byte order. Pages that are never touched take no memory.
 *
 * Memory order: a writer fills a record and only then stores the word that makes it visible (release); a reader loads
 * that word first (acquire). On the fast path a writer uses plain stores only.
 *
 * Source: Anderson & Lazowska 1990, section 3.3; packing the change count with the depth is Quartz's own idea.
 */
#ifndef QZ_ABI_SESSION_H
#define QZ_ABI_SESSION_H

#include <stddef.h>
#include <stdint.h>
#include "chains.h"
#include "layout.h"
#include "usage.h"

#define QZ_SESSION_MAGIC   UINT64_C(0x314e535a54525551) /* "QURTZSN1" as little-endian bytes */
#define QZ_SESSION_VERSION 20u

/* What a processor or a thread is doing (docs/reference/metrics.md, section 1). */
enum qz_state {
  QZ_STATE_IDLE = 0,     /* processor: no thread to run. Thread record: free */
  QZ_STATE_USEFUL = 1,   /* executing application code; for a thread record: running on some processor */
  QZ_STATE_OVERHEAD = 2, /* executing thread-package code on behalf of a thread or of none */
  QZ_STATE_SPINNING = 3, /* running a thread that busy-waits for an object */
  QZ_STATE_READY = 4,    /* thread only: runnable, without a processor */
  QZ_STATE_BLOCKED = 5,  /* thread only: waiting for an object, without a processor */
  QZ_STATE_IO = 6,       /* thread only: inside a blocking region */
  QZ_STATE_COUNT = 7
};
/* Further states of `now` of a processor: QZ_STATE_OVERHEAD with its purpose. QZ_STATE_OVERHEAD itself means
 * scheduling. */
enum qz_overhead {
  QZ_STATE_MAKING = 8, /* creating threads, cleaning up ended ones */
  QZ_STATE_WAKING = 9  /* synchronization: waking threads */
};

/* Kinds of synchronization object. */
enum qz_kind {
  QZ_KIND_NONE = 0,
  QZ_KIND_MUTEX = 1,
  QZ_KIND_RWLOCK = 2,
  QZ_KIND_CONDITION = 3,
  QZ_KIND_SEMAPHORE = 4,
  QZ_KIND_BARRIER = 5,
  QZ_KIND_CHANNEL = 6,
  QZ_KIND_JOIN = 7,  /* waiting for threads to end: one object per call site of a join or sync */
  QZ_KIND_SLEEP = 8, /* waiting for time to pass: one object per call site of a sleep */
  QZ_KIND_SPINLOCK = 9,
  QZ_KIND_ONCE = 10,
  QZ_KIND_FUTEX = 11, /* a word on which threads wait by the kernel's futex. In a session: from the pthread layer; in
                         a profile also observed from outside */
  QZ_KIND_LOOP = 12,  /* a busy-wait loop in the program: one object per loop */
  QZ_KIND_COUNT = 13
};

/* Returns 1 for a lock, which its holder keeps on its profile stack. */
static inline int qz_kind_is_lock(uint32_t kind) {
  return kind == QZ_KIND_MUTEX || kind == QZ_KIND_RWLOCK || kind == QZ_KIND_SPINLOCK;
}

/* The publisher of a session. */
enum qz_publisher { QZ_PUBLISHER_THREADLIB = 1, QZ_PUBLISHER_PTHREAD = 2 };

/* An array in the session. Element k starts at offset + k * stride. */
struct qz_table {
  uint64_t offset;
  uint64_t stride;   /* bytes, multiple of 8 */
  uint32_t capacity; /* elements */
  uint32_t reserved;
};

/* The cost of an operation: the minimum occurs while the program waits for its own results, the maximum while it
 * keeps the CPU busy. */
struct qz_cost {
  uint64_t least_ps, most_ps;
};

/* Head of the session. Constant after `magic` is set, except for the fields marked (changes). */
struct qz_session {
  uint64_t magic;       /* QZ_SESSION_MAGIC, stored last */
  uint32_t version;     /* QZ_SESSION_VERSION */
  uint32_t head_bytes;  /* sizeof(struct qz_session) */
  uint64_t total_bytes; /* size of the session */
  uint32_t publisher;   /* enum qz_publisher */
  uint32_t pid;
  uint32_t processors; /* (changes, while the program has one kernel thread) P, at most processor_table.capacity */
  uint32_t flags;      /* QZ_SESSION_... */
  uint64_t start_ns;   /* CLOCK_MONOTONIC when the session was made */

  struct qz_table processor_table; /* struct qz_processor, the first P of them in use */
  struct qz_table thread_table;    /* struct qz_thread + profile stack of short_limit entries */
  struct qz_table long_table;      /* the same with stack_limit entries, for threads whose stacks need them: see
                                      QZ_LIMIT_LONG. Capacity 0: none, because short_limit is stack_limit */
  struct qz_table object_table;    /* struct qz_object; index 0 is never used */
  struct qz_table
    call_table; /* struct qz_call; tables of call_slots slots, one after the other. Thread package: one per processor;
                   the last one is for threads in blocking regions. Pthread layer: one for each of the first threads,
                   one for all others, then small ones, one for each of those. All counts are to be added up */
  struct qz_table mark_table;   /* pthread layer: QZ_MARKS bytes, described there. Capacity 0: none */
  struct qz_table string_table; /* bytes; offset 0 is the empty string; each string is NUL-terminated */
  struct qz_table
    path_table; /* struct qz_path + crumbs_limit crumbs: one per processor; pthread layer: one per thread record */
  struct qz_table span_path_table; /* the same for the chains of the span */
  struct qz_table span_table;      /* struct qz_span; capacity as span_path_table; for the first actors of path_table */
  struct qz_table creation_table;  /* pthread layer: struct qz_creation, described there. Capacity 0: none */

  uint32_t call_slots;   /* slots in one call table, a power of two */
  uint32_t stack_limit;  /* entries in a profile stack */
  uint32_t short_limit;  /* entries in the profile stack of a record of thread_table */
  uint32_t crumbs_limit; /* number of crumbs in a struct qz_path, a power of two */

  /* Calibration, in picoseconds, measured by the publisher in its own process before it publishes. hook: what one
   * hooked call (entry and exit) adds; hook_inside_ps: the part of its mean that falls inside the callee, i.e.
   * between the moments at which the callee appears on the stack and disappears. (These two change when a module
   * with another kind of hooks is loaded.) */
  struct qz_cost hook;
  uint64_t hook_inside_ps;
  struct qz_cost lock; /* of one published lock and unlock of a free mutex, compared to an unpublished one */
  uint64_t spawn_ps;   /* of one published spawn and join, compared to an unpublished one */
  uint64_t wait_ps;    /* pthread layer: what one wait adds; 0: unknown */

  /* Range of the publisher's own code that calls start routines: calls from [start_low, start_high) are not counted,
   * because the creation of the thread has been counted as the call. 0, 0: none. */
  uint64_t start_low, start_high;

  QZ_ALIGN(64) uint32_t publishing; /* (changes) 1 while publishing is on */
  uint32_t epoch;                   /* (changes) number of times that publishing was switched on */
  uint32_t thread_high;             /* (changes) thread records below this index may have been used */
  uint32_t object_high;             /* (changes) object records below this index may have been used */
  uint32_t string_bytes;            /* (changes) bytes used of the string table */
  uint32_t unplaced; /* (changes) threads that are ready but in no processor's queue: they come from blocking regions */
  uint64_t threads_dropped; /* (changes) threads for which there was no free record */
  uint64_t objects_merged;  /* (changes) objects that share the record of their place */
  uint64_t strings_dropped; /* (changes) names for which there was no room */
  uint64_t creations;       /* (changes) number of creations whose writing has begun */

  /* (changes) `ns` is stored last: when publishing was switched on; when the program ended or publishing was
   * switched off, 0 before */
  struct qz_usage usage_begin, usage_end;
  uint64_t path_clock; /* (changes) the clock page's time when publishing last ended; the next recording begins later */
  uint64_t path_end;   /* (changes) the chain of the thread that ended the program; 0: it has not ended normally */
  struct qz_span_end span_end; /* (changes) work and span, with QZ_SESSION_SPAN */
  uint64_t unloads; /* (changes) pthread layer: number of libraries unloaded; another may be loaded at the address of
                       one of them */
  uint64_t children_ns; /* (changes) CPU time of the child processes that it has waited for since it began; stored
                           before `usage_end` */
};
#define QZ_SESSION_EXACT_HOLD 1u  /* hold times are measured at each acquisition */
#define QZ_SESSION_SPAN       2u  /* (changes) work and span are recorded */
#define QZ_SESSION_CPU_WAITS  4u  /* (changes) work and span exclude waits for CPUs */
#define QZ_SESSION_SHARED     16u /* other processes of the same parallel program use a part of the CPUs */
#define QZ_SESSION_TEAMS      32u /* (changes) LLVM's OpenMP reports its parallel regions to the pthread layer */
#define QZ_SESSION_OUTSIDE    8u  /* made by the sampler for a program that publishes nothing: nothing in it is exact */

/* One processor. Writer: the kernel thread that is the processor. With the pthread layer, whose processors are the
 * CPUs that the process may use, the sampler ignores these records and visits the threads. */
struct qz_processor {
  QZ_ALIGN(128) uint64_t now; /* its current activity: see QZ_NOW */
  uint64_t enqueued;          /* total number of threads that this processor made ready */
  uint64_t dequeued;          /* total number of ready threads that this processor took to run */
  uint64_t switches;          /* context switches */
  uint64_t steals;            /* threads taken from another processor */
  uint64_t spawns;            /* threads created */
  uint64_t parks;             /* number of times that it went to sleep in the kernel */
  uint64_t calls_lost;        /* calls not counted because the call table was full */
  uint32_t os_tid;            /* kernel's thread ID */
  uint32_t cpu;               /* CPU it is pinned to, or UINT32_MAX */
};

/* `now`: bits 0-3 state, bits 4-35 thread index + 1 (0: none), bits 36-63 change count. One load gives a consistent
 * set; an equal value before and after a copy means that the processor did not switch. */
#define QZ_NOW(state, thread_plus_1, count) \
  ((uint64_t)(state) | (uint64_t)(uint32_t)(thread_plus_1) << 4 | (uint64_t)(count) << 36)
#define QZ_NOW_STATE(now)         ((unsigned)((now)&15))
#define QZ_NOW_THREAD_PLUS_1(now) ((uint32_t)((now) >> 4))
#define QZ_NOW_CHANGE             (UINT64_C(1) << 36) /* to be added to increment the count */

/* An entry of a profile stack. */
struct qz_entry {
  uint64_t key; /* procedure: its entry address; object: QZ_KEY_OBJECT | kind << 32 | object index */
  uint64_t sp; /* procedure: its mark, by which later hooks find stale entries (publisher/hooks/profile_stack.h); object
                  or copied entry: a mark that is never stale. Only for the writer. */
};
#define QZ_KEY_OBJECT       (UINT64_C(1) << 63)
#define QZ_KEY_MARKER       UINT64_C(1) /* an entry without meaning, to be skipped */
#define QZ_KEY(kind, index) (QZ_KEY_OBJECT | (uint64_t)(kind) << 32 | (uint32_t)(index))
#define QZ_KEY_KIND(key)    ((unsigned)((key) >> 32 & 0xff))
#define QZ_KEY_INDEX(key)   ((uint32_t)(key))

/* One thread and its profile stack. Writer: the processor that runs the thread; while it does not run, the one that
 * holds it (the waker, the scheduler). It has three parts: identity, hot line, stack. The hooks hold a pointer to
 * `word`. */
struct qz_thread {
  /* identity: written at creation, `serial` last */
  QZ_ALIGN(64) uint64_t serial; /* unique in the session; 0: free record */
  uint64_t start;               /* start routine */
  uint64_t create_site;         /* return address of the call that created it */
  uint32_t name;                /* string, 0 = none */
  uint32_t creator;             /* thread index + 1 of the creator, 0 = none */
  uint32_t base;                /* number of entries copied from the creator */
  union {
    uint32_t os_tid;    /* pthread layer: kernel's thread ID */
    uint32_t first_top; /* for the publisher of the thread package: offset of the top entry when it was filled */
  };
  union {
    uint64_t tries;  /* pthread layer: bits 0-31: number of try-locks in a row that failed; bits 32-63: their object */
    uint64_t filled; /* for the publisher of the thread package: a name of the path up to first_top, */
  };
  union {
    uint64_t frame; /* pthread layer, while it waits: address, in the program, of a struct qz_frame */
    uint64_t made;  /* and of the place and path for which it was filled (publisher/tasks.h); 0: none */
  };
  uint64_t go_on; /* for the publisher: address of the addresses at which hooks in the program continue */

  /* hot line */
  QZ_ALIGN(64) uint64_t word; /* see QZ_WORD_... */
  uint64_t overflows;         /* number of pushes refused because the stack was full */
  uint64_t state; /* bits 0-3 enum qz_state; QZ_STATE_MAY_SPIN, QZ_STATE_YIELDS; bits 32-63 index of the object it waits
                   * for, or 0 */
  uint64_t calls; /* for the publisher: address of the call table to count in */
  uint32_t limit; /* byte offset from `word` of the last entry that procedures may use; or QZ_LIMIT_LONG */
  uint32_t epoch; /* epoch in which the stack was started */
  uint64_t high;  /* for the publisher: upper end of its stack; no mark of a procedure is above it */
  struct qz_entry bottom;  /* sentinel {0, a mark that is never stale} just below the first entry */
  struct qz_entry stack[]; /* short_limit entries; in a record of long_table stack_limit entries */
};

/* Value of `limit` in a record of thread_table: the thread's stack has outgrown the record, and all its data are in
 * the record with the same index in long_table, for the rest of the session and for every later thread with that
 * index. Most threads never need a long record, and so use little memory. The packed word there continues from its
 * last value. */
#define QZ_LIMIT_LONG 1u

/* Where a thread was when it began to wait, in its own memory, so that its callers can be found. */
struct qz_frame {
  uint64_t pc, sp, fp; /* fp: frame pointer, rbp or x29 */
};

/* Where a thread was when it created another one, or was the first to wait for a futex, with a copy of its stack in
 * which its callers are found. Creation n (from 1) is in element n % capacity until `capacity` further ones have been
 * written. */
#define QZ_CREATIONS      64u
#define QZ_CREATION_BYTES 8192u
struct qz_creation {
  uint64_t sequence;                     /* 2 * n; 2 * n - 1: it is being written. Stored first and last */
  uint32_t creator;                      /* thread index */
  uint32_t child;                        /* thread index, or index of the futex's record */
  uint64_t creator_serial, child_serial; /* child_serial 0: a futex */
  struct qz_frame from;
  uint64_t bytes; /* size of `stack`, a copy of the stack from from.sp on */
  uint64_t stack[QZ_CREATION_BYTES / 8];
};

/* One byte for each record of thread_table, at qz_mark_at(index). The thread changes it when it starts and ends, and
 * after each change of its state before and after a wait. If a reader has seen that a thread sleeps, it need not
 * read its record as long as the byte is unchanged. 256 consecutive records have their bytes in different cache
 * lines. */
#define QZ_MARK_LINES 256u
#define QZ_MARKS      (64u * QZ_MARK_LINES)
static inline uint32_t qz_mark_at(uint32_t index) { return index % QZ_MARK_LINES * 64 + index / QZ_MARK_LINES; }

/* `word`: bits 0-31: byte offset from `word` of the top entry (QZ_WORD_EMPTY: none); bit 32: set while entries below
 * the top are being rewritten; bits 33-63: number of pushes and rewrites (only some writers also count pops: no
 * earlier value occurs again without a push). Two equal values with bit 32 clear, before and after a copy, mean that
 * the copy is not torn. The thread itself may write each half separately, the upper one first. */
#define QZ_WORD_EMPTY                48u /* offset of `bottom` */
#define QZ_WORD_FLUX                 (UINT64_C(1) << 32)
#define QZ_WORD_CHANGE               (UINT64_C(1) << 33)
#define QZ_WORD_PUSH                 (QZ_WORD_CHANGE + 16)
#define QZ_WORD_POP                  (QZ_WORD_CHANGE - 16)
#define QZ_WORD_TOP(word)            ((uint32_t)(word))
#define QZ_WORD_DEPTH(word)          ((QZ_WORD_TOP(word) - QZ_WORD_EMPTY) / 16)

#define QZ_STATE_WORD(state, object) ((uint64_t)(state) | (uint64_t)(uint32_t)(object) << 32)
/* With QZ_STATE_BLOCKED: a wait inside a library, which spins before it sleeps: the kernel knows which it does. */
#define QZ_STATE_MAY_SPIN            16u
/* With QZ_STATE_BLOCKED: the thread is in sched_yield, and looks again for what it waits for when it has a CPU.
 * QZ_STATE_LET_GO: what chain[0].ticks of the object was before: nobody let the thread go while that is the same. */
#define QZ_STATE_YIELDS              32u
#define QZ_STATE_FUTILE              64u /* and that is mostly another one's turn: it still waits then */
#define QZ_STATE_LET_GO(ticks)       ((unsigned)((ticks)&0xffffff) << 8)
#define QZ_STATE_OF(word)            ((unsigned)((word)&15))
#define QZ_STATE_OBJECT(word)        ((uint32_t)((word) >> 32))

/* Histograms of times by powers of two: bucket k is [2^k, 2^(k+1)) ns; bucket 0 includes 0. */
#define QZ_TIME_BUCKETS              40

/* One synchronization object. Writer: the thread that holds the object or its internal lock. A record is never given
 * to another kind or place: when an object is destroyed, its record goes to the next object that the same place
 * makes under the same name, so that the number of records is bounded by the number of objects that exist at the
 * same time. */
struct qz_object {
  QZ_ALIGN(64) uint32_t kind; /* enum qz_kind, stored last; 0: not used yet */
  uint32_t name;              /* string, 0 = none */
  uint64_t site;              /* address of the code that created (or first used) it */
  uint64_t address;           /* address of the object in the application; 0 while none exists */
  uint64_t instances;         /* number of objects that have used this record */
  uint64_t home;     /* address of all objects that have used this record; 0: none; UINT64_MAX: different addresses */
  uint32_t capacity; /* barrier: parties; channel: capacity */
  uint32_t line0_reserved;
  uint64_t hold_since; /* for the publisher, where hold times are measured */
  uint64_t hold_max_ns;

  /* What a wait and its end write, and who ends it, but for the histogram. One line of the cache, which goes with the
   * object from CPU to CPU. */
  QZ_ALIGN(64)
  uint32_t owner;   /* thread index + 1 of the holder (locks: exclusive holder; join: a thread that is waited for);
                       0: none. Pthread layer: 0, since the holder of a lock has it on its stack */
  uint32_t queue;   /* number of threads that are blocked on it */
  uint32_t readers; /* rwlock: shared holders; semaphore: count; channel: items */
  uint32_t line1_reserved;
  uint64_t acquisitions; /* completed acquisitions, waits, sends + receives, joins. For locks and semaphores of the
                            pthread layer 0: their number is that of the calls minus `failed` */
  uint64_t contended;    /* number of those that had to wait */
  uint64_t wait_ns;      /* their waiting time, exact */
  uint64_t wait_max_ns;
  /* For the publisher of the pthread layer: chains of the threads that ended waits (barrier: [round & 1]), and the
   * times of that, in its ticks (semaphore: how often, at least). The second one is not in this line. */
  struct qz_object_chain {
    uint64_t word, ticks;
  } chain[2];
  uint64_t what_if[QZ_WHAT_IFS]; /* with the four words above: lanes of the thread package's work and span */
  uint64_t arrivals;             /* for the same: at a barrier; of a futex where its waiters were moved to and from */
  uint64_t spin_ns;              /* the part of wait_ns that was spent spinning */
  uint64_t hold_ns; /* with QZ_SESSION_EXACT_HOLD: time held. Else, for mutexes and spin locks of the pthread layer
                       with QZ_SESSION_SPAN: estimated CPU time while held */
  uint64_t failed;  /* pthread layer: calls that did not get the lock or unit */

  uint32_t wait_hist[QZ_TIME_BUCKETS];
  uint32_t hold_hist[QZ_TIME_BUCKETS];
};

/* Exact number of calls from one call site to one callee, by one processor: a slot of a table with open addressing,
 * whose probe sequence is the publisher's matter. Slots are never freed; `site` is stored last. */
struct qz_call {
  uint64_t site; /* return address of the call; 0: free */
  uint64_t key;  /* callee, like qz_entry.key */
  uint64_t count;
  uint64_t reserved; /* for the publisher */
};

QZ_LAYOUT(sizeof(struct qz_processor) == 128, "processor record");
QZ_LAYOUT(offsetof(struct qz_thread, word) == 64, "hot line of a thread record");
QZ_LAYOUT(offsetof(struct qz_thread, bottom) - offsetof(struct qz_thread, word) == QZ_WORD_EMPTY, "sentinel");
QZ_LAYOUT(offsetof(struct qz_thread, stack) == 128, "profile stack");
QZ_LAYOUT(sizeof(struct qz_object) == 512, "object record");
QZ_LAYOUT(offsetof(struct qz_object, chain[1]) == 128, "line of an object that waits write");
QZ_LAYOUT(sizeof(struct qz_call) == 32, "call record");

#endif
