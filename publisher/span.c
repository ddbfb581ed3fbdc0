/* Work and span: how events change the lengths of chains. See span.h.
 *
 * Nothing here is inlined: when it is not requested, the fast paths contain none of it.
 */
#include "span.h"
#include "object_records.h"
#include "span_sites.h"
#include "strands.h"

#define BURDEN_NS 5000u /* from the spawn until the thread runs on another processor */

/* ---- lengths -------------------------------------------------------------------------------------------------- */

struct qzi_span *qzi_span_of(const struct qzi_pub_thread *t) {
  return of_thread(t);
}

void qzi_span_max(struct qzi_lanes *to, const struct qzi_lanes *from) { longest(to, from, 0); }

/* The chain grows without work. */
static void lengthen(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t ticks) {
  qzi_pub_more(&actor->record->asleep, ticks);
  span->now.length += ticks;
  span->now.burdened += ticks;
  span->now.typical += ticks;
  qzi_what_if_lengthen(span, ticks);
}

static __attribute__((noinline)) void cut(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t now,
                                          unsigned kind) {
  cut_here(actor, span, now, kind);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

/* Returns the object that a thread which the caller holds waits for; 0: none. */
static uint32_t waits_for(const struct qzi_pub_thread *t) {
  const struct qz_thread *record = t->record;
  return record ? QZ_STATE_OBJECT(__atomic_load_n(&record->state, __ATOMIC_RELAXED)) : 0;
}

/* At `now` the thread whose strand has ended gives up its processor. */
static inline void leaves(struct qzi_span *self, uint64_t now, unsigned arrival) {
  self->away = arrival == QZ_ARRIVAL_IO ? now : now + qzi_span_cpu.lost;
  self->before = self->back = false;
}
/* At `now` the processor goes on with t. */
static inline void takes(struct qzi_span_actor *actor, const struct qzi_pub_thread *t, uint64_t now) {
  struct qzi_span *span = of_epoch(t);
  if (QZ_CHAIN_ARRIVAL(__atomic_load_n(&t->chain, __ATOMIC_RELAXED)) == QZ_ARRIVAL_IO)
    lengthen(actor, span, span->back ? span->away : now + qzi_span_cpu.lost - span->away);
  span->back = false;
  begin(actor, span, now);
}

__attribute__((noinline)) void qzi_span_give(struct qzi_publisher *p, struct qzi_pub_thread *to, unsigned arrival) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!actor) return;
  __atomic_store_n(&to->chain, qzi_path_now(actor->path) | arrival, __ATOMIC_RELAXED);
  if (arrival == QZ_ARRIVAL_JOINED && to != current(p))
    return; /* called on its parent's stack: see qzi_span_call_ended */
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  uint64_t now;
  switch (arrival) {
  case QZ_ARRIVAL_WOKEN:
    cut(actor, self, clock_now(), KIND_NONE);
    longest(&of_epoch(to)->now, &self->now, qzi_what_if_locks ? qzi_what_if_lock(waits_for(to)) : 0);
    break;
  case QZ_ARRIVAL_JOINED:
    cut(actor, self, clock_now(), kind_at(to->start));
    qzi_site_ended(actor->record, self, to->start, to->create_site);
    break;
  default: /* the thread gives up its processor */
    now = clock_now();
    cut(actor, self, now, KIND_NONE);
    leaves(self, now, arrival);
    break;
  }
}

__attribute__((noinline)) void qzi_span_take(struct qzi_publisher *p, const struct qzi_pub_thread *t) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!actor) return;
  qzi_path_go_on(actor->path, t);
  takes(actor, t, clock_now());
}

__attribute__((noinline)) void qzi_span_turns(struct qzi_publisher *p, struct qzi_pub_thread *from,
                                              const struct qzi_pub_thread *to) {
  struct qzi_span_actor *actor = actor_of(p);
  if (!actor) return;
  __atomic_store_n(&from->chain, qzi_path_now(actor->path) | QZ_ARRIVAL_OWN, __ATOMIC_RELAXED);
  struct qzi_span *self = running(p, actor);
  uint64_t now = clock_now();
  if (self) {
    cut_here(actor, self, now, KIND_NONE);
    leaves(self, now, QZ_ARRIVAL_OWN);
  }
  qzi_path_go_on(actor->path, to);
  takes(actor, to, now);
}

