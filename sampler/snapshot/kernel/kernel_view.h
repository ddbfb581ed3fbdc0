/* State that snapshots of kernel threads (kernel_threads.c) keep for each thread, and their steps in order: state of
 * each thread (kernel_look.c), which threads sleep and which were woken (sleeping_threads.c), which runnable ones have
 * a CPU (threads_on_cpus.c), which execute (executing_threads.c).
 *
 * Owns:    the last observation of each thread.
 * Writer and reader: the aggregating thread.
 * Must not: be used by any other file.
 */
#ifndef QZI_KERNEL_VIEW_H
#define QZI_KERNEL_VIEW_H

#include "sampler/snapshot/lock_holders.h"
#include "confined_threads.h"
#include "resting_threads.h"
#include "sampler/snapshot/round.h"
#include "run_account.h"
#include "sleep_pace.h"
#include "sampler/snapshot/samples/thread_tracker.h"
#include "sampler/linux/task_state.h"

#define QZI_NOBODY UINT32_MAX /* in place of a record's index: that of a thread that has ended */

/* What is remembered about a thread record. */
struct qzi_kernel_memo {
  uint64_t serial;
  uint64_t tries;                /* `tries` of the record at the last snapshot */
  uint64_t spun_ns;              /* its processor time in ns when it was seen to try without success; 0: it was not */
  struct qzi_tuple_key last_key; /* key of its last tuple, */
  uint32_t last_tuple;           /* and that tuple's index + 1; 0: none */
  uint64_t woken; /* packed word of its record when the thread was found runnable although the record says that it
                     waits; 0: it was not */
  struct qzi_task_state task;
  struct qzi_run_account account;
  struct qzi_sleep_pace pace;
  uint64_t read_word, read_state; /* of its record when its processor time was read */
  uint32_t epoch;                 /* epoch of that reading */
  uint32_t place;                 /* its place in `seen`, in the snapshot `round` */
  uint64_t round;
  uint64_t ran_ns;       /* its processor time when it was asked whether it has a CPU */
  uint8_t rests_waiting; /* 1: it rests, and its record says that it is blocked */
  uint8_t still; /* number of readings in a row in which it was runnable but had not run: it may have gone to sleep */
};

/* A thread in the current snapshot. */
struct qzi_seen {
  struct qzi_look look;
  uint32_t index, object, tuple;
  uint32_t instruction; /* where it executes: instructions.h */
  uint32_t node;        /* node of its tuple: look.node, or the path on which it counts as having executed */
  uint8_t state;        /* enum qz_state; READY: runnable, counted with the useful ones */
  uint8_t outside;      /* 1: only the kernel knows its wait: `object` is a futex; QZI_BY_LAYER: the layer reports it */
  uint8_t waits;        /* 1: its record says that it is blocked */
  uint8_t
    woken; /* 1: it is runnable, and got no CPU since it waited (for `object`, if its record says so) or was created */
  uint8_t polls;    /* it is in sched_yield, and looks again for what it waits for when it has a CPU: SPINNING if it
                       executes, else BLOCKED; enum qzi_polls */
  uint8_t executes; /* 1: on a CPU */
  uint8_t kernel;   /* if it executes, what the kernel did for it: enum qz_kernel */
  uint8_t instead;  /* if it executes although it sleeps or was woken: its real state; IDLE: it does not */
  uint8_t turn;     /* whether it may do so beside others in this part: enum qzi_turn */
  uint8_t cpu;      /* whether it has a CPU, if it is runnable: enum qzi_cpu */
};
enum qzi_polls { QZI_POLLS_NOT = 0, QZI_POLLS, QZI_POLLS_LOOP /* for which nobody lets it go */ };
enum qzi_cpu { QZI_CPU_UNKNOWN = 0, QZI_CPU_HAS, QZI_CPU_LACKS };
enum qzi_turn { QZI_TURN_OPEN = 0, QZI_TURN_BESIDE, QZI_TURN_ALONE };

/* An ended thread. */
struct qzi_gone {
  struct qzi_executed its;
  uint32_t entity;
  int64_t owed_ns; /* processor time that is still to be reported */
};
#define QZI_ENDED_MOST 64u /* maximum number of them */

/* The current snapshot. */
struct qzi_looked {
  uint32_t high, count;     /* records of threads; entries in `seen` */
  int waiters;              /* 1: some thread waits for an object */
  struct qzi_counts counts; /* without those that are counted for each part */
  uint64_t until_ns;        /* end of the time that is still to be added, before the next look; 0: none is */
};

