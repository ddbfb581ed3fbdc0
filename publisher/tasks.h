/* Tasks of the thread package: spawned calls that have a record in the session and are no threads of the package
 * (docs/reference/threads.md, "Tasks"). A reader of the session sees a thread.
 *
 * Owns:    nothing; the host keeps the index of a task's record, and its chain.
 * Writer:  the processor that spawns and calls the task; if the task becomes a thread, its record is the thread's.
 * Reader:  thread/fork_join_published.c, thread/task.c; calibrate.c.
 * Must not: be included by a host, which includes publisher.h, whose rules apply here too.
 */
#ifndef QZI_PUBLISH_TASKS_H
#define QZI_PUBLISH_TASKS_H

#include "object_records.h"
#include "record_at.h"
#include "switches.h"

/* Returns the record of the thread or task that the calling kernel thread runs, if it is of this epoch; else NULL. */
static inline struct qz_thread *qzi_pub_running(uint32_t epoch) {
  uint64_t *hot = qzi_hot_get();
  if (__builtin_expect(!hot, 0)) return NULL;
  struct qz_thread *record = (struct qz_thread *)(void *)((char *)hot - offsetof(struct qz_thread, word));
  return __builtin_expect(record->epoch == epoch, 1) ? record : NULL;
}

/* Returns the name of the path of the thread that runs, which its record has; 0: it has none. */
#define QZI_NO_PATH 2u /* no path has this name, and it is not 0 */
uint64_t qzi_pub_path_goes_on(struct qz_thread *record);
static inline uint64_t qzi_pub_path_name(struct qz_thread *record) {
  uint64_t name = record->filled;
  return __builtin_expect(name && qzi_pub_top(record) == record->first_top, 1) ? name : qzi_pub_path_goes_on(record);
}

/* Returns whether tasks may be published. */
static inline bool qzi_pub_tasks_usual(const struct qzi_publisher *p) { return p->record && p->time_path && p->calls; }

/* A task is spawned in two steps, so that the common case needs no calls and few registers: qzi_pub_task_find returns
 * the record to be used, and qzi_pub_task_put publishes the task in it. What a record contains does not change from one
 * task to the next of the same place and path, except the fields that qzi_pub_task_put stores. So the processor keeps
 * what it knows of the place, with a number that is also in the records filled for it; and the free record that was
 * used last mostly has this number. */
struct qzi_pub_task {
  struct qz_thread *record;
  const struct qz_thread *creator;
  struct qz_call *call;
  uint32_t index;
};
/* Returns false in uncommon cases, without having done anything. name: 0. */
static inline __attribute__((always_inline)) bool qzi_pub_task_find(struct qzi_publisher *p, uint64_t start,
                                                                    uint64_t site, struct qzi_pub_task *task) {
  const struct qzi_pub_spawns *place =
    (const struct qzi_pub_spawns *)((const char *)p->places + (site << 4 & (QZI_PUB_SITES - 1) << 6));
  uint32_t epoch = qzi_pub_epoch;
  if (__builtin_expect(place->site != site || place->start != start || place->named != epoch, 0)) return false;
  uint64_t *hot = qzi_hot_get();
  if (__builtin_expect(!hot, 0)) return false;
  const struct qz_thread *creator =
    (const struct qz_thread *)(const void *)((char *)hot - offsetof(struct qz_thread, word));
  uint32_t free_count = p->free_count;
  if (__builtin_expect(creator->epoch != epoch || place->path != creator->filled ||
                         qzi_pub_top(creator) != creator->first_top || !free_count ||
                         p->time_path->word < qzi_path_time(),
                       0))
    return false;
  uint32_t index = p->free[free_count - 1];
  struct qz_thread *record = (struct qz_thread *)(void *)(qzi_pub_records.base + index * qzi_pub_records.stride);
  if (__builtin_expect(record->made != place->made || qzi_pub_top(record) != record->first_top, 0)) return false;
  p->free_count = free_count - 1;
  *task = (struct qzi_pub_task){record, creator, place->call, index};
  return true;
}
/* What the processor knows of a place; NULL: there is no room in its call table. path 0: it has no name. */
const struct qzi_pub_spawns *qzi_pub_spawns_at(struct qzi_publisher *p, uint64_t start, uint64_t named, uint64_t site,
                                               uint64_t path);
