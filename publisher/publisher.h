/* Publishing: what the rest of the thread package calls to show its state to a sampler.
 *
 * Owns:    the calls, and the private side of what they publish (struct qzi_pub_...).
 * Writer:  publisher/ and the inline functions here are the only writers of the session (abi/session.h).
 * Reader:  the scheduler and the synchronization objects include this; nothing is read back from the session.
 * Must not: lock, allocate or call the kernel in an inline path; be used without a processor (no foreign kernel
 * thread).
 *
 * Every inline call tests one global flag first, and does no more than that where nothing is published.
 * Publishing may begin or end between any two calls: calls that come in pairs need not both have been published.
 */
#ifndef QZI_PUBLISHER_H
#define QZI_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/hash.h"
#include "abi/session.h"
#include "flag.h"
#include "trace.h"
#include "ticks.h"

struct qzi_publisher; /* embedded in the scheduler's processor */
struct qzi_pub_pairs;
struct qzi_pub_thread; /* embedded in the scheduler's thread */
struct qzi_pub_object; /* embedded in a synchronization object */

/* ---- private sides ------------------------------------------------------------------------------------------- */

/* Where the record of a join or a sleep made at `site` is: a small cache. And joins there that are not in the record
 * yet. */
struct qzi_pub_site_slot {
  uint64_t site;
  uint32_t kind;
  uint32_t index;
  uint32_t joins;   /* made and not written down, */
  uint32_t written; /* and written down by this processor */
};
#define QZI_PUB_SITES 64
/* Indices of free thread records that a processor keeps. */
#ifdef QZI_PUB_ONE_THREAD
#define QZI_PUB_POOL 2u
#else
#define QZI_PUB_POOL 256u
#endif

/* Of a processor. Zero at first; filled by qzi_pub_processor(). Written by its kernel thread. Counters count always,
 * so that they are right when publishing begins. */
struct qzi_publisher {
  struct qz_processor *record; /* NULL before the first session */
  struct qz_path *path; /* NULL before the first session, without memory for it, or (thread package) while `span` is set
                         */
  struct qz_call *calls;  /* its part of the call table */
  uint64_t change;        /* change count of `now`, in place */
  uint64_t thread_plus_1; /* thread in `now` */
  uint64_t spawns, woken; /* threads that it made, and others that it made ready: together, `enqueued` of the record */
  uint64_t dequeued, switches, steals, parks;
  struct qzi_pub_site_slot *sites;
  struct qzi_pub_pairs *pairs; /* call_tables.c; NULL: the objects that a call uses are not limited */
  uint64_t sites_joined;       /* one bit for each of them: it has joins that are not written down */
  uint32_t *free;              /* indices of free thread records */
  uint32_t free_count;
  uint32_t index;
  uint32_t os_tid;
  uint32_t cpu;
  struct qzi_span_actor *span;      /* NULL: work and span are not recorded */
  struct qzi_span_actor *span_room; /* the same, kept for the next recording */
};

/* Of a thread. The scheduler fills the second part, published or not, before qzi_pub_created(). */
struct qzi_pub_thread {
  struct qz_thread *record; /* NULL: none taken. Zero it before qzi_pub_created() */
  uint32_t index_plus_1;    /* of the record */
  uint32_t creator;         /* index + 1 of the creator's record */

  uint32_t name; /* qzi_pub_name() or 0 */
  union {
    uint32_t loop;   /* fork_join.c: it runs a part of a parallel loop, whose body `start` is */
    uint32_t os_tid; /* pthread layer: kernel thread id, 0: not known yet */
  };
  uint64_t serial;                 /* unique, never 0 */
  uint64_t start;                  /* start routine (main's: the address of main) */
  uint64_t create_site;            /* return address of the call that created it, 0 for main */
  uintptr_t stack_low, stack_high; /* bounds of its stack; 0, 0: unknown */
  uint64_t chain; /* path.h: while it does not run, the chain that it goes on with, and how that came */
};

/* Of a synchronization object; all zero is right for one that is statically initialized. */
struct qzi_pub_object {
  uint64_t site;  /* address of the code that made it, 0: taken from its first published use */
  uint32_t name;  /* qzi_pub_name() or 0 */
  uint32_t index; /* of its record, 0 = none yet; QZI_PUB_SHARED: shared with others */
};
#define QZI_PUB_SHARED UINT32_C(0x80000000)

