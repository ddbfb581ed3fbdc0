/* Work and span of threads that are spawned or created, called on their parent's stack, and joined: the most frequent
 * events. See span.h.
 *
 * Nothing here is inlined into the package: when it is not requested, the fast paths contain none of it.
 */
#include "span.h"
#include "span_tasks.h"

uint64_t qzi_span_burden;

__attribute__((noinline, cold)) void qzi_span_spawn_near(struct qzi_spawn_near *near, uint64_t start, uint64_t site) {
  bool choosing = qzi_what_if_choosing;
  unsigned number = qzi_site_number(site);
  struct qzi_span begins = {.epoch = qzi_pub_epoch, .top = number, .site = (uint8_t)number};
  begins.kind = (uint8_t)kind_at(start);
  begins.inside = qzi_what_if_any ? qzi_what_if_created(start, site) : 0;
  uint64_t bit = (UINT64_C(1) << number) & ~UINT64_C(1); /* number 0: all sites without one of their own */
  *near = (struct qzi_spawn_near){site, start, begins.word, bit, choosing};
}

void qzi_span_created(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!actor) return;
  __atomic_store_n(&t->chain, qzi_path_now(actor->path) | QZ_ARRIVAL_CREATED, __ATOMIC_RELAXED);
  struct qzi_span *self = running(p, actor), *child = of_thread(t);
  if (!self) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  span_child(actor, self, child, t->start, t->create_site);
}

#ifndef QZI_PUB_ONE_THREAD
struct qzi_span_task *qzi_span_tasks;
uint64_t qzi_span_tasks_bytes;

void qzi_span_spawned(struct qzi_publisher *p, uint32_t index, uint64_t start, uint64_t site) {
  qzi_span_spawns(p, index, start, site);
}
__attribute__((noinline, cold)) void qzi_span_begins_unknown(struct qzi_span *task) {
  const struct qz_thread *record = qzi_span_task_record(task);
  qzi_span_of_epoch(task, record->start, record->create_site);
}
__attribute__((noinline, cold)) void qzi_span_first_of_site(struct qz_site *site, const struct qzi_span *task) {
  const struct qz_thread *record = qzi_span_task_record(task);
  qzi_site_begins(site, task, record->start, record->create_site);
}
void qzi_span_becomes(const struct qzi_pub_thread *t) {
  if (qzi_span_tasks) *of_thread(t) = qzi_span_tasks[t->index_plus_1 - 1].span;
}
void qzi_span_became(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  if (actor) actor->task = NULL;
}
void qzi_span_became_since(struct qzi_publisher *p, const struct qzi_span *task) {
  const struct qzi_pub_thread *t = current(p);
  qzi_span_became(p);
  if (t && task && qzi_span_is_task(task)) *of_thread(t) = *task;
}
#endif

void qzi_span_sync_begins(struct qzi_publisher *p, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) cut_here(actor, self, clock_now(), kind_at(site));
}

/* The call that runs has ended. only: the caller, `parent`, waited for nothing else, in a call that returns there; else
 * 0, and the call is added to `merge`. */
static inline __attribute__((always_inline)) void
call_ended(struct qzi_publisher *p, const struct qzi_pub_thread *parent, struct qzi_merge *merge, uint64_t only) {
  const struct qzi_pub_thread *t = current(p);
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor), *its = of_epoch(parent);
  if (!self) return;
  cut_here(actor, self, clock_now(), kind_at(t->start));
  qzi_site_ended(actor->record, self, t->start, t->create_site);
  uint64_t length = self->now.length;
  longest(&its->now, &self->now, 0);
  its->work += self->work;
  if (!only) {
    qzi_merge_add(merge, length);
    return;
  }
  qzi_pub_store(&actor->crumbs->word, its->now.crumb);
  qzi_site_merged_one(actor->record, only, qzi_site_number_near(actor->waits, only), length, its->now.length);
}
void qzi_span_call_ended(struct qzi_publisher *p, const struct qzi_pub_thread *parent, struct qzi_merge *merge) {
  call_ended(p, parent, merge, 0);
}
void qzi_span_join_ended(struct qzi_publisher *p, const struct qzi_pub_thread *joiner, uint64_t site) {
  call_ended(p, joiner, NULL, site);
}

