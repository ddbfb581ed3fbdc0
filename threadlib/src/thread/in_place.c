/* Conversion of calls in place into threads, when one of them needs a thread (docs/reference/threads.md, "Tasks").
 *
 * Owns:    nothing.
 * Writer:  the kernel thread that runs the calls.
 * Must not: allocate or lock, or be changed by a sanitizer: a hook in a signal handler may call it.
 */
#include "in_place.h"
#include "spawn.h"

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
    thread->pub.stack_low = caller->pub.stack_low;
    thread->pub.stack_high = caller->pub.stack_high;
    qzi_task_fill(p, thread, entry, qzi_task_scope(slot));
    QZI_SET(entry->slot, QZI_GONE_TASK);
    deque->gone++;
    QZI_SET(entry->frame, 0); /* by this the caller knows */
    qzi_life_set(thread, QZI_ALIVE);
    qzi_in_place_exits(thread, entry->sp, frame);
    thread->result = caller;
    thread->sanitizer_fiber = caller->sanitizer_fiber; /* a TSan fiber belongs to the stack */
    caller = thread;
    some = true;
  }
  if (some && qzi_spanning()) qzi_span_became(&p->head.pub);
  if (!inside) qzi_leave(p);
  qzi_current_set(p, caller);
  return some;
}
