/* Spawn and sync while publishing is on: the common case, in one function each. The number of stores determines its
 * speed.
 *
 * Owns:    nothing.
 * Writer:  the parent, which calls its children on its own stack.
 * Must not: behave differently from fork_join.c and thread.c, which do the same in more steps. It leaves all uncommon
 * cases to them: no free descriptor, an empty deque, a stack without room, a record of another epoch.
 */
#include "scope.h"
#include "spawn.h"

void qzi_spawn_usual(struct qzi_scope *scope, bool loop, const char *name, uintptr_t function, void *argument,
                     uint64_t site) {
  struct qzi_processor *p = qzi_processor_self();
  if (QZI_UNLIKELY(!p || !qzi_thread_self() || !__atomic_load_n(&p->head.pub.time_path, __ATOMIC_ACQUIRE) || name)) {
    qzi_spawn_thread(scope, loop, name, function, argument, site);
    return;
  }
  qzi_enter(p);
  struct qzi_deque *deque = &p->deque;
  uint32_t free_count = p->free_count;
  struct qzi_entry *bottom = QZI_GET(deque->bottom);
  if (QZI_UNLIKELY(!free_count || bottom == deque->end || deque->limit != deque->base)) { /* or it may have tasks */
    qzi_leave(p);
    qzi_spawn_thread(scope, loop, name, function, argument, site);
    return;
  }
  qzi_pub_now(&p->head.pub, QZ_STATE_MAKING);
  struct qzi_thread *thread = p->free[--free_count];
  p->free_count = free_count;
  if (free_count >= QZI_AHEAD) qzi_ahead_descriptor(p->free[free_count - QZI_AHEAD]);
  qzi_thread_new(p, thread, function, argument, scope, loop, 0, false, site);
  QZI_SET(bottom->slot, thread); /* other processors cannot take it before qzi_leave */
  __atomic_store_n(&deque->bottom, bottom + 1, __ATOMIC_RELEASE);
  scope->pending++;
  qzi_pub_queued(&p->head.pub, &thread->pub, &p->head.current->pub);
  qzi_leave(p);
  qzi_wake_idle(p);
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
}

/* Takes the youngest entry of the deque if it is a thread and a child of the scope; otherwise returns NULL. */
static inline __attribute__((always_inline)) struct qzi_thread *
take_child(struct qzi_processor *p, const struct qzi_scope *scope, uint32_t epoch) {
  struct qzi_deque *deque = &p->deque;
  struct qzi_thread *child = NULL;
  qzi_enter(p);
  struct qzi_entry *bottom = QZI_GET(deque->bottom);
  if (QZI_LIKELY(bottom != QZI_GET(deque->top))) {
    child = QZI_GET(bottom[-1].slot);
    if (QZI_LIKELY(!qzi_is_task(child) && !qzi_is_gone(child) && child->scope == scope &&
                   qzi_pub_is_of(child->pub.record, epoch))) {
      qzi_deque_taken(deque, bottom - 1);
      uint64_t dequeued = p->head.pub.dequeued + 1;
      qzi_pub_store(&p->head.pub.dequeued, dequeued);
      qzi_pub_store(&p->head.pub.record->dequeued, dequeued);
    } else {
      child = NULL;
    }
  }
  qzi_leave(p);
  return child;
}

/* span: work and span are recorded. */
static inline __attribute__((always_inline)) void sync_usual(struct qzi_scope *scope, uint64_t site, bool span) {
  if (!scope->pending) return;
  struct { /* in the frame, since no register survives a call in place */
    struct qzi_scope *scope;
    struct qzi_thread *thread, *caller;
  } own;
  struct qzi_merge merge;
  own.scope = scope;
  own.caller = qzi_self();
  struct qzi_processor *p = qzi_processor_self();
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (QZI_UNLIKELY(!object || !p->head.pub.time_path || qzi_stack_left(own.caller) < qzi_runtime.stack_half)) {
    qzi_sync_published(scope, site);
    return;
  }
  if (span) {
    merge = (struct qzi_merge){0};
    qzi_span_sync_begins(&p->head.pub, site);
  }
  qzi_pub_now(&p->head.pub, QZ_STATE_MAKING);
  do {
    struct qzi_publisher *publisher = &p->head.pub;
    struct qzi_thread *self = own.caller, *child = NULL;
    uint32_t epoch = qzi_pub_epoch;
    if (QZI_LIKELY(qzi_pub_usual(publisher, &self->pub, epoch) && qzi_pub_has_room(self->pub.record) &&
                   qzi_in_place_usual()))
      child = take_child(p, own.scope, epoch);
    if (QZI_UNLIKELY(!child)) {
      if (span)
        qzi_sync_span(own.scope, site, &merge);
      else
        qzi_sync_published(own.scope, site);
      return;
    }
    qzi_pub_calls(self->pub.record, QZI_PUB_KEY(QZ_KIND_JOIN, object));
    qzi_inline_begins(p, self, child);
    qzi_pub_run_usual(publisher, &child->pub, QZ_STATE_USEFUL);
    own.thread = child;
    __asm__("" : "+m"(own)); /* else gcc keeps its fields in more places of the frame */
    qzi_in_place_call_thread(child, child->pub.loop ? qzi_run_range : (void (*)(void *))child->pub.start,
                             child->argument);
    p = qzi_processor_self();
    child = own.thread;
    if (span) qzi_span_call_ended(&p->head.pub, &own.caller->pub, &merge);
    qzi_inline_ended_published(p, own.caller, child, site, object);
    qzi_enter(p);
    qzi_stack_put(p, child);
    qzi_leave(p);
  } while (--own.scope->pending);
  if (span) qzi_span_sync_ended(&p->head.pub, site, &merge, NULL);
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
}

/* In the section whose calls are counted when the threads are created (abi/session.h, start_low). */
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_sync_usual(struct qzi_scope *scope,
                                                                                uint64_t site) {
  QZI_IN_PLACE_FRAME;
  sync_usual(scope, site, false);
}
__attribute__((section("quartz_start"), noinline, noclone)) void qzi_sync_usual_span(struct qzi_scope *scope,
                                                                                     uint64_t site) {
  QZI_IN_PLACE_FRAME;
  sync_usual(scope, site, true);
}