/* ---- set-up (session.c, channel.c, names.c) ---------------------------------------------- */

/* Before any other call, and again if the number of processors changes while there is but one kernel thread: reads
 * QUARTZ_SESSION, QUARTZ_ATTACH, QUARTZ_PROFILE_DEPTH, ...; a program that was launched by a sampler is publishing when
 * this returns. Never fails: where it can't publish it says so in one line. */
void qzi_pub_init(unsigned processors, size_t max_threads);
/* Whether a filter of system calls that the process inherited (seccomp) kills for what publishing needs. Where it does,
 * nothing of it may be started: qzi_pub_init then does nothing. One system call to read where there is no filter. */
bool qzi_pub_forbidden(void);
/* From now on a forked child stops publishing before it runs child handlers that are registered later. Once is enough;
 * qzi_pub_init does it, too. Safe before any constructor has run. */
void qzi_pub_at_fork(void);
/* Where qzi_pub_copied(), does what fork() would have made the child do. Safe in a signal handler. */
void qzi_pub_perhaps_forked(void);
/* In the child after fork(), by its only kernel thread, when that is a processor again. Until then the child publishes
 * nothing. sampler: the name of one that follows it, where its environment does not say so; or NULL. */
void qzi_pub_forked(unsigned processors, const char *sampler);
/* By the kernel thread that is processor `index`, before it runs threads; again by another one that takes the
 * processor over. cpu: CPU it is pinned to or UINT32_MAX. */
void qzi_pub_processor(struct qzi_publisher *publisher, unsigned index, uint32_t cpu);
/* By a kernel thread that called qzi_pub_processor, before it ends. */
void qzi_pub_kernel_thread_end(void);

/* Name as offset in the string table, the same for equal names, 0 for NULL, "" or where the table is full. The
 * string is copied. Works whether or not there is a session. Any kernel thread. */
uint32_t qzi_pub_name(const char *name);
/* The string of an offset. */
const char *qzi_pub_name_text(uint32_t name);

/* How many threads are ready in no processor's queue. The scheduler calls it with its lock held, at each change. */
void qzi_pub_unplaced(uint32_t count);

/* ---- out of line ---------------------------------------------------------------------------------------------- */

struct qz_thread *qzi_pub_begin(struct qzi_publisher *, struct qzi_pub_thread *);
void qzi_pub_created_slow(struct qzi_publisher *, struct qzi_pub_thread *, const struct qzi_pub_thread *creator);
void qzi_pub_queued_slow(struct qzi_publisher *, struct qzi_pub_thread *, const struct qzi_pub_thread *creator);
void qzi_pub_give_back(struct qzi_publisher *, struct qzi_pub_thread *);
/* Others get some of its free records, of which it has as many as it may. */
void qzi_pub_spill(struct qzi_publisher *);
void qzi_pub_io_slow(struct qzi_publisher *, struct qzi_pub_thread *);
void qzi_pub_no_table(struct qz_thread *);
void qzi_pub_remove(struct qz_thread *, uint64_t key);
/* The thread goes on with its long record, which is returned; NULL: it has none, or has it already. By the thread
 * itself. */
struct qz_thread *qzi_pub_lengthen(struct qzi_pub_thread *);
/* The record of a thread whose stack is at its limit, with room for an object on it; NULL: there is none, which is
 * counted. */
struct qz_thread *qzi_pub_room(struct qzi_pub_thread *);
void qzi_pub_count_slow(struct qzi_publisher *, uint64_t site, uint64_t key);
uint32_t qzi_pub_register(struct qzi_pub_object *, unsigned kind, const void *address, uint64_t site,
                          uint32_t capacity);
/* Index of the record that those objects of a place share that have none of their own; with QZI_PUB_SHARED. */
uint32_t qzi_pub_aggregate(unsigned kind, uint64_t site);
/* The record's object counts under another one from now on: what is in the record is that of some object of its place.
 */
