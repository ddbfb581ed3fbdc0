/* A program that only waits for another one that is recorded as well (a shell, a compiler's driver, make) is rarely
 * looked at meanwhile: its snapshots would show that it sleeps, and take time from the CPU of the one that works.
 *
 * Owns:    struct qzi_rest. Writer and reader: the first sampling thread.
 * Must not: be used where a rate was requested.
 */
#ifndef QZI_REST_H
#define QZI_REST_H

#include "pacing.h"

struct qzi_rest {
  unsigned asleep;   /* snapshots since a thread could run */
  uint64_t awake_ns; /* interval of snapshots before it rested; 0: it does not rest */
};

/* After a snapshot in which `runnable` threads could run, and after qzi_pacing_next; beside 1: another program is being
 * recorded by this process. Returns 1 if the interval is that of a program that rests. */
int qzi_rest_look(struct qzi_rest *rest, struct qzi_pacing *pacing, uint32_t runnable, int beside);

#endif
