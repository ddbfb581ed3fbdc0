/* Observations of each actor of the time path, kept until it is known whether the actor was on the path.
 *
 * Owns:    a log for each actor (a processor; pthread layer: a thread), in order of time.
 * Writer and reader: the aggregating thread.
 * Must not: grow without bound: old observations are kept at a coarser resolution.
 */
#ifndef QZI_PATH_OBSERVATIONS_H
#define QZI_PATH_OBSERVATIONS_H

#include <stdint.h>

/* Times are those of the clock page, relative to the beginning of the recording. */
struct qzi_observation {
  uint64_t end;           /* the observation stands for the time since the previous one */
  uint32_t stack, thread; /* node of the call path; entity of the thread; 0: nobody */
  uint8_t state;          /* enum qz_state; QZ_STATE_IDLE: the processor had no thread */
  uint8_t inferred;       /* 1: the thread waited for an unreported event, and another thread that ran is assumed to
                             have caused it */
};
struct qzi_observations {
  struct qzi_observation *at;
  uint32_t first, count, room; /* observations before `first` are not needed any more */
};

#define QZI_OBSERVATIONS_MOST 8192u /* maximum length of a log */
/* random: state of the random generator, not 0. Returns 0, or -1 if there is no memory; then the observation is left
 * out. */
int qzi_observations_add(struct qzi_observations *log, const struct qzi_observation *seen, uint64_t *random);
/* Iterates over the observations that overlap (from, to]; *at must begin as log->first. Returns the overlap; 0: no
 * more. Time after the last observation is attributed to it. */
uint64_t qzi_observations_next(const struct qzi_observations *log, uint32_t *at, uint64_t from, uint64_t to,
                               struct qzi_observation *found);
/* Where to begin with qzi_observations_next for the time after `from`, including observations that are not needed any
 * more but have been kept so far; log->count: that time is not known any more. */
uint32_t qzi_observations_at(const struct qzi_observations *log, uint64_t from);
/* Observations that end by `until` are not needed any more. */
void qzi_observations_forget(struct qzi_observations *log, uint64_t until);
void qzi_observations_free(struct qzi_observations *log);

#endif
