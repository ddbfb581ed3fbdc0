/* The session: shared memory in which a program publishes its state.
 *
 * Owns:    the layout of a session, and nothing else (no code beyond field packing).
 * Writer:  the application (thread package or pthread layer). Every cache line has one writer at a time.
 * Reader:  the sampler, which maps the session read-only and trusts nothing in it.
 *
 * A session is one anonymous memory file (memfd) of the application. It starts with a qz_session, whose
 * tables say where everything else lies. All offsets are in bytes from the start of the session; all
 * integers have the byte order of the machine. Untouched parts take no memory.
 *
 * Memory order: a writer fills a record and only then stores the word that makes it visible (release);
 * a reader loads that word first (acquire). On the fast path a writer uses plain stores only.
 *
 * Source: Anderson & Lazowska 1990, section 3.3; the change count packed with the depth is ours.
 */
#ifndef QZ_ABI_SESSION_H
#define QZ_ABI_SESSION_H

#include <stddef.h>
#include <stdint.h>
#include "chains.h"
#include "layout.h"
#include "usage.h"

#define QZ_SESSION_MAGIC   UINT64_C(0x314e535a54525551) /* "QURTZSN1" as little-endian bytes */
#define QZ_SESSION_VERSION 13u

/* What a processor or a thread is doing (docs/reference/metrics.md, section 1). */
enum qz_state {
  QZ_STATE_IDLE = 0,     /* processor: no thread to run. Thread record: free */
  QZ_STATE_USEFUL = 1,   /* executing application code; for a thread record: running on some processor */
  QZ_STATE_OVERHEAD = 2, /* executing thread-package code on behalf of a thread or of none */
  QZ_STATE_SPINNING = 3, /* held by a thread that busy-waits for an object */
  QZ_STATE_READY = 4,    /* thread only: could run, has no processor */
  QZ_STATE_BLOCKED = 5,  /* thread only: waits for an object without a processor */
  QZ_STATE_IO = 6,       /* thread only: inside a declared blocking region */
  QZ_STATE_COUNT = 7
};
/* In `now` of a processor, too: QZ_STATE_OVERHEAD, and what it is for. Without a reason it is scheduling. */
enum qz_overhead {
  QZ_STATE_MAKING = 8, /* making threads, taking back what has ended */
  QZ_STATE_WAKING = 9  /* synchronization: letting those go on that wait */
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
  QZ_KIND_JOIN = 7,  /* waiting for threads to end: one object for each place that joins or syncs */
  QZ_KIND_SLEEP = 8, /* waiting for time to pass: one object for each place that sleeps */
  QZ_KIND_SPINLOCK = 9,
  QZ_KIND_ONCE = 10,
  QZ_KIND_FUTEX = 11, /* seen from outside: a futex address that no layer explains */
  QZ_KIND_LOOP = 12,  /* a loop that waits without a library's help: one object for each such place */
  QZ_KIND_COUNT = 13
};

/* 1: a lock, which whoever has it keeps on the profile stack. */
static inline int qz_kind_is_lock(uint32_t kind) {
  return kind == QZ_KIND_MUTEX || kind == QZ_KIND_RWLOCK || kind == QZ_KIND_SPINLOCK;
}

/* Who publishes. */
enum qz_publisher { QZ_PUBLISHER_THREADLIB = 1, QZ_PUBLISHER_PTHREAD = 2 };

/* An array in the session. Element k starts at offset + k * stride. */
struct qz_table {
  uint64_t offset;
  uint64_t stride;   /* bytes, multiple of 8 */
  uint32_t capacity; /* elements */
  uint32_t reserved;
};

/* What an operation adds: least where the program waits for results of its own meanwhile, most where it keeps the
 * processor busy. */
struct qz_cost {
  uint64_t least_ps, most_ps;
};

