/* Waiting in the queue of a synchronization object.
 *
 * Owns:    the path of a waiting thread from the queue until it runs again.
 * Writer, reader: the files of this folder, through sync.h.
 * Must not: access fields that only one kind of object has.
 */
#include "threadlib/src/scheduler/dispatch.h"
#include "sync.h"

static inline void waits_for(struct qzi_object *object, unsigned kind, struct qzi_thread *self) {
  self->wait_object = object;
  self->waiter.kind = kind;
  self->wait_describe = qzi_wait_describe;
}

void qzi_block(struct qzi_object *object, unsigned kind, struct qzi_thread *self) {
  waits_for(object, kind, self);
  qzi_pub_blocked(qzi_publisher_self(), &self->pub, qzi_object_index(object));
}

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

/* Always inlined, so that all callers get a version of their own. `published`: as qzi_park_here. */
static inline __attribute__((always_inline)) bool wait_and_ready(struct qzi_queue *queue, struct qzi_object *object,
                                                                 unsigned kind, qzi_spinlock *lock,
                                                                 struct qzi_waiter *me, uint64_t deadline_ns,
                                                                 struct qzi_thread *other, bool published) {
  struct qzi_thread *self = qzi_waiting_thread(me);
  struct qzi_processor *p = qzi_processor_self();
  me->timed = deadline_ns != QZI_NEVER;
  me->plain = !me->timed && !me->since;
  qzi_queue_append(queue, me);
  object->waiting++;
  waits_for(object, kind, self);
  qzi_pub_queues(&p->head.pub, &self->pub, qzi_object_index(object), object->waiting);
  struct left left = {lock, other};
  void (*after)(void *) = other ? leave : qzi_alone ? NULL : unlock_after;
  void *argument = other ? (void *)&left : (void *)lock;
  if (!me->timed) {
    qzi_park_here(p, self, after, argument, published);
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

/* The two public functions only choose, so that they need no frame of their own. */
#define PARAMETERS                                                                                              \
  struct qzi_queue *queue, struct qzi_object *object, unsigned kind, qzi_spinlock *lock, struct qzi_waiter *me, \
    uint64_t deadline_ns
#define ARGUMENTS queue, object, kind, lock, me, deadline_ns
static __attribute__((noinline)) bool wait_usual(PARAMETERS) { return wait_and_ready(ARGUMENTS, NULL, false); }
static __attribute__((noinline)) bool wait_published(PARAMETERS) { return wait_and_ready(ARGUMENTS, NULL, true); }
bool qzi_wait(PARAMETERS) { return qzi_publishing() ? wait_published(ARGUMENTS) : wait_usual(ARGUMENTS); }

static __attribute__((noinline)) bool wait_and_ready_usual(PARAMETERS, struct qzi_thread *other) {
  return wait_and_ready(ARGUMENTS, other, false);
}
static __attribute__((noinline)) bool wait_and_ready_published(PARAMETERS, struct qzi_thread *other) {
  return wait_and_ready(ARGUMENTS, other, true);
}
bool qzi_wait_and_ready(PARAMETERS, struct qzi_thread *other) {
  return qzi_publishing() ? wait_and_ready_published(ARGUMENTS, other) : wait_and_ready_usual(ARGUMENTS, other);
}
#undef PARAMETERS
#undef ARGUMENTS

static inline void queue_up(struct qzi_processor *p, struct qzi_waiter *waiter) {
  struct qzi_thread *thread = qzi_waiting_thread(waiter);
  thread->blocked = 0;
  qzi_pub_ready(&p->head.pub, &thread->pub);
  qzi_ring_push(&p->fifo, thread);
}
struct qzi_waiter *qzi_queue_take_all(struct qzi_queue *queue, struct qzi_object *object, bool given) {
  struct qzi_waiter *first = NULL, **end = &first, *head = qzi_queue_head(queue), *waiter = head;
  uint32_t index = qzi_publishing() ? qzi_object_index(object) : 0;
  uint64_t now = 0, taken = 0;
  if (!head) return NULL;
  struct qzi_pub_waits waits = {0};
  struct qzi_processor *p = qzi_processor_checked();
  if (qzi_alone) qzi_pub_state(&p->head.pub, QZ_STATE_WAKING);
  do {
    struct qzi_waiter *next = waiter->next;
    waiter->queued = false;
    if (qzi_waiter_claim(waiter)) {
      if (QZI_UNLIKELY(waiter->since && index)) {
        if (!now) now = qzi_pub_ticks();
        qzi_pub_waits_add(index, &waits, qzi_pub_ticks_ns(waiter->since, now));
        qzi_path_give(&p->head.pub, &qzi_waiting_thread(waiter)->pub, QZ_ARRIVAL_WOKEN); /* qzi_lets_go */
      }
      waiter->given = given;
      taken++;
      if (qzi_alone) {
        queue_up(p, waiter);
      } else {
        *end = waiter;
        end = &waiter->next;
      }
    }
    waiter = next;
  } while (waiter != head);
  *end = NULL;
  queue->head = NULL;
  object->waiting = 0;
  qzi_pub_queue(index, 0);
  qzi_pub_waits_end(index, &waits);
  if (given) qzi_pub_acquired_by(index, taken);
  if (qzi_alone) qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
  return first;
}

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
