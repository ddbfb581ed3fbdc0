/* Threads: creation, first frame, end, identity.
 *
 * Owns:    the life of a descriptor from creation to end.
 * Writer:  the creator until the thread is queued, then the thread itself.
 * Reader:  join.c, fork_join.c.
 * Must not: make a descriptor free or joinable while its stack is in use; `after` functions, which run on the next
 * context, do that.
 */
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/scheduler/exceptions.h"
#include "threadlib/src/scheduler/sanitizers.h"
#include "in_place.h"
#include "spawn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK_MIN_BYTES 8192u

/* For an empty free list, one whose descriptors are reserved for tasks, or another stack size. Returns with the
 * biased lock held, except with NULL. */
struct qzi_thread *qzi_thread_slow(struct qzi_processor *p, size_t stack_bytes, int *error) {
  struct qzi_entry *bottom = QZI_GET(p->deque.bottom);
  if (p->deque.limit > bottom) qzi_deque_limit(&p->deque, bottom); /* no task in the deque uses that part of it */
  qzi_leave(p);
  qzi_start();
  struct qzi_thread *thread = qzi_stack_get(p, stack_bytes == qzi_runtime.stack_bytes ? 0 : stack_bytes, error);
  if (thread) qzi_enter(p);
  return thread;
}

static inline __attribute__((always_inline)) int create(qz_thread_t *handle, const char *name, size_t stack_bytes,
                                                        bool detached, void *(*start)(void *), void *argument,
                                                        uint64_t site) {
  struct qzi_processor *p = qzi_processor_checked();
  int error = 0;
  uint64_t serial;
  if (QZI_UNLIKELY(!start)) return EINVAL;
  if (qzi_publishing()) {
    (void)qzi_self(); /* a calling task becomes a thread, since it is the creator */
    if (p->head.pub.record) qzi_pub_now(&p->head.pub, QZ_STATE_MAKING);
  }
  struct qzi_thread *thread =
    qzi_spawn(p, stack_bytes, (uintptr_t)start, argument, NULL, false, name, detached, site, &serial, &error);
  qzi_pub_state(&p->head.pub, QZ_STATE_USEFUL);
  if (QZI_UNLIKELY(!thread)) return error;
  if (handle) {
    handle->thread = thread;
    handle->serial = serial;
  }
  return 0;
}

int qz_create(qz_thread_t *handle, const char *name, void *(*start)(void *), void *argument) {
  return create(handle, name, 0, false, start, argument, QZI_CALLER());
}

int qz_thread_create(qz_thread_t *handle, const qz_thread_attr *attr, void *(*start)(void *), void *argument) {
  if (!attr) return create(handle, NULL, 0, false, start, argument, QZI_CALLER());
  if (attr->stack_bytes && attr->stack_bytes < STACK_MIN_BYTES) return EINVAL;
  return create(handle, attr->name, attr->stack_bytes, attr->detached != 0, start, argument, QZI_CALLER());
}

/* ---- running and ending ---- */

static __attribute__((noinline)) void another_task(struct qzi_thread *self);

/* In a section of its own: calls from there are not counted as calls of the program (abi/session.h, start_low). */
__attribute__((section("quartz_start"))) void qzi_thread_main(void (*after)(void *), void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_sanitize_arrived(NULL);
  qzi_exceptions_restore((struct qzi_exceptions){0});
  qzi_leave(p);
  if (after) after(arg);
  struct qzi_thread *self = qzi_self();
  if (!self->scope) qzi_thread_end(self, ((void *(*)(void *))self->pub.start)(self->argument));
  for (;;) {
    if (qzi_publishing()) qzi_scope_child_begins(self);
    if (self->pub.loop)
      qzi_run_range(self->argument);
    else
      ((void (*)(void *))self->pub.start)(self->argument);
    another_task(self);
  }
}

static void free_after(void *arg) {
  struct qzi_processor *p = qzi_processor_self();
  qzi_sanitize_ended(arg);
  qzi_enter(p);
  qzi_stack_put(p, arg);
  qzi_leave(p);
}
void qzi_thread_free(struct qzi_thread *thread) { free_after(thread); }

