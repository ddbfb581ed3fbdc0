/* Scopes: the children of a spawn that run on their own stacks, and how a parent waits for them.
 *
 * Owns:    struct qzi_scope (scope.h).
 * Writer:  the thread that owns the scope; children that end on their own stacks add to `remote`.
 * Reader:  fork_join.c, fork_join_usual.c, thread.c; deadlock.c, for what a parent waits for.
 * Must not: access a scope after its last child has been counted: the parent may have returned.
 */
#include "scope.h"
#include "threadlib/src/scheduler/processor.h"
#include "spawn.h"

#include <stdio.h>
#include <stdlib.h>

struct qzi_thread *qzi_scope_child_ended(struct qzi_scope *scope, uint32_t children) {
  if (atomic_fetch_add_explicit(&scope->remote, children, memory_order_acq_rel) != -(int64_t)children) return NULL;
  return scope->waiter;
}

/* Under the lock; the child itself reads without it whether it is in a list (thread.c). */
static inline void link_by(struct qzi_thread *child, struct qzi_thread **link) {
  __atomic_store_n(&child->sibling_link, link, __ATOMIC_RELAXED);
}

void qzi_scope_child_begins(struct qzi_thread *child) {
  struct qzi_scope *scope = child->scope;
  if (qzi_spanning())
    qzi_span_goes_on(
      qzi_publisher_self()); /* the time since the last event was the parent's stack's, not the child's */
  qzi_spin_lock(&scope->lock);
  if (!scope->running) qzi_pub_awaited(scope->object, 0, qzi_pub_index_of(&child->pub));
  child->sibling = scope->running;
  if (child->sibling) link_by(child->sibling, &child->sibling);
  link_by(child, &scope->running);
  scope->running = child;
  qzi_spin_unlock(&scope->lock);
}

/* Work and span: the running child ends, and its chain is merged into the scope, where the parent continues after
 * it. */
static __attribute__((noinline)) void merge(struct qzi_scope *scope) {
  struct qzi_span_sync *room = calloc(1, sizeof *room);
  qzi_spin_lock(&scope->lock);
  if (!scope->merged) {
    scope->merged = room;
    room = NULL;
  }
  if (scope->merged) qzi_span_merge(qzi_publisher_self(), scope->merged);
  qzi_spin_unlock(&scope->lock);
  free(room);
}

void qzi_scope_child_ends(struct qzi_thread *child) {
  struct qzi_scope *scope = child->scope;
  if (qzi_spanning()) merge(scope);
  uint32_t index = qzi_pub_index_of(&child->pub);
  qzi_spin_lock(&scope->lock);
  *child->sibling_link = child->sibling;
  if (child->sibling) link_by(child->sibling, child->sibling_link);
  link_by(child, NULL);
  if (index) qzi_pub_awaited(scope->object, index, scope->running ? qzi_pub_index_of(&scope->running->pub) : 0);
  qzi_spin_unlock(&scope->lock);
}

/* Publishes that the parent waits at `object`; 0: it no longer waits. */
static void waits_at(struct qzi_scope *scope, uint32_t object) {
  qzi_spin_lock(&scope->lock);
  scope->object = object;
  if (scope->running) qzi_pub_awaited(object, 0, qzi_pub_index_of(&scope->running->pub));
  qzi_spin_unlock(&scope->lock);
}

static void wait_after(void *arg) {
  struct qzi_scope *scope = arg;
  int64_t pending = scope->pending;
  struct qzi_thread *waiter = scope->waiter;
  if (atomic_fetch_sub_explicit(&scope->remote, pending, memory_order_acq_rel) == pending) qzi_ready(waiter);
}

/* Children that have ended, and are counted by a later one, which does not end. */
struct uncounted {
  const struct qzi_scope *scope;
  int64_t children;
};
static void add_uncounted(struct qzi_thread *thread, void *arg) {
  struct uncounted *all = arg;
  if (qzi_life(thread) == QZI_ALIVE && thread->scope == all->scope) all->children += thread->uncounted;
}
static void describe(const struct qzi_thread *thread, char *text, size_t bytes) {
  const struct qzi_scope *scope = thread->wait_object;
  struct uncounted all = {scope, 0};
  qzi_stack_each(add_uncounted, &all);
  snprintf(text, bytes, "%lld spawned calls to end", (long long)(-atomic_load(&scope->remote) - all.children));
}

void qzi_scope_wait(struct qzi_scope *scope, uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *self = qzi_self();
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (atomic_load_explicit(&scope->remote, memory_order_acquire) != scope->pending) {
    uint64_t since = 0;
    if (object) {
      qzi_pub_push(&p->head.pub, &self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
      qzi_pub_blocked(&p->head.pub, &self->pub, object);
      qzi_pub_queue_add(object, 1);
      waits_at(scope, object);
      since = qzi_pub_ticks();
    }
    scope->waiter = self;
    self->wait_object = scope;
    self->wait_describe = describe;
    qzi_park(wait_after, scope);
    self->wait_object = NULL;
    if (object) {
      waits_at(scope, 0);
      qzi_pub_queue_add(object, -1);
      qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
      qzi_pub_waited(object, qzi_pub_ticks_ns(since, qzi_pub_ticks()), 0);
    }
  }
  if (object) qzi_pub_acquired_shared(object);
  atomic_store_explicit(&scope->remote, 0, memory_order_relaxed);
  scope->pending = 0;
}
