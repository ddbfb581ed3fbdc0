/* Publishing: the functions that the host calls to show its state to a sampler.
 *
 * Owns:    the functions. The private data beside what they publish is in embedded.h.
 * Writer:  publisher/ and the inline functions here are the only writers of the session (abi/session.h).
 * Reader:  the scheduler and the synchronization objects include this; nothing is read back from the session.
 * Must not: lock, allocate or call the kernel in an inline path; be used without a processor (i.e. by a foreign kernel
 * thread).
 *
 * Every inline function first tests one global flag, and does nothing else while nothing is published. Publishing may
 * begin or end between any two calls: of two calls that form a pair, only one may have been published.
 */
#ifndef QZI_PUBLISHER_H
#define QZI_PUBLISHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/hash.h"
#include "abi/session.h"
#include "flag.h"
#include "embedded.h"
#include "trace.h"
#include "ticks.h"

/* ---- set-up (session.c, channel.c, names.c) ---------------------------------------------- */

/* To be called before any other function, and again if the number of processors changes while there is only one
 * kernel thread. Reads QUARTZ_SESSION, QUARTZ_ATTACH, QUARTZ_PROFILE_DEPTH, ...; a program that a sampler has
 * launched is publishing on return. Never fails: if publishing is impossible, it says so in one line. */
void qzi_pub_init(unsigned processors, size_t max_threads);
/* Returns whether an inherited system call filter (seccomp) kills the process for calls that publishing needs. Then
 * no part of publishing may be started, and qzi_pub_init does nothing. Costs one system call if there is no filter. */
bool qzi_pub_forbidden(void);
/* From now on a forked child stops publishing before it runs child handlers that are registered later. One call is
 * enough; qzi_pub_init also calls it. May be called before any constructor has run. */
void qzi_pub_at_fork(void);
/* If qzi_pub_copied(), does what fork() would have done in the child. Async-signal-safe. */
void qzi_pub_perhaps_forked(void);
/* To be called in the child after fork(), by its only kernel thread, when that is a processor again; until then the
 * child publishes nothing. sampler: the name of a sampler that follows the child although its environment does not
 * say so; or NULL. */
void qzi_pub_forked(unsigned processors, const char *sampler);
/* To be called by the kernel thread that is processor `index`, before it runs threads; again by another one that
 * takes over the processor. cpu: the CPU that it is pinned to, or UINT32_MAX. */
void qzi_pub_processor(struct qzi_publisher *publisher, unsigned index, uint32_t cpu);
/* To be called by a kernel thread that has called qzi_pub_processor, before it ends. */
void qzi_pub_kernel_thread_end(void);

/* Returns a name as its offset in the string table: the same for equal names, 0 for NULL, "", or if the table is
 * full. The string is copied. Works with and without a session. For any kernel thread. */
uint32_t qzi_pub_name(const char *name);
/* Returns the string at an offset. */
const char *qzi_pub_name_text(uint32_t name);

/* Publishes how many threads are ready but in no processor's queue. The scheduler calls it with its lock held, at
 * each change. */
void qzi_pub_unplaced(uint32_t count);

/* ---- out of line ---------------------------------------------------------------------------------------------- */

struct qz_thread *qzi_pub_begin(struct qzi_publisher *, struct qzi_pub_thread *);
void qzi_pub_created_slow(struct qzi_publisher *, struct qzi_pub_thread *, const struct qzi_pub_thread *creator);
void qzi_pub_queued_slow(struct qzi_publisher *, struct qzi_pub_thread *, const struct qzi_pub_thread *creator);
void qzi_pub_give_back(struct qzi_publisher *, struct qzi_pub_thread *);
/* Gives some of the processor's free records to the common pool; called when it has QZI_PUB_POOL of them. */
void qzi_pub_spill(struct qzi_publisher *);
void qzi_pub_io_slow(struct qzi_publisher *, struct qzi_pub_thread *);
void qzi_pub_no_table(struct qz_thread *);
void qzi_pub_remove(struct qz_thread *, uint64_t key);
/* Moves the thread's stack to its long record, and returns that; NULL: it has none, or uses it already. By the
 * thread itself. */
struct qz_thread *qzi_pub_lengthen(struct qzi_pub_thread *);
/* Returns the record of a thread whose stack is at its limit, with room for one object on it; NULL: no room, which
 * is counted. */
struct qz_thread *qzi_pub_room(struct qzi_pub_thread *);
void qzi_pub_count_slow(struct qzi_publisher *, uint64_t site, uint64_t key);
uint32_t qzi_pub_register(struct qzi_pub_object *, unsigned kind, const void *address, uint64_t site,
                          uint32_t capacity);
