/* The layer's side of a thread, and of a wait.
 *
 * Owns:    struct qzl_thread of each thread. Writer: pool.c and threads.c; through the calls of publisher.h and
 * held_locks.h, the thread itself. Reader: every file of the layer.
 */
#ifndef QZL_THREAD_H
#define QZL_THREAD_H

#include "pthread-layer/src/layer.h"
#include "rounds.h"

#pragma GCC visibility push(hidden)

/* A lock on the stack. Bit 0 of the address is set if that is under the key of its place: it has no record of its own,
 * or had none when it was asked for. Bit 1: the thread waited for it, which is to be written down when it is let go, or
 * how long it holds it is measured. */
struct qzl_held_lock {
  uint64_t address, key;
};
/* A hold whose processor time is measured (hold_times.c). Such a lock's bit 1 is set, too. */
struct qzl_timed_hold {
  uint64_t address; /* of the lock */
  uint64_t since;   /* processor time of the thread, ns */
  uint64_t ticks;   /* a moment after that */
  uint32_t shift;   /* it stands for 1 << shift holds */
};
#define QZL_TIMED    4  /* at the same time */
#define QZL_HELD     16 /* further ones of aggregate records at the same time are counted, and not shown as held */
#define QZL_HELD_OWN 12 /* further ones with records of their own are looked up */

/* What a place that takes locks took, or waited for, not long ago. Good as long as the generation is the same. */
struct qzl_cached_lock {
  uint64_t place;   /* QZL_PLACE */
  uint64_t address; /* of the lock; QZL_AGGREGATE: any that has no record of its own */
  uint64_t key;
  uint32_t call; /* where it is counted: distance from the thread's `counts`, in bytes */
  uint32_t generation;
};
#define QZL_PLACE(site, kind) ((site) << 8 | (kind))
#define QZL_AGGREGATE         1
#define QZL_CACHED_LOCKS      256

/* A thread: publisher and published in one. */
struct qzl_thread {
  struct qzi_publisher pub;
  struct qzi_pub_thread thread;
  /* What locks and waits need, in one line of the cache. */
  _Alignas(64) uint32_t usual; /* qzl_regime, where that is as usual for the thread (qzl_is_usual) */
  uint32_t held_count, held_epoch;
  uint32_t marked;        /* loop that the program marked and it is in, 0: none (spin_loop.c) */
  struct qz_call *counts; /* its call table: pub.calls, or a small one */
  unsigned char *mark;    /* its byte of the session's marks, where all is as usual */
  struct {
    uint32_t index, epoch;
    uint64_t ns, spin_ns;
  } waited; /* its last wait, while that is not written down; index 0: it is */
  struct qzl_held_lock held[QZL_HELD];
  struct qzi_span span;
  struct qz_processor processor; /* nobody's: what a processor of the thread package would publish */
  uint32_t free[2];              /* for pub.free */
  uint32_t slot;                 /* of the pool */
  uint32_t next_free;            /* slot + 1 */
  uint64_t **hot;                /* its qzi_hot; NULL: it does not run */
  pthread_t id;
  void *(*start)(void *);
  int (*start_c11)(void *);
  void *argument;
  size_t stack_bytes;                         /* 0: as many as by default */
  struct qzl_team *team;                      /* whose region it executes; NULL: none (team.h) */
  uint64_t left_ticks;                        /* when it came to the end of the region that it began */
  struct qzl_rounds regions, barriers, steps; /* what they cost, and those of tasks (rounds.h) */
  struct qzl_task *task; /* that it executes, or that stands for it in its team; NULL: none yet (task.h) */
  struct qzl_task *job;  /* of TBB, that it executes; NULL: none (job.h) */
  uint64_t idle_since;   /* it waits for tasks: since when, or since it has executed one meanwhile, in ticks; else 0 */
  unsigned rounds;       /* destructor rounds gone by */
  uint64_t marked_since; /* in ticks */
  struct {
    uint64_t site, ended, word; /* of its last sched_yield: place, when it returned by the processor's clock; for which
                                   word of a futex it last waited after yields there */
    uint64_t tried;             /* the processor's clock when it last found a lock taken that it tried */
    uint32_t soon;              /* what comes within so many ticks of that clock after it came right after it */
    uint32_t row;               /* yields before it at the same place, one right after another */
    bool let_go;                /* somebody let go during the last one */
    uint32_t index; /* futex of the wait that these yields are part of, while that is not written down; 0: none */
    uint64_t begin, until;  /* of that wait so far, in ticks (publisher/ticks.h) */
  } yields;                 /* yield_places.c */
  uint32_t unknown;         /* locks that were taken at places of which nothing was known */
  uint32_t shared_releases; /* of locks that others read, too, while some thread waits (rwlock.c) */
  struct {
    int32_t timer;               /* id + 1; -1: it is being made, or could not be; 0: none */
    uint64_t user_us, system_us; /* at the last sample */
  } sampled;                     /* signal_samples.c */
  uint32_t timed_now;            /* bit k: timed[k] is in use */
  uint64_t dice;                 /* which holds are measured */
  struct qzl_timed_hold timed[QZL_TIMED];
  struct qzi_pub_site_slot
    sites[QZI_PUB_SITES]; /* places that join; places that lock, if what they lock is of an aggregate record */
  /* Last: what goes over to the next thread that has this place. */
  struct qzl_cached_lock cached_locks[QZL_CACHED_LOCKS];
  struct qzl_team *kept; /* team of the regions that it begins while it is in none; NULL: there were none */
};
/* Changes when publishing begins and ends, and when work and span are recorded from then on. Never 0. */
extern uint32_t qzl_regime;
static inline void qzl_regime_ends(void) {
  if (!__atomic_add_fetch(&qzl_regime, 1, __ATOMIC_RELEASE)) __atomic_add_fetch(&qzl_regime, 1, __ATOMIC_RELEASE);
}
/* Publishing is on, the thread has a record and an actor of the time path, times are those of the CPU's counter; no
 * work and span, no hold times. One test in place of many, before and after each wait; where it fails, qzl_wait_from
 * finds out anew. */
static inline bool qzl_is_usual(const struct qzl_thread *me) {
  return __builtin_expect(me->usual == __atomic_load_n(&qzl_regime, __ATOMIC_RELAXED), 1);
}
extern _Thread_local struct qzl_thread *qzl_self __attribute__((tls_model("initial-exec")));

/* Counts for a thread that has no call table of its own. */
void qzl_count_shared(uint64_t site, uint64_t key);
static inline void qzl_count(struct qzl_thread *me, uint64_t site, uint64_t key) {
  if (me->pub.calls)
    qzi_pub_count(&me->pub, site, key);
  else
    qzl_count_shared(site, key);
}

/* A wait for an object, from just before the real call to just after. */
struct qzl_wait {
  struct qzl_thread *me;
  uint64_t begin;        /* in ticks (publisher/ticks.h) */
  struct qz_frame frame; /* from which the sampler finds the callers */
  uint32_t index;
  uint32_t then; /* lock that it must get back afterwards, in the same call; 0: none */
  unsigned slot; /* of a barrier: where the chain of its round stands */
  bool own;      /* no other thread ends it: its time is over, or a signal came */
  uint64_t left; /* what the object's chain[0].ticks was before */
};

#pragma GCC visibility pop
#endif