void qzi_pub_anonymous(uint32_t index);
/* How many records the place has for objects of their own, in use or free; whether one of them is free. */
uint32_t qzi_pub_members(unsigned kind, uint64_t site, bool *some_free);
/* First record of the place, 0: it has none. */
uint32_t qzi_pub_place(unsigned kind, uint64_t site);
void qzi_pub_object_destroyed(struct qzi_pub_object *);
uint32_t qzi_pub_site_slow(struct qzi_publisher *, unsigned kind, uint64_t site);
/* Index of the record of the loop at `site` that waits for what is at `object` (0: not known). */
uint32_t qzi_pub_loop(struct qzi_publisher *p, uint64_t site, const void *object);
/* By the kernel thread that ends the program: its chain is the run's. */
void qzi_path_ended(struct qzi_publisher *p);
void qzi_pub_waited_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns);
void qzi_pub_waited_locked_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns);
void qzi_pub_held_slow(uint32_t index, uint64_t now_ns);

/* ---- processors ----------------------------------------------------------------------------------------------- */

static inline void qzi_pub_store(uint64_t *at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }

/* One more, by its only writer; by one instruction where that can be. */
static inline void qzi_pub_increment(uint64_t *at) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __asm__ volatile("addq $1, %0" : "+m"(*at) : : "cc");
#else
  qzi_pub_store(at, *at + 1);
#endif
}

/* The packed word of a profile stack, by its own thread: where the top is and how often something was pushed, each
 * accessed by itself, as the hooks in assembly do (quartz/hooks.h says why). */
typedef uint32_t __attribute__((may_alias)) qzi_pub_half;
static inline __attribute__((always_inline)) uint32_t qzi_pub_top(const struct qz_thread *record) {
  return __atomic_load_n((const qzi_pub_half *)&record->word, __ATOMIC_RELAXED);
}
static inline __attribute__((always_inline)) void qzi_pub_popped(struct qz_thread *record, uint32_t top) {
  __atomic_store_n((qzi_pub_half *)&record->word, top, __ATOMIC_RELEASE);
}
static inline __attribute__((always_inline)) void qzi_pub_pushed(struct qz_thread *record, uint32_t top) {
  qzi_pub_half *pushes = (qzi_pub_half *)&record->word + 1;
  __atomic_store_n(pushes, __atomic_load_n(pushes, __ATOMIC_RELAXED) + (uint32_t)(QZ_WORD_CHANGE >> 32),
                   __ATOMIC_RELAXED);
  qzi_pub_popped(record, top);
}

static inline void qzi_pub_now_of(struct qzi_publisher *p, uint64_t thread_plus_1, unsigned state) {
  uint64_t now = (p->change += QZ_NOW_CHANGE) | thread_plus_1 << 4 | state;
  QZI_TRACE(now(p->record, now));
  __atomic_store_n(&p->record->now, now, __ATOMIC_RELEASE);
}
static inline void qzi_pub_now(struct qzi_publisher *p, unsigned state) { qzi_pub_now_of(p, p->thread_plus_1, state); }

#include "span.h"
#include "path.h"

/* The processor goes on with the same thread, or none, in another state: QZ_STATE_USEFUL when application code goes
 * on; QZ_STATE_OVERHEAD, QZ_STATE_MAKING or QZ_STATE_WAKING when the package works for longer than a fast path. */
static inline void qzi_pub_state(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) qzi_pub_now(p, state);
}
void qzi_pub_write_joins(struct qzi_publisher *p);
void qzi_pub_forget_joins(struct qzi_publisher *p);
/* The processor has left its thread (after qzi_pub_blocked, ..._ready or ..._ended of that one): state OVERHEAD while
 * it looks for another, IDLE once it searches without success or parks. */
