/* What the files of the thread package know of each other.
 *
 * Owns:    descriptors of threads and processors, parking and waking, the tiny internal lock, the clock.
 * Writer:  the core (runtime, processor, sched, thread, fork-join, timer, ...); `pub` parts belong to
 *          publish.c, `wait` parts to the synchronization objects.
 * Reader:  every file of threadlib/src.
 * Must not: be included by anything outside threadlib; allocate or make system calls inline.
 */
#ifndef QZI_INTERNAL_H
#define QZI_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <quartz/quartz.h>
#include "publisher/publisher.h"

#define QZI_LIKELY(x)   __builtin_expect(!!(x), 1)
#define QZI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define QZI_LINE        __attribute__((aligned(64)))
#define QZI_HIDDEN      __attribute__((visibility("hidden")))
#define QZI_CALLER()    ((uint64_t)(uintptr_t)__builtin_return_address(0))
#define QZI_NEVER       UINT64_MAX /* a deadline that does not come */

#if defined(__SANITIZE_THREAD__)
#define QZI_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define QZI_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define QZI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QZI_ASAN 1
#endif
#endif

#pragma GCC visibility push(hidden)

struct qzi_thread;
struct qzi_processor;
struct qzi_context;

/* ---- descriptors ---- */

/* Life of a thread, for joining and for reports (not the scheduling state that is published). */
enum qzi_life { QZI_FREE = 0, QZI_NEW, QZI_ALIVE, QZI_ENDED };

/* Outcome of the thread's latest timed wait: who won. */
enum qzi_claim { QZI_WAITING = 1, QZI_WOKEN, QZI_TIMED_OUT };

/* What a thread waits with in the queue of a synchronization object (sync.h). */
struct qzi_waiter {
  struct qzi_waiter *next, *prev;
  void *item;        /* channel: where the item is taken from or put; rwlock: not NULL for a writer */
  uint64_t since;    /* when it began to wait, in ticks; 0: not measured (nothing is published) */
  uint32_t kind;     /* of the object */
  bool queued;
  bool timed;        /* a deadline may let it go: it must be claimed */
  bool plain;        /* since is 0, and timed false */
  bool given;        /* what it waits for was given to it; else it was told to go (channel closed) */
};

/* A thread. Lies in the top page of its own stack (that of main: static). Never unmapped: `pub.serial` stays readable
 * through stale handles. Its name is pub.name, its start routine pub.start, the bounds of the stack that it runs on
 * pub.stack_low and pub.stack_high. */
struct qzi_thread {
  /* line 0: switching, joining */
  QZI_LINE struct qzi_context *context; /* where it goes on, while it does not run (switch.h) */
  struct qzi_thread *link;        /* free list, or list of threads being made ready */
  struct qzi_scope *scope;        /* fork-join scope that waits for it, or NULL */
  void *argument;
  _Atomic(uintptr_t) join;        /* join.c: 0, one of enum join_word, or the joining thread (+ QZI_JOIN_TIMED) */
  void *result;
  void *exit_sp;                  /* it runs on its joiner's stack: where qz_exit goes; else NULL */
  _Atomic(uint8_t) life;          /* enum qzi_life; peeked at by joiners */
  uint8_t blocked;                /* 1 while parked: for the deadlock report */
  uint8_t io;                     /* depth of declared blocking regions */
  uint8_t stack_class;            /* stack.c */
  _Atomic(uint32_t) claim;        /* enum qzi_claim */

  /* line 1: publishing */
  QZI_LINE struct qzi_pub_thread pub;

  /* line 2: waiting. Written by the waiter before it parks, or by who holds the object's lock. */
  QZI_LINE struct qzi_waiter waiter;
  void *wait_object;              /* object that it waits for; NULL: none */
  /* Describes for the deadlock report what `thread` waits for, the owner included ("mutex \"m\" held by \"t\"").
   * Runs when nothing else does. NULL: nothing is known. */
  void (*wait_describe)(const struct qzi_thread *thread, char *text, size_t bytes);

