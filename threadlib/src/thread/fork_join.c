/* Fork-join: spawn and sync. Loops are in parallel_for.c.
 *
 * Owns:    the tasks in the deques (ring.h), until they are called or become threads; scopes are in scope.c.
 * Writer:  the thread that owns the scope.
 *
 * A spawned child is put into its parent's deque, as a task while nothing is published. If it is still there when the
 * parent syncs, the parent calls it on its own stack, under the child's identity, as long as half of a default stack is
 * left. Otherwise the child becomes a thread and runs on its own stack, on the processor that takes it.
 */
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/scheduler/sanitizers.h"
#include "scope.h"
#include "spawn.h"

#include <stdlib.h>
#include <string.h>

/* Calls a function for which no thread could be created. It is in the section whose calls are counted by the caller
 * (abi/session.h). */
__attribute__((section("quartz_start"), noinline, noclone)) static void call(void (*function)(void *), void *argument) {
  function(argument);
  __asm__ volatile(""); /* prevents a tail call: the return address must lie in this section */
}

/* Spawns a thread instead of a task: while publishing is on, so that its creation is recorded, and when the
 * processor has too few free descriptors for the tasks in its deque. */
void qzi_spawn_thread(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                      uint64_t site) {
  struct qzi_processor *p = qzi_processor_checked();
  uint64_t serial;
  int error;
  qzi_tasks_of_now(p);
  (void)qzi_self(); /* a calling task becomes a thread, since it is the creator */
  qzi_pub_state(&p->head.pub, QZ_STATE_MAKING);
  bool made = qzi_spawn(p, 0, function, argument, scope, loop, name, false, site, &serial, &error) != NULL;
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
  if (QZI_LIKELY(made)) {
    scope->pending++;
    return;
  }
  qzi_pub_count(&p->head.pub, site, function);
  call(loop ? qzi_run_range : (void (*)(void *))function, argument);
}

/* Puts a task at the bottom, which is below the limit. It needs no lock: a thief may take tasks and their descriptors
 * at the other end of the deque at the same time, but neither this entry nor the descriptor reserved for it. */
static inline __attribute__((always_inline)) void put_task(struct qzi_processor *p, struct qzi_entry *task,
                                                           struct qzi_scope *scope, bool loop, const char *name,
                                                           uintptr_t function, void *argument, uint64_t site) {
  task->entry = (void (*)(void *))(loop ? (uintptr_t)qzi_run_range : function);
  task->argument = argument;
  task->half = (qzi_entry_half){site, name ? qzi_pub_name(name) : 0}; /* it has no record */
  QZI_SET(task->slot, qzi_task_slot(scope));
  __atomic_store_n(&p->deque.bottom, task + 1, __ATOMIC_RELEASE);
  scope->pending++;
  qzi_wake_idle(p);
}

/* For a deque that is closed or has no room for one more task. */
__attribute__((noinline)) void qzi_spawn_slow(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function,
                                              void *argument, uint64_t site) {
  struct qzi_processor *p = qzi_processor_checked();
  struct qzi_deque *deque = &p->deque;
  qzi_tasks_of_now(p);
  if (deque->mode != QZI_NO_TASKS) {
    qzi_enter(p);
    bool more = qzi_more_tasks(p);
    if (more) qzi_deque_reopen(p);
    qzi_leave(p);
    if (more && !deque->mode) {
      put_task(p, QZI_GET(deque->bottom), scope, loop, name, function, argument, site);
      return;
    }
    if (more && qzi_pub_tasks_usual(&p->head.pub) &&
        qzi_spawn_published(p, scope, loop, name, function, argument, site))
      return;
  }
  qzi_spawn_usual(scope, loop, name, function, argument, site);
}

static inline __attribute__((always_inline)) void spawn(struct qzi_scope *scope, bool loop, const char *name,
                                                        uintptr_t function, void *argument, uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_entry *bottom;
  if (QZI_LIKELY(p && (bottom = QZI_GET(p->deque.bottom)) < QZI_PEEK(p->deque.open)))
    put_task(p, bottom, scope, loop, name, function, argument, site);
  else
    qzi_spawn_closed(scope, loop, name, function, argument, site);
}

