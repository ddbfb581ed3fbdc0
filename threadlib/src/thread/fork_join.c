/* Fork-join: spawn, sync, parallel loops.
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
  if (QZI_UNLIKELY(p->in_place)) (void)qzi_self(); /* the calling task becomes a thread, since it is the creator */
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

/* Returns whether one more task may be put into the deque, i.e. whether there is a free descriptor for it. Under the
 * biased lock. */
static bool more_tasks(struct qzi_processor *p) {
  uint32_t bottom = atomic_load_explicit(&p->deque.bottom, memory_order_relaxed);
  if ((int32_t)(p->task_limit - bottom) > 0) return true;
  uint32_t in_place = p->task_end - p->task_limit;
  uint32_t size = bottom - atomic_load_explicit(&p->deque.top, memory_order_relaxed);
  if (size >= p->task_room || size + in_place >= p->free_count) return false;
  p->task_limit = bottom + 1;
  p->task_end = p->task_limit + in_place;
  return true;
}

/* Puts a task at `bottom`, which is below the limit. It needs no lock: a thief may take tasks and their descriptors
 * at the other end of the deque at the same time, but neither this slot nor the descriptor reserved for it. */
static inline __attribute__((always_inline)) void put_task(struct qzi_processor *p, uint32_t bottom,
                                                           struct qzi_scope *scope, bool loop, const char *name,
                                                           uintptr_t function, void *argument, uint64_t site) {
  uint32_t name_offset = name ? qzi_pub_name(name) : 0;
  struct qzi_ring *ring = &p->deque;
  uint32_t place = bottom & ring->mask;
  struct qzi_task *task = &ring->task[place];
  uintptr_t entry = loop ? (uintptr_t)qzi_run_range : function;
  task->half[0] = qzi_task_of(entry, (uintptr_t)argument);
  task->half[1] = (qzi_task_half){site, name_offset};
  ring->slot[place] = qzi_task_slot(scope);
  atomic_store_explicit(&ring->bottom, bottom + 1, memory_order_release);
  qzi_pub_increment(&p->head.pub.spawns);
  scope->pending++;
  qzi_wake_idle(p);
}

/* For a thief that waits for an answer, or a deque that has no room for one more task. */
static __attribute__((noinline)) void spawn_slow(struct qzi_scope *scope, bool loop, const char *name,
                                                 uintptr_t function, void *argument, uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_enter(p);
  bool more = more_tasks(p);
  qzi_leave(p);
  if (more)
    put_task(p, atomic_load_explicit(&p->deque.bottom, memory_order_relaxed), scope, loop, name, function, argument,
             site);
  else
    qzi_spawn_thread(scope, loop, name, function, argument, site);
}

static inline __attribute__((always_inline)) void spawn(struct qzi_scope *scope, bool loop, const char *name,
                                                        uintptr_t function, void *argument, uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  if (QZI_UNLIKELY(qzi_publishing() || !p)) {
    qzi_spawn_usual(scope, loop, name, function, argument, site);
    return;
  }
  uint32_t bottom = atomic_load_explicit(&p->deque.bottom, memory_order_relaxed);
  if (QZI_UNLIKELY(atomic_load_explicit(&p->revoked, memory_order_acquire) || (int32_t)(p->task_limit - bottom) <= 0))
    spawn_slow(scope, loop, name, function, argument, site);
  else
    put_task(p, bottom, scope, loop, name, function, argument, site);
}

