/* Spawn and sync of tasks while publishing is on: a task has a record in the session, so that it is seen as a thread,
 * but no descriptor until it is taken by another processor or needs an identity (docs/reference/threads.md, "Tasks").
 *
 * Owns:    nothing.
 * Writer:  the parent, which calls its children on its own stack.
 * Must not: publish anything else than fork_join.c and thread.c do for a thread that its parent calls. It leaves all
 * uncommon cases to them: no record, a deque without tasks, a stack without room, work and span.
 *
 * What is seldom done is in functions of its own, which the others call last: so these keep what they need in registers
 * that nobody has to save.
 */
#include "publisher/span_tasks.h"
#include "scope.h"
#include "spawn.h"

/* ---- spawn ---- */

/* Sleeping processors may be woken: between two stores of what is published. */
static __attribute__((noinline)) void put_and_wake(struct qzi_processor *p, uint64_t now) {
  p->head.pub.now = now;
  qzi_wake_idle_slow(p);
  qzi_pub_now(&p->head.pub, QZ_STATE_USEFUL);
}
/* Puts a task, whose record is filled, into p's deque, where its entry is written except for what is published. p is in
 * the state MAKING, with the base `now`. */
static inline __attribute__((always_inline)) void put(struct qzi_processor *p, struct qzi_entry *task,
                                                      struct qzi_scope *scope, uint32_t name,
                                                      const struct qzi_pub_task *made, uint64_t now) {
  struct qzi_publisher *publisher = &p->head.pub;
  task->name_and_record = (uint64_t)(made->index + 1) << 32 | name;
  task->chain = publisher->time_path->word | QZ_ARRIVAL_CREATED;
  qzi_pub_task_put(publisher, made, p->serial += QZI_SERIAL_STEP);
  QZI_SET(task->slot, qzi_task_slot(scope));
  __atomic_store_n(&p->deque.bottom, task + 1, __ATOMIC_RELEASE);
  scope->pending++;
  if (qzi_look_for_idle()) {
    put_and_wake(p, now);
    return;
  }
  now += QZ_NOW_CHANGE;
  publisher->now = now;
  qzi_pub_now_store(publisher->record, now, QZ_STATE_USEFUL);
}
static inline __attribute__((always_inline)) void write_entry(struct qzi_entry *task, void (*entry)(void *),
                                                              void *argument, uint64_t site) {
  task->entry = entry;
  task->argument = argument;
  task->site = site;
}

bool qzi_spawn_published(struct qzi_processor *p, struct qzi_scope *scope, bool loop, const char *name,
                         uintptr_t function, void *argument, uint64_t site) {
  struct qzi_publisher *publisher = &p->head.pub;
  uint32_t name_at = name ? qzi_pub_name(name) : 0;
  struct qzi_pub_task made;
  qzi_pub_now(publisher, QZ_STATE_MAKING);
  if (!qzi_pub_task_make(publisher, function, name_at, site, &made)) return false; /* what follows has the same state */
  if (qzi_spanning()) qzi_span_spawned(publisher, made.index, function, site);
  struct qzi_entry *task = QZI_GET(p->deque.bottom);
  write_entry(task, loop ? qzi_run_range : (void (*)(void *))function, argument, site);
  put(p, task, scope, name_at, &made, publisher->now);
  return true;
}

static __attribute__((noinline)) void spawn_unusual(struct qzi_scope *scope, bool loop, const char *name,
                                                    uintptr_t function, void *argument, uint64_t site) {
  if (!qzi_spawn_published(qzi_processor_self(), scope, loop, name, function, argument, site))
    qzi_spawn_usual(scope, loop, name, function, argument, site);
}
static __attribute__((noinline)) void spawn_again(struct qzi_scope *scope, struct qzi_processor *p) {
  p->head.pub.now += QZ_NOW_CHANGE; /* which has been published */
  const struct qzi_entry *task = QZI_GET(p->deque.bottom);
  spawn_unusual(scope, false, NULL, (uintptr_t)task->entry, task->argument, task->site);
}
void qzi_spawn_open(struct qzi_scope *scope, void (*function)(void *), void *argument, uint64_t site,
                    struct qzi_processor *p, struct qzi_entry *bottom) {
  struct qzi_publisher *publisher = &p->head.pub;
  struct qzi_pub_task made;
  write_entry(bottom, function, argument, site); /* first: then these are not needed any more */
  uint64_t now = publisher->now + QZ_NOW_CHANGE;
  qzi_pub_now_store(publisher->record, now, QZ_STATE_MAKING);
  if (QZI_UNLIKELY(!qzi_pub_task_find(publisher, (uintptr_t)function, site, &made))) {
    spawn_again(scope, p);
    return;
  }
  put(p, bottom, scope, 0, &made, now);
}

