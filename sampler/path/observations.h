/* What each actor of the time path was seen doing, until it is known whether it was on the path.
 *
 * Owns:    a log for each actor (a processor; pthread layer: a thread), in time order.
 * Writer and reader: the aggregating thread.
 * Must not: grow without bound: what is long past is kept at a coarser resolution.
 */
#ifndef QZI_PATH_OBSERVATIONS_H
#define QZI_PATH_OBSERVATIONS_H

#include <stdint.h>

/* Times are those of the clock page, counted from the recording's begin. */
struct qzi_observation {
  uint64_t end;           /* it stands for the time from the one before */
  uint32_t stack, thread; /* node, entity; 0: nobody */
  uint8_t state;          /* enum qz_state; QZ_STATE_IDLE: the processor had no thread */
  uint8_t inferred;       /* 1: who ran while the thread waited for something that nobody reports */
};
struct qzi_observations {
  struct qzi_observation *at;
  uint32_t first, count, room; /* those from `first` on are needed */
};

#define QZI_OBSERVATIONS_MOST 8192u /* in a log */
/* random: state of a generator, not 0. 0, or -1: out of memory, it is left out. */
int qzi_observations_add(struct qzi_observations *log, const struct qzi_observation *seen, uint64_t *random);
/* Those that stand for some of (from, to], one after the other: *at begins as log->first. The time in that stretch; 0:
 * no more. A stretch after the last one is the last one's. */
uint64_t qzi_observations_next(const struct qzi_observations *log, uint32_t *at, uint64_t from, uint64_t to,
                               struct qzi_observation *found);
/* What ends by then is not asked for again. */
void qzi_observations_forget(struct qzi_observations *log, uint64_t until);
void qzi_observations_free(struct qzi_observations *log);

#endif
