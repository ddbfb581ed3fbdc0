/* Processors and their queues of ready threads.
 *
 * Owns:    struct qzi_processor, struct qzi_runtime, the owner's side of the queues.
 * Writer:  a processor's kernel thread, between qzi_enter() and qzi_leave(); a thief that has revoked it (steal.c).
 * Reader:  the core; thieves and the idle peek at the sizes of queues.
 * Must not: be included by synchronization objects or by publishing.
 *
 * A queue is guarded by a lock that is biased to its owner: the owner stores `busy` and then looks at `revoked`, with no
 * locked instruction; a thief stores `revoked` and then makes every CPU pass a memory barrier (membarrier), unless the
 * owner answers first. So each of the two sees the other. Where the kernel has no membarrier, the owner uses a fence.
 */
#ifndef QZI_PROCESSOR_H
#define QZI_PROCESSOR_H

#include "threadlib/src/runtime/internal.h"
#include "threadlib/src/context/switch.h"

#pragma GCC visibility push(hidden)

/* ---- kernel threads ---- */

struct qzi_kernel {
  struct qzi_context *context;     /* of its scheduler loop, which has a stack of its own */
  struct qzi_thread *io_thread;    /* in a blocking region: the thread that it stays with */
  struct qzi_processor *io_processor; /* and the processor that it had */
  struct qzi_processor *processor; /* that it is, or NULL: spare, or inside a blocking region */
  struct qzi_kernel *link;         /* list of spare ones */
  _Atomic(uint32_t) wake;          /* futex: 1 = go on */
  int tid;                         /* of the kernel; 0 before it runs */
  uint32_t cpu;                    /* that it is pinned to now, UINT32_MAX: none */
  uint32_t pub_index;              /* processor that it was last introduced to publishing as, UINT32_MAX: none */
  uint64_t search_seed;
  bool searching;                  /* it was woken, and is counted as searching */
  _Atomic(uint32_t) claimed;       /* its waker has claimed its processor for it */
  _Atomic(struct qzi_processor *) given; /* while it has none: the one that it is to become */
  void *sanitizer_fiber;
  void *sanitizer_stack;
  const void *stack_low;           /* of the scheduler's stack, for ASan */
  size_t stack_bytes;
};
extern _Thread_local struct qzi_kernel *qzi_tls_kernel __attribute__((tls_model("initial-exec")));
struct qzi_kernel *qzi_kernel_self(void); /* out of line: see qzi_processor_self */

/* ---- processors ---- */

/* Who has the processor. */
enum qzi_status {
  QZI_RUNNING = 0, /* a kernel thread that runs threads or searches */
  QZI_PARKED,      /* a kernel thread asleep */
  QZI_VACANT,      /* no kernel thread */
  QZI_IN_IO        /* its kernel thread is in a blocking region; may be taken over */
};

/* How far ahead of its turn a thread is asked for where many are ready, and how much of its stack. */
#ifndef QZI_AHEAD
#define QZI_AHEAD 12
#define QZI_AHEAD_LINES 3
#define QZI_AHEAD_NEW_LINES 5
#define QZI_AHEAD_MANY 128 /* new threads: with fewer they are in the caches */
#endif

/* What a thread that begins, or comes back to its list of free ones, touches first; and the top of its stack. Where there are many, it
 * has left all caches. (Expanded always: gcc drops calls of a function that only prefetches.) */
static inline __attribute__((always_inline)) void qzi_ahead_descriptor(const struct qzi_thread *thread) {
  __builtin_prefetch(thread, 1);
  __builtin_prefetch(&thread->pub, 1);
}
static inline __attribute__((always_inline)) void qzi_ahead_new(const struct qzi_thread *thread) {
  qzi_ahead_descriptor(thread);
  for (int line = 1; line <= QZI_AHEAD_NEW_LINES; line++) __builtin_prefetch((const char *)thread - 64 * line, 1);
}