/* The same in all other cases; false: the task cannot be published as one. */
bool qzi_pub_task_make(struct qzi_publisher *p, uint64_t start, uint32_t name, uint64_t site,
                       struct qzi_pub_task *task);
static inline __attribute__((always_inline)) void qzi_pub_task_put(struct qzi_publisher *p,
                                                                   const struct qzi_pub_task *task, uint64_t serial) {
  struct qz_thread *record = task->record;
  uint32_t by = qzi_pub_runs(p);
  if (__builtin_expect(record->high != task->creator->high, 0)) record->high = task->creator->high;
  if (__builtin_expect(record->creator != by, 0)) record->creator = by;
  QZI_TRACE(thread(record, QZI_ORACLE_BEGIN, serial));
  QZI_TRACE(stack(record, qzi_pub_top(record)));
  __atomic_store_n(&record->serial, serial, __ATOMIC_RELEASE);
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  qzi_pub_increment(&task->call->count);
  uint64_t spawns = p->spawns + 1;
  struct qz_processor *processor = p->record;
  qzi_pub_store(&p->spawns, spawns);
  qzi_pub_store(&processor->spawns, spawns);
  qzi_pub_store(&processor->enqueued, spawns + p->woken);
}

/* p calls a task, which is counted as taken from its queue, and continues with its caller, `parent`, when the call has
 * ended. The same as qzi_pub_run_record; now: the next p->now, which is in a register, because a load waits for the
 * last store. */
static inline __attribute__((always_inline)) void
qzi_pub_runs_task(struct qz_processor *processor, struct qz_thread *record, uint64_t now, unsigned state) {
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_USEFUL));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  qzi_pub_now_store(processor, now, state);
  qzi_hot_set(&record->word); /* as in qzi_pub_run_as */
  if (!qzi_publishing()) qzi_hot_set(NULL);
}
static inline __attribute__((always_inline)) void qzi_pub_task_begins(struct qzi_publisher *p, struct qz_thread *record,
                                                                      uint64_t now) {
  struct qz_processor *processor = p->record;
  uint64_t dequeued = p->dequeued + 1, calls = (uint64_t)(uintptr_t)p->calls;
  qzi_pub_store(&p->dequeued, dequeued);
  qzi_pub_store(&processor->dequeued, dequeued);
  if (__builtin_expect(record->calls != calls, 0)) record->calls = calls;
  qzi_pub_runs_task(processor, record, now, QZ_STATE_USEFUL);
}
static inline __attribute__((always_inline)) void qzi_pub_task_ended(struct qzi_publisher *p, struct qz_thread *record,
                                                                     uint32_t index_plus_1) {
  (void)qzi_path_now(p->time_path); /* the task's strand ends; p is already on the caller's chain */
  QZI_TRACE(thread(record, QZI_ORACLE_END, 0));
  qzi_pub_store(&record->serial, 0);
  qzi_pub_store(&record->state, QZ_STATE_IDLE);
  if (__builtin_expect(p->free_count == QZI_PUB_POOL, 0)) qzi_pub_spill(p);
  p->free[p->free_count++] = index_plus_1 - 1;
}
/* The task becomes the thread t, whose stack is known. In a forked child the record is empty; t keeps its own serial
 * number then. */
static inline void qzi_pub_task_becomes(struct qzi_pub_thread *t, uint32_t index_plus_1) {
  struct qz_thread *record = qzi_pub_record_at(index_plus_1);
  if (record->serial) __atomic_store_n(&t->serial, record->serial, __ATOMIC_RELAXED);
  record->high = (uint64_t)t->stack_high;
  t->creator = record->creator;
  __atomic_store_n(&t->index_plus_1, index_plus_1, __ATOMIC_RELAXED);
  t->record = record;
  if (qzi_spanning()) qzi_span_becomes(t);
}

#endif