  /* line 3: sanitizers; children that run. Its own stack ends where the descriptor begins */
  QZI_LINE char *own_low;         /* of a stack of another size than usual: see qzi_own_low */
  void *sanitizer_fiber;          /* TSan */
  void *sanitizer_stack;          /* ASan: fake stack while it does not run */
  struct qzi_thread *sibling;     /* fork_join.c: the next running child of its scope, and what points to this one */
  struct qzi_thread **sibling_link;
  uint64_t marked_ns;             /* spin_loop.c: since when it is in a loop that the program marked */
  uint32_t marked;                /* index of that place; 0: it is not */
  uint32_t marked_serial;         /* of the thread that `marked` is of */

  /* line 4: time-outs */
  QZI_LINE uint64_t deadline_ns;
  struct qzi_processor *timer_processor; /* whose heap holds it */
  uint32_t timer_index;           /* place in that heap + 1; 0: none */
};
static inline struct qzi_thread *qzi_waiting_thread(struct qzi_waiter *waiter) {
  return (struct qzi_thread *)((char *)waiter - offsetof(struct qzi_thread, waiter));
}
/* It has yielded: if it is in a marked loop, it goes on spinning. */
void qzi_spin_go_on(void);

static inline enum qzi_life qzi_life(const struct qzi_thread *thread) {
  return (enum qzi_life)atomic_load_explicit(&thread->life, memory_order_relaxed);
}
static inline void qzi_life_set(struct qzi_thread *thread, enum qzi_life life) {
  atomic_store_explicit(&thread->life, (uint8_t)life, memory_order_relaxed);
}

/* The tiny lock: for a few instructions, never across a switch. */
typedef struct qzi_spinlock { _Atomic(uint32_t) word; } qzi_spinlock;
void qzi_spin_wait(qzi_spinlock *lock);

static inline void qzi_spin_lock(qzi_spinlock *lock) {
  if (QZI_UNLIKELY(atomic_exchange_explicit(&lock->word, 1, memory_order_acquire))) qzi_spin_wait(lock);
}
static inline bool qzi_spin_trylock(qzi_spinlock *lock) {
  return !atomic_load_explicit(&lock->word, memory_order_relaxed) &&
         !atomic_exchange_explicit(&lock->word, 1, memory_order_acquire);
}
static inline void qzi_spin_unlock(qzi_spinlock *lock) {
  atomic_store_explicit(&lock->word, 0, memory_order_release);
}
static inline void qzi_pause(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");
#endif
}

/* Monotonic time, ns (CLOCK_MONOTONIC). */
uint64_t qzi_now_ns(void);
/* Turns an absolute time of `clock` into CLOCK_MONOTONIC ns. EINVAL: bad clock or tv_nsec. A past time gives 0. */
int qzi_deadline(int clock, const struct timespec *time, uint64_t *monotonic_ns);

/* ---- who runs ---- */

/* The processor that runs the caller. Read again after anything that may switch. NULL: not a kernel thread of ours. */
extern _Thread_local struct qzi_processor *qzi_tls_processor __attribute__((tls_model("initial-exec")));

/* The thread that the caller runs: current of that processor; NULL: in its scheduler, or in a blocking region, or none of ours.
 * Twice, since a locked instruction makes what follows wait: an address less to look up is 5 cycles less for a mutex. */
extern _Thread_local struct qzi_thread *qzi_tls_thread __attribute__((tls_model("initial-exec")));

/* By assembly, so that a compiler cannot keep the address of the variable over a switch to another kernel thread. */
#if defined(__x86_64__)
#define QZI_TLS_LOAD(variable, value) \
  __asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value))
#define QZI_TLS_STORE(variable, value) \
  do { \
    uint64_t offset_; \
    __asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)" : "=&r"(offset_) : "r"(value) : "memory"); \
  } while (0)
