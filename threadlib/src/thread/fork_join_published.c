/* Spawn and sync of tasks while publishing is on: a task has a record in the session, so that it is seen as a thread,
 * but no descriptor until it is taken by another processor or needs an identity (docs/reference/threads.md, "Tasks").
 *
 * Owns:    nothing.
 * Writer:  the parent, which calls its children on its own stack.
 * Must not: publish anything else than fork_join.c and thread.c do for a thread that its parent calls. It leaves all
 * uncommon cases to them: no record, a deque without tasks, a stack without room, work and span.
 */
#include "scope.h"
#include "spawn.h"

static inline __attribute__((always_inline)) bool spawn(struct qzi_processor *p, struct qzi_scope *scope, bool loop,
                                                        const char *name, uintptr_t function, void *argument,
                                                        uint64_t site) {
  struct qzi_publisher *publisher = &p->head.pub;
  uint32_t name_at = QZI_UNLIKELY(name != NULL) ? qzi_pub_name(name) : 0;
  qzi_pub_now(publisher, QZ_STATE_MAKING);
  uint64_t chain, serial = p->serial + QZI_SERIAL_STEP;
  uint64_t record = qzi_pub_task_put(publisher, serial, function, name_at, site, &chain);
  if (QZI_UNLIKELY(!record)) return false; /* the state is the same in what follows */
  p->serial = serial;
  struct qzi_entry *task = QZI_GET(p->deque.bottom);
  task->entry = (void (*)(void *))(loop ? (uintptr_t)qzi_run_range : function);
  task->argument = argument;
  task->site = site;
  task->name = name_at;
  task->record = (uint32_t)record;
  task->chain = chain;
  QZI_SET(task->slot, qzi_task_slot(scope));
  __atomic_store_n(&p->deque.bottom, task + 1, __ATOMIC_RELEASE);
  scope->pending++;
  qzi_wake_idle(p);
  qzi_pub_now(publisher, QZ_STATE_USEFUL);
  return true;
}

bool qzi_spawn_published(struct qzi_processor *p, struct qzi_scope *scope, bool loop, const char *name,
                         uintptr_t function, void *argument, uint64_t site) {
  return spawn(p, scope, loop, name, function, argument, site);
}
static __attribute__((noinline)) void spawn_open(struct qzi_scope *scope, bool loop, const char *name,
                                                 uintptr_t function, void *argument, uint64_t site) {
  if (QZI_UNLIKELY(!spawn(qzi_processor_self(), scope, loop, name, function, argument, site)))
    qzi_spawn_usual(scope, loop, name, function, argument, site);
}
/* Makes no frame itself. */
void qzi_spawn_closed(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site) {
  const struct qzi_processor *p = qzi_processor_self();
  if (QZI_LIKELY(p && QZI_GET(p->deque.bottom) < QZI_PEEK(p->deque.published)))
    spawn_open(scope, loop, name, function, argument, site);
  else if (qzi_spanning() && p && p->deque.mode == QZI_NO_TASKS)
    qzi_spawn_usual(scope, loop, name, function, argument, site);
  else
    qzi_spawn_slow(scope, loop, name, function, argument, site);
}

/* A call in place has ended, and publishing has ended or begun again meanwhile: what it published is left as it is. */
static __attribute__((noinline)) void ended_unpublished(struct qzi_scope *scope, uint64_t site,
                                                        struct qz_thread *record, uint32_t index_plus_1) {
  qzi_pub_task_ended(&qzi_processor_self()->head.pub, record, index_plus_1);
  struct qzi_thread *self = qzi_self();
  qzi_pub_run_as(qzi_publisher_self(), &self->pub, QZ_STATE_MAKING);
  qzi_sync_threads(scope, site);
}

/* In the section whose calls are counted when the tasks are spawned (abi/session.h, start_low). */
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_sync_tasks_published(struct qzi_scope *scope,
                                                                                          uint64_t site) {
  QZI_IN_PLACE_FRAME;
  if (!scope->pending) return;
  struct { /* in the frame, since no register survives a call in place */
    struct qzi_scope *scope;
    struct qz_thread *parent, *child;
    struct qzi_thread *shown;
    uint64_t key;
    uint32_t parent_plus_1, child_plus_1, epoch;
  } own;
  struct qzi_processor *p = qzi_processor_checked();
  struct qzi_publisher *publisher = &p->head.pub;
  own.scope = scope;
  own.epoch = qzi_pub_epoch;
  uint32_t object = qzi_pub_site(publisher, QZ_KIND_JOIN, site);
  own.key = QZI_PUB_KEY(QZ_KIND_JOIN, object);
  own.parent = qzi_pub_running(own.epoch);
  own.parent_plus_1 = (uint32_t)publisher->thread_plus_1;
  if (QZI_UNLIKELY(!own.parent || !object || !qzi_pub_tasks_usual(publisher))) {
    qzi_sync_usual(scope, site);
    return;
  }
  qzi_pub_now(publisher, QZ_STATE_MAKING);
  do {
    struct qzi_entry *task = QZI_GET(p->deque.bottom) - 1;
    if (QZI_UNLIKELY(qzi_stack_left(p->head.current) < qzi_runtime.stack_half || !qzi_in_place_usual() ||
                     QZI_PEEK(task->slot) != qzi_task_slot(own.scope) || !task->record ||
                     !qzi_pub_has_room(own.parent) || !qzi_in_place_starts(p, task, own.scope, &p->deque.published))) {
      qzi_sync_usual(own.scope, site);
      return;
    }
    own.child_plus_1 = task->record;
    own.child = qzi_pub_record_at(task->record);
    qzi_pub_calls(own.parent, own.key);
    own.shown = qzi_current_hide();
    qzi_pub_task_begins(publisher, own.child, own.child_plus_1);
    __asm__("" : "+m"(own)); /* else gcc keeps its fields in more places of the frame */
    qzi_in_place_call(task, task->entry, task->argument);
    p = qzi_processor_self();
    publisher = &p->head.pub;
    if (QZI_LIKELY(qzi_in_place_over(p, own.shown) == QZI_CALLED)) {
      if (QZI_UNLIKELY(!qzi_publishing() || own.epoch != qzi_pub_epoch)) {
        own.scope->pending--;
        ended_unpublished(own.scope, site, own.child, own.child_plus_1);
        return;
      }
      qzi_pub_run_record(publisher, own.parent, own.parent_plus_1, QZ_STATE_MAKING);
      qzi_pub_task_ended(publisher, own.child, own.child_plus_1);
      if (QZI_UNLIKELY(!qzi_pub_take_off(own.parent, own.key))) qzi_pub_remove(own.parent, own.key);
      qzi_pub_joined(publisher, site, QZ_KEY_INDEX(own.key));
    } else {
      qzi_in_place_ended(p);
      qzi_pub_pop(&p->head.current->pub, own.key);
      qzi_pub_joined(publisher, site, QZ_KEY_INDEX(own.key));
      own.parent = qzi_pub_running(own.epoch); /* the caller is a thread now */
      if (QZI_UNLIKELY(!own.parent)) {
        own.scope->pending--;
        qzi_sync_threads(own.scope, site);
        return;
      }
    }
  } while (--own.scope->pending);
  qzi_pub_now(publisher, QZ_STATE_USEFUL);
}
