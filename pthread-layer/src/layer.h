/* What every file of the pthread layer needs, and what rooms below interpose/ call of it.
 *
 * Must not: call a function that the layer stands in front of by its plain name (real.h); add a locked instruction, a
 *          system call or an allocation to an operation that does not wait, but for an object's first use.
 */
#ifndef QZL_LAYER_H
#define QZL_LAYER_H

#include <stdbool.h>
#include "pthread-layer/src/libc/real.h"
#include "publisher/publisher.h"

#pragma GCC visibility push(hidden)

#define QZL_EXPORT __attribute__((visibility("default")))
#define QZL_SITE() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* exec.c. Takes the launcher's variables out of the environment; after the sampler was found by them. again: they are
 * for what the process starts or becomes, too; false: no program is looked at for that. */
void qzl_environment_take(bool again);
/* follow.c. Whether what is started now is followed, for the process does nothing itself: a wrapper. by_exec: a child
 * of the process asks, which is to become that program; its memory may be its parent's (vfork). */
bool qzl_follows(bool by_exec);
void qzl_follow_count(void); /* it is started */
/* In a forked child: whether it is followed, as what it is. */
bool qzl_follow_forked(void);
/* The sampler's name for such a child, which its environment does not have any more; NULL: none. exec.c */
const char *qzl_follow_sampler(void);
void qzl_follow_begin(void); /* from now on what the process starts is followed, as far as the above says */
void qzl_follow_fork(void);  /* the process is about to fork */
int qzl_mutex_lock(pthread_mutex_t *mutex); /* the layer's own */
int qzl_mutex_unlock(pthread_mutex_t *mutex);

/* Those of a thread package behind the layer; NULL: there is none (spin_loop.c). */
extern void (*qzl_next_spin_begin)(const void *), (*qzl_next_spin_end)(const void *);

#pragma GCC visibility pop
#endif