/* Returns the index, with QZI_PUB_SHARED, of the record shared by those objects of a place that have none of their
 * own. */
uint32_t qzi_pub_aggregate(unsigned kind, uint64_t site);
/* The record's object will be counted in another record from now on; what this record contains belongs to some object
 * of its place.
 */
void qzi_pub_anonymous(uint32_t index);
/* Returns how many records the place has for one object each, used or free; *some_free: one of them is free. */
uint32_t qzi_pub_members(unsigned kind, uint64_t site, bool *some_free);
/* Returns the first record of the place; 0: it has none. */
uint32_t qzi_pub_place(unsigned kind, uint64_t site);
void qzi_pub_object_destroyed(struct qzi_pub_object *);
uint32_t qzi_pub_site_slow(struct qzi_publisher *, unsigned kind, uint64_t site);
/* Returns the index of the record of the loop at `site`, which polls the variable at `object` (NULL: unknown). */
uint32_t qzi_pub_loop(struct qzi_publisher *p, uint64_t site, const void *object);
/* To be called by the kernel thread that ends the program: its chain becomes that of the run. */
void qzi_path_ended(struct qzi_publisher *p);
void qzi_pub_waited_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns);
void qzi_pub_waited_locked_slow(uint32_t index, uint64_t wait_ns, uint64_t spin_ns);
void qzi_pub_held_slow(uint32_t index, uint64_t now_ns);

/* ---- processors ----------------------------------------------------------------------------------------------- */

static inline void qzi_pub_store(uint64_t *at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }

/* Increments a counter, by its only writer; with one instruction where possible. */
static inline void qzi_pub_increment(uint64_t *at) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __asm__ volatile("addq $1, %0" : "+m"(*at) : : "cc");
#else
  qzi_pub_store(at, *at + 1);
#endif
}

/* Adds to a counter, by its only writer; with one instruction where possible. */
static inline void qzi_pub_more(uint64_t *at, uint64_t amount) {
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __asm__ volatile("addq %1, %0" : "+m"(*at) : "r"(amount) : "cc");
#else
  qzi_pub_store(at, *at + amount);
#endif
}

/* The packed word of a profile stack, for its own thread: the offset of the top, and the number of pushes. The two
 * halves are accessed separately, as by the hooks in assembly (quartz/hooks.h explains why). */
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

/* The processor continues with the same thread, or none, in another state: QZ_STATE_USEFUL for application code;
 * QZ_STATE_OVERHEAD, QZ_STATE_MAKING or QZ_STATE_WAKING if the package works for longer than a fast path. */
static inline void qzi_pub_state(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) qzi_pub_now(p, state);
}
void qzi_pub_write_joins(struct qzi_publisher *p);
void qzi_pub_forget_joins(struct qzi_publisher *p);
/* The processor has left its thread (after qzi_pub_blocked, ..._ready or ..._ended for that thread): state OVERHEAD
 * while it looks for another, IDLE once it searches without success or parks. */
static inline void qzi_pub_leave(struct qzi_publisher *p, unsigned state) {
  if (qzi_publishing() && p->record) {
    qzi_hot_set(NULL);
    p->thread_plus_1 = 0;
    if (p->sites_joined) qzi_pub_write_joins(p);
    qzi_pub_now(p, state);
  }
}
/* The kernel thread enters a blocking region with its thread (after qzi_pub_io), and leaves the processor. */
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
/* Counters; qzi_pub_ready and qzi_pub_queued change `enqueued`, too. Only the processor itself calls these. */
static inline void qzi_pub_enqueued(struct qzi_publisher *p) { /* has made a thread ready (see qzi_pub_ready) */
  qzi_pub_store(&p->woken, p->woken + 1);
  if (qzi_publishing() && p->record) qzi_pub_store(&p->record->enqueued, p->spawns + p->woken);
}
#define QZI_PUB_COUNTER(call, field)                                                        \
  static inline void call(struct qzi_publisher *p) {                                        \
    uint64_t value = p->field + 1;                                                          \
    qzi_pub_store(&p->field, value); /* atomic: the channel may read it at the same time */ \
    if (qzi_publishing() && p->record) qzi_pub_store(&p->record->field, value);             \
  }
QZI_PUB_COUNTER(qzi_pub_dequeued, dequeued) /* took a ready thread to run, from any queue */
QZI_PUB_COUNTER(qzi_pub_switched, switches)
QZI_PUB_COUNTER(qzi_pub_stole, steals)
QZI_PUB_COUNTER(qzi_pub_parked, parks)

