/* The places that the layer has for threads, and what it knows of the process.
 *
 * Owns:    the pool of struct qzl_thread.
 * Writer:  creators and ending threads, under the lock; a place in use belongs to its thread. qzl_process: start.c, and
 *          the only thread of a forked child.
 * Reader:  threads.c, publishing.c, create.c.
 * Must not: be touched with the lock held for longer than a look at all places takes.
 */
#ifndef QZL_POOL_H
#define QZL_POOL_H

#include "thread.h"

#pragma GCC visibility push(hidden)

struct qzl_pool {
  pthread_mutex_t lock;
  struct qzl_thread *places;
  uint32_t size, high, free; /* places there are, used so far; chain of free ones, slot + 1 */
  uint32_t starting;         /* threads created that have not begun */
};
extern struct qzl_pool qzl_pool;

struct qzl_process {
  bool ready;          /* threads are given places */
  bool attachable;     /* publishing may begin at any time: threads have their places before that */
  uint64_t main_start; /* address of main, 0: not known yet */
  uint32_t tid;        /* number of the process, and of its first thread */
  size_t stack_bytes;  /* of a thread created without saying how many */
};
extern struct qzl_process qzl_process;

/* For a thread that is to begin at `start`, created at `site`. NULL: none free. */
struct qzl_thread *qzl_place_take(uint64_t start, uint64_t site);
void qzl_place_give(struct qzl_thread *place);
/* Where the thread counts; the session is mapped. */
void qzl_place_table(struct qzl_thread *place, uint32_t slot);

/* The calling thread's number. The C library knows it, and writes it into what the thread locks: no system call, which
 * a sandbox might forbid. */
uint32_t qzl_own_tid(void);

#pragma GCC visibility pop
#endif