/* A growing ring of threads. */
struct qzi_ring {
  struct qzi_thread **slot;
  uint32_t mask;
  _Atomic(uint32_t) top;    /* oldest */
  _Atomic(uint32_t) bottom; /* one after the youngest */
  _Atomic(uint32_t) low;    /* smallest bottom since a thief last set it: what is below has waited since then */
};

struct qzi_processor {
  struct qzi_processor_head head;

  QZI_LINE _Atomic(uint32_t) busy; /* owner is in its queues */
  _Atomic(uint32_t) tick;          /* decisions made */
  uint32_t streak;                 /* times in a row that `next` was taken */
  uint32_t index;
  _Atomic(struct qzi_thread *) next; /* made ready last: runs next */
  _Atomic(struct qzi_thread *) away; /* that one, if it is better off elsewhere: a thief need not watch it first */
  struct qzi_thread **free;        /* descriptors with stacks of the default size; NULL: none yet */
  uint32_t free_count;
  uint32_t free_room;              /* QZI_FREE_ROOM, 0: none yet */
  uint32_t cpu;
  uint64_t serial;                 /* last one given out */
  struct qzi_kernel *kernel;
  struct qzi_exceptions *exceptions; /* of its kernel thread (exceptions.h), or NULL */

  struct qzi_ring deque;           /* new threads: youngest first for the owner, oldest first for thieves */
  struct qzi_ring fifo;            /* threads that ran before: oldest first for all */

  QZI_LINE _Atomic(uint32_t) revoked; /* a thief wants the queues */
  _Atomic(uint32_t) answered;      /* the owner has seen that, and stays out */
  qzi_spinlock thief;              /* one thief at a time */
  _Atomic(uint32_t) status;        /* enum qzi_status */

  QZI_LINE qzi_spinlock timer_lock;
  uint32_t timer_count, timer_capacity;
  struct qzi_thread **timer_heap;
  _Atomic(uint64_t) timer_first_ns; /* QZI_NEVER: none */
} __attribute__((aligned(128)));

struct qzi_runtime {
  unsigned processor_count;
  bool membarrier;                 /* the kernel has it; else owners use fences */
  _Atomic(bool) fenced_wakes;      /* whoever queues work uses a fence before it looks for the idle: see qzi_wake_idle */
  bool pin;
  uint32_t spin_ns;                /* of idle processors and adaptive waits */
  size_t stack_bytes;
  size_t max_threads;
  size_t page_bytes;
  struct qzi_processor *processors;
  unsigned cpu_count;
  uint32_t *cpus;                  /* that processors are pinned to, cpu_count of them */
  bool started;                    /* a thread has been created */

  QZI_LINE _Atomic(uint32_t) idle; /* processors that are not QZI_RUNNING */
  _Atomic(uint32_t) searching;     /* running processors that search for work */
  _Atomic(struct qzi_kernel *) napping; /* the one, or one, of those that search that naps */
  _Atomic(uint32_t) in_io;         /* threads inside blocking regions */
  _Atomic(uint32_t) keeper;        /* index + 1 of the parked processor that watches the timers */
  _Atomic(uint64_t) keeper_ns;     /* until when it sleeps */

  QZI_LINE qzi_spinlock lock;      /* spare, injected */
  struct qzi_kernel *spare;
  struct qzi_thread *injected_first, *injected_last; /* ready threads that came back without a processor */
  _Atomic(uint32_t) injected_count;
};
extern struct qzi_runtime qzi_runtime;

/* ---- the biased lock ---- */

void qzi_enter_slow(struct qzi_processor *processor);
/* The thief's fence, against the owner's qzi_light_fence. */
void qzi_heavy_fence(void);

static inline void qzi_light_fence(void) {
  if (QZI_LIKELY(qzi_runtime.membarrier)) atomic_signal_fence(memory_order_seq_cst);
  else __sync_synchronize();
}
static inline void qzi_enter(struct qzi_processor *p) {
  atomic_store_explicit(&p->busy, 1, memory_order_relaxed);
  qzi_light_fence();
  if (QZI_UNLIKELY(atomic_load_explicit(&p->revoked, memory_order_acquire))) qzi_enter_slow(p);
}
static inline void qzi_leave(struct qzi_processor *p) { atomic_store_explicit(&p->busy, 0, memory_order_release); }

