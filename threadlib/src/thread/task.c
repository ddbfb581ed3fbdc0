/* Conversion of tasks into threads: when a processor takes them, when their parent's stack has no room, and when
 * publishing begins or ends (docs/reference/threads.md, "Tasks"); of calls in place: in_place.c. Opening of the deque
 * for tasks.
 *
 * Owns:    qzi_deque.mode.
 * Writer:  the holder of the deque's biased lock.
 */
#include "in_place.h"
#include "spawn.h"

/* For a task that was not called in place: it may get a stack of its own. */
static void fill_new(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_entry *task,
                     struct qzi_scope *scope) {
  thread->pub.stack_high = (uintptr_t)thread;
  qzi_task_fill(p, thread, task, scope);
  if (task->record) thread->pub.chain = task->chain;
}

struct qzi_thread *qzi_task_becomes(struct qzi_processor *from, struct qzi_processor *p, struct qzi_scope *scope,
                                    const struct qzi_entry *entry) {
  struct qzi_thread *thread = from->free[--from->free_count];
  fill_new(p, thread, entry, scope);
  if (!entry->record)
    qzi_pub_enqueued(&p->head.pub); /* such a task is not counted; who takes the thread counts it as dequeued */
  return thread;
}

bool qzi_task_next(struct qzi_processor *p, struct qzi_thread *thread, const struct qzi_scope *scope) {
  struct qzi_deque *deque = &p->deque;
  uint32_t tick = atomic_load_explicit(&p->tick, memory_order_relaxed) + 1;
  struct qzi_entry *bottom = QZI_GET(deque->bottom), *entry = bottom - 1;
  if (tick % 64 == 0 || atomic_load_explicit(&p->next, memory_order_relaxed) || bottom == deque->base) return false;
  struct qzi_thread *slot = QZI_GET(entry->slot);
  if (!qzi_is_task(slot) || (scope && slot != qzi_task_slot(scope))) return false;
  qzi_enter(p);
  bool there = QZI_GET(entry->slot) == slot && bottom != QZI_GET(deque->top); /* no thief has just taken it */
  if (there) {
    qzi_deque_taken(deque, entry); /* the descriptors of the others are those that are reserved for them */
    atomic_store_explicit(&p->tick, tick, memory_order_relaxed);
    p->streak = 0;
    fill_new(p, thread, entry, qzi_task_scope(slot));
  }
  qzi_leave(p);
  if (!there) return false;
  if (!entry->record) qzi_pub_enqueued(&p->head.pub);
  qzi_pub_dequeued(&p->head.pub);
  return true;
}

void qzi_tasks_become(struct qzi_processor *p) {
  if (p->head.current) (void)qzi_self();
  qzi_enter(p);
  struct qzi_deque *deque = &p->deque;
  for (struct qzi_entry *entry = QZI_GET(deque->top); entry < QZI_GET(deque->bottom); entry++) {
    struct qzi_thread *slot = QZI_GET(entry->slot);
    if (!qzi_is_task(slot)) continue;
    struct qzi_thread *thread = p->free[--p->free_count];
    fill_new(p, thread, entry, qzi_task_scope(slot));
    if (!entry->record) qzi_pub_ready(&p->head.pub, &thread->pub);
    QZI_SET(entry->slot, thread);
  }
  qzi_deque_limit(deque, deque->base); /* no task remains */
  qzi_leave(p);
}

void qzi_tasks_change(struct qzi_processor *p) {
  if (p->deque.limit != p->deque.base) qzi_tasks_become(p);
  QZI_SET(p->deque.mode, qzi_task_mode()); /* there is no task, for whose mode a thief looks */
}

/* Other processors take from the list when no more threads may be created, so it is read under the biased lock. */
static bool has_fewer(struct qzi_processor *p, uint32_t most) {
  qzi_enter(p);
  bool fewer = p->free_count < most;
  qzi_leave(p);
  return fewer;
}

uint32_t qzi_tasks_room(struct qzi_processor *p, uint32_t most) {
  qzi_tasks_of_now(p);
  while (has_fewer(p, most) && qzi_stack_more(p)) {}
  struct qzi_deque *deque = &p->deque;
  qzi_enter(p);
  (void)qzi_deque_youngest(deque); /* entries that have left leave their places, so that there is room */
  uint32_t room = deque->mode == QZI_NO_TASKS || !deque->room ? 0 : p->free_count < most ? p->free_count : most;
  struct qzi_entry *limit = QZI_GET(deque->bottom) + room;
  if (deque->limit < limit) deque->limit = limit;
  qzi_leave(p);
  return room;
}

bool qzi_more_tasks(struct qzi_processor *p) {
  struct qzi_deque *deque = &p->deque;
  struct qzi_entry *bottom = QZI_GET(deque->bottom);
  if (bottom < deque->limit) return true;
  size_t size = (size_t)(bottom - QZI_GET(deque->top));
  if (size >= deque->room || size - deque->gone >= p->free_count) return false;
  if (bottom == deque->end) qzi_deque_grow(deque);
  deque->limit = QZI_GET(deque->bottom) + 1;
  return true;
}

/* A thief sets `revoked` and then closes the deque, and so does who changes what is published, with the flag: either
 * they close it after it has been opened here, or what they have set is seen here. */
void qzi_deque_reopen(struct qzi_processor *p) {
  struct qzi_deque *deque = &p->deque;
  struct qzi_entry **open = !deque->mode                      ? &deque->open
                            : deque->mode & QZI_SPANNED_TASKS ? &deque->spanned
                                                              : &deque->published;
  if (deque->mode && !qzi_pub_tasks_usual(&p->head.pub)) return;
  QZI_SET(*open, deque->limit);
  __sync_synchronize();
  if (atomic_load_explicit(&p->revoked, memory_order_relaxed) || deque->mode != qzi_task_mode()) QZI_SET(*open, NULL);
}

bool qzi_in_place_refused(struct qzi_processor *p, struct qzi_entry *task, const struct qzi_scope *scope,
                          uintptr_t frame) {
  qzi_enter(p);
  bool may = QZI_GET(task->frame) != frame; /* the hook of a signal handler has made a thread of it */
  if (!may && p->deque.mode == qzi_task_mode() && QZI_GET(task->slot) == qzi_task_slot(scope)) {
    qzi_deque_reopen(p);
    may = true;
  }
  if (!may) QZI_SET(task->frame, 0);
  qzi_leave(p);
  return !may;
}

bool qzi_in_place_ended_below(struct qzi_processor *p, uintptr_t frame) {
  qzi_enter(p);
  struct qzi_deque *deque = &p->deque;
  struct qzi_entry *entry = QZI_GET(deque->bottom), *top = QZI_GET(deque->top);
  while (entry > top && QZI_GET(entry[-1].frame) != frame) entry--;
  bool found = entry > top;
  if (found) {
    QZI_SET(entry[-1].slot, QZI_GONE_TASK);
    QZI_SET(entry[-1].frame, 0);
    deque->gone++;
  }
  qzi_leave(p);
  return found;
}