void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_entry *bottom;
  if (QZI_LIKELY(p && (bottom = QZI_GET(p->deque.bottom)) < QZI_PEEK(p->deque.open)))
    put_task(p, bottom, (struct qzi_scope *)scope, false, NULL, (uintptr_t)function, argument, QZI_CALLER());
  else if (QZI_LIKELY(p && bottom < QZI_PEEK(p->deque.published)))
    qzi_spawn_open((struct qzi_scope *)scope, function, argument, QZI_CALLER(), p, bottom);
  else if (p && qzi_deque_spanned(&p->deque, bottom))
    qzi_spawn_spanned((struct qzi_scope *)scope, function, argument, QZI_CALLER(), p, bottom);
  else
    qzi_spawn_closed((struct qzi_scope *)scope, false, NULL, (uintptr_t)function, argument, QZI_CALLER());
}
void qz_spawn_named(qz_scope *scope, const char *name, void (*function)(void *), void *argument) {
  spawn((struct qzi_scope *)scope, false, name, (uintptr_t)function, argument, QZI_CALLER());
}

/* Takes the youngest child out of the deque if it can be called on this stack; otherwise returns NULL. */
static inline __attribute__((always_inline)) struct qzi_thread *
callable(struct qzi_processor *p, struct qzi_thread *self, struct qzi_scope *scope) {
  if (QZI_UNLIKELY(qzi_stack_left(self) < qzi_runtime.stack_half)) return NULL;
  return qzi_unspawn(p, NULL, scope);
}

static inline __attribute__((always_inline)) void called(struct qzi_scope *scope, struct qzi_thread *child) {
  struct qzi_processor *p = qzi_processor_self();
  scope->pending--;
  qzi_enter(p);
  qzi_stack_put(p, child);
  qzi_leave(p);
}

/* qz_sync while work and span are recorded, after qzi_span_sync_begins. */
void qzi_sync_span(struct qzi_scope *scope, uint64_t site, struct qzi_merge *merge) {
  struct qzi_span_sync *merged = NULL;
  while (scope->pending) {
    struct qzi_processor *p = qzi_processor_self();
    struct qzi_thread *self = qzi_self(), *child = callable(p, self, scope);
    if (!child) {
      qzi_span_goes_on(qzi_pub_of(p)); /* what follows is not the parent's work */
      qzi_scope_wait(scope, site);
      merged = scope->merged;
      scope->merged = NULL;
      break;
    }
    qzi_run_inline_span(p, self, child, site, merge);
    called(scope, child);
  }
  qzi_span_sync_ended(qzi_publisher_self(), site, merge, merged);
  free(merged);
  qzi_pub_state(qzi_publisher_self(), QZ_STATE_USEFUL);
}

/* qz_sync while publishing is on: all time but that of the children themselves is overhead. */
void qzi_sync_published(struct qzi_scope *scope, uint64_t site) {
  struct qzi_processor *own = qzi_processor_self();
  qzi_tasks_of_now(own);
  qzi_pub_state(qzi_publisher_self(), QZ_STATE_MAKING);
  if (qzi_spanning()) {
    struct qzi_merge merge = {0};
    qzi_span_sync_begins(qzi_publisher_self(), site);
    qzi_sync_span(scope, site, &merge);
    return;
  }
  while (scope->pending) {
    struct qzi_processor *p = qzi_processor_self();
    struct qzi_thread *self = qzi_self(), *child = callable(p, self, scope);
    if (!child) {
      qzi_scope_wait(scope, site);
      break;
    }
    qzi_run_inline_published(p, self, child, site);
    called(scope, child);
  }
  qzi_pub_state(qzi_publisher_self(), QZ_STATE_USEFUL);
}

