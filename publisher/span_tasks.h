/* Work and span of tasks that their parent spawns and calls in place: the most frequent events, inlined in their spawn
 * and sync, which are functions of their own where work and span are recorded.
 *
 * Owns:    nothing. Writer and reader: as span.h says.
 * Must not: be included outside publisher/, except by thread/fork_join_published.c.
 */
#ifndef QZI_SPAN_TASKS_H
#define QZI_SPAN_TASKS_H

#include "strands.h"

#pragma GCC visibility push(hidden)
void qzi_span_spawn_near(struct qzi_spawn_near *near, uint64_t start, uint64_t site);
void qzi_span_begins_unknown(struct qzi_span *task);
void qzi_span_first_of_site(struct qz_site *site, const struct qzi_span *task);
#pragma GCC visibility pop

/* The running thread, whose strand has just ended, makes a child that begins with `start`, at `site`. */
static inline __attribute__((always_inline)) void span_child(struct qzi_span_actor *actor, const struct qzi_span *self,
                                                             struct qzi_span *child, uint64_t start, uint64_t site) {
  struct qzi_spawn_near *near = &actor->spawns[qzi_site_near_at(site)];
  if (__builtin_expect(near->site != site || near->start != start || near->choosing != qzi_what_if_choosing, 0))
    qzi_span_spawn_near(near, start, site);
  uint64_t sites = self->sites, bit = near->bit;
  child->now = self->now;
  child->start = child->now.length;
  child->now.burdened += qzi_span_burden;
  child->work = 0;
  child->away = 0;
  child->sites = sites | bit;
  uint64_t again = QZI_SPAN_TOP(sites & bit ? 1 : 0);
  child->word = (near->word | QZI_SPAN_INSIDE(self->inside)) & ~again;
}

#ifndef QZI_PUB_ONE_THREAD
/* The running thread, or task, spawns the task whose record has that index. */
static inline __attribute__((always_inline)) void qzi_span_spawns(struct qzi_publisher *p, uint32_t index,
                                                                  uint64_t start, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (__builtin_expect(!self, 0)) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  span_child(actor, self, &qzi_span_tasks[index].span, start, site);
}

/* In a sync that returns to `site` it calls one that it has spawned, on its own stack; first: the first one of that
 * sync. Returns the caller's data, for the call's end. If the hook of a signal handler makes threads of the call and
 * its caller meanwhile, the caller of this function calls qzi_span_became. */
static inline __attribute__((always_inline)) struct qzi_span *qzi_span_called(struct qzi_publisher *p, uint32_t index,
                                                                              bool first, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *caller = running(p, actor);
  if (__builtin_expect(!caller, 0)) return NULL;
  if (first) cut_here(actor, caller, clock_now(), kind_at(site));
  struct qzi_span *child = &qzi_span_tasks[index].span;
  if (__builtin_expect(child->epoch != qzi_pub_epoch, 0)) qzi_span_begins_unknown(child);
  actor->task = child;
  return caller;
}

/* That call has ended, and the caller, with the data at *parent, continues; last: it was the last one of the sync,
 * which returns there; else 0. merge: what the sync's calls have added. If the hook of a signal handler makes a thread
 * of the caller meanwhile, the caller of this function calls qzi_span_became_since. */
static inline __attribute__((always_inline)) void qzi_span_returned(struct qzi_publisher *p, uint32_t index,
                                                                    struct qzi_span **parent, struct qzi_merge *merge,
                                                                    uint64_t last) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *caller = *parent;
  if (__builtin_expect(!actor || !caller, 0)) return;
  struct qzi_span *self = actor->task;
  if (__builtin_expect(!self, 0)) { /* it has just done so */
    self = &qzi_span_tasks[index].span;
    *parent = caller = of_epoch(current(p));
  }
  unsigned kind = self->kind;
  if (kind >= KINDS) __builtin_unreachable();
  cut_here(actor, self, clock_now(), kind);
  struct qz_span *record = actor->record;
  struct qz_site *site = &record->sites[self->site];
  if (__builtin_expect(!site->site, 0)) qzi_span_first_of_site(site, self);
  qzi_site_adds(site, self);
  uint64_t its = self->now.length;
  longest(&caller->now, &self->now, 0);
  caller->work += self->work;
  actor->task = qzi_span_is_task(caller) ? caller : NULL;
  if (!last || merge->chains) {
    qzi_merge_add(merge, its);
    if (!last) return;
  }
  qzi_pub_store(&actor->crumbs->word, caller->now.crumb);
  unsigned number = qzi_site_number_near(actor->waits, last);
  if (__builtin_expect(merge->chains, 0))
    qzi_site_merged(record, last, number, merge, caller->now.length);
  else
    qzi_site_merged_one(record, last, number, its, caller->now.length);
}
#endif

#endif