#elif defined(__aarch64__)
#define QZI_TLS_LOAD(variable, value) \
  do { \
    uint64_t offset_; \
    __asm__ volatile("mrs %0, tpidr_el0\n\t" \
                     "adrp %1, :gottprel:" #variable "\n\t" \
                     "ldr %1, [%1, #:gottprel_lo12:" #variable "]\n\t" \
                     "ldr %0, [%0, %1]" : "=&r"(value), "=&r"(offset_)); \
  } while (0)
#define QZI_TLS_STORE(variable, value) \
  do { \
    uint64_t base_, offset_; \
    __asm__ volatile("mrs %0, tpidr_el0\n\t" \
                     "adrp %1, :gottprel:" #variable "\n\t" \
                     "ldr %1, [%1, #:gottprel_lo12:" #variable "]\n\t" \
                     "str %2, [%0, %1]" : "=&r"(base_), "=&r"(offset_) : "r"(value) : "memory"); \
  } while (0)
#else
#error "Quartz knows x86-64 and aarch64"
#endif

static inline struct qzi_processor *qzi_processor_self(void) {
  struct qzi_processor *processor;
  QZI_TLS_LOAD(qzi_tls_processor, processor);
  return processor;
}
static inline struct qzi_thread *qzi_thread_self(void) {
  struct qzi_thread *thread;
  QZI_TLS_LOAD(qzi_tls_thread, thread);
  return thread;
}

/* The first part of a processor, all that other files may touch; the rest is in processor.h. */
struct qzi_processor_head {
  struct qzi_thread *current;     /* thread that it runs; NULL in its scheduler */
  struct qzi_publisher pub;
  const void *left_from;          /* where the thread returns to that was left last by waiting (struct qzi_back) */
};
static inline struct qzi_processor_head *qzi_head(struct qzi_processor *processor) {
  return (struct qzi_processor_head *)processor;
}
/* The caller's processor goes on with another thread, or none. */
static inline void qzi_current_set(struct qzi_processor *processor, struct qzi_thread *thread) {
  __atomic_store_n(&qzi_head(processor)->current, thread, __ATOMIC_RELAXED);
  QZI_TLS_STORE(qzi_tls_thread, thread);
}
static inline struct qzi_publisher *qzi_pub_of(struct qzi_processor *processor) { return &qzi_head(processor)->pub; }

/* The processor that runs the caller; sets the package up where main has not begun; ends the program with a line where
 * a foreign kernel thread calls, or one inside a blocking region. */
struct qzi_processor *qzi_foreign(void);
struct qzi_thread *qzi_self_slow(void);
static inline struct qzi_processor *qzi_processor_checked(void) {
  struct qzi_processor *p = qzi_processor_self();
  return QZI_LIKELY(p != NULL) ? p : qzi_foreign();
}

/* The running thread. */
static inline struct qzi_thread *qzi_self(void) {
  struct qzi_thread *thread = qzi_thread_self();
  return QZI_LIKELY(thread != NULL) ? thread : qzi_self_slow();
}
/* Through which the running thread publishes. */
static inline struct qzi_publisher *qzi_publisher_self(void) { return &qzi_head(qzi_processor_checked())->pub; }

unsigned qzi_processor_count(void);
struct qzi_processor *qzi_processor_at(unsigned index);
uint64_t qzi_spin_limit_ns(void); /* QUARTZ_SPIN_NS */

/* ---- parking and waking ---- */

/* Suspends the caller. When its stack has been left, `after(arg)` runs on the next context of this processor: there the
 * internal lock is released under which the caller made itself findable. `after` must not switch. Set wait_object,
 * wait_describe before. Publishing of the block is the caller's business (qzi_pub_blocked before, it is made running when
 * it is switched in). */
void qzi_park(void (*after)(void *), void *arg);