/* The same while work and span are recorded. */
void qzi_spawn_spanned(struct qzi_scope *scope, void (*function)(void *), void *argument, uint64_t site,
                       struct qzi_processor *p, struct qzi_entry *bottom) {
  struct qzi_publisher *publisher = &p->head.pub;
  struct qzi_pub_task made;
  write_entry(bottom, function, argument, site);
  uint64_t now = publisher->now + QZ_NOW_CHANGE;
  qzi_pub_now_store(publisher->record, now, QZ_STATE_MAKING);
  if (QZI_UNLIKELY(!qzi_pub_task_find(publisher, (uintptr_t)function, site, &made))) {
    spawn_again(scope, p);
    return;
  }
  qzi_span_spawns(publisher, made.index, (uintptr_t)function, site);
  put(p, bottom, scope, 0, &made, now);
}

void qzi_spawn_closed(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_entry *bottom = p ? QZI_GET(p->deque.bottom) : NULL;
  if (p && (bottom < QZI_PEEK(p->deque.published) || qzi_deque_spanned(&p->deque, bottom)))
    spawn_unusual(scope, loop, name, function, argument, site);
  else if (qzi_spanning() && p && p->deque.mode == QZI_NO_TASKS)
    qzi_spawn_usual(scope, loop, name, function, argument, site);
  else
    qzi_spawn_slow(scope, loop, name, function, argument, site);
}

/* ---- sync ---- */

/* A call in place has ended, and publishing has ended or begun again meanwhile: what it published is left as it is. */
static __attribute__((noinline)) void ended_unpublished(struct qzi_scope *scope, uint64_t site) {
  struct qzi_publisher *publisher = &qzi_processor_self()->head.pub;
  uint32_t child = qzi_pub_runs(publisher);
  scope->pending--;
  qzi_pub_task_ended(publisher, qzi_pub_record_at(child), child);
  struct qzi_thread *self = qzi_self();
  qzi_pub_run_as(qzi_publisher_self(), &self->pub, QZ_STATE_MAKING);
  qzi_sync_threads(scope, site);
}

/* The other calls of a sync while work and span are recorded: some are threads, or what is published has changed. */
static __attribute__((noinline)) void others_span(struct qzi_scope *scope, uint64_t site, bool first,
                                                  struct qzi_merge *merge) {
  qzi_tasks_of_now(qzi_processor_self());
  if (first) qzi_span_sync_begins(qzi_publisher_self(), site);
  qzi_sync_span(scope, site, merge);
}