static void end_after(void *arg) {
  struct qzi_thread *thread = arg;
  uint64_t chain = 0; /* passed on to a joiner that waits, whose chain continues it (publisher/path.h) */
  uintptr_t join = atomic_load_explicit(&thread->join, memory_order_relaxed), next;
  do {
    next = QZI_JOIN_ENDED;
    if (!qzi_joiner(join)) continue;
    chain = thread->pub.chain;
    if (join & QZI_JOIN_TIMED) next = QZI_JOIN_ENDING;
  } while (
    !atomic_compare_exchange_weak_explicit(&thread->join, &join, next, memory_order_acq_rel, memory_order_relaxed));
  if (join == 0) return;
  if (join == QZI_JOIN_DETACHED) {
    if (thread != &qzi_main_thread) free_after(thread);
    return;
  }
  bool wake = true;
  if (next == QZI_JOIN_ENDING) {
    wake = qzi_claim(qzi_joiner(join));
    if (wake) qzi_joiner(join)->pub.chain = chain;
    atomic_store_explicit(&thread->join, QZI_JOIN_ENDED, memory_order_release);
  } else {
    qzi_joiner(join)->pub.chain = chain;
  }
  if (wake) qzi_ready(qzi_joiner(join));
}

static inline void ended(struct qzi_processor *p, struct qzi_thread *self) {
  qzi_life_set(self, QZI_ENDED);
  if (__atomic_load_n(&self->sibling_link, __ATOMIC_RELAXED)) qzi_scope_child_ends(self);
  qzi_pub_ended(&p->head.pub, &self->pub);
  qzi_pub_leave(&p->head.pub, QZ_STATE_OVERHEAD);
}
static inline struct qzi_thread *child_ended(struct qzi_thread *self) {
  uint32_t calls = self->uncounted + 1;
  self->uncounted = 0;
  struct qzi_thread *parent = qzi_scope_child_ended(self->scope, calls);
  if (parent) parent->pub.chain = self->pub.chain;
  return parent;
}

/* The calling thread, a spawned call, has returned. If a task is next, the thread becomes that one, at the same place
 * of the same stack. If both calls are of one scope, whose parent has to wait for both, the scope counts the first one
 * together with the second one: its cache line is the parent's. */
static void another_task(struct qzi_thread *self) {
  struct qzi_processor *p = qzi_processor_self();
  ended(p, self);
  if (qzi_task_next(p, self, self->scope)) {
    self->uncounted++;
  } else {
    struct qzi_thread *parent = child_ended(self);
    if (parent || !qzi_task_next(p, self, NULL)) qzi_switch_away(parent, free_after, self);
  }
  qzi_life_set(self, QZI_ALIVE);
  uint64_t control = qzi_fp_leave();
  qzi_fp_take(&control, &qzi_fp_usual);
  qzi_pub_switch_run(&p->head.pub, &self->pub);
}

void qzi_thread_end(struct qzi_thread *self, void *result) {
  struct qzi_processor *p = qzi_processor_self();
  self->result = result;
  ended(p, self);
  if (self->scope) qzi_switch_away(child_ended(self), free_after, self);
  uintptr_t join = atomic_load_explicit(&self->join, memory_order_acquire);
  if (qzi_joiner(join) && !(join & QZI_JOIN_TIMED)) {
    /* the joiner is parked, and no other thread wakes it: switch to it at once; it frees this thread */
    qzi_joiner(join)->pub.chain = self->pub.chain;
    atomic_store_explicit(&self->join, QZI_JOIN_ENDED, memory_order_release);
    qzi_switch_away(qzi_joiner(join), NULL, NULL);
  }
  qzi_switch_away(NULL, end_after, self);
}

void qz_exit(void *result) {
  qzi_processor_checked();
  struct qzi_thread *self = qzi_self();
  if (qzi_in_place_left(self->exit_sp)) qzi_leave_in_place(self);
  if (self->exit_sp) qzi_leave_call(self->exit_sp, result);
  qzi_thread_end(self, result);
}

static inline void call_inline(struct qzi_thread *child) {
  void *start = child->pub.loop ? (void *)qzi_run_range : (void *)child->pub.start;
  child->result = qzi_call(start, child->argument, &child->exit_sp);
}

