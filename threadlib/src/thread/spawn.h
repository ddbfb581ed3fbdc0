/* The fast path of thread creation, inlined in qz_create, qz_thread_create and qz_spawn.
 *
 * Owns:    nothing.
 * Must not: make a system call or execute a locked instruction if a free descriptor is available.
 */
#ifndef QZI_SPAWN_H
#define QZI_SPAWN_H

#include "life.h"
#include "stack.h"

#pragma GCC visibility push(hidden)
struct qzi_thread *qzi_thread_slow(struct qzi_processor *p, size_t stack_bytes, int *error);
#pragma GCC visibility pop

#define QZI_SERIAL_STEP 4096u /* more than the maximum number of processors */

/* Initializes a descriptor, except pub.record, as a thread that has not started. Its serial number is p's next one. */
static inline __attribute__((always_inline)) void qzi_thread_new(struct qzi_processor *p, struct qzi_thread *thread,
                                                                 uintptr_t start, void *argument,
                                                                 struct qzi_scope *scope, bool loop, uint32_t name,
                                                                 bool detached, uint64_t site) {
  thread->scope = scope;
  thread->argument = argument;
  atomic_store_explicit(&thread->join, detached ? QZI_JOIN_DETACHED : 0, memory_order_relaxed);
  qzi_life_set(thread, QZI_NEW);
  thread->blocked = 0;
  thread->pub.name = name;
  thread->pub.loop = loop;
  __atomic_store_n(&thread->pub.serial, p->serial += QZI_SERIAL_STEP, __ATOMIC_RELAXED);
  thread->pub.start = start;
  thread->pub.create_site = site;
}

/* Makes a descriptor the thread that a task becomes. */
static inline void qzi_task_fill(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_entry *task,
                                 struct qzi_scope *scope) {
  bool loop = task->entry == qzi_run_range;
  uintptr_t start = loop ? qzi_range_body(task->argument) : (uintptr_t)task->entry;
  thread->pub.record = NULL;
  qzi_thread_new(p, thread, start, task->argument, scope, loop, task->name, false, task->site);
  if (task->record) qzi_pub_task_becomes(&thread->pub, task->record);
}

/* Creates a thread and puts it into p's deque. Returns NULL on failure, with *error EAGAIN or ENOMEM. */
static inline __attribute__((always_inline)) struct qzi_thread *
qzi_spawn(struct qzi_processor *p, size_t stack_bytes, uintptr_t start, void *argument, struct qzi_scope *scope,
          bool loop, const char *name, bool detached, uint64_t site, uint64_t *serial, int *error) {
  uint32_t name_offset = name ? qzi_pub_name(name) : 0;
  qzi_enter(p);
  struct qzi_thread *thread;
  uint32_t free_count = p->free_count;
  if (QZI_UNLIKELY(stack_bytes != 0 || !qzi_some_free(&p->deque, free_count))) {
    thread = qzi_thread_slow(p, stack_bytes, error);
    if (!thread) return NULL;
  } else {
    thread = p->free[--free_count];
    p->free_count = free_count;
    if (free_count >= QZI_AHEAD) qzi_ahead_descriptor(p->free[free_count - QZI_AHEAD]);
  }
  thread->pub.record = NULL;
  qzi_thread_new(p, thread, start, argument, scope, loop, name_offset, detached, site);
  *serial = p->serial;
  qzi_pub_queued(&p->head.pub, &thread->pub, &p->head.current->pub);
  qzi_deque_push(&p->deque, thread);
  qzi_leave(p);
  qzi_wake_idle(p);
  return thread;
}

/* Takes the youngest thread of p's deque if it is `wanted` or, with `wanted` NULL, a child of `scope`; a task
 * becomes a thread. */
static inline __attribute__((always_inline)) struct qzi_thread *
qzi_unspawn(struct qzi_processor *p, struct qzi_thread *wanted, struct qzi_scope *scope) {
  qzi_enter(p);
  struct qzi_entry *entry = qzi_deque_youngest(&p->deque);
  struct qzi_thread *thread = NULL;
  if (QZI_LIKELY(entry != NULL)) {
    thread = QZI_GET(entry->slot);
    bool task = !wanted && QZI_UNLIKELY(qzi_is_task(thread));
    if (QZI_LIKELY(wanted ? thread == wanted : task ? qzi_task_scope(thread) == scope : thread->scope == scope)) {
      qzi_deque_taken(&p->deque, entry);
      if (task) {
        qzi_deque_limit(&p->deque, p->deque.limit - 1);
        thread = qzi_task_becomes(p, p, scope, entry);
      }
      qzi_pub_dequeued(&p->head.pub);
    } else {
      thread = NULL;
    }
  }
  qzi_leave(p);
  return thread;
}

#endif