void qzi_span_spins(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) cut(actor, self, clock_now(), KIND_NONE);
}
void qzi_span_goes_on(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) begin(actor, self, clock_now());
}
/* The time since the last strand ended is the library's, in which the thread waited with its processor. */
static void begins(struct qzi_span_actor *actor, const struct qzi_span *self) {
  uint64_t now = clock_now();
  if (actor->since && (int64_t)(now - actor->since) > 0) qzi_pub_more(&actor->record->aside, now - actor->since);
  begin(actor, self, now);
}
void qzi_span_waited_busy(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) begins(actor, self);
}
/* By the clock of the kernel thread, which stays with its thread: without its waits for CPUs. */
void qzi_span_io_over(const struct qzi_pub_thread *t) {
  struct qzi_span *span = of_epoch(t);
  if (span->back) return;
  span->away = span->before ? 0 : clock_now() - span->away;
  span->back = true;
}
void qzi_span_slept(struct qzi_publisher *p, uint64_t ns) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (self) lengthen(actor, self, self->before ? ticks_now() - self->away : ticks_of(ns));
}
void qzi_span_timed_out(struct qzi_publisher *p, uint64_t deadline_ns) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  int64_t ticks = (int64_t)((self->before ? ticks_now() : qzi_pub_ticks_at(deadline_ns)) - self->away);
  if (ticks > 0) lengthen(actor, self, (uint64_t)ticks);
}

uint64_t qzi_span_aside_begins(struct qzi_publisher *p) { return actor_of(p) ? clock_now() : 0; }
void qzi_span_aside(struct qzi_publisher *p, uint64_t since) {
  struct qzi_span_actor *actor = since ? actor_of(p) : NULL;
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  uint64_t ticks = clock_now() - since;
  if ((int64_t)ticks <= 0) return;
  actor->since += ticks;
  self->now.burdened += ticks;
  qzi_pub_store(&actor->record->aside, actor->record->aside + ticks);
}

void qzi_span_origin(struct qzi_publisher *p, struct qzi_span_origin *origin) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  *origin = (struct qzi_span_origin){.lanes = self->now, .sites = self->sites, .inside = self->inside};
}
void qzi_span_begins_after(struct qzi_publisher *p, const struct qzi_span_origin *origin) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  self->now = origin->lanes;
  self->work = 0;
  self->start = origin->lanes.length;
  self->sites = origin->sites;
  self->inside = origin->inside;
  self->called = 0;
  begins(actor, self);
}

void qzi_span_put(struct qzi_publisher *p, struct qzi_lanes *lanes) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  *lanes = self->now;
}
void qzi_span_get(struct qzi_publisher *p, const struct qzi_lanes *lanes, uint32_t object) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  longest(&self->now, lanes, object && qzi_what_if_locks ? qzi_what_if_lock(object) : 0);
}

/* Returns the lanes in the object's record; they use the words in which the pthread layer stores its chains. */
static struct qzi_lanes *lanes_at(uint32_t object) {
  _Static_assert(sizeof(struct qzi_lanes) == sizeof(uint64_t[4 + QZ_WHAT_IFS]) &&
                   offsetof(struct qz_object, what_if) == offsetof(struct qz_object, chain[2]),
                 "room for lanes");
  return object & QZI_PUB_SHARED ? NULL : (struct qzi_lanes *)(void *)QZI_PUB_OBJECT(object)->chain;
}
void qzi_span_leave_with(struct qzi_publisher *p, uint32_t object) {
  struct qzi_lanes *lanes = lanes_at(object);
  if (lanes) qzi_span_put(p, lanes);
}
void qzi_span_take_from(struct qzi_publisher *p, uint32_t object) {
  const struct qzi_lanes *lanes = lanes_at(object);
  if (lanes) qzi_span_get(p, lanes, 0);
}

