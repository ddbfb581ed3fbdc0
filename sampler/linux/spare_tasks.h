/* How many more processes and threads this user may start (RLIMIT_NPROC). */
#ifndef QZI_SPARE_TASKS_H
#define QZI_SPARE_TASKS_H

#define QZI_TASKS_TRIED 16 /* at most so many are tried */

/* How many more threads can be started now, by starting them, at most `wanted`. Where no limit of a size that could
 * matter applies, `wanted`, without a trial. */
unsigned qzi_spare_tasks(unsigned wanted);

#endif
