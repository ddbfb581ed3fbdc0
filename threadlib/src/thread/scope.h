/* The contents of a qz_scope; scope.c describes its rules. */
#ifndef QZI_SCOPE_H
#define QZI_SCOPE_H

#include "in_place.h"

#pragma GCC visibility push(hidden)

struct qzi_scope {
  _Atomic(int64_t)
    remote;        /* number of children that ended on their own stacks; minus `pending` while the parent waits */
  int64_t pending; /* children that the parent does not know to have ended */
  struct qzi_thread *waiter;
  qzi_spinlock lock; /* protects the two fields below, by which a sampler sees for which thread the parent waits */
  uint32_t object;   /* the object at which the parent waits; 0: it does not wait */
  struct qzi_thread *running;   /* list of children that started on their own stacks while publishing was on */
  struct qzi_span_sync *merged; /* work and span of the children that have ended; NULL: none. Under the lock */
};
_Static_assert(sizeof(struct qzi_scope) <= sizeof(qz_scope), "qz_scope");

/* Waits until all children have ended that other processors have taken, or for which the parent's stack has no room. */
void qzi_scope_wait(struct qzi_scope *scope, uint64_t site);

/* Spawn and sync of tasks while publishing is on (fork_join_published.c). qzi_spawn_open: a spawn if the deque of p is
 * open for tasks that are published. qzi_spawn_closed: if it is not open for tasks that are not published.
 * qzi_spawn_published returns false in uncommon cases, without having done anything; p's deque must have room for one
 * more task. qzi_spawn_slow: all other cases. */
void qzi_spawn_open(struct qzi_scope *scope, void (*function)(void *), void *argument, uint64_t site,
                    struct qzi_processor *p, struct qzi_entry *bottom);
void qzi_spawn_spanned(struct qzi_scope *scope, void (*function)(void *), void *argument, uint64_t site,
                       struct qzi_processor *p, struct qzi_entry *bottom);
void qzi_spawn_closed(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site);
void qzi_spawn_slow(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                    uint64_t site);
bool qzi_spawn_published(struct qzi_processor *p, struct qzi_scope *scope, bool loop, const char *name,
                         uintptr_t function, void *argument, uint64_t site);
void qzi_sync_tasks_published(struct qzi_scope *scope, uint64_t site);
void qzi_sync_tasks_spanned(struct qzi_scope *scope, uint64_t site); /* the same while work and span are recorded */
/* The same of threads: the common case (fork_join_usual.c), and all other cases. */
void qzi_spawn_usual(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                     uint64_t site);
void qzi_spawn_thread(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site);
void qzi_sync_usual(struct qzi_scope *scope, uint64_t site);
/* The same while work and span are recorded; merge: the calls that the sync has made so far. */
void qzi_sync_usual_span(struct qzi_scope *scope, uint64_t site);
void qzi_sync_span(struct qzi_scope *scope, uint64_t site, struct qzi_merge *merge);
void qzi_sync_published(struct qzi_scope *scope, uint64_t site);
/* qz_sync of threads, whether or not something is published. */
void qzi_sync_threads(struct qzi_scope *scope, uint64_t site);
/* Spawns a part of a parallel loop: qzi_run_range(range); and qz_sync with another call site. */
void qzi_spawn_range(struct qzi_scope *scope, uintptr_t body, void *range, uint64_t site);
void qzi_sync(struct qzi_scope *scope, uint64_t site);
/* A call in place that became a thread has ended. */
void qzi_in_place_ended(struct qzi_processor *p);

#pragma GCC visibility pop
#endif