void qzi_span_enters(struct qzi_publisher *p, uint8_t bits) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  self->called |= bits & ~self->inside;
  self->inside |= bits;
  qzi_what_if_seen(bits);
}
void qzi_span_leaves(struct qzi_publisher *p, uint8_t bits) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  self->called &= ~bits;
  self->inside &= ~bits;
}

void qzi_span_ended(struct qzi_publisher *p) {
  struct qzi_span_actor *actor = actor_of(p);
  struct qzi_span *self = running(p, actor);
  if (!self) return;
  cut(actor, self, clock_now(), KIND_NONE);
  qzi_span_note_waits(actor);
  struct qz_span_end *end = &qzi_session.head->span_end;
  end->burdened = self->now.burdened;
  end->typical = self->now.typical;
  end->crumb = self->now.crumb;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) end->what_if[k] = self->now.what_if[k];
  __atomic_store_n(&end->length, self->now.length, __ATOMIC_RELEASE);
}

/* ---- switching on --------------------------------------------------------------------------------------------- */

bool qzi_span_prepare(void) {
  struct qz_session *head = qzi_session.head;
  bool wanted = qzi_session.span_base && qzi_session.path_base && qzi_path_clock->wants & QZ_WANTS_SPAN;
  __atomic_fetch_and(&head->flags, ~(QZ_SESSION_SPAN | QZ_SESSION_CPU_WAITS), __ATOMIC_RELAXED);
  head->span_end = (struct qz_span_end){0};
  if (wanted) {
    qzi_span_clock_prepare();
    qzi_what_if_prepare(qzi_path_clock->what_if);
#ifndef QZI_PUB_ONE_THREAD
    uint64_t bytes = sizeof *qzi_span_tasks * (uint64_t)qzi_session.threads;
    if (qzi_span_tasks_bytes < bytes) {
      qzi_span_tasks = bytes <= qzi_pub_space() ? qzi_pub_reserve(bytes) : NULL;
      qzi_span_tasks_bytes = qzi_span_tasks ? bytes : 0;
    }
#endif
    uint64_t scale = tick_scale() ? tick_scale() : UINT64_C(1) << 32;
    qzi_span_burden = ticks_of(BURDEN_NS);
    head->span_end.tick_scale = scale;
    head->span_end.burden = qzi_span_burden;
    uint32_t high = qzi_publishers_kind == QZ_PUBLISHER_PTHREAD ? head->thread_high : qzi_session.processors;
    for (uint32_t k = 0; k < high && k < head->span_table.capacity; k++) qzi_session.span_base[k] = (struct qz_span){0};
  }
  uint32_t flags = wanted ? QZ_SESSION_SPAN | (qzi_span_cpu_waits ? QZ_SESSION_CPU_WAITS : 0) : 0;
  __atomic_fetch_or(&head->flags, flags, __ATOMIC_RELAXED);
  return wanted;
}

bool qzi_span_connect(struct qzi_span_actor **room, uint32_t index, uint64_t since, uint32_t os_tid) {
  const struct qz_session *head = qzi_session.head;
  if (!(head->flags & QZ_SESSION_SPAN) || index >= head->span_table.capacity) return false;
  if (!*room) *room = qzi_pub_reserve(sizeof **room);
  struct qzi_span_actor *actor = *room;
  if (!actor) return false;
  if (actor->made == qzi_pub_epoch && since) return true; /* another kernel thread takes it over */
  *actor = (struct qzi_span_actor){.record = &qzi_session.span_base[index],
                                   .index = index,
                                   .made = qzi_pub_epoch,
                                   .begun = since,
                                   .begun_waited = qzi_span_waited(os_tid)};
  actor->crumbs = (struct qz_path *)(void *)(qzi_session.span_path_base + index * qzi_session.path_stride);
  actor->path = qzi_path_actor(index);
  if (!actor->record->levels_shift) qzi_pub_store(&actor->record->levels_shift, LEVEL_LEAST);
  return true;
}