void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument) {
  spawn((struct qzi_scope *)scope, false, NULL, (uintptr_t)function, argument, QZI_CALLER());
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
static __attribute__((noinline)) void sync_threads(struct qzi_scope *scope, uint64_t site) {
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
static __attribute__((noinline)) void ended_as_thread(struct qzi_processor *p, struct qzi_in_place *own) {
  qzi_inline_ended(p, own->caller, own->thread);
  qzi_enter(p);
  qzi_stack_put(p, own->thread);
  qzi_leave(p);
}

/* Calls the youngest entry of the deque if it is a task of own->scope; returns false if it is not, or cannot be
 * called on this stack. (It has as few stores as possible: they determine the cost of a spawn and a sync.) */
static inline __attribute__((always_inline)) bool call_in_place(struct qzi_in_place *own) {
  struct qzi_processor *p = qzi_processor_checked();
  struct qzi_ring *ring = &p->deque;
  if (QZI_UNLIKELY(qzi_stack_left(p->head.current) < qzi_runtime.stack_half || !qzi_in_place_usual())) return false;
  atomic_store_explicit(&p->busy, 1,
                        memory_order_relaxed); /* like qzi_enter, without its test: tasks exist only with membarrier */
  atomic_signal_fence(memory_order_seq_cst);
  uint32_t bottom = atomic_load_explicit(&ring->bottom, memory_order_relaxed) - 1, place = bottom & ring->mask;
  if (QZI_UNLIKELY(atomic_load_explicit(&p->revoked, memory_order_acquire) ||
                   ring->slot[place] !=
                     qzi_task_slot(own->scope))) { /* also true if the deque is empty: then the slot holds no task */
    qzi_leave(p);
    return false;
  }
  const struct qzi_task *task = &ring->task[place];
  void (*entry)(void *) = task->entry;
  void *argument = task->argument;
  own->task.half[0] = task->half[0];
  own->task.half[1] = task->half[1];
  qzi_ring_taken_youngest(ring, bottom);
  qzi_pub_increment(&p->head.pub.dequeued);
  own->outer = p->in_place;
  p->in_place = qzi_in_place_at(own);
  p->task_limit--;
  if (!own->outer) qzi_current_hide();
  qzi_leave(p);
  qzi_in_place_call(own, entry, argument);
  own->scope->pending--;
  p = qzi_processor_self();
  atomic_store_explicit(&p->busy, 1,
                        memory_order_relaxed); /* not to protect the queues, but from hooks in signal handlers */
  atomic_signal_fence(memory_order_seq_cst);
  bool is_thread =
    p->in_place != qzi_in_place_at(own); /* the call has become a thread, and own is no longer in the list */
  if (QZI_LIKELY(!is_thread)) {
    p->in_place = own->outer;
    qzi_task_ended(p);
    if (!own->outer) qzi_current_show(p);
  }
  qzi_leave(p);
  if (QZI_UNLIKELY(is_thread)) ended_as_thread(p, own);
  return true;
}

/* In the same section, because it calls tasks, and the spawn has counted those calls. */
__attribute__((section("quartz_start"), noinline, noclone)) static void sync_tasks(struct qzi_scope *scope,
                                                                                   uint64_t site) {
  QZI_IN_PLACE_FRAME;
  struct qzi_in_place own;
  own.scope = scope;
  do {
    if (QZI_UNLIKELY(!call_in_place(&own))) {
      sync_threads(own.scope, site);
      return;
    }
    if (qzi_publishing()) {
      sync_begins_published(own.scope, site);
      return;
    }
  } while (own.scope->pending);
}

static inline __attribute__((always_inline)) void sync(struct qzi_scope *scope, uint64_t site) {
  if (qzi_publishing()) {
    if (qzi_spanning())
      qzi_sync_usual_span(scope, site);
    else
      qzi_sync_usual(scope, site);
  } else if (QZI_LIKELY(scope->pending)) {
    sync_tasks(scope, site);
  }
}

void qz_sync(qz_scope *scope) { sync((struct qzi_scope *)scope, QZI_CALLER()); }

/* ---- parallel loops ---- */

struct loop {
  void (*body)(int64_t begin, int64_t end, void *argument);
  void *argument;
  int64_t grain;
  uint64_t site; /* return address of the call of qz_parallel_for; counted as the call site of each call of the body */
};
struct range {
  const struct loop *loop;
  int64_t begin, end;
};

uintptr_t qzi_range_body(const void *range) { return (uintptr_t)((const struct range *)range)->loop->body; }

/* Halves the range until it is at most one grain long, and spawns each right half. Each thread calls the body once;
 * that call was counted when the thread was created (abi/session.h, start_low). */
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_run_range(void *arg) {
  struct range range = *(struct range *)arg;
  const struct loop *loop = range.loop;
  struct qzi_scope scope;
  memset(&scope, 0, sizeof scope);
  struct range right[64];
  unsigned n = 0;
  while ((uint64_t)range.end - (uint64_t)range.begin > (uint64_t)loop->grain) {
    int64_t middle = range.begin + (int64_t)(((uint64_t)range.end - (uint64_t)range.begin) / 2);
    right[n] = (struct range){loop, middle, range.end};
    spawn(&scope, true, NULL, (uintptr_t)loop->body, &right[n++], loop->site);
    range.end = middle;
  }
  loop->body(range.begin, range.end, loop->argument);
  sync(&scope, loop->site);
}

void qz_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t, int64_t, void *),
                     void *argument) {
  if (begin >= end) return;
  if (grain <= 0) {
    uint64_t parts = (uint64_t)qzi_runtime.processor_count * 8, length = (uint64_t)end - (uint64_t)begin;
    grain = (int64_t)(length / parts);
    if (grain < 1) grain = 1;
  }
  struct loop loop = {body, argument, grain, QZI_CALLER()};
  struct range range = {&loop, begin, end};
  qzi_pub_count(qzi_publisher_self(), loop.site, (uintptr_t)body);
  qzi_run_range(&range);
}
