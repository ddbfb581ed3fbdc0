/* Teams: threads of a pool that execute a region together, and of which one goes on when all have come to its end
 * (OpenMP's fork and join), for the time path, work and span (docs/reference/path.md).
 *
 * Owns:    struct qzl_team, which stands on the stack of the thread that begins the region.
 * Writer:  the threads of the team, under the team's lock. Reader: the same.
 * Must not: wait for anything but the few words of another thread of the team.
 */
#ifndef QZL_TEAM_H
#define QZL_TEAM_H

#include "thread.h"

/* What threads have left for those that go on after the last of them. */
struct qzl_team_chains {
  struct qzi_span_sync span; /* work and span */
  struct qzl_thread *last;   /* who came last; its chain of the time path then */
  uint64_t word;
  unsigned came;
};
struct qzl_team {
  struct qzl_thread *begun_by;
  struct qzl_team *outer;       /* that of the thread that began this one */
  struct qzi_span_origin begin; /* work and span of that thread where the region began; its chain of the time path */
  uint64_t word;
  uint32_t epoch; /* of the recording in which it began: another one does not know of it */
  bool has_span;
  bool has_tasks;                  /* its threads have made some, and execute them where they wait for each other */
  _Atomic uint32_t lock;           /* of those below */
  struct qzl_team_chains end;      /* of the region */
  struct qzl_team_chains round[2]; /* of its barriers, by turns */
  unsigned arrivals;               /* at barriers */
};

#pragma GCC visibility push(hidden)
/* The library whose threads form teams tells of all of them (QZ_SESSION_TEAMS), from now on. */
void qzl_teams_told(void);
void qzl_teams_prepare(struct qz_session *head); /* when publishing begins */
/* The calling thread begins a region; it is there; it has come to its end; the region has ended, by a call that returns
 * to `site`. For the thread that began it all four. Those that are given no record do nothing. */
void qzl_team_begins(struct qzl_team *team, struct qzl_thread *me);
void qzl_team_enters(struct qzl_team *team, struct qzl_thread *me);
void qzl_team_leaves(struct qzl_team *team, struct qzl_thread *me);
void qzl_team_ended(struct qzl_team *team, struct qzl_thread *me, uint64_t site);
/* It had come to the end of a region that another thread began, and has waited since then. */
void qzl_team_waited(struct qzl_thread *me);
/* It has come to a barrier of the team of so many threads; the number of the round. It has passed it. */
unsigned qzl_team_arrives(struct qzl_team *team, struct qzl_thread *me, unsigned parties);
void qzl_team_passed(struct qzl_team *team, struct qzl_thread *me, unsigned round);
#pragma GCC visibility pop

#endif