static inline void qzi_pub_leave(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) {
    qzi_hot_set(NULL);
    p->thread_plus_1 = 0;
    if (p->sites_joined) qzi_pub_write_joins(p);
    qzi_pub_now(p, state);
  }
}
/* The kernel thread goes into a blocking region with its thread (after qzi_pub_io), and leaves the processor behind. */
static inline void qzi_pub_leave_io(struct qzi_publisher *p) {
  if (qzi_publishing() && p->record) {
    p->thread_plus_1 = 0;
    if (p->sites_joined) qzi_pub_write_joins(p);
    qzi_pub_now(p, QZ_STATE_IDLE);
  }
}
static inline uint64_t qzi_pub_enqueued_in_all(const struct qzi_publisher *p) {
  return __atomic_load_n(&p->spawns, __ATOMIC_RELAXED) + __atomic_load_n(&p->woken, __ATOMIC_RELAXED);
}
/* Counters; `enqueued` by qzi_pub_ready and qzi_pub_queued, too. Only the processor itself calls these. */
static inline void qzi_pub_enqueued(struct qzi_publisher *p) { /* made a thread ready (see qzi_pub_ready) */
  qzi_pub_store(&p->woken, p->woken + 1);
  if (qzi_publishing() && p->record) qzi_pub_store(&p->record->enqueued, p->spawns + p->woken);
}
#define QZI_PUB_COUNTER(call, field)                                            \
  static inline void call(struct qzi_publisher *p) {                            \
    uint64_t value = p->field + 1;                                              \
    qzi_pub_store(&p->field, value); /* the channel may read it just now */     \
    if (qzi_publishing() && p->record) qzi_pub_store(&p->record->field, value); \
  }
QZI_PUB_COUNTER(qzi_pub_dequeued, dequeued) /* took a ready thread to run, from its own queue or another's */
QZI_PUB_COUNTER(qzi_pub_switched, switches)
QZI_PUB_COUNTER(qzi_pub_stole, steals)
QZI_PUB_COUNTER(qzi_pub_parked, parks)

/* ---- threads -------------------------------------------------------------------------------------------------- */

/* The record of a thread that the caller runs or holds; begun again where it has none of this epoch. NULL: no free
 * record (counted). Only while publishing. */
static inline struct qz_thread *qzi_pub_record(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(record && record->epoch == qzi_pub_epoch, 1)) return record;
  return qzi_pub_begin(p, t);
}

/* A thread has been created by `creator` (NULL for main): takes a record, copies the creator's profile stack, pushes
 * the start routine, counts the call from t->create_site to it. Its state is READY; the scheduler's qzi_pub_ready
 * counts it as enqueued where it goes to a queue. */
static inline void qzi_pub_created(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                   const struct qzi_pub_thread *creator) {
  if (qzi_publishing() && p->record) qzi_pub_created_slow(p, t, creator);
}
/* The thread has ended: gives its record back. Publishing or not. */
static inline void qzi_pub_ended(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (__builtin_expect(t->record != NULL, 0)) qzi_pub_give_back(p, t);
}

static inline void qzi_pub_thread_state(struct qzi_publisher *p, struct qzi_pub_thread *t, unsigned state,
                                        uint32_t object) {
  struct qz_thread *record = qzi_pub_record(p, t);
  if (!record) return;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, state));
  qzi_pub_store(&record->state, QZ_STATE_WORD(state, object & ~QZI_PUB_SHARED));
}

/* The thread that p runs gives its processor up: to wait (..._OWN, unless somebody lets it go on), or for a blocking
 * region. State OVERHEAD. */
static inline void qzi_pub_park(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) {
    qzi_path_give(p, t, QZ_ARRIVAL_OWN);
    qzi_pub_now(p, QZ_STATE_OVERHEAD);
  }
}

