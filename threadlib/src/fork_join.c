/* Fork-join: spawn, sync, parallel loops.
 *
 * Owns:    struct qzi_scope, the inside of a qz_scope.
 * Writer:  the thread whose scope it is; children that end on their own stacks add to `remote`.
 * Reader:  deadlock.c.
 * Must not: touch a scope after its last child has been counted: the parent may have returned.
 *
 * A child waits in its parent's deque. If it is still there when the parent syncs, the parent calls it on its own stack,
 * under the child's identity, as long as half a default stack is left. Else it runs on its own stack, wherever a
 * processor takes it.
 */
#include "processor.h"
#include "sanitize.h"
#include "spawn.h"

#include <stdio.h>
#include <string.h>

struct qzi_scope {
  _Atomic(int64_t) remote;    /* children that ended on their own stacks; less `pending` once the parent waits */
  int64_t pending;            /* children not known to have ended */
  struct qzi_thread *waiter;
};
_Static_assert(sizeof(struct qzi_scope) <= sizeof(qz_scope), "qz_scope");

struct qzi_thread *qzi_scope_child_ended(struct qzi_scope *scope) {
  if (atomic_fetch_add_explicit(&scope->remote, 1, memory_order_acq_rel) != -1) return NULL;
  return scope->waiter;
}

static void wait_after(void *arg) {
  struct qzi_scope *scope = arg;
  int64_t pending = scope->pending;
  struct qzi_thread *waiter = scope->waiter;
  if (atomic_fetch_sub_explicit(&scope->remote, pending, memory_order_acq_rel) == pending) qzi_ready(waiter);
}

static void describe(const struct qzi_thread *thread, char *text, size_t bytes) {
  const struct qzi_scope *scope = thread->wait_object;
  snprintf(text, bytes, "%lld spawned calls to end", (long long)-atomic_load(&scope->remote));
}

/* Children were taken by other processors, or have no room on this stack. */
static void sync_slow(struct qzi_scope *scope, uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *self = p->head.current;
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (atomic_load_explicit(&scope->remote, memory_order_acquire) != scope->pending) {
    uint64_t since = 0;
    if (object) {
      qzi_pub_push(&p->head.pub, &self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
      qzi_pub_blocked(&p->head.pub, &self->pub, object);
      qzi_pub_queue_add(object, 1);
      since = qzi_now_ns();
    }
    scope->waiter = self;
    self->wait_object = scope;
    self->wait_describe = describe;
    qzi_park(wait_after, scope);
    self->wait_object = NULL;
    if (object) {
      qzi_pub_queue_add(object, -1);
      qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
      qzi_pub_waited(object, qzi_now_ns() - since, 0);
    }
  }
  if (object) qzi_pub_acquired_shared(object);
  atomic_store_explicit(&scope->remote, 0, memory_order_relaxed);
  scope->pending = 0;
}

static inline void spawn(qz_scope *opaque, const char *name, void (*function)(void *), void *argument, uint64_t site) {
  struct qzi_scope *scope = (struct qzi_scope *)opaque;
  struct qzi_processor *p = qzi_processor_checked();
  uint64_t serial;
  int error;
  qzi_pub_state(&p->head.pub, QZ_STATE_OVERHEAD);
  bool made = qzi_spawn(p, 0, (uintptr_t)function, argument, scope, name, false, site, &serial, &error) != NULL;
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
  if (QZI_LIKELY(made)) scope->pending++;
  else function(argument);
}

void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument) {
  spawn(scope, NULL, function, argument, QZI_CALLER());
}
void qz_spawn_named(qz_scope *scope, const char *name, void (*function)(void *), void *argument) {
  spawn(scope, name, function, argument, QZI_CALLER());
}

void qz_sync(qz_scope *opaque) {
  struct qzi_scope *scope = (struct qzi_scope *)opaque;
  while (scope->pending) {
    struct qzi_processor *p = qzi_processor_self();
    struct qzi_thread *self = p->head.current, *child;
    if (QZI_UNLIKELY(qzi_stack_left(self) < qzi_runtime.stack_bytes / 2) || !(child = qzi_unspawn(p, NULL, scope))) {
      sync_slow(scope, QZI_CALLER());
      return;
    }
    if (qzi_publishing()) qzi_run_inline_published(p, self, child, QZI_CALLER());
    else qzi_run_inline(p, self, child);
    scope->pending--;
    p = qzi_processor_self();
    qzi_enter(p);
    qzi_stack_put(p, child);
    qzi_leave(p);
  }
}

/* ---- parallel loops ---- */

struct loop {
  void (*body)(int64_t begin, int64_t end, void *argument);
  void *argument;
  int64_t grain;
};
struct range { const struct loop *loop; int64_t begin, end; };

/* Halves the range, the right half for whoever comes, until it is one grain long. */
static void run_range(void *arg) {
  struct range range = *(struct range *)arg;
  qz_scope scope = QZ_SCOPE_INIT;
  struct range right[64];
  unsigned n = 0;
  while ((uint64_t)range.end - (uint64_t)range.begin > (uint64_t)range.loop->grain) {
    int64_t middle = range.begin + (int64_t)(((uint64_t)range.end - (uint64_t)range.begin) / 2);
    right[n] = (struct range){ range.loop, middle, range.end };
    qz_spawn(&scope, run_range, &right[n++]);
    range.end = middle;
  }
  range.loop->body(range.begin, range.end, range.loop->argument);
  qz_sync(&scope);
}

void qz_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t, int64_t, void *), void *argument) {
  if (begin >= end) return;
  if (grain <= 0) {
    uint64_t parts = (uint64_t)qzi_runtime.processor_count * 8, length = (uint64_t)end - (uint64_t)begin;
    grain = (int64_t)(length / parts);
    if (grain < 1) grain = 1;
  }
  struct loop loop = { body, argument, grain };
  struct range range = { &loop, begin, end };
  run_range(&range);
}