/* A call has ended whose work and span are recorded: of a sync, or (merge NULL) of a join that returns to `site`. */
static inline __attribute__((always_inline)) void span_ended(struct qzi_processor *p, struct qzi_thread *self,
                                                             uint64_t site, struct qzi_merge *merge) {
  if (merge)
    qzi_span_call_ended(&p->head.pub, &self->pub, merge);
  else
    qzi_span_join_ended(&p->head.pub, &self->pub, site);
}

/* span: work and span are recorded. */
static inline __attribute__((always_inline)) void run_inline(struct qzi_processor *p, struct qzi_thread *self,
                                                             struct qzi_thread *child, uint64_t site, bool span,
                                                             struct qzi_merge *merge) {
  qzi_inline_begins(p, self, child);
  qzi_pub_run(&p->head.pub, &child->pub);
  call_inline(child);
  p = qzi_processor_self();
  if (span) span_ended(p, self, site, merge);
  qzi_inline_ended(p, self, child);
}

void qzi_run_inline(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child) {
  run_inline(p, self, child, 0, false, NULL);
}

static __attribute__((noinline)) void run_inline_unusual(struct qzi_processor *p, struct qzi_thread *self,
                                                         struct qzi_thread *child, uint64_t site, bool span,
                                                         struct qzi_merge *merge) {
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (object) {
    qzi_pub_push(&p->head.pub, &self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
    qzi_pub_blocked(&p->head.pub, &self->pub, object);
  }
  if (span)
    run_inline(p, self, child, site, true, merge);
  else
    qzi_run_inline(p, self, child);
  if (object) {
    qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_JOIN, object));
    qzi_pub_joined(qzi_publisher_self(), site, object);
  }
}
static inline __attribute__((always_inline)) void run_inline_published(struct qzi_processor *p, struct qzi_thread *self,
                                                                       struct qzi_thread *child, uint64_t site,
                                                                       bool span, struct qzi_merge *merge) {
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_JOIN, site);
  if (QZI_UNLIKELY(!object || !qzi_pub_call_usual(&p->head.pub, &self->pub, &child->pub) ||
                   !qzi_pub_has_room(self->pub.record))) {
    run_inline_unusual(p, self, child, site, span, merge);
    return;
  }
  qzi_pub_calls(self->pub.record, QZI_PUB_KEY(QZ_KIND_JOIN, object));
  qzi_inline_begins(p, self, child);
  qzi_pub_run_usual(&p->head.pub, &child->pub, QZ_STATE_USEFUL);
  call_inline(child);
  p = qzi_processor_self();
  if (span) span_ended(p, self, site, merge);
  qzi_inline_ended_published(p, self, child, site, object);
}
void qzi_run_inline_published(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child,
                              uint64_t site) {
  run_inline_published(p, self, child, site, false, NULL);
}
void qzi_run_inline_span(struct qzi_processor *p, struct qzi_thread *self, struct qzi_thread *child, uint64_t site,
                         struct qzi_merge *merge) {
  run_inline_published(p, self, child, site, true, merge);
}

/* ---- identity ---- */

qz_thread_t qz_self(void) {
  qzi_processor_checked();
  struct qzi_thread *self = qzi_self();
  return (qz_thread_t){self, self->pub.serial};
}

int qz_equal(qz_thread_t a, qz_thread_t b) { return a.thread == b.thread && a.serial == b.serial; }

int qz_set_name(qz_thread_t handle, const char *name) {
  if (!handle.thread || handle.thread->pub.serial != handle.serial) return ESRCH;
  handle.thread->pub.name = qzi_pub_name(name);
  return 0;
}

const char *qzi_thread_label(const struct qzi_thread *thread, char *text, size_t bytes) {
  char start[128];
  const char *name = thread->pub.name ? qzi_pub_name_text(thread->pub.name) : NULL;
  if (name && *name)
    snprintf(text, bytes, "\"%s\"", name);
  else if (thread == &qzi_main_thread)
    snprintf(text, bytes, "main");
  else
    snprintf(text, bytes, "thread %llu (starts at %s)", (unsigned long long)thread->pub.serial,
             qzi_place_text(thread->pub.start, start, sizeof start));
  return text;
}
