/* The descriptor of a thread.
 *
 * Owns:    struct qzi_thread.
 * Writer:  each part belongs to one file or room, which its comment names; `pub` to the publisher.
 * Reader:  every file of threadlib/src.
 */
#ifndef QZI_THREAD_H
#define QZI_THREAD_H

#include <quartz/quartz.h>
#include "compiler.h"
#include "publisher/publisher.h"

#pragma GCC visibility push(hidden)

struct qzi_processor;
struct qzi_context;
struct qzi_scope;

/* Life of a thread, for joining and for reports (not the scheduling state that is published). */
enum qzi_life { QZI_FREE = 0, QZI_NEW, QZI_ALIVE, QZI_ENDED };

/* Outcome of the thread's latest timed wait: who won. */
enum qzi_claim { QZI_WAITING = 1, QZI_WOKEN, QZI_TIMED_OUT };

/* What a thread waits with in the queue of a synchronization object (sync.h). */
struct qzi_waiter {
  struct qzi_waiter *next, *prev;
  void *item;     /* channel: where the item is taken from or put; rwlock: not NULL for a writer */
  uint64_t since; /* when it began to wait, in ticks; 0: not measured (nothing is published) */
  uint32_t kind;  /* of the object */
  bool queued;
  bool timed; /* a deadline may let it go: it must be claimed */
  bool plain; /* since is 0, and timed false */
  bool given; /* what it waits for was given to it; else it continues without (channel closed) */
};

/* A thread. Lies in the top page of its own stack (that of main: static). Never unmapped: `pub.serial` stays readable
 * through stale handles. Its name is pub.name, its start routine pub.start, the bounds of the stack that it runs on
 * pub.stack_low and pub.stack_high. */
struct qzi_thread {
  /* line 0: switching, joining */
  QZI_LINE struct qzi_context *context; /* where it goes on, while it does not run (switch.h) */
  struct qzi_thread *link;              /* free list, or list of threads being made ready */
  struct qzi_scope *scope;              /* fork-join scope that waits for it, or NULL */
  void *argument;
  _Atomic(uintptr_t) join; /* join.c: 0, one of enum join_word, or the joining thread (+ QZI_JOIN_TIMED) */
  void *result;
  void *exit_sp;           /* it runs on its joiner's stack: where qz_exit goes; else NULL */
  _Atomic(uint8_t) life;   /* enum qzi_life; peeked at by joiners */
  uint8_t blocked;         /* 1 while parked: for the deadlock report */
  uint8_t io;              /* depth of declared blocking regions */
  uint8_t stack_class;     /* stack.c */
  _Atomic(uint32_t) claim; /* enum qzi_claim */

  /* line 1: publishing */
  QZI_LINE struct qzi_pub_thread pub; /* its last word in line 2, which who wakes the thread has at hand */

  /* line 2: waiting. Written by the waiter before it parks, or by who holds the object's lock. */
  struct qzi_waiter waiter;
  void *wait_object; /* object that it waits for; NULL: none */
  /* Describes for the deadlock report what `thread` waits for, the owner included ("mutex \"m\" held by \"t\"").
   * Runs when nothing else does. NULL: nothing is known. */
  void (*wait_describe)(const struct qzi_thread *thread, char *text, size_t bytes);

  /* line 3: sanitizers; children that run. Its own stack ends where the descriptor begins */
  QZI_LINE char *own_low;     /* of a stack of another size than usual: see qzi_own_low */
  void *sanitizer_fiber;      /* TSan */
  void *sanitizer_stack;      /* ASan: fake stack while it does not run */
  struct qzi_thread *sibling; /* fork_join.c: the next running child of its scope, and what points to this one */
  struct qzi_thread **sibling_link;
  uint64_t marked_ns;     /* spin_loop.c: since when it is in a loop that the program marked */
  uint32_t marked;        /* index of that place; 0: it is not */
  uint32_t marked_serial; /* of the thread that `marked` is of */

  /* line 4: time-outs */
  QZI_LINE uint64_t deadline_ns;
  struct qzi_processor *timer_processor; /* whose heap holds it */
  uint32_t timer_index;                  /* place in that heap + 1; 0: none */

  /* line 5: publishing with --span */
  QZI_LINE struct qzi_span span;
};
_Static_assert(offsetof(struct qzi_thread, waiter) % 64 == 8 && offsetof(struct qzi_thread, own_low) % 64 == 0 &&
                 offsetof(struct qzi_thread, own_low) - offsetof(struct qzi_thread, waiter) == 56,
               "lines of a thread");
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

extern struct qzi_thread qzi_main_thread; /* its stack is the process's */

#pragma GCC visibility pop
#endif
