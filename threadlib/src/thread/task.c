/* Conversion of tasks into threads: when another processor takes them, when their parent's stack has no room, and when
 * a call in place needs a thread (docs/reference/threads.md, "Tasks").
 *
 * Owns:    nothing.
 * Writer:  the holder of the deque's biased lock; for a call in place the kernel thread that runs it.
 * Must not: allocate or lock: a hook in a signal handler may call it.
 */
#include "in_place.h"
#include "spawn.h"

static void fill(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_entry *task,
                 struct qzi_scope *scope) {
  bool loop = task->entry == qzi_run_range;
  uintptr_t start = loop ? qzi_range_body(task->argument) : (uintptr_t)task->entry;
  thread->pub.record = NULL;
  qzi_thread_new(p, thread, start, task->argument, scope, loop, (uint32_t)task->name, false, task->site);
}

struct qzi_thread *qzi_task_becomes(struct qzi_processor *from, struct qzi_processor *p, struct qzi_scope *scope,
                                    const struct qzi_entry *entry) {
  struct qzi_thread *thread = from->free[--from->free_count];
  fill(p, thread, entry, scope);
  qzi_pub_enqueued(&p->head.pub); /* a task is not counted; who takes the thread counts it as dequeued */
  return thread;
}

void qzi_tasks_become(struct qzi_processor *p) {
  (void)qzi_self();
  qzi_enter(p);
  struct qzi_deque *deque = &p->deque;
  for (struct qzi_entry *entry = QZI_GET(deque->top); entry < QZI_GET(deque->bottom); entry++) {
    struct qzi_thread *slot = QZI_GET(entry->slot);
    if (!qzi_is_task(slot)) continue;
    struct qzi_thread *thread = p->free[--p->free_count];
    fill(p, thread, entry, qzi_task_scope(slot));
    qzi_pub_ready(&p->head.pub, &thread->pub);
    QZI_SET(entry->slot, thread);
  }
  qzi_deque_limit(deque, deque->base); /* no task remains */
  qzi_leave(p);
}

bool qzi_in_place_become(struct qzi_processor *p) {
  bool inside = atomic_load_explicit(&p->busy, memory_order_relaxed), some = false;
  if (!inside) qzi_enter(p);
  struct qzi_deque *deque = &p->deque;
  struct qzi_thread *caller = p->head.current;
  for (struct qzi_entry *entry = QZI_GET(deque->top); entry < QZI_GET(deque->bottom); entry++) {
    struct qzi_thread *slot = QZI_GET(entry->slot);
    if (!qzi_is_task(slot)) continue;
    uintptr_t frame = QZI_GET(entry->frame);
    if (!frame) continue;
    struct qzi_thread *thread = p->free[--p->free_count];
    fill(p, thread, entry, qzi_task_scope(slot));
    QZI_SET(entry->slot, QZI_GONE_TASK);
    deque->gone++;
    QZI_SET(entry->frame, 0); /* by this the caller knows */
    qzi_life_set(thread, QZI_ALIVE);
    qzi_in_place_exits(thread, entry->sp, frame);
    thread->result = caller;
    thread->pub.stack_low = caller->pub.stack_low;
    thread->pub.stack_high = caller->pub.stack_high;
    thread->sanitizer_fiber = caller->sanitizer_fiber; /* a TSan fiber belongs to the stack */
    caller = thread;
    some = true;
  }
  if (!inside) qzi_leave(p);
  qzi_current_set(p, caller);
  return some;
}