/* ---- rings; all under the biased lock but for the sizes, which anybody may peek at ---- */

void qzi_ring_grow(struct qzi_ring *ring);

/* The top first: so a ring is never seen empty while threads leave it and others come (qz_yield). */
static inline uint32_t qzi_ring_size(const struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_acquire);
  return atomic_load_explicit(&ring->bottom, memory_order_relaxed) - top;
}
/* Where many are ready their stacks are far away: asks for those of the next ones. */
static inline __attribute__((always_inline)) void qzi_ring_ahead(const struct qzi_ring *ring, uint32_t top, uint32_t bottom) {
  if (bottom - top <= QZI_AHEAD * 2) return;
  const struct qzi_thread *far = ring->slot[(top + QZI_AHEAD * 2) & ring->mask], *near = ring->slot[(top + QZI_AHEAD) & ring->mask];
  __builtin_prefetch(far, 1);
  if (qzi_publishing()) {
    __builtin_prefetch(&far->pub, 1);
    if (near->pub.record) __builtin_prefetch(&near->pub.record->word, 1);
  }
  const char *context = (const char *)near->context;
  for (int line = 0; line < QZI_AHEAD_LINES; line++) __builtin_prefetch(context + 64 * line, 1);
}
static inline void qzi_ring_push(struct qzi_ring *ring, struct qzi_thread *thread) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (QZI_UNLIKELY(bottom - atomic_load_explicit(&ring->top, memory_order_relaxed) >= ring->mask)) qzi_ring_grow(ring);
  ring->slot[bottom & ring->mask] = thread;
  atomic_store_explicit(&ring->bottom, bottom + 1, memory_order_release);
}
static inline struct qzi_thread *qzi_ring_take_youngest(struct qzi_ring *ring) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (bottom == atomic_load_explicit(&ring->top, memory_order_relaxed)) return NULL;
  bottom--;
  atomic_store_explicit(&ring->bottom, bottom, memory_order_relaxed);
  if ((int32_t)(bottom - atomic_load_explicit(&ring->low, memory_order_relaxed)) < 0)
    atomic_store_explicit(&ring->low, bottom, memory_order_relaxed);
  return ring->slot[bottom & ring->mask];
}
static inline __attribute__((always_inline)) void qzi_ring_ahead_youngest(const struct qzi_ring *ring) {
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed);
  if (bottom - atomic_load_explicit(&ring->top, memory_order_relaxed) <= QZI_AHEAD_MANY) return;
  qzi_ahead_new(ring->slot[(bottom - 1 - QZI_AHEAD) & ring->mask]);
  if (!qzi_publishing()) return;
  const struct qzi_thread *near = ring->slot[(bottom - 1 - QZI_AHEAD / 2) & ring->mask];
  if (near->pub.record) __builtin_prefetch(&near->pub.record->word, 1);
}
static inline struct qzi_thread *qzi_ring_take_oldest(struct qzi_ring *ring) {
  uint32_t top = atomic_load_explicit(&ring->top, memory_order_relaxed);
  uint32_t size = atomic_load_explicit(&ring->bottom, memory_order_relaxed) - top;
  if (size == 0) return NULL;
  struct qzi_thread *thread = ring->slot[top & ring->mask];
  qzi_ring_ahead(ring, top, top + size);
  atomic_store_explicit(&ring->top, top + 1, memory_order_relaxed);
  return thread;
}

/* ---- switching (switch.h, scheduler.c) ---- */

/* Calls start(argument) so that qzi_leave_call can end it from any depth; *exit_sp is its token. */
void *qzi_call(void *start, void *argument, void **exit_sp);
__attribute__((noreturn)) void qzi_leave_call(void *exit_sp, void *result);

