/* The order that OpenMP's depend clauses give to tasks of one parent: what those that have ended have left, by address.
 *
 * Owns:    a table of addresses that tasks name. Writer: who has executed such a task. Reader: who is about to.
 * Must not: grow: of addresses that meet in it only the one that was used last is known.
 */
#ifndef QZL_DEPEND_H
#define QZL_DEPEND_H

#include "ended.h"

#pragma GCC visibility push(hidden)
/* A task of that family names the address, and writes there or not: `after` becomes that what it has waited for, where
 * that is later. It has ended, so. */
void qzl_depend_follow(uint64_t family, uint64_t address, bool writes, struct qzl_ended *after);
void qzl_depend_leave(uint64_t family, uint64_t address, bool writes, const struct qzl_ended *ended);
#pragma GCC visibility pop

#endif