/* Head of the session. Constant after `magic` is set, but for the fields marked (changes). */
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
                                    * QZ_LIMIT_LONG. Capacity 0: none, for short_limit is stack_limit */
  struct qz_table object_table;    /* struct qz_object; index 0 is never used */
  struct qz_table call_table;      /* struct qz_call; call_slots of them for each processor, one after the other;
                                    * the last table: threads in blocking regions. Pthread
                                    * layer: one for each of the first threads, one for all others, then small ones,
                                    * one for each of those: whatever else there is counts, wherever it stands */
  struct qz_table mark_table;      /* pthread layer: QZ_MARKS bytes, see there. Capacity 0: none */
  struct qz_table string_table;    /* bytes; offset 0 is the empty string; each string ends in NUL */
  struct qz_table path_table; /* struct qz_path + crumbs_limit crumbs: one for each processor; pthread layer: one for
                               * each thread record */
  struct qz_table span_path_table; /* the same, for the chains of the span */
  struct qz_table span_table;      /* struct qz_span, as many as of those; of the first of path_table */
  struct qz_table creation_table;  /* pthread layer: struct qz_creation, see there. Capacity 0: none */

  uint32_t call_slots;   /* slots in the call table of one processor, a power of two */
  uint32_t stack_limit;  /* entries in a profile stack */
  uint32_t short_limit;  /* entries in that of a record of thread_table */
  uint32_t crumbs_limit; /* crumbs that a struct qz_path holds, a power of two */

  /* Calibration, picoseconds, measured by the publisher in its own process before it publishes:
   * what one hooked call (entry and exit) adds, and how much of the mean of that falls inside the callee, that is
   * between the moment at which the callee shows on the stack and that at which it is gone. (The first two change
   * when a module begins whose hooks are of another kind.) */
  struct qz_cost hook;
  uint64_t hook_inside_ps;
  struct qz_cost lock; /* one published acquire and release of a free mutex, over an unpublished one */
  uint64_t spawn_ps;   /* one published spawn and join, over an unpublished one */
  uint64_t wait_ps;    /* pthread layer: what one wait adds; 0: not known */

  /* Where the publisher's own code calls start routines: calls from [start_low, start_high) are left out, because the
   * creation of the thread has been counted as the call. 0, 0: nowhere. */
  uint64_t start_low, start_high;

  QZ_ALIGN(64) uint32_t publishing; /* (changes) 1 while state is published */
  uint32_t epoch;                   /* (changes) how often publishing was switched on */
  uint32_t thread_high;             /* (changes) thread records ever used are below this index */
  uint32_t object_high;             /* (changes) object records ever used are below this index */
  uint32_t string_bytes;            /* (changes) bytes used of the string table */
  uint32_t unplaced;        /* (changes) threads that are ready in no processor's queue: back from blocking regions */
  uint64_t threads_dropped; /* (changes) threads that found no free record */
  uint64_t objects_merged;  /* (changes) objects that had to share the record of their place */
  uint64_t strings_dropped; /* (changes) names that did not fit */
  uint64_t creations;       /* (changes) creations that were begun to be written */

  /* (changes) `ns` is stored last: as publishing was switched on; as the program ended, or publishing was switched off,
   * 0 before that */
  struct qz_usage usage_begin, usage_end;
  uint64_t path_clock; /* (changes) what the clock page said when publishing ended last; the next one begins later */
  uint64_t path_end;   /* (changes) the chain of the thread that ended the program; 0: it has not ended in order */
  struct qz_span_end span_end; /* (changes) work and span, with QZ_SESSION_SPAN */
  uint64_t unloads;            /* (changes) pthread layer: libraries unloaded; another may lie where one of them was */
};
#define QZ_SESSION_EXACT_HOLD 1u  /* hold times are measured at each acquisition */
#define QZ_SESSION_SPAN       2u  /* (changes) work and span are recorded */
#define QZ_SESSION_CPU_WAITS  4u  /* (changes) waits for CPUs are left out of them */
#define QZ_SESSION_SHARED     16u /* other processes of the same parallel program have a part of the CPUs */
#define QZ_SESSION_OUTSIDE    8u  /* the sampler made it, of a program that publishes nothing: nothing in it is exact */

/* One processor. Writer: the kernel thread that is the processor. From the pthread layer, whose processors are the CPUs
 * that the process may use, these records are no help: the sampler visits the threads. */
struct qz_processor {
  QZ_ALIGN(128) uint64_t now; /* what it does: see qz_now_... */
  uint64_t enqueued;          /* threads that this processor made ready, in total */
  uint64_t dequeued;          /* ready threads that this processor took to run, in total */
  uint64_t switches;          /* context switches */
  uint64_t steals;            /* threads taken from another processor */
  uint64_t spawns;            /* threads created */
  uint64_t parks;             /* times it went to sleep in the kernel */
  uint64_t calls_lost;        /* calls not counted because the call table was full */
  uint32_t os_tid;            /* kernel thread id */
  uint32_t cpu;               /* CPU it is pinned to, or UINT32_MAX */
};

/* `now`: bits 0-3 state, bits 4-35 thread index + 1 (0: none), bits 36-63 change count. One load gives a
 * consistent pair; an equal value before and after a copy means that the processor did not switch. */
#define QZ_NOW(state, thread_plus_1, count) \
  ((uint64_t)(state) | (uint64_t)(uint32_t)(thread_plus_1) << 4 | (uint64_t)(count) << 36)
#define QZ_NOW_STATE(now)         ((unsigned)((now)&15))
#define QZ_NOW_THREAD_PLUS_1(now) ((uint32_t)((now) >> 4))
#define QZ_NOW_CHANGE             (UINT64_C(1) << 36) /* add to change the count */

