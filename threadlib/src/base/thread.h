/* The descriptor of a thread.
 *
 * Owns:    struct qzi_thread.
 * Writer:  each part belongs to one file or folder, which its comment names; `pub` belongs to the publisher.
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

/* The life cycle of a thread, for joining and reports (not the published scheduling state). */
enum qzi_life { QZI_FREE = 0, QZI_NEW, QZI_ALIVE, QZI_ENDED };

/* The outcome of the thread's latest timed wait: woken or timed out. */
enum qzi_claim { QZI_WAITING = 1, QZI_WOKEN, QZI_TIMED_OUT };

/* The entry of a waiting thread in the queue of a synchronization object (sync.h). */
struct qzi_waiter {
  struct qzi_waiter *next, *prev;
  void *item;     /* channel: address of the item to send or receive; rwlock: not NULL for a writer */
  uint64_t since; /* when the wait began, in ticks; 0: not measured (nothing is published) */
  uint32_t kind;  /* kind of the object */
  bool queued;
  bool timed; /* the wait has a deadline: a waker must claim the thread */
  bool plain; /* `since` is 0 and `timed` is false */
  bool given; /* the thread got what it waited for; else the wait ended without it (channel closed) */
};

/* A thread. It lies in the top page of its own stack (main's is static). Its memory is never unmapped, so
 * `pub.serial` remains readable through stale handles. pub.name is its name, pub.start its start routine,
 * pub.stack_low and pub.stack_high the bounds of the stack that it runs on. */
struct qzi_thread {
  /* line 0: switching, joining */
  QZI_LINE struct qzi_context *context; /* where it continues, while it does not run (switch.h) */
  struct qzi_thread *link;              /* next in a free list, or in a list of threads to be made ready */
  struct qzi_scope *scope;              /* the fork-join scope whose child it is, or NULL */
  void *argument;
  _Atomic(uintptr_t) join; /* join.c: 0, one of enum join_word, or the joining thread (+ QZI_JOIN_TIMED) */
  void *result;
  void *exit_sp;           /* if it runs on its joiner's stack: where qz_exit returns to; else NULL */
  _Atomic(uint8_t) life;   /* enum qzi_life; also read by joiners */
  uint8_t blocked;         /* 1 while it is parked; for the deadlock report */
  uint8_t io;              /* nesting depth of blocking regions */
  uint8_t stack_class;     /* size class of its stack (stack.c) */
  _Atomic(uint32_t) claim; /* enum qzi_claim */

  /* line 1: publishing */
  QZI_LINE struct qzi_pub_thread pub; /* its last word is in line 2, which the thread's waker accesses anyway */

  /* line 2: waiting. Written by the waiter before it parks, or by the holder of the object's lock. */
  struct qzi_waiter waiter;
  void *wait_object; /* the object that it waits for; NULL: none */
  /* Writes a description of what `thread` waits for and of the holder to `text`, for the deadlock report ("mutex
   * \"m\" held by \"t\""). Called only when nothing else runs. NULL: unknown. */
  void (*wait_describe)(const struct qzi_thread *thread, char *text, size_t bytes);

  /* line 3: sanitizers; running children. (The upper bound of its own stack is the descriptor's address.) */
  QZI_LINE char *own_low; /* lower bound of a stack of a non-default size; see qzi_own_low */
  void *sanitizer_fiber;  /* TSan */
  void *sanitizer_stack;  /* ASan: its fake stack while it does not run */
  struct qzi_thread
    *sibling; /* fork_join.c: list of running children of its scope: the next one, and the pointer to this one */
  struct qzi_thread **sibling_link;
  uint32_t uncounted; /* thread.c: children of its scope that ended on this stack before it and are not counted yet */
  uint64_t marked_ns; /* spin_loop.c: when it entered a marked loop */
  uint32_t marked;    /* record index of the marked loop; 0: it is in none */
  uint32_t marked_serial; /* serial number of the thread that set `marked` */

  /* line 4: time-outs */
  QZI_LINE uint64_t deadline_ns;
  struct qzi_processor *timer_processor; /* the processor whose heap holds it */
  uint32_t timer_index;                  /* its index in that heap + 1; 0: it is in none */

  /* line 5: publishing with --span */
  QZI_LINE struct qzi_span span;
};
_Static_assert(offsetof(struct qzi_thread, waiter) % 64 == 8 && offsetof(struct qzi_thread, own_low) % 64 == 0 &&
                 offsetof(struct qzi_thread, own_low) - offsetof(struct qzi_thread, waiter) == 56,
               "lines of a thread");
static inline struct qzi_thread *qzi_waiting_thread(struct qzi_waiter *waiter) {
  return (struct qzi_thread *)((char *)waiter - offsetof(struct qzi_thread, waiter));
}
/* Called when the thread has yielded and runs again: if it is in a marked loop, publishes that it spins again. */
void qzi_spin_go_on(void);
/* Some thread has entered a marked loop; never reset. So yields of a program without such loops do not look into the
 * thread's descriptor for it. */
extern bool qzi_spin_marked;

static inline enum qzi_life qzi_life(const struct qzi_thread *thread) {
  return (enum qzi_life)atomic_load_explicit(&thread->life, memory_order_relaxed);
}
static inline void qzi_life_set(struct qzi_thread *thread, enum qzi_life life) {
  atomic_store_explicit(&thread->life, (uint8_t)life, memory_order_relaxed);
}

extern struct qzi_thread qzi_main_thread; /* runs on the initial stack of the process */

#pragma GCC visibility pop
#endif