/* Takes the thread to run next from the caller's own queues, NULL: none. Under the biased lock. */
struct qzi_thread *qzi_take(struct qzi_processor *p);
/* A first context for a new thread, so that it can be switched to. */
void qzi_prepare(struct qzi_thread *thread);
/* Leaves the calling thread for good; after(arg) runs when its stack has been left. `next`: run that one, NULL: any. */
__attribute__((noreturn)) void qzi_switch_away(struct qzi_thread *next, void (*after)(void *), void *arg);
/* Runs the caller's scheduler loop until the process ends. */
__attribute__((noreturn)) void qzi_schedule(struct qzi_kernel *kernel);
/* First frame of a thread on its own stack. */
__attribute__((noreturn)) void qzi_thread_main(void (*after)(void *), void *arg);

/* Work has been queued: wakes a processor where one sleeps and none searches. Between the two looks lies a fence of the caller's
 * or that of whoever goes to sleep (idle.c); a thread that enters a blocking region does without one (blocking_region.c). */
void qzi_wake_one(struct qzi_processor *self);
static inline bool qzi_some_idle(void) {
  bool fence = atomic_load_explicit(&qzi_runtime.fenced_wakes, memory_order_relaxed);
  if (QZI_LIKELY(!fence)) atomic_signal_fence(memory_order_seq_cst);
  else __sync_synchronize();
  return atomic_load_explicit(&qzi_runtime.idle, memory_order_relaxed) != 0;
}
static inline void qzi_wake_idle(struct qzi_processor *self) {
  if (QZI_UNLIKELY(qzi_some_idle())) qzi_wake_one(self);
}
/* Steals for `p`, which searches; NULL: nothing found yet, and whether there was something, too young to be taken. */
struct qzi_thread *qzi_steal(struct qzi_processor *p, struct qzi_kernel *kernel, bool *young);
/* Exclusive access to the queues of another processor. */
bool qzi_revoke(struct qzi_processor *victim);
void qzi_give_back(struct qzi_processor *victim);

/* ---- kernel threads (worker.c) ---- */

struct qzi_kernel *qzi_kernel_new(void);
void qzi_kernel_take(struct qzi_kernel *kernel, struct qzi_processor *p); /* becomes p, which it has claimed */
void qzi_kernel_release(struct qzi_kernel *kernel);                       /* gives its processor up */
void qzi_kernel_start_for(struct qzi_processor *p);  /* a spare or new one becomes p, which the caller has claimed */
void qzi_kernel_wait(struct qzi_kernel *kernel, uint64_t deadline_ns);
void qzi_kernel_nudge(struct qzi_kernel *kernel);
void qzi_kernel_wake(struct qzi_kernel *kernel);
void qzi_kernel_spare(struct qzi_kernel *kernel);    /* sleeps until it is given a processor */

/* ---- idle.c ---- */

void qzi_inject(struct qzi_thread *thread);
struct qzi_thread *qzi_injected(void);
struct qzi_processor *qzi_claim_processor(uint32_t status, unsigned first);
bool qzi_claim_this(struct qzi_processor *p, uint32_t status);
bool qzi_idle_wanted(void);
bool qzi_work_at(struct qzi_processor *p);
bool qzi_work_anywhere(const struct qzi_processor *self);
struct qzi_passed qzi_run_from_scheduler(struct qzi_kernel *kernel, struct qzi_thread *next);

/* ---- start-up (runtime.c, config.c) ---- */

int qzi_config(const qz_options *options); /* 0 or EINVAL */
void qzi_start(void);                      /* at the first creation of a thread */

/* ---- stacks (stack.c) ---- */

/* A descriptor with a stack of at least `stack_bytes` (0: default); NULL with *error EAGAIN or ENOMEM. */
struct qzi_thread *qzi_stack_get(struct qzi_processor *p, size_t stack_bytes, int *error);
/* Of another size, or where the processor's list is full. */
void qzi_stack_put_slow(struct qzi_processor *p, struct qzi_thread *thread);
/* Calls visit for every descriptor ever made. Nothing else may run. */
void qzi_stack_each(void (*visit)(struct qzi_thread *thread, void *arg), void *arg);
void qzi_stack_forked(void);
extern struct qzi_thread qzi_main_thread;