/* As qzi_park, but comes back by `deadline_ns` (CLOCK_MONOTONIC) at the latest. True: woken; false: timed out. `after` has
 * returned by then, so its argument may lie in the caller's frame.
 * Call qzi_timed_begin() before the caller can be found by wakers. Where it can be found must say that its wait is timed:
 * a waker wakes a timed waiter only if qzi_claim() is true, and calls that while the waiter can't take itself out (under
 * the object's lock; for joins see join.c). When the time-out wins, the waiter takes itself out after it returned; the
 * claim stands until then, and until the next timed wait. */
bool qzi_park_until(void (*after)(void *), void *arg, uint64_t deadline_ns);
void qzi_timed_begin(struct qzi_thread *self);

/* For the waker of a timed waiter, once: true: wake it; false: its time-out won, leave it. */
static inline bool qzi_claim(struct qzi_thread *thread) {
  uint32_t state = QZI_WAITING;
  return atomic_compare_exchange_strong_explicit(&thread->claim, &state, QZI_WOKEN, memory_order_acq_rel,
                                                 memory_order_acquire);
}

/* What functions return that may have switched, to the few instructions that called them (entry_*.S) and return `error` to the program.
 * A CPU predicts a return by the call that it saw last, and after a switch that was another thread's: unless it was made at the same
 * place, the return is mispredicted, some 15 cycles. So it is made as a jump, which is predicted by what went before.
 * same_place: the thread that was left goes on where this one does. */
struct qzi_back { uint64_t error, same_place; };
#if defined(__x86_64__)
#define QZI_RETURNS_ELSEWHERE(name, body, parameters, arguments) \
  QZI_HIDDEN int name parameters; /* entry_x86_64.S */
#else
#define QZI_RETURN_ADDRESS __builtin_return_address(0)
#define QZI_RETURNS_ELSEWHERE(name, body, parameters, arguments) \
  static __attribute__((noinline)) int name parameters { return (int)body arguments.error; }
#endif
/* Before and after a thread waits that will return to `from`. */
static inline void qzi_leaves(const void *from) { qzi_head(qzi_processor_self())->left_from = from; }
static inline uint64_t qzi_same_place(const void *from) { return qzi_head(qzi_processor_self())->left_from == from; }

/* Makes a parked (and claimed) thread ready, to run next on the waker's processor unless another one takes it. */
void qzi_ready(struct qzi_thread *thread);
/* The same where the waker goes on, and for long: a processor that has nothing to run takes the thread at once. */
void qzi_ready_away(struct qzi_thread *thread);
/* The same, at the end of the queue. */
void qzi_ready_last(struct qzi_thread *thread);
/* Parks the caller and runs `thread` (parked, claimed) at once on this processor. */
void qzi_handoff(struct qzi_thread *thread, void (*after)(void *), void *arg);
/* Lets a thief have the threads that are ready here, if one asks: for whoever runs on without a call that does so. Else the
 * thief has to interrupt the processor (membarrier), which takes ten times as long. */
void qzi_answer(void);
/* qz_yield for waits that spin. The caller is published as ready, then as useful when it comes back. */
void qzi_yield(void);

/* ---- synchronization objects ---- */

/* By the runtime, when the number of processors is known and no thread but main has run. */
void qzi_sync_start(unsigned processors);

/* ---- errors and names ---- */

/* One line on stderr "quartz: ..." and abort. */
__attribute__((noreturn, format(printf, 1, 2))) void qzi_die(const char *format, ...);
/* A place in the code as module+offset, for addr2line: the library reads no symbol tables of its own. Returns `text`. */
const char *qzi_place_text(uint64_t place, char *text, size_t bytes);
/* A thread in messages: its name in quotes, or its number and start routine; written to `text`, which is returned. */
const char *qzi_thread_label(const struct qzi_thread *thread, char *text, size_t bytes);

#pragma GCC visibility pop
#endif
