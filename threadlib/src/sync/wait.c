/* Waiting in the queue of a synchronization object.
 *
 * Owns:    the path of a waiting thread from the queue until it runs again.
 * Writer, reader: the files of this folder, through sync.h.
 * Must not: access fields that only one kind of object has.
 */
#include "threadlib/src/scheduler/dispatch.h"
#include "sync.h"

static inline __attribute__((always_inline)) void block(struct qzi_object *object, unsigned kind,
                                                        struct qzi_thread *self) {
  self->wait_object = object;
  self->waiter.kind = kind;
  self->wait_describe = qzi_wait_describe;
  qzi_pub_blocked(qzi_publisher_self(), &self->pub, qzi_object_index(object));
}

void qzi_block(struct qzi_object *object, unsigned kind, struct qzi_thread *self) { block(object, kind, self); }

struct left {
  qzi_spinlock *lock;
  struct qzi_thread *other;
};

/* Runs after the switch away from the waiter: as soon as the lock is released, another thread may wake the waiter,
 * and it may begin another wait. */
static void leave(void *argument) {
  struct left left = *(struct left *)argument;
  qzi_unlock(left.lock);
  if (left.other) qzi_ready(left.other);
}

static void unlock_after(void *lock) { qzi_unlock(lock); }

/* Always inlined, so that both callers get a version of their own. */
static inline __attribute__((always_inline)) bool wait_and_ready(struct qzi_queue *queue, struct qzi_object *object,
                                                                 unsigned kind, qzi_spinlock *lock,
                                                                 struct qzi_waiter *me, uint64_t deadline_ns,
                                                                 struct qzi_thread *other) {
  struct qzi_thread *self = qzi_waiting_thread(me);
  me->timed = deadline_ns != QZI_NEVER;
  me->plain = !me->timed && !me->since;
  qzi_queue_append(queue, me);
  object->waiting++;
  qzi_pub_queue(qzi_object_index(object), object->waiting);
  block(object, kind, self);
  struct left left = {lock, other};
  void (*after)(void *) = other ? leave : qzi_alone ? NULL : unlock_after;
  void *argument = other ? (void *)&left : (void *)lock;
  if (!me->timed) {
    qzi_park_here(qzi_processor_self(), self, after, argument);
    return true;
  }
  qzi_timed_begin(self);
  if (qzi_park_until(after, argument, deadline_ns)) return true;
  qzi_lock(lock);
  if (me->queued) {
    qzi_queue_remove(queue, me);
    object->waiting--;
    qzi_pub_queue(qzi_object_index(object), object->waiting);
  }
  if (me->since) qzi_pub_waited_locked(qzi_object_index(object), qzi_pub_ticks_ns(me->since, qzi_pub_ticks()), 0);
  qzi_unlock(lock);
  return false;
}

bool qzi_wait(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
              struct qzi_waiter *me, uint64_t deadline_ns) {
  return wait_and_ready(queue, object, kind, lock, me, deadline_ns, NULL);
}
bool qzi_wait_and_ready(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock,
                        struct qzi_waiter *me, uint64_t deadline_ns, struct qzi_thread *other) {
  return wait_and_ready(queue, object, kind, lock, me, deadline_ns, other);
}

static inline void queue_up(struct qzi_processor *p, struct qzi_waiter *waiter) {
  struct qzi_thread *thread = qzi_waiting_thread(waiter);
  thread->blocked = 0;
  qzi_pub_ready(&p->head.pub, &thread->pub);
  qzi_ring_push(&p->fifo, thread);
}
void qzi_queue_up_alone(struct qzi_waiter *waiter) { queue_up(qzi_processor_self(), waiter); }

void qzi_wake_list(struct qzi_waiter *list) {
  if (!list) return;
  struct qzi_processor *p = qzi_processor_checked();
  qzi_pub_state(&p->head.pub, QZ_STATE_WAKING);
  qzi_enter(p);
  for (struct qzi_waiter *waiter = list; waiter; waiter = waiter->next) queue_up(p, waiter);
  qzi_leave(p); /* from here on other processors may take the threads */
  qzi_wake_idle(p);
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
}

