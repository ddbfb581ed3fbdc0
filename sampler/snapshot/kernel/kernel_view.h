/* What snapshots of kernel threads (kernel_threads.c) keep about each thread, and the steps they consist of, in order:
 * what each thread does (kernel_look.c), which sleep and which have been woken (sleeping_threads.c), which execute
 * (executing_threads.c).
 *
 * Owns:    what was seen of each thread last.
 * Writer and reader: the aggregating thread.
 * Must not: be used by any other file.
 */
#ifndef QZI_KERNEL_VIEW_H
#define QZI_KERNEL_VIEW_H

#include "sampler/snapshot/lock_holders.h"
#include "resting_threads.h"
#include "sampler/snapshot/round.h"
#include "run_account.h"
#include "sampler/snapshot/samples/thread_tracker.h"
#include "sampler/linux/task_state.h"

#define QZI_NOBODY UINT32_MAX /* in place of a record: that of a thread that has ended */

/* What is remembered of a thread record. */
struct qzi_kernel_memo {
  uint64_t serial;
  uint64_t tries;                /* as in the record, at the last snapshot */
  uint64_t spun_ns;              /* its processor time when it was seen to try without success; 0: it was not */
  struct qzi_tuple_key last_key; /* of its last tuple, */
  uint32_t last_tuple;           /* and that; 0: none */
  uint64_t woken; /* packed word of its record when it was found runnable though it says that it waits; 0: it was not */
  struct qzi_task_state task;
  struct qzi_run_account account;
  uint64_t read_word, read_state; /* of its record, when its processor time was read */
  uint32_t epoch;                 /* of that reading */
  uint32_t place;                 /* in `seen`, in the snapshot `round` */
  uint64_t round;
  uint8_t rests_waiting; /* its record says that it is blocked, while it rests */
  uint8_t still;         /* it could run, but had not in so many readings: it may have gone to sleep */
};

/* A thread in the snapshot that is under way. */
struct qzi_seen {
  struct qzi_look look;
  uint32_t index, object, tuple;
  uint32_t instruction; /* where it executes: instructions.h */
  uint32_t node;        /* of its tuple: look.node, or the path on which it counts as having executed */
  uint8_t state;        /* enum qz_state; READY: runnable, counted with the useful ones */
  uint8_t outside;      /* its wait is known from the kernel alone: `object` is a futex */
  uint8_t waits;        /* its record says that it is blocked */
  uint8_t
    woken; /* it is runnable, and has had no CPU since it waited (for `object`, if its record says so) or was made */
  uint8_t executes; /* on a CPU */
  uint8_t kernel;   /* what the kernel did for it, where it executes: enum qz_kernel */
  uint8_t instead;  /* it executes though it sleeps, or has been woken: its state otherwise; IDLE: it does not */
};

/* A thread that ended. */
struct qzi_gone {
  uint32_t node, entity;
  int64_t owed_ns; /* processor time that is still to be reported */
};
#define QZI_ENDED_MOST 64u /* of which that is kept */

struct qzi_kernel {
  struct qzi_kernel_memo *memos;
  size_t memos_bytes;
  struct qzi_seen *seen;
  struct qzi_tracker *tracker;
  struct qzi_asker asker;
  struct qzi_run_accounts accounts;
  struct qzi_resting *resting;
  struct qzi_gone gone; /* that was observed last: for those that come and go between looks */
  struct qzi_gone ended[QZI_ENDED_MOST];
  uint32_t ended_count;
  uint32_t *order;           /* of the threads that could execute: places in `seen` */
  uint64_t ask_ns, whole_ns; /* what a question takes; the weight of this snapshot */
  uint32_t room, cursor, woken_cursor, read_cursor;
  uint32_t epoch, reads; /* how often looks were left out; processor times read in this snapshot */
};

/* ---- kernel_look.c ---- */

/* The thread of the record `index` has ended: what is owed to it is kept. */
void qzi_thread_ended(struct qzi_sampler *sampler, uint32_t index);
/* How many threads the kernel is asked about in this snapshot; where there are few, all of them. */
uint32_t qzi_kernel_asks(const struct qzi_kernel *kernel, uint32_t high);
/* State of the thread `index`, or IDLE: none there. */
void qzi_kernel_look(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                     struct qzi_seen *seen);

/* ---- sleeping_threads.c ---- */

/* What its tuple says of what it waits for. */
uint8_t qzi_waiting_of(const struct qzi_sampler *sampler, const struct qzi_seen *seen);
/* Those that sleep, have been reported in full, and hold no lock that others may wait for, rest from now on. */
void qzi_let_rest(struct qzi_sampler *sampler, uint32_t looked, uint64_t now_ns);
/* Checks a resting thread when its turn comes. 1: it still rests; 0: it does not, and is in *seen. */
int qzi_still_rests(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                    struct qzi_seen *seen);
/* Asks the kernel about threads that say that they wait. Those that were woken are marked in `seen`; returns their
 * number. Adds those that rested to the *count there. `runnable`: threads that are known to be. */
uint32_t qzi_find_woken(struct qzi_sampler *sampler, uint32_t high, uint32_t *count, uint32_t waiting,
                        uint32_t runnable, uint64_t now_ns);

/* ---- executing_threads.c ---- */

static inline int qzi_is_runnable(const struct qzi_seen *seen) { return seen->state <= QZ_STATE_READY; }

/* Chooses which of the first `count` entries in `seen` execute: among those that could run, the ones to which most is
 * owed. */
void qzi_choose_runnable(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts);
/* And which of those that sleep or have ended, where the kernel counted more than was seen. Returns the number of
 * entries in `seen` then. */
uint32_t qzi_choose_others(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts);
/* How long CPUs were busy. */
void qzi_note_processors(struct qzi_sampler *sampler, const struct qzi_counts *counts, uint64_t ns);
/* Which threads ran, for questions later in this snapshot about what happened during it. */
void qzi_note_running(struct qzi_sampler *sampler, uint32_t count);

#endif
