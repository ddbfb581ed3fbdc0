/* The inside of a qz_scope. fork_join.c has the rules. */
#ifndef QZI_SCOPE_H
#define QZI_SCOPE_H

#include "in_place.h"

#pragma GCC visibility push(hidden)

struct qzi_scope {
  _Atomic(int64_t) remote; /* children that ended on their own stacks; less `pending` once the parent waits */
  int64_t pending;         /* children not known to have ended */
  struct qzi_thread *waiter;
  qzi_spinlock lock;            /* of the two below, from which a sampler sees for whom the parent waits */
  uint32_t object;              /* where it waits, 0: it does not */
  struct qzi_thread *running;   /* children on their own stacks that began while publishing */
  struct qzi_span_sync *merged; /* work and span of those that have ended; NULL: none. Under the lock */
};
_Static_assert(sizeof(struct qzi_scope) <= sizeof(qz_scope), "qz_scope");

/* Spawn and sync while publishing: the usual case (fork_join_usual.c), and what it leaves to all others. */
void qzi_spawn_usual(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                     uint64_t site);
void qzi_spawn_thread(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site);
void qzi_sync_usual(struct qzi_scope *scope, uint64_t site);
void qzi_sync_published(struct qzi_scope *scope, uint64_t site);

#pragma GCC visibility pop
#endif