/* span: work and span are recorded. */
static inline __attribute__((always_inline)) void sync_tasks(struct qzi_scope *scope, uint64_t site, bool span) {
  if (!scope->pending) return;
  struct { /* in the frame, since no register survives a call in place; each costs a store, so they are few */
    struct qzi_scope *scope;
    struct qz_thread *parent;
    struct qzi_thread *shown;
    struct qzi_pub_site_slot *slot; /* of this sync */
    uint64_t site, thread;          /* of the parent, in its place in `now` */
  } own;
  struct { /* if work and span are recorded */
    struct qzi_span *parent;
    struct qzi_merge merge;
  } spans;
  struct qzi_processor *p = qzi_processor_checked();
  struct qzi_publisher *publisher = &p->head.pub;
  own.scope = scope;
  own.site = site;
  own.parent = qzi_pub_running(qzi_pub_epoch);
  if (QZI_UNLIKELY(!own.parent || !publisher->record)) {
    if (span)
      qzi_sync_usual_span(scope, site);
    else
      qzi_sync_usual(scope, site);
    return;
  }
  own.slot = qzi_pub_join_slot(publisher, site);
  if (span) {
    spans.parent = NULL;
    spans.merge = (struct qzi_merge){0};
  }
  uint64_t now = publisher->now + QZ_NOW_CHANGE;
  qzi_pub_now_store(publisher->record, now, QZ_STATE_MAKING);
  own.thread = now & QZI_NOW_THREADS;
  do {
    struct qzi_entry *task = QZI_GET(p->deque.bottom) - 1;
    if (QZI_UNLIKELY(qzi_stack_left(p->head.current) < qzi_runtime.stack_half || !qzi_in_place_usual() ||
                     QZI_PEEK(task->slot) != qzi_task_slot(own.scope) || !qzi_pub_has_room(own.parent) ||
                     !qzi_in_place_starts(p, task, own.scope, span ? &p->deque.spanned : &p->deque.published))) {
      publisher->now = now;
      if (span)
        others_span(own.scope, own.site, !spans.parent, &spans.merge);
      else
        qzi_sync_usual(own.scope, own.site);
      return;
    }
    qzi_pub_calls(own.parent, QZI_PUB_KEY(QZ_KIND_JOIN, own.slot->index));
    own.shown = qzi_current_hide();
    now += QZ_NOW_CHANGE + QZI_NOW_THREAD(task->record) - own.thread;
    publisher->now = now;
    if (span) {
      spans.parent = qzi_span_called(publisher, task->record - 1, !spans.parent, own.site);
      atomic_signal_fence(memory_order_seq_cst);
      if (QZI_UNLIKELY(QZI_PEEK(task->frame) != QZI_IN_PLACE_AT())) qzi_span_became(publisher);
    }
    qzi_pub_task_begins(publisher, qzi_pub_record_at(task->record), now);
    qzi_in_place_call(task, task->entry, task->argument);
    p = qzi_processor_self();
    publisher = &p->head.pub;
    __asm__("" : "+m"(own)); /* not from registers */
    if (QZI_LIKELY(qzi_in_place_over(p, own.shown) == QZI_CALLED)) {
      /* While the deque is open, nothing has changed. A thief closes it, and so does who changes what is published. */
      uint64_t *hot = qzi_hot_get();
      if (QZI_UNLIKELY(!hot || !QZI_PEEK(*(span ? &p->deque.spanned : &p->deque.published))) &&
          (!hot || !qzi_publishing() || own.parent->epoch != qzi_pub_epoch)) {
        ended_unpublished(own.scope, own.site);
        return;
      }
      now = publisher->now;
      uint32_t child = QZ_NOW_THREAD_PLUS_1(now);
      if (span) {
        uint64_t last = own.scope->pending == 1 ? own.site : 0;
        qzi_span_returned(publisher, child - 1, &spans.parent, &spans.merge, last);
        atomic_signal_fence(memory_order_seq_cst);
        if (QZI_UNLIKELY(qzi_thread_self() != own.shown)) qzi_span_became_since(publisher, spans.parent);
      }
      now += QZ_NOW_CHANGE + own.thread - QZI_NOW_THREAD(child);
      struct qz_thread *record = (struct qz_thread *)(void *)((char *)hot - offsetof(struct qz_thread, word));
      qzi_pub_runs_task(publisher->record, own.parent, now, QZ_STATE_MAKING);
      qzi_pub_task_ended(publisher, record, child);
      uint64_t key = QZI_PUB_KEY(QZ_KIND_JOIN, own.slot->index);
      if (QZI_UNLIKELY(own.slot->site != own.site)) { /* another place uses this slot now */
        own.slot = qzi_pub_join_slot(publisher, own.site);
        key = QZI_PUB_KEY(QZ_KIND_JOIN, own.slot->index);
      }
      if (QZI_UNLIKELY(!qzi_pub_take_off(own.parent, key))) qzi_pub_remove(own.parent, key);
      qzi_pub_joined_at(publisher, own.slot);
    } else {
      if (span) qzi_span_call_ended(publisher, &qzi_caller(p->head.current)->pub, &spans.merge);
      qzi_in_place_ended(p);
      own.slot = qzi_pub_join_slot(publisher, own.site);
      qzi_pub_pop(&p->head.current->pub, QZI_PUB_KEY(QZ_KIND_JOIN, own.slot->index));
      if (qzi_publishing()) qzi_pub_joined_at(publisher, own.slot);
      own.parent = qzi_pub_running(own.parent->epoch); /* the caller is a thread now */
      if (QZI_UNLIKELY(!own.parent)) {
        own.scope->pending--;
        qzi_sync_threads(own.scope, own.site);
        return;
      }
      now = publisher->now;
      own.thread = now & QZI_NOW_THREADS;
      if (span && own.scope->pending == 1) qzi_span_sync_ended(publisher, own.site, &spans.merge, NULL);
    }
  } while (--own.scope->pending);
  publisher->now = now += QZ_NOW_CHANGE;
  qzi_pub_now_store(publisher->record, now, QZ_STATE_USEFUL);
}

/* In the section whose calls are counted when the tasks are spawned (abi/session.h, start_low). */
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_sync_tasks_published(struct qzi_scope *scope,
                                                                                          uint64_t site) {
  QZI_IN_PLACE_FRAME;
  sync_tasks(scope, site, false);
}
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_sync_tasks_spanned(struct qzi_scope *scope,
                                                                                        uint64_t site) {
  QZI_IN_PLACE_FRAME;
  sync_tasks(scope, site, true);
}
