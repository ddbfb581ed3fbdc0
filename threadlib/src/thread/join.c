/* Waiting for a thread to end.
 *
 * Owns:    qzi_thread.join: 0 (it runs, and no thread waits for it), the joining thread (parked; + QZI_JOIN_TIMED), or
 *          another value of enum join_word.
 * Writer:  joiners and the ending thread (thread.c), by atomic operations.
 * Reader:  deadlock.c.
 * Must not: access a descriptor whose serial number is not that of the handle.
 *
 * A thread that has not started and is the youngest in its joiner's queue is called on the joiner's stack, under its
 * own identity, since the joiner has to wait anyway. This is done only if the remaining stack is at least as large as a
 * default stack.
 */
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/scheduler/sanitizers.h"
#include "spawn.h"

#include <errno.h>
#include <stdio.h>

static void describe(const struct qzi_thread *thread, char *text, size_t bytes) {
  char label[160];
  snprintf(text, bytes, "the end of %s", qzi_thread_label(thread->wait_object, label, sizeof label));
}

struct wait {
  struct qzi_thread *self, *target;
  bool timed;
};

/* Runs after the switch away from the joiner: from here on the target may wake it. */
static void register_joiner(void *arg) {
  struct wait wait = *(struct wait *)arg;
  uintptr_t running = 0, joiner = (uintptr_t)wait.self | (wait.timed ? QZI_JOIN_TIMED : 0);
  if (!atomic_compare_exchange_strong_explicit(&wait.target->join, &running, joiner, memory_order_acq_rel,
                                               memory_order_acquire))
    if (!wait.timed || qzi_claim(wait.self)) qzi_ready(wait.self);
}

/* The joiner's time-out has won: removes the joiner from the target's word or, if the target is ending, waits until
 * the target has tried to claim it. */
static void deregister(struct qzi_thread *self, struct qzi_thread *target) {
  uintptr_t mine = (uintptr_t)self | QZI_JOIN_TIMED;
  if (atomic_compare_exchange_strong(&target->join, &mine, 0)) return;
  for (unsigned tries = 0; atomic_load_explicit(&target->join, memory_order_acquire) == QZI_JOIN_ENDING; tries++)
    qzi_relax(tries);
}

/* If the target has ended and no joiner has taken it, takes it, on behalf of the join call that returns to `site`. */
static inline bool take_ended(struct qzi_thread *target, void **result) {
  uintptr_t ended = QZI_JOIN_ENDED;
  if (!atomic_compare_exchange_strong_explicit(&target->join, &ended, QZI_JOIN_TAKEN, memory_order_acq_rel,
                                               memory_order_acquire))
    return false;
  if (result) *result = target->result;
  return true;
}
static bool take(struct qzi_thread *target, void **result, uint64_t site) {
  if (!take_ended(target, result)) return false;
  if (qzi_spanning()) qzi_span_joined(qzi_publisher_self(), &target->pub, site);
  if (target != &qzi_main_thread) qzi_thread_free(target);
  return true;
}

/* A stale handle is recognized by its serial number, since the descriptor's changes when it is freed. */
static inline bool current(qz_thread_t handle) {
  return handle.thread && __atomic_load_n(&handle.thread->pub.serial, __ATOMIC_RELAXED) == handle.serial;
}

static int check(qz_thread_t handle) {
  qzi_processor_checked();
  if (!current(handle)) return ESRCH;
  return handle.thread == qzi_self() ? EDEADLK : 0;
}