/* ---- on one processor, while nothing is published ---- */

QZI_HIDDEN struct qzi_back qzi_wait_alone_body(struct qzi_queue *queue, struct qzi_object *object, unsigned kind,
                                               void *item, const void *from);
#if !defined(__x86_64__) /* for x86-64 it is in entry_x86_64.S */
int qzi_wait_alone(struct qzi_queue *queue, struct qzi_object *object, unsigned kind, void *item) {
  return (int)qzi_wait_alone_body(queue, object, kind, item, __builtin_return_address(0)).error;
}
#endif

static __attribute__((noinline)) struct qzi_passed switch_to_new(struct qzi_processor *p, struct qzi_thread *self,
                                                                 struct qzi_thread *next) {
  return qzi_switch_to(p, self, next, NULL, NULL);
}

__attribute__((aligned(64))) struct qzi_back qzi_wait_alone_body(struct qzi_queue *queue, struct qzi_object *object,
                                                                 unsigned kind, void *item, const void *from) {
  uint64_t control = qzi_fp_leave(); /* early, while this function's cache lines are being loaded: right before the
                                        switch it took 6 cycles */
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *self = qzi_self();
  struct qzi_waiter *me = qzi_waiter_of(self, 0, item);
  me->plain = true;
  qzi_queue_append(queue, me);
  object->waiting++;
  self->wait_object = object;
  me->kind = kind;
  self->wait_describe = qzi_wait_describe;
  p->head.left_from = from;
  self->blocked = 1;
  uint32_t tick = atomic_load_explicit(&p->tick, memory_order_relaxed) + 1;
  struct qzi_thread *next = atomic_load_explicit(&p->next, memory_order_relaxed);
  if (QZI_LIKELY(next && tick % 64 && p->streak < QZI_STREAK_LIMIT - 1)) {
    atomic_store_explicit(&p->tick, tick, memory_order_relaxed);
    atomic_store_explicit(&p->next, NULL, memory_order_relaxed);
    p->streak++;
    p->head.pub.dequeued++;
  } else {
    next = qzi_take(p);
  }
  struct qzi_exceptions exceptions = qzi_exceptions_save(p);
  struct qzi_passed passed;
  if (QZI_LIKELY(next && qzi_life(next) != QZI_NEW)) {
    p->head.pub.switches++;
    qzi_current_set(p, next);
    qzi_sanitize_to_thread(&self->sanitizer_stack, next);
    passed = qzi_switch(control, &self->context, next->context, NULL, NULL);
  } else {
    passed = next ? switch_to_new(p, self, next) : qzi_switch_to_scheduler(p, self, NULL, NULL);
  }
  qzi_sanitize_arrived(self->sanitizer_stack);
  p = qzi_processor_self();
  if (QZI_UNLIKELY(p->exceptions)) *p->exceptions = exceptions;
  qzi_leave(p);
  if (QZI_UNLIKELY(passed.after)) passed.after(passed.arg);
  return (struct qzi_back){me->given ? 0 : EPIPE, p->head.left_from == from};
}

static __attribute__((noinline)) int wake_before(struct qzi_processor *p, struct qzi_thread *before) {
  qzi_ring_push(&p->fifo, before);
  return 0;
}

__attribute__((aligned(64))) int qzi_wake_alone(struct qzi_thread *thread) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *before = atomic_load_explicit(&p->next, memory_order_relaxed);
  thread->blocked = 0;
  p->head.pub.woken++;
  atomic_store_explicit(&p->next, thread, memory_order_relaxed);
  return QZI_LIKELY(before == NULL) ? 0 : wake_before(p, before);
}

void qzi_give_all_alone(struct qzi_queue *queue, struct qzi_object *object) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_waiter *waiter = queue->head;
  for (; object->waiting; object->waiting--) {
    struct qzi_thread *thread = qzi_waiting_thread(waiter);
    waiter->given = true;
    waiter->queued = false;
    thread->blocked = 0;
    p->head.pub.woken++;
    qzi_ring_push(&p->fifo, thread);
    waiter = waiter->next;
  }
  queue->head = NULL;
}