/* An entry of a profile stack. */
struct qz_entry {
  uint64_t key; /* procedure: its entry address; object: QZ_KEY_OBJECT | kind << 32 | object index */
  uint64_t sp;  /* procedure: its mark, by which later hooks find stale entries (publisher/hooks/instrument.h);
                 * object or copied entry: a mark that is never stale. For the writer only. */
};
#define QZ_KEY_OBJECT       (UINT64_C(1) << 63)
#define QZ_KEY_MARKER       UINT64_C(1) /* stands for nothing: leave it out */
#define QZ_KEY(kind, index) (QZ_KEY_OBJECT | (uint64_t)(kind) << 32 | (uint32_t)(index))
#define QZ_KEY_KIND(key)    ((unsigned)((key) >> 32 & 0xff))
#define QZ_KEY_INDEX(key)   ((uint32_t)(key))

/* One thread and its profile stack. Writer: whoever runs the thread; while it does not run, whoever holds it
 * (the waker, the scheduler). Three parts: identity, hot line, stack. The hooks hold a pointer to `word`. */
struct qz_thread {
  /* identity: written at creation, `serial` last */
  QZ_ALIGN(64) uint64_t serial; /* unique in the session, 0 = free record */
  uint64_t start;               /* start routine */
  uint64_t create_site;         /* return address of the call that created it */
  uint32_t name;                /* string, 0 = none */
  uint32_t creator;             /* thread index + 1 of the creator, 0 = none */
  uint32_t base;                /* entries copied from the creator */
  uint32_t os_tid;              /* pthread layer: kernel thread id */
  uint64_t tries;               /* pthread layer: bits 0-31 try-locks that failed in a row, bits 32-63 of this object */
  uint64_t frame;               /* pthread layer, while it waits: address in the program of a struct qz_frame */
  uint64_t go_on;               /* publisher's own: address of addresses where hooks in the program go on */

  /* hot line */
  QZ_ALIGN(64) uint64_t word; /* see qz_word_... */
  uint64_t overflows;         /* pushes refused because the stack was full */
  uint64_t state;             /* bits 0-3 enum qz_state; bits 32-63 index of the object it waits for, or 0 */
  uint64_t calls;             /* publisher's own: address of the call table to count in */
  uint32_t limit;             /* byte offset from `word` of the last entry that procedures may use; or QZ_LIMIT_LONG */
  uint32_t epoch;             /* epoch in which the stack was begun */
  uint64_t high;              /* publisher's own: end of its stack; no mark of a procedure is above */
  struct qz_entry bottom;     /* sentinel {0, a mark that is never stale}: lies just below the first entry */
  struct qz_entry stack[];    /* session.short_limit entries; of a record of long_table session.stack_limit */
};

/* In the `limit` of a record of thread_table: the thread's stack outgrew it, and all that is said of the thread stands
 * in the record of the same index in long_table, for the rest of the session and whichever thread has that index. Most
 * threads never need it, and take little memory. The packed word goes on there from where it was. */
#define QZ_LIMIT_LONG 1u

/* Where a thread was when it began to wait, in its own memory: from here its callers can be found. */
struct qz_frame {
  uint64_t pc, sp, fp; /* frame pointer: rbp, x29 */
};

/* Where a thread stood when it created another one: its callers are found in the copy. Creation n (from 1) is in
 * element n % capacity until capacity later ones have come. */
#define QZ_CREATIONS      64u
#define QZ_CREATION_BYTES 8192u
struct qz_creation {
  uint64_t sequence; /* 2 * n; 2 * n - 1: being written. Stored first and last */
  uint32_t creator;  /* thread index */
  uint32_t child;
  uint64_t creator_serial, child_serial;
  struct qz_frame from;
  uint64_t bytes; /* of `stack`, which are those from from.sp on */
  uint64_t stack[QZ_CREATION_BYTES / 8];
};

/* A byte for each record of thread_table, at qz_mark_at(index), which the thread changes when it begins and ends, and
 * after each change of state for a wait and behind it. Where a thread was seen asleep, a reader need not look at its
 * record as long as its mark is the same. Of 256 neighbours each has a cache line of its own. */
#define QZ_MARK_LINES 256u
#define QZ_MARKS      (64u * QZ_MARK_LINES)
static inline uint32_t qz_mark_at(uint32_t index) { return index % QZ_MARK_LINES * 64 + index / QZ_MARK_LINES; }

/* `word`: bits 0-31 byte offset from `word` of the top entry (QZ_WORD_EMPTY: none), bit 32 set while entries
 * below the top are being rewritten, bits 33-63 count of pushes and rewritings (of pops only by some writers: no
 * earlier value comes back without a push). Two equal values with bit 32 clear before and after a copy mean that
 * the copy is not torn. The thread itself may write each half alone, the upper one first. */
