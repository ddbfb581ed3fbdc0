/* What all inline parts of publishing build on: declarations of what is out of line, and stores into the session.
 *
 * Owns:    nothing. Writer, reader: as publisher.h says, whose rules apply here too.
 * Must not: be included by a host, which includes publisher.h.
 */
#ifndef QZI_PUBLISH_BASE_H
#define QZI_PUBLISH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/hash.h"
#include "abi/session.h"
#include "flag.h"
#include "embedded.h"
#include "trace.h"
#include "ticks.h"

#define QZI_CALL_SLOTS UINT32_C(65536) /* of a call table */

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
/* Counts a push. */
static inline __attribute__((always_inline)) void qzi_pub_rewritten(struct qz_thread *record) {
  qzi_pub_half *pushes = (qzi_pub_half *)&record->word + 1;
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __asm__ volatile("addl %1, %0" : "+m"(*pushes) : "i"((uint32_t)(QZ_WORD_CHANGE >> 32)) : "cc");
#else
  __atomic_store_n(pushes, __atomic_load_n(pushes, __ATOMIC_RELAXED) + (uint32_t)(QZ_WORD_CHANGE >> 32),
                   __ATOMIC_RELAXED);
#endif
}
static inline __attribute__((always_inline)) void qzi_pub_pushed(struct qz_thread *record, uint32_t top) {
  qzi_pub_rewritten(record);
  qzi_pub_popped(record, top);
}

/* Publishes `now`: change count and thread from `base`, and the state. The processor keeps the base in p->now; code
 * that publishes several states in a row may do so at the end. */
static inline __attribute__((always_inline)) void qzi_pub_now_store(struct qz_processor *record, uint64_t base,
                                                                    unsigned state) {
  QZI_TRACE(now(record, base | state));
  __atomic_store_n(&record->now, base | state, __ATOMIC_RELEASE);
}
#define QZI_NOW_THREAD(plus1) ((uint64_t)(plus1) << 4) /* index + 1 of a thread, in its place */
#define QZI_NOW_THREADS       QZI_NOW_THREAD(UINT32_MAX)
static inline void qzi_pub_now_of(struct qzi_publisher *p, uint64_t thread_plus_1, unsigned state) {
  p->now = (p->now / QZ_NOW_CHANGE + 1) * QZ_NOW_CHANGE | QZI_NOW_THREAD(thread_plus_1);
  qzi_pub_now_store(p->record, p->now, state);
}
static inline void qzi_pub_now(struct qzi_publisher *p, unsigned state) {
  p->now += QZ_NOW_CHANGE;
  qzi_pub_now_store(p->record, p->now, state);
}
/* The index + 1 of the thread that p runs. */
static inline uint32_t qzi_pub_runs(const struct qzi_publisher *p) { return QZ_NOW_THREAD_PLUS_1(p->now); }

#endif
