/* Conversion of tasks into threads: when another processor takes them, when their parent's stack has no room, and when
 * a call in place needs a thread (docs/reference/threads.md, "Tasks").
 *
 * Owns:    nothing.
 * Writer:  the holder of the deque's biased lock; for a call in place the kernel thread that runs it.
 * Must not: allocate or lock: a hook in a signal handler may call it.
 */
#include "in_place.h"
#include "spawn.h"

static void fill(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_task *task,
                 struct qzi_scope *scope) {
  bool loop = task->entry == qzi_run_range;
  uintptr_t start = loop ? qzi_range_body(task->argument) : (uintptr_t)task->entry;
  thread->pub.record = NULL;
  qzi_thread_new(p, thread, start, task->argument, scope, loop, (uint32_t)task->name, false, task->site);
}

struct qzi_thread *qzi_task_becomes(struct qzi_processor *from, struct qzi_processor *p, struct qzi_thread *slot,
                                    uint32_t place) {
  struct qzi_thread *thread = from->free[--from->free_count];
  fill(p, thread, &from->deque.task[place & from->deque.mask], qzi_task_scope(slot));
  return thread;
}

void qzi_in_place_become(struct qzi_processor *p) {
  bool inside = atomic_load_explicit(&p->busy, memory_order_relaxed);
  if (!inside) qzi_enter(p);
  /* Since the caller has looked, the hook of a signal handler may have made threads of all of them. */
  struct qzi_thread *below = p->head.current, *inner = below;
  for (struct qzi_in_place *call = p->in_place, *called = NULL; call; called = call, call = call->outer) {
    struct qzi_thread *thread = p->free[--p->free_count];
    p->task_end--;
    fill(p, thread, &call->task, call->scope);
    qzi_life_set(thread, QZI_ALIVE);
    thread->exit_sp = qzi_in_place_exit(call);
    thread->pub.stack_low = below->pub.stack_low;
    thread->pub.stack_high = below->pub.stack_high;
    thread->sanitizer_fiber = below->sanitizer_fiber; /* a TSan fiber belongs to the stack */
    call->thread = thread;
    call->caller = below; /* final only for the outermost call; the others are corrected below */
    if (called)
      called->caller = thread;
    else
      inner = thread;
  }
  p->in_place = NULL;
  if (!inside) qzi_leave(p);
  qzi_current_set(p, inner);
}