/* Processor p begins or goes on to run t: application code, or (QZ_STATE_MAKING) the package on its behalf. */
static inline __attribute__((always_inline)) void qzi_pub_run_as(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                                 unsigned state) {
  if (!qzi_publishing() || !p->record) return;
  struct qz_thread *record = qzi_pub_record(p, t);
  p->thread_plus_1 = t->index_plus_1;
  if (!record) {
    qzi_hot_set(NULL);
    qzi_pub_now(p, state);
    return;
  }
  record->calls = (uint64_t)(uintptr_t)p->calls;
#ifdef QZI_PUB_ONE_THREAD
  if (__builtin_expect(!p->calls, 0)) qzi_pub_no_table(record);
#endif
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now(p, state);
  /* Publishing may just have ended: the channel clears qzi_hot after a barrier, so one of the two sees the other. */
  qzi_hot_set(&record->word);
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline void qzi_pub_run(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  qzi_pub_run_as(p, t, QZ_STATE_USEFUL);
}
/* The same after p ran another thread, or none: t goes on with its own chain. */
static inline void qzi_pub_go_on(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (!qzi_publishing() || !p->record) return;
  qzi_path_take(p, t);
  qzi_pub_run(p, t);
}
/* t is in a queue of ready threads (made by p), which is counted. Call it before others can take t. */
static inline void qzi_pub_ready(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  uint64_t value = p->woken + 1;
  qzi_pub_store(&p->woken, value);
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_READY, 0);
    qzi_pub_store(&p->record->enqueued, p->spawns + value);
  }
}
/* qzi_pub_created and qzi_pub_ready of a thread that has not begun, which is counted as spawned, all at once. */
static inline void qzi_pub_queued(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                  const struct qzi_pub_thread *creator) {
  qzi_pub_increment(&p->spawns);
  if (qzi_publishing() && p->record) qzi_pub_queued_slow(p, t, creator);
}
/* Two threads that take turns on p, all at once: the same stores as qzi_pub_ready and qzi_pub_run, without the counts
 * of a queue that stays as long as it is. Only while qzi_pub_may_switch() says of both that nothing is out of the
 * ordinary. */
static inline bool qzi_pub_may_switch(const struct qzi_publisher *p, const struct qzi_pub_thread *t) {
  const struct qz_thread *record = t->record;
  return __builtin_expect(p->calls && record && record->epoch == qzi_pub_epoch, 1);
}
static inline __attribute__((always_inline)) void qzi_pub_run_usual(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                                    unsigned state) {
  struct qz_thread *record = t->record;
  uint64_t thread_plus_1 = t->index_plus_1;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  p->thread_plus_1 = thread_plus_1;
  record->calls = (uint64_t)(uintptr_t)p->calls;
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now_of(p, thread_plus_1, state);
  qzi_hot_set(&record->word); /* as in qzi_pub_run_as */
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline __attribute__((always_inline)) void qzi_pub_take_up(struct qzi_publisher *p, struct qzi_pub_thread *to) {
  qzi_path_take(p, to);
  qzi_pub_run_usual(p, to, QZ_STATE_USEFUL);
}
static inline void qzi_pub_switch(struct qzi_publisher *p, struct qzi_pub_thread *from, struct qzi_pub_thread *to) {
  qzi_path_give(p, from, QZ_ARRIVAL_OWN);
  QZI_TRACE(thread(from->record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&from->record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  qzi_pub_store(&p->record->switches, p->switches);
  qzi_pub_take_up(p, to);
}
/* qzi_pub_switched and qzi_pub_run. */
static inline __attribute__((always_inline)) void qzi_pub_switch_run(struct qzi_publisher *p,
                                                                     struct qzi_pub_thread *t) {
  qzi_pub_store(&p->switches, p->switches + 1);
  if (!qzi_publishing() || !p->record) return;
  qzi_pub_store(&p->record->switches, p->switches);
  if (qzi_pub_may_switch(p, t))
    qzi_pub_take_up(p, t);
  else
    qzi_pub_go_on(p, t);
}
/* t is about to block on an object (index from qzi_pub_object or qzi_pub_site). */
static inline void qzi_pub_blocked(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t object) {
  if (qzi_publishing() && p->record) qzi_pub_thread_state(p, t, QZ_STATE_BLOCKED, object);
}
/* t, which p runs, begins to spin for an object; qzi_pub_spun when it stops (it goes on running). */
static inline void qzi_pub_spinning(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t object) {
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_SPINNING, object);
    qzi_pub_now(p, QZ_STATE_SPINNING);
    if (p->span) qzi_span_spins(p);
  }
}
static inline void qzi_pub_spun(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_USEFUL, 0);
    qzi_pub_now(p, QZ_STATE_USEFUL);
    if (p->span) qzi_span_goes_on(p);
  }
}
/* t enters a declared blocking region; p will be run by another kernel thread. Hooks go on, on their slow path. */
static inline void qzi_pub_io(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) qzi_pub_io_slow(p, t);
}

/* t has left its blocking region and waits for a processor; the caller is not on one. */
static inline void qzi_pub_io_over(struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (!qzi_publishing() || !record || record->epoch != qzi_pub_epoch) return;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
}

#include "object_records.h"
#include "calls_in_place.h"

#endif
