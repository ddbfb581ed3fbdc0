/* Room for struct qzl_task. A thread that makes tasks and others that end them would move all room to these, so who has
 * none left takes what another has.
 *
 * Owns:    the records of tasks. Writer and reader: any thread, under the locks of the lists.
 */
#ifndef QZL_TASK_POOL_H
#define QZL_TASK_POOL_H

#include "task_data.h"

#define QZL_TASKS 65536u /* at the same time; further ones are not known */

#pragma GCC visibility push(hidden)
struct qzl_task *
qzl_task_new(const struct qzl_thread *me); /* cleared, but for its number, with one reference; or NULL */
void qzl_task_free(const struct qzl_thread *me, struct qzl_task *task); /* me: or NULL */
void qzl_tasks_forked(void);
#pragma GCC visibility pop

#endif
