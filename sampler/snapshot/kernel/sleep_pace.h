/* When the sleeps of a thread end: at equal intervals, or after equal times. A loop that keeps a pace (the next frame,
 * the next period) sleeps until a point in time, however long its work took.
 *
 * Owns:    what was seen of one thread's sleep.
 * Writer and reader: the aggregating thread, through kernel_look.c.
 * Must not: read anything about threads.
 */
#ifndef QZI_SLEEP_PACE_H
#define QZI_SLEEP_PACE_H

#include <stdint.h>
#include "abi/profile_rows.h"

/* All zero: nothing was seen yet. */
struct qzi_sleep_pace {
  uint64_t looked_ns; /* time of the last look */
  uint64_t sleep;     /* which sleep it was in then: how often it had got a CPU before; 0: it did not sleep */
  uint64_t begun_ns;  /* when that sleep began, */
  uint64_t ended_ns;  /* and when the one before it ended; 0: unknown */
};

/* A look saw the thread in that sleep, or (0) awake. What happened between two looks is taken to have happened in the
 * middle between them. Adds to `stats` what ended. */
void qzi_sleep_pace_look(struct qzi_sleep_pace *pace, struct qz_thread_stats *stats, uint64_t sleep, uint64_t now_ns);
/* Whether a call does nothing but let time pass. */
int qzi_sleep_pace_is(long call);

#endif
