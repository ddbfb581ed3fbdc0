/* Jobs: tasks of TBB, calls that a thread leaves to whichever thread has time, for the time path, work and span
 * (docs/reference/path.md). Unlike OpenMP's (task.h) they belong to no team, and who waits for them names a context,
 * not its children.
 *
 * Owns:    struct qzl_task of each job that has not ended, and of each group: jobs that are waited for together.
 * Writer:  who makes the job, then who executes it; of a group: any thread, under its lock. Reader: the same.
 * Must not: wait for anything but the few words of another thread, and, in qzl_jobs_waited, for a bounded time.
 */
#ifndef QZL_JOB_H
#define QZL_JOB_H

#include "task_data.h"

#pragma GCC visibility push(hidden)
/* The calling thread makes a job that begins with `start`, in a call that returns to `site`; who waits for it names
 * `context`. NULL: it is not known. */
struct qzl_task *qzl_job_made(struct qzl_thread *me, uint64_t context, uint64_t start, uint64_t site);
/* The calling thread, in which another one may be suspended, executes it; that is over. */
void qzl_job_begins(struct qzl_thread *me, struct qzl_task *job);
void qzl_job_ends(struct qzl_thread *me, struct qzl_task *job);
void qzl_job_dropped(struct qzl_task *job); /* nobody executes it, or one that is not known */

/* A wait for jobs, which stands on the stack of who waits. */
struct qzl_job_wait {
  struct qzl_thread *me; /* NULL: it is not known */
  struct qzl_task *group;
  struct qzi_span call; /* where it also begins the first of them */
  uint64_t site, start, was_idle;
  uint32_t epoch;
  bool has_call; /* the call is counted as one task that contains them */
};
/* The calling thread begins to wait for the jobs that name `context`, in a call that returns to `site`; start: and to
 * make the first of them, which begins so, and which is to be made by qzl_job_of_wait; else 0. */
void qzl_jobs_wait(struct qzl_job_wait *wait, struct qzl_thread *me, uint64_t context, uint64_t site, uint64_t start);
struct qzl_task *qzl_job_of_wait(const struct qzl_job_wait *wait, uint64_t context);
/* It has waited for them. */
void qzl_jobs_waited(const struct qzl_job_wait *wait);
/* No job names it any more. */
void qzl_jobs_over(uint64_t context);
void qzl_jobs_forked(void); /* locks of threads that do not exist there */
#pragma GCC visibility pop

#endif
