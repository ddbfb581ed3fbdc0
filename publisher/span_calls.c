/* Work and span of threads that are spawned or created, called on their parent's stack, and joined: the most frequent
 * events. See span.h.
 *
 * Nothing here is inlined into the package: when it is not requested, the fast paths contain none of it.
 */
#include "span.h"
#include "span_sites.h"
#include "strands.h"

uint64_t qzi_span_burden;

static __attribute__((noinline, cold)) void fill(struct qzi_spawn_near *near, uint64_t start, uint64_t site) {
  bool choosing = qzi_what_if_choosing;
  unsigned number = qzi_site_number(site);
  struct qzi_span begins = {.epoch = qzi_pub_epoch, .top = number, .site = (uint8_t)number};
  begins.kind = (uint8_t)kind_at(start);
  begins.inside = qzi_what_if_any ? qzi_what_if_created(start, site) : 0;
  uint64_t bit = (UINT64_C(1) << number) & ~UINT64_C(1); /* number 0: all sites without one of their own */
  *near = (struct qzi_spawn_near){site, start, begins.word, bit, choosing};
}
/* The running thread, whose strand has just ended, makes a child that begins with `start`, at `site`. */
static inline __attribute__((always_inline)) void spawned(struct qzi_span_actor *actor, const struct qzi_span *self,
                                                          struct qzi_span *child, uint64_t start, uint64_t site) {
  struct qzi_spawn_near *near = &actor->spawns[qzi_site_near_at(site)];
  if (__builtin_expect(near->site != site || near->start != start || near->choosing != qzi_what_if_choosing, 0))
    fill(near, start, site);
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

void qzi_span_created(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!actor) return;
  __atomic_store_n(&t->chain, qzi_path_now(actor->path) | QZ_ARRIVAL_CREATED, __ATOMIC_RELAXED);
  struct qzi_span *self = running(p, actor), *child = of_thread(t);
  if (!self) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  spawned(actor, self, child, t->start, t->create_site);
}

#ifndef QZI_PUB_ONE_THREAD
struct qzi_span_task *qzi_span_tasks;
uint64_t qzi_span_tasks_bytes;

void qzi_span_spawned(struct qzi_publisher *p, uint32_t index, uint64_t start, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (__builtin_expect(!self, 0)) return;
  cut_here(actor, self, clock_now(), KIND_NONE);
  spawned(actor, self, &qzi_span_tasks[index].span, start, site);
}

static __attribute__((noinline, cold)) void begins_unknown(struct qzi_span *task) {
  const struct qz_thread *record = qzi_span_task_record(task);
  qzi_span_of_epoch(task, record->start, record->create_site);
}
struct qzi_span *qzi_span_called(struct qzi_publisher *p, uint32_t index, struct qzi_span *caller, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!caller) {
    caller = running(p, actor);
    if (__builtin_expect(!caller, 0)) return NULL;
    cut_here(actor, caller, clock_now(), kind_at(site));
  }
  struct qzi_span *child = &qzi_span_tasks[index].span;
  if (__builtin_expect(child->epoch != qzi_pub_epoch, 0)) begins_unknown(child);
  actor->task = child;
  return caller;
}

static __attribute__((noinline, cold)) void first_of_site(struct qz_site *site, const struct qzi_span *task) {
  const struct qz_thread *record = qzi_span_task_record(task);
  qzi_site_begins(site, task, record->start, record->create_site);
}
/* Without a task, the hook of a signal handler has just made a thread of it. */
void qzi_span_returned(struct qzi_publisher *p, struct qzi_span *caller, struct qzi_merge *merge, uint64_t last) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = actor ? actor->task : NULL;
  if (__builtin_expect(!self || !caller, 0)) return;
  cut_here(actor, self, clock_now(), self->kind);
  struct qz_span *record = actor->record;
  struct qz_site *site = &record->sites[self->site];
  if (__builtin_expect(!site->site, 0)) first_of_site(site, self);
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
void qzi_span_becomes(const struct qzi_pub_thread *t) {
  if (qzi_span_tasks) *of_thread(t) = qzi_span_tasks[t->index_plus_1 - 1].span;
}
void qzi_span_became(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  if (actor) actor->task = NULL;
}
#endif

void qzi_span_sync_begins(struct qzi_publisher *p, uint64_t site) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) cut_here(actor, self, clock_now(), kind_at(site));
}

void qzi_span_call_ended(struct qzi_publisher *p, const struct qzi_pub_thread *parent, struct qzi_merge *merge) {
  const struct qzi_pub_thread *t = current(p);
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor), *its = of_epoch(parent);
  if (!self) return;
  cut_here(actor, self, clock_now(), kind_at(t->start));
  qzi_site_ended(actor->record, self, t->start, t->create_site);
  longest(&its->now, &self->now, 0);
  its->work += self->work;
  qzi_merge_add(merge, self->now.length);
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
  spawned(actor, self, task, start, site);
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
