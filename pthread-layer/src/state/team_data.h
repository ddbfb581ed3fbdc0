/* A team: see team.h.
 *
 * Owns:    struct qzl_team. Writer, reader: team.c; of what belongs to its tasks, task.c.
 */
#ifndef QZL_TEAM_DATA_H
#define QZL_TEAM_DATA_H

#include "ended.h"

struct qzl_task;

/* What threads have left for those that go on after the last of them. */
struct qzl_team_chains {
  struct qzl_thread *last; /* who came last; its chain of the time path then */
  uint64_t word, ticks;    /* and when that was */
  unsigned came;
  struct qzi_span_sync span; /* work and span */
};
/* Where only the time path is recorded, the second cache line is written by those that leave, and read by who has begun
 * the region. The first is read by those that enter; it is not written again if the next region is the same one. */
struct qzl_team {
  _Alignas(64) struct qzl_thread *begun_by;
  struct qzl_team *outer;      /* that of the thread that began this one */
  struct qzl_task *outer_task; /* that this thread was in */
  uint64_t word;               /* its chain of the time path where the region began */
  void (*body)(void *);        /* what its threads execute, where the layer calls it, and with what; */
  void *data;
  uint32_t epoch; /* of the recording in which it began: another one does not know of it */
  bool has_span;
  bool has_tasks;                     /* its threads have made some, and execute them where they wait for each other; */
  bool has_unknown_tasks;             /* of some nothing is known */
  _Alignas(64) _Atomic uint32_t lock; /* of those below, except `begin` */
  struct qzl_team_chains end;         /* of the region; time path: of those that did not begin it */
  struct qzi_span_origin begin;       /* work and span where the region began */
  struct qzl_team_chains round[2];    /* of its barriers, by turns */
  unsigned arrivals;                  /* at barriers */
  struct qzl_ended ended;             /* tasks */
  struct qzl_task *records;           /* what stands for its threads */
};

#endif