struct qzi_kernel {
  struct qzi_kernel_memo *memos;
  size_t memos_bytes;
  struct qzi_seen *seen;
  struct qzi_looked looked;
  struct qzi_tracker *tracker;
  struct qzi_asker asker;
  struct qzi_run_accounts accounts;
  struct qzi_resting *resting;
  struct qzi_gone gone, past; /* the thread observed last, and the one that ended last: stand for threads that begin
                                 and end between looks */
  uint64_t past_round;        /* when it ended */
  struct qzi_gone ended[QZI_ENDED_MOST];
  uint32_t ended_count;
  uint32_t *order; /* runnable threads, as places in `seen`; before the first part, their kernel's numbers */
  struct qzi_confinement confinement;
  uint64_t ask_ns, whole_ns; /* duration of one question; weight of this snapshot */
  uint64_t on_cpu_ns;        /* what it takes to ask whether a thread has a CPU, lately */
  uint64_t locked_round;     /* the last snapshot in which a runnable thread held a lock; 0: none yet */
  uint32_t room, cursor, woken_cursor, read_cursor;
  uint32_t epoch, reads; /* number of interruptions of the recording; processor times read in this snapshot */
};

/* ---- kernel_look.c ---- */

/* The thread of the record `index` has ended: keeps what is owed to it. */
void qzi_thread_ended(struct qzi_sampler *sampler, uint32_t index);
/* Number of threads about which the kernel is asked in this snapshot; all of them if there are few. */
uint32_t qzi_kernel_asks(const struct qzi_kernel *kernel, uint32_t high);
/* Determines the state of the thread `index`; IDLE: there is none. */
void qzi_kernel_look(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                     struct qzi_seen *seen);

/* ---- sleeping_threads.c ---- */

/* The member `waiting` of the thread's tuple. */
uint8_t qzi_waiting_of(const struct qzi_sampler *sampler, const struct qzi_seen *seen);
/* Where it is due, lets threads rest that sleep, were reported in full, and hold no lock that others may wait for. */
void qzi_let_rest(struct qzi_sampler *sampler, uint32_t looked, uint64_t now_ns);
/* Checks a resting thread when its turn comes. Returns 1 if it still rests; 0 if it does not, and is in *seen. */
int qzi_still_rests(struct qzi_sampler *sampler, uint32_t index, int may_ask, int may_read, uint64_t now_ns,
                    struct qzi_seen *seen);
/* Asks the kernel about threads whose records say that they wait. Marks those that were woken in `seen`; returns their
 * number. Appends those that rested to `seen`, which has *count entries. `runnable`: number of threads known to be
 * runnable. */
uint32_t qzi_find_woken(struct qzi_sampler *sampler, uint32_t high, uint32_t *count, uint32_t waiting,
                        uint32_t runnable, uint64_t now_ns);

/* ---- threads_on_cpus.c ---- */

/* Finds out which of the first `count` entries in `seen` have a CPU, if there are more runnable ones than CPUs that the
 * program uses, and some have held locks lately. */
void qzi_look_on_cpus(struct qzi_sampler *sampler, uint32_t count);

/* ---- executing_threads.c ---- */

/* Looks, if it is due, whether the runnable threads are confined to fewer CPUs than the program may use. */
void qzi_look_for_confined(struct qzi_sampler *sampler, uint64_t now_ns);

/* Whether it has nothing to do but look again, and has no CPU. */
static inline int qzi_has_yielded(const struct qzi_seen *seen) {
  return seen->polls && !seen->executes && seen->state == QZ_STATE_SPINNING;
}
static inline int qzi_is_runnable(const struct qzi_seen *seen) { return seen->state <= QZ_STATE_READY; }

/* A runnable thread that does not execute is ready, unless it has yielded. */
static inline uint8_t qzi_shown_state(const struct qzi_seen *seen) {
  if (seen->executes || !qzi_is_runnable(seen)) return seen->state;
  return qzi_has_yielded(seen) ? QZ_STATE_BLOCKED : QZ_STATE_READY;
}

/* Chooses which of the first `count` entries in `seen` execute: among the runnable ones, those to which most is
 * owed. */
void qzi_choose_runnable(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts);
/* Also chooses among those that sleep or have ended, if the kernel counted more than was seen. Returns the new number
 * of entries in `seen`. */
uint32_t qzi_choose_others(struct qzi_sampler *sampler, uint32_t count, struct qzi_counts *counts);
/* Adds the time for which CPUs were busy. */
void qzi_note_processors(struct qzi_sampler *sampler, const struct qzi_counts *counts, uint64_t ns);
/* Records which threads ran, for later questions of this snapshot about what happened at that time. */
void qzi_note_running(struct qzi_sampler *sampler, uint32_t count);

/* ---- chain_threads.c ---- */

/* Records what each of the first `count` entries in `seen` was seen to do in this part of the snapshot, for the time
 * path and the span. more: this is not the last part. */
void qzi_note_path(struct qzi_sampler *sampler, uint32_t count, int more);

#endif