void qzi_span_sync_ended(struct qzi_publisher *p, uint64_t site, struct qzi_merge *merge,
                         const struct qzi_span_sync *elsewhere) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  if (elsewhere) {
    longest(&self->now, &elsewhere->most, 0);
    self->work += elsewhere->work;
    qzi_merge_join(merge, &elsewhere->merge);
    begin(actor, self, clock_now());
  } else {
    /* the next strand began when the last call ended */
    qzi_pub_store(&actor->crumbs->word, self->now.crumb);
  }
  unsigned number = qzi_site_number_near(actor->waits, site);
  if (merge->chains == 1)
    qzi_site_merged_one(actor->record, site, number, merge->sum, self->now.length);
  else
    qzi_site_merged(actor->record, site, number, merge, self->now.length);
}

void qzi_span_merge(struct qzi_publisher *p, struct qzi_span_sync *merged) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  longest(&merged->most, &self->now, 0);
  qzi_merge_add(&merged->merge, self->now.length);
  merged->work += self->work;
}

void qzi_span_result(const struct qzi_pub_thread *ended, struct qzi_span_sync *result) {
  const struct qzi_span *its = of_thread(ended);
  *result = (struct qzi_span_sync){0};
  if (its->epoch != qzi_pub_epoch) return;
  result->most = its->now;
  result->work = its->work;
  qzi_merge_add(&result->merge, its->now.length);
}
void qzi_span_after(struct qzi_publisher *p, const struct qzi_span_sync *result, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  longest(&self->now, &result->most, 0);
  self->work += result->work;
  qzi_pub_store(&actor->crumbs->word, self->now.crumb);
  qzi_site_merged(actor->record, site, qzi_site_number_near(actor->waits, site), &result->merge, self->now.length);
}
void qzi_span_joined(struct qzi_publisher *p, const struct qzi_pub_thread *ended, uint64_t site) {
  struct qzi_span_sync result;
  qzi_span_result(ended, &result);
  qzi_span_after(p, &result, site);
}

bool qzi_span_task_made(struct qzi_publisher *p, struct qzi_span *task, uint64_t start, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return false;
  cut_here(actor, self, clock_now(), KIND_NONE);
  span_child(actor, self, task, start, site);
  return true;
}
void qzi_span_task_begins(struct qzi_publisher *p, const struct qzi_span *task, struct qzi_span *before) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  *before = *self;
  *self = *task;
  qzi_span_waited_busy(p);
}
void qzi_span_task_ended(struct qzi_publisher *p, uint64_t start, uint64_t site, const struct qzi_span *before,
                         struct qzi_span_sync *result) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut_here(actor, self, clock_now(), kind_at(start));
  qzi_site_ended(actor->record, self, start, site);
  *result = (struct qzi_span_sync){.most = self->now, .work = self->work};
  qzi_merge_add(&result->merge, self->now.length);
  *self = *before;
  begin(actor, self, actor->since);
}
bool qzi_span_call_of_tasks(struct qzi_publisher *p, struct qzi_span *call, uint64_t start, uint64_t site) {
  if (!qzi_span_task_made(p, call, start, site)) return false;
  struct qzi_span *self = running(p, actor_of(p));
  call->work = self->work;
  call->away = self->sites; /* until then */
  self->sites = call->sites;
  return true;
}
void qzi_span_call_of_tasks_ended(struct qzi_publisher *p, const struct qzi_span *call, uint64_t start, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  struct qzi_span whole = *call;
  whole.now = self->now;
  whole.work = self->work - call->work;
  self->sites = call->away;
  qzi_site_ended(actor->record, &whole, start, site);
}
void qzi_span_precedes(struct qzi_span *task, const struct qzi_lanes *lanes) { longest(&task->now, lanes, 0); }
void qzi_span_results(struct qzi_span_sync *to, const struct qzi_span_sync *from) {
  longest(&to->most, &from->most, 0);
  to->work += from->work;
  qzi_merge_join(&to->merge, &from->merge);
}
