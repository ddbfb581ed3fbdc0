/* Teams: threads of a pool that execute a region together, and of which one goes on when all have come to its end
 * (OpenMP's fork and join), for the time path, work and span (docs/reference/path.md).
 *
 * Owns:    struct qzl_team: one that the thread keeps which begins the region, on its stack if it is in another region.
 * Writer:  the threads of the team, under the team's lock. Reader: the same.
 * Must not: wait for anything but the few words of another thread of the team.
 */
#ifndef QZL_TEAM_H
#define QZL_TEAM_H

#include "team_data.h"

#pragma GCC visibility push(hidden)
/* The library whose threads form teams reports all of them (QZ_SESSION_TEAMS), from now on. */
void qzl_teams_reported(void);
void qzl_teams_prepare(struct qz_session *head); /* when publishing begins */
/* The calling thread begins a region; it is there; it has come to its end; the region has ended, by a call that returns
 * to `site`. For the thread that began it all four. Those that are given no record do nothing. */
void qzl_team_begins(struct qzl_team *team, struct qzl_thread *me);
/* The same with what the team's threads execute. The team is one that the thread keeps, or, where it is in another one,
 * `room`. */
struct qzl_team *qzl_team_begins_for(struct qzl_team *room, struct qzl_thread *me, void (*body)(void *), void *data);
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
