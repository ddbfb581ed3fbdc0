/* Tasks of OpenMP: calls that a thread of a team leaves to whichever of the team has time, for the time path, work and
 * span (docs/reference/path.md).
 *
 * Owns:    struct qzl_task of each task that has not ended, or has children that have not; of a thread of a team, for
 *          which its tasks' parent stands; of a group of tasks that are waited for together.
 * Writer:  who makes the task, then who executes it; `ended`: any thread of the team, under the lock. Reader: the same.
 * Must not: wait for anything but the few words of another thread.
 */
#ifndef QZL_TASK_H
#define QZL_TASK_H

#include "task_data.h"

#pragma GCC visibility push(hidden)
/* The calling thread makes a task that begins with `start` (0: not known), in a call that returns to `site`. NULL: it
 * is in no team, or has no place; then there is nothing else to call for it. */
#define QZL_TASK_INCLUDED 1u
#define QZL_TASK_FINAL    2u
struct qzl_task *qzl_task_made(struct qzl_thread *me, uint64_t start, uint64_t site, unsigned flags);
/* It makes one of which nothing is known. */
void qzl_task_unknown(struct qzl_thread *me);
/* Before it begins: it waits for those of its parent's earlier tasks that write there, or if it writes, for all that
 * name that address. */
void qzl_task_depends(struct qzl_task *task, uint64_t address, bool writes);
/* The calling thread, in which another one may be suspended, executes it; that is over. */
void qzl_task_begins(struct qzl_thread *me, struct qzl_task *task);
void qzl_task_ends(struct qzl_thread *me, struct qzl_task *task);
void qzl_task_dropped(struct qzl_task *task); /* a thread without a place has executed it */
/* A task of those that one call makes, which have `model` in common; it lasts until the region ends. NULL as above. */
struct qzl_task *qzl_task_like(struct qzl_thread *me, struct qzl_task *model);
void qzl_task_is_model(struct qzl_task *model);

/* The calling thread begins to wait for its tasks; it has waited for its children, in a call that returns to `site`;
 * for those of them that name an address. */
void qzl_tasks_wait(struct qzl_thread *me);
void qzl_tasks_waited(struct qzl_thread *me, uint64_t site);
void qzl_tasks_waited_at(struct qzl_thread *me, const uint64_t *addresses, uint32_t writes, uint32_t count);
/* It begins a group of tasks; it has waited for it, and for what the tasks in it have made. */
void qzl_tasks_grouped(struct qzl_thread *me);
void qzl_group_waited(struct qzl_thread *me, uint64_t site);

/* The work of tasks that `task` (NULL: none) has made, and not waited for by itself; for what waits for all. */
uint64_t qzl_tasks_work(struct qzl_task *task);
/* The team's region has ended: what stands for its threads is free. Returns the work of tasks that were not waited
 * for otherwise. */
uint64_t qzl_tasks_over(struct qzl_team *team);

static inline bool qzl_makes_tasks(const struct qzl_thread *me) { return me->task || me->team; }
#pragma GCC visibility pop

#endif