/* qz_sync while nothing is published and the children are threads, not tasks. */
__attribute__((noinline)) void qzi_sync_threads(struct qzi_scope *scope, uint64_t site) {
  while (scope->pending) {
    if (qzi_publishing()) {
      qzi_sync_published(scope, site);
      return;
    }
    struct qzi_processor *p = qzi_processor_checked();
    struct qzi_thread *self = qzi_self(), *child = callable(p, self, scope);
    if (QZI_UNLIKELY(!child)) {
      qzi_scope_wait(scope, site);
      return;
    }
    qzi_run_inline(p, self, child);
    called(scope, child);
  }
  if (qzi_publishing())
    qzi_pub_state(qzi_publisher_self(), QZ_STATE_USEFUL); /* publishing may have begun during the last call */
}

/* Publishing has begun during the last call of a task. */
static __attribute__((noinline)) void sync_begins_published(struct qzi_scope *scope, uint64_t site) {
  struct qzi_thread *self = qzi_self();
  qzi_pub_run_as(qzi_publisher_self(), &self->pub, QZ_STATE_MAKING);
  qzi_sync_published(scope, site);
}

/* A call in place that became a thread has ended. */
__attribute__((noinline)) void qzi_in_place_ended(struct qzi_processor *p) {
  struct qzi_thread *child = p->head.current;
  qzi_inline_ended(p, qzi_caller(child), child);
  qzi_enter(p);
  qzi_stack_put(p, child);
  qzi_leave(p);
}

/* In the same section, because it calls tasks, and the spawn has counted those calls. */
__attribute__((section("quartz_start"), noinline, noclone)) static void sync_tasks(struct qzi_scope *scope,
                                                                                   uint64_t site) {
  QZI_IN_PLACE_FRAME;
  struct { /* in the frame, since no register survives a call in place */
    struct qzi_scope *scope;
    uint64_t site;
    struct qzi_thread *shown;
  } own;
  own.scope = scope;
  own.site = site;
  struct qzi_processor *p = qzi_processor_checked();
  do {
    /* the youngest entry of the deque, if it is a task of the scope, and can be called on this stack */
    struct qzi_entry *task = QZI_GET(p->deque.bottom) - 1;
    if (QZI_UNLIKELY(qzi_stack_left(p->head.current) < qzi_runtime.stack_half || !qzi_in_place_usual() ||
                     QZI_PEEK(task->slot) != qzi_task_slot(own.scope) || /* also if the deque is empty: see deque.c */
                     !qzi_in_place_starts(p, task, own.scope, &p->deque.open))) {
      qzi_sync_threads(own.scope, own.site);
      return;
    }
    own.shown = qzi_current_hide();
    qzi_in_place_call(task, task->entry, task->argument);
    __asm__("" : "+m"(own)); /* not from registers */
    p = qzi_processor_self();
    if (QZI_UNLIKELY(qzi_in_place_over(p, own.shown) != QZI_CALLED)) {
      qzi_in_place_ended(p);
      if (qzi_publishing()) {
        own.scope->pending--;
        sync_begins_published(own.scope, own.site);
        return;
      }
      p = qzi_processor_self();
    }
  } while (--own.scope->pending);
}

static inline __attribute__((always_inline)) void sync(struct qzi_scope *scope, uint64_t site) {
  if (qzi_publishing()) {
    if (qzi_spanning())
      qzi_sync_tasks_spanned(scope, site);
    else
      qzi_sync_tasks_published(scope, site);
  } else if (QZI_LIKELY(scope->pending)) {
    sync_tasks(scope, site);
  }
}

void qz_sync(qz_scope *scope) { sync((struct qzi_scope *)scope, QZI_CALLER()); }

/* Parts of parallel loops (parallel_for.c). */
void qzi_spawn_range(struct qzi_scope *scope, uintptr_t body, void *range, uint64_t site) {
  spawn(scope, true, NULL, body, range, site);
}
void qzi_sync(struct qzi_scope *scope, uint64_t site) { sync(scope, site); }