#define QZ_WORD_EMPTY                48u /* offset of `bottom` */
#define QZ_WORD_FLUX                 (UINT64_C(1) << 32)
#define QZ_WORD_CHANGE               (UINT64_C(1) << 33)
#define QZ_WORD_PUSH                 (QZ_WORD_CHANGE + 16)
#define QZ_WORD_POP                  (QZ_WORD_CHANGE - 16)
#define QZ_WORD_TOP(word)            ((uint32_t)(word))
#define QZ_WORD_DEPTH(word)          ((QZ_WORD_TOP(word) - QZ_WORD_EMPTY) / 16)

#define QZ_STATE_WORD(state, object) ((uint64_t)(state) | (uint64_t)(uint32_t)(object) << 32)
#define QZ_STATE_OF(word)            ((unsigned)((word)&15))
#define QZ_STATE_OBJECT(word)        ((uint32_t)((word) >> 32))

/* Times are counted in powers of two: bucket k holds [2^k, 2^(k+1)) ns, bucket 0 also 0. */
#define QZ_TIME_BUCKETS              40

/* One synchronization object. Writer: the thread that holds the object, or its internal lock. A record is
 * never given to another kind or place: when an object is destroyed, its record goes to the next object that
 * the same place makes under the same name, so that records are bounded by the objects alive at once. */
struct qz_object {
  QZ_ALIGN(64) uint32_t kind; /* enum qz_kind, stored last; 0 = record not in use yet */
  uint32_t name;              /* string, 0 = none */
  uint64_t site;              /* address of the code that created (or first used) it */
  uint64_t address;           /* of the object in the application, 0 while none is alive */
  uint64_t instances;         /* objects that have used this record */
  uint32_t owner;             /* thread index + 1 of the holder (locks: exclusive holder; join: a thread that is waited
                               * for), 0 = none. Pthread layer: 0, who holds a lock has it on its stack */
  uint32_t queue;             /* threads blocked on it now */
  uint32_t readers;           /* rwlock: shared holders; semaphore: count; channel: items */
  uint32_t capacity;          /* barrier: parties; channel: capacity */
  uint64_t line0_reserved[1];
  uint64_t home; /* address of every object that has used this record; 0: none, UINT64_MAX: several addresses */

  QZ_ALIGN(64)
  uint64_t acquisitions; /* completed acquisitions, waits, sends + receives, joins. Locks and semaphores of
                          * the pthread layer: 0, it is the calls to them less `failed` */
  uint64_t contended;    /* those that had to wait */
  uint64_t wait_ns;      /* their waiting time, exact */
  uint64_t wait_max_ns;
  uint64_t spin_ns; /* the part of wait_ns spent spinning */
  uint64_t hold_ns; /* with QZ_SESSION_EXACT_HOLD: time held; else of the pthread layer's mutexes and spin locks with
                     * QZ_SESSION_SPAN: processor time while held, estimated */
  uint64_t hold_max_ns;
  uint64_t failed; /* pthread layer: calls that did not get the lock or the unit */

  uint32_t wait_hist[QZ_TIME_BUCKETS];
  uint32_t hold_hist[QZ_TIME_BUCKETS];

  /* pthread layer, publisher's own: the chains of those who let others go on (barrier: [round & 1]), and when that was,
   * in its ticks; arrivals at a barrier */
  QZ_ALIGN(64) uint64_t path_word[2];
  uint64_t path_ticks[2];
  uint64_t path_what_if[QZ_WHAT_IFS]; /* work and span of the thread package: with the four above, its lanes */
  uint64_t path_arrivals;
};

/* Exact count of the calls from one call site to one callee, by one processor: open addressing, linear probing,
 * the first slot is the publisher's matter. Slots are taken, never given back; `site` is stored last. */
struct qz_call {
  uint64_t site; /* return address of the call; 0 = free */
  uint64_t key;  /* callee: as qz_entry.key */
  uint64_t count;
  uint64_t reserved; /* publisher's own */
};

QZ_LAYOUT(sizeof(struct qz_processor) == 128, "processor record");
QZ_LAYOUT(offsetof(struct qz_thread, word) == 64, "hot line of a thread record");
QZ_LAYOUT(offsetof(struct qz_thread, bottom) - offsetof(struct qz_thread, word) == QZ_WORD_EMPTY, "sentinel");
QZ_LAYOUT(offsetof(struct qz_thread, stack) == 128, "profile stack");
QZ_LAYOUT(sizeof(struct qz_object) == 512, "object record");
QZ_LAYOUT(sizeof(struct qz_call) == 32, "call record");

#endif