static int join_slow(qz_thread_t handle, void **result, uint64_t deadline_ns, uint64_t site) {
  int error = check(handle);
  if (error) return error;
  struct qzi_thread *self = qzi_self(), *target = handle.thread;
  struct qzi_publisher *publisher = qzi_pub_of(qzi_processor_self());
  uint32_t object = qzi_pub_site(publisher, QZ_KIND_JOIN, site);
  uint64_t since = 0;
  uint32_t awaited = 0;
  bool woken = true;
  for (;;) {
    uintptr_t join = atomic_load_explicit(&target->join, memory_order_acquire);
    if (join == QZI_JOIN_ENDED && take(target, result, site)) {
      error = 0;
      break;
    }
    if (join != 0) {
      error = EINVAL;
      break;
    }
    if (qzi_joiner(atomic_load_explicit(&self->join, memory_order_relaxed)) == target) {
      error = EDEADLK;
      break;
    }
    if (!woken) {
      error = ETIMEDOUT;
      break;
    }
    struct wait wait = {self, target, deadline_ns != QZI_NEVER};
    self->wait_object = target;
    self->wait_describe = describe;
    struct qzi_processor *p = qzi_processor_self();
    if (object) {
      qzi_pub_push(&p->head.pub, &self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
      qzi_pub_blocked(&p->head.pub, &self->pub, object);
      qzi_pub_queue_add(object, 1);
      qzi_pub_awaited(object, 0, awaited = qzi_pub_index_of(&target->pub));
      if (!since) since = qzi_pub_ticks();
    }
    if (deadline_ns == QZI_NEVER) {
      qzi_park(register_joiner, &wait);
    } else {
      qzi_timed_begin(self);
      woken = qzi_park_until(register_joiner, &wait, deadline_ns);
      if (!woken) deregister(self, target);
    }
    self->wait_object = NULL;
    if (object) {
      if (awaited) qzi_pub_awaited(object, awaited, 0);
      qzi_pub_queue_add(object, -1);
      qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
    }
  }
  if (object) {
    if (since) qzi_pub_waited(object, qzi_pub_ticks_ns(since, qzi_pub_ticks()), 0);
    if (error == 0) qzi_pub_acquired_shared(object);
  }
  return error;
}

static __attribute__((noinline)) void run_published(struct qzi_processor *p, struct qzi_thread *self,
                                                    struct qzi_thread *target, uint64_t site) {
  if (!qzi_spanning()) {
    qzi_run_inline_published(p, self, target, site);
    return;
  }
  qzi_span_sync_begins(&p->head.pub, site);
  qzi_run_inline_span(p, self, target, site, NULL);
}

/* A join that did not have to wait. */
static __attribute__((noinline)) void taken_published(struct qzi_processor *p, struct qzi_thread *target,
                                                      uint64_t site) {
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (qzi_spanning()) qzi_span_joined(&p->head.pub, &target->pub, site);
  qzi_pub_joined(&p->head.pub, site, object);
}

int qz_join(qz_thread_t handle, void **result) {
  struct qzi_processor *p = qzi_processor_self();
  struct qzi_thread *target = handle.thread;
  if (QZI_LIKELY(p && current(handle) && qzi_life(target) == QZI_NEW && target->stack_class == 0 &&
                 atomic_load_explicit(&target->join, memory_order_relaxed) == 0)) {
    struct qzi_thread *self = qzi_self();
    if (QZI_LIKELY(qzi_stack_left(self) >= qzi_runtime.stack_bytes && qzi_unspawn(p, target, NULL))) {
      atomic_store_explicit(&target->join, (uintptr_t)self, memory_order_relaxed); /* other joiners get EINVAL */
      qzi_pub_state(&p->head.pub, QZ_STATE_MAKING);
      if (qzi_publishing())
        run_published(p, self, target, QZI_CALLER());
      else
        qzi_run_inline(p, self, target);
      if (result) *result = target->result;
      p = qzi_processor_self();
      qzi_enter(p);
      qzi_stack_put(p, target);
      qzi_leave(p);
      qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
      return 0;
    }
  }
  if (QZI_LIKELY(p && current(handle) && qzi_life(target) == QZI_ENDED && target != &qzi_main_thread &&
                 take_ended(target, result))) {
    if (qzi_publishing()) taken_published(p, target, QZI_CALLER());
    qzi_sanitize_ended(target);
    qzi_enter(p);
    qzi_stack_put(p, target);
    qzi_leave(p);
    return 0;
  }
  return join_slow(handle, result, QZI_NEVER, QZI_CALLER());
}

int qz_tryjoin(qz_thread_t handle, void **result) {
  int error = check(handle);
  if (error) return error;
  uintptr_t join = atomic_load_explicit(&handle.thread->join, memory_order_acquire);
  if (join == QZI_JOIN_ENDED) return take(handle.thread, result, QZI_CALLER()) ? 0 : EINVAL;
  return join == 0 ? EBUSY : EINVAL;
}

int qz_timedjoin(qz_thread_t handle, void **result, const struct timespec *realtime) {
  uint64_t deadline;
  int error = qzi_deadline(CLOCK_REALTIME, realtime, &deadline);
  return error ? error : join_slow(handle, result, deadline, QZI_CALLER());
}

int qz_detach(qz_thread_t handle) {
  qzi_processor_checked();
  struct qzi_thread *target = handle.thread;
  if (!current(handle)) return ESRCH;
  uintptr_t join = 0;
  if (atomic_compare_exchange_strong(&target->join, &join, QZI_JOIN_DETACHED)) return 0;
  if (join == QZI_JOIN_ENDED && take(target, NULL, QZI_CALLER())) return 0;
  return EINVAL;
}