#define QZI_FREE_ROOM 4096u /* descriptors that a processor keeps for itself at most */

/* Lowest usable address of its own stack. All but stacks of other sizes follow from where the descriptor is: so its cache lines that
 * nobody needs while it runs stay untouched. */
static inline char *qzi_own_low(const struct qzi_thread *thread) {
  if (QZI_UNLIKELY(thread->stack_class != 0)) return thread->own_low;
  return (char *)(((uintptr_t)thread | (qzi_runtime.page_bytes - 1)) + 1 - qzi_runtime.stack_bytes);
}

/* The descriptor may be used anew. Under the biased lock. */
static inline void qzi_stack_put(struct qzi_processor *p, struct qzi_thread *thread) {
  __atomic_store_n(&thread->pub.serial, 0, __ATOMIC_RELAXED);
  qzi_life_set(thread, QZI_FREE);
  if (QZI_UNLIKELY(thread->stack_class != 0 || p->free_count >= p->free_room)) {
    qzi_stack_put_slow(p, thread);
    return;
  }
  p->free[p->free_count++] = thread;
}

/* ---- threads (thread.c, join.c) ---- */

enum join_word {
  QZI_JOIN_TIMED = 1,    /* added to the joining thread: it waits with a deadline */
  QZI_JOIN_ENDED = 1,    /* nobody has it yet */
  QZI_JOIN_DETACHED = 2,
  QZI_JOIN_TAKEN = 3,    /* a joiner has it */
  QZI_JOIN_ENDING = 4    /* it is about to end, and to claim the joiner that it found, who waits until it is QZI_JOIN_ENDED */
};
static inline struct qzi_thread *qzi_joiner(uintptr_t join) {
  return (struct qzi_thread *)(join > QZI_JOIN_ENDING ? join & ~(uintptr_t)QZI_JOIN_TIMED : 0);
}

/* Runs a thread that has not started on the caller's stack, under its own identity. The caller waits for it; while
 * publishing, it is shown as overhead afterwards, until it says that application code goes on. */
void qzi_run_inline(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child);
/* The same while publishing: the parent is shown as waiting at the join made at `site`. */
void qzi_run_inline_published(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child, uint64_t site);
__attribute__((noreturn)) void qzi_thread_end(struct qzi_thread *self, void *result);
void qzi_thread_free(struct qzi_thread *thread);
/* Bytes of the caller's stack that are left. */
static inline size_t qzi_stack_left(const struct qzi_thread *self) {
  return (size_t)((uintptr_t)__builtin_frame_address(0) - self->pub.stack_low);
}
/* The calling thread's scope child has ended elsewhere than on its parent's stack. Returns the parent to run, or NULL. */
struct qzi_scope;
struct qzi_thread *qzi_scope_child_ended(struct qzi_scope *scope);
/* While publishing: the thread runs on its own stack for its scope; and no longer. */
void qzi_scope_child_begins(struct qzi_thread *child);
void qzi_scope_child_ends(struct qzi_thread *child);
/* What a thread of a parallel loop does. */
void qzi_run_range(void *range);

/* ---- timers (timer.c) ---- */

/* Fires what is due, on every processor. */
void qzi_timers_run(void);
uint64_t qzi_timers_first(void); /* QZI_NEVER: none */
extern _Atomic(uint32_t) qzi_timer_count;
static inline bool qzi_timers_pending(void) { return atomic_load_explicit(&qzi_timer_count, memory_order_relaxed) != 0; }
void qzi_timer_arm(struct qzi_thread *thread);
void qzi_timer_disarm(struct qzi_thread *thread);

/* ---- stack overflow (stack_overflow.c) ---- */

void qzi_overflow_start(void);  /* once */
void qzi_overflow_kernel(void); /* by each kernel thread */

/* ---- deadlock (deadlock.c) ---- */

/* Nothing runs, nothing is ready, nothing will come: ends the program, or reports who waits for what and aborts. */
__attribute__((noreturn)) void qzi_deadlock(void);

#pragma GCC visibility pop
#endif