/* ---- threads -------------------------------------------------------------------------------------------------- */

/* Returns the record of a thread that the caller runs or holds; initializes it if it has none of this epoch. NULL:
 * no free record (counted). Only while publishing is on. */
static inline struct qz_thread *qzi_pub_record(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (__builtin_expect(record && record->epoch == qzi_pub_epoch, 1)) return record;
  return qzi_pub_begin(p, t);
}

/* `creator` (NULL for main) has created a thread: takes a record, copies the creator's profile stack, pushes the
 * start routine, and counts the call of it from t->create_site. The state is READY; qzi_pub_ready counts the thread
 * as enqueued when it is put into a queue. */
static inline void qzi_pub_created(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                   const struct qzi_pub_thread *creator) {
  if (qzi_publishing() && p->record) qzi_pub_created_slow(p, t, creator);
}
/* The thread has ended: releases its record, also while nothing is published. */
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

/* The thread that p runs gives up its processor: to wait (arrival ..._OWN, unless another thread ends the wait), or
 * for a blocking region. State OVERHEAD. */
static inline void qzi_pub_park(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) {
    qzi_path_give(p, t, QZ_ARRIVAL_OWN);
    qzi_pub_now(p, QZ_STATE_OVERHEAD);
  }
}

/* Processor p starts or continues to run t: application code or (QZ_STATE_MAKING) the package on its behalf. */
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
  /* Publishing may just have ended: the channel clears qzi_hot after a barrier, so one of the two sees the other's
   * store. */
  qzi_hot_set(&record->word);
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline void qzi_pub_run(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  qzi_pub_run_as(p, t, QZ_STATE_USEFUL);
}
/* The same after p ran another thread, or none: t continues with its own chain. */
static inline void qzi_pub_go_on(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (!qzi_publishing() || !p->record) return;
  qzi_path_take(p, t);
  qzi_pub_run(p, t);
}
/* t is put into a queue of ready threads by p, which is counted. To be called before another processor can take t. */
static inline void qzi_pub_ready(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  uint64_t value = p->woken + 1;
  qzi_pub_store(&p->woken, value);
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_READY, 0);
    qzi_pub_store(&p->record->enqueued, p->spawns + value);
  }
}
/* qzi_pub_created and qzi_pub_ready for a thread that has not started, which is counted as spawned, in one call. */
static inline void qzi_pub_queued(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                  const struct qzi_pub_thread *creator) {
  qzi_pub_increment(&p->spawns);
  if (qzi_publishing() && p->record) qzi_pub_queued_slow(p, t, creator);
}
/* A switch between two threads that take turns on p: the same stores as qzi_pub_ready and qzi_pub_run, without the
 * counts for a queue whose length does not change. Allowed only if qzi_pub_may_switch() returns true for both
 * threads, i.e. in the common case. */
static inline bool qzi_pub_may_switch(const struct qzi_publisher *p, const struct qzi_pub_thread *t) {
  const struct qz_thread *record = t->record;
  return __builtin_expect(p->calls && record && record->epoch == qzi_pub_epoch, 1);
}
static inline __attribute__((always_inline)) void qzi_pub_run_record(struct qzi_publisher *p, struct qz_thread *record,
                                                                     uint64_t thread_plus_1, unsigned state) {
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  uint64_t calls = (uint64_t)(uintptr_t)p->calls;
  p->thread_plus_1 = thread_plus_1;
  if (__builtin_expect(record->calls != calls, 0)) record->calls = calls;
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now_of(p, thread_plus_1, state);
  qzi_hot_set(&record->word); /* as in qzi_pub_run_as */
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline __attribute__((always_inline)) void qzi_pub_run_usual(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                                    unsigned state) {
  qzi_pub_run_record(p, t->record, t->index_plus_1, state);
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
/* qzi_pub_switched and qzi_pub_run in one call. */
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
/* t, which p runs, begins to spin for an object; qzi_pub_spun when it stops spinning and continues. */
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
/* t enters a blocking region; another kernel thread will run p. Hooks continue to work, on their slow path. */
static inline void qzi_pub_io(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) qzi_pub_io_slow(p, t);
}

/* t has left its blocking region and waits for a processor; the caller is not on a processor. */
static inline void qzi_pub_io_over(struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (!qzi_publishing() || !record || record->epoch != qzi_pub_epoch) return;
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
}

#include "object_records.h"
#include "calls_in_place.h"
#ifndef QZI_PUB_ONE_THREAD
#include "tasks.h"
#endif

#endif
