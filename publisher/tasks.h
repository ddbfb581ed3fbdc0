/* Tasks of the thread package: spawned calls that have a record in the session and are no threads of the package
 * (docs/reference/threads.md, "Tasks"). A reader of the session sees a thread.
 *
 * Owns:    nothing; the host keeps the index of a task's record, and its chain.
 * Writer:  the processor that spawns and calls the task; if the task becomes a thread, its record is the thread's.
 * Reader:  thread/fork_join_published.c, thread/task.c; calibrate.c.
 * Must not: be included by a host, which includes publisher.h, whose rules apply here too; be used while work and span
 * are recorded, whose data belong to threads.
 */
#ifndef QZI_PUBLISH_TASKS_H
#define QZI_PUBLISH_TASKS_H

#include "object_records.h"
#include "switches.h"

/* The records of threads: what qzi_session has about them. */
extern struct qzi_pub_records {
  char *base, *long_base;
  uint64_t stride, long_stride;
} qzi_pub_records __attribute__((visibility("hidden")));

static inline struct qz_thread *qzi_pub_record_at(uint32_t index_plus_1) {
  uint64_t index = index_plus_1 - 1;
  struct qz_thread *record = (struct qz_thread *)(void *)(qzi_pub_records.base + index * qzi_pub_records.stride);
  if (__builtin_expect(record->limit == QZ_LIMIT_LONG, 0))
    record = (struct qz_thread *)(void *)(qzi_pub_records.long_base + index * qzi_pub_records.long_stride);
  return record;
}
/* Returns the record of the thread or task that the calling kernel thread runs, if it is of this epoch; else NULL. */
static inline struct qz_thread *qzi_pub_running(uint32_t epoch) {
  uint64_t *hot = qzi_hot_get();
  if (__builtin_expect(!hot, 0)) return NULL;
  struct qz_thread *record = (struct qz_thread *)(void *)((char *)hot - offsetof(struct qz_thread, word));
  return __builtin_expect(record->epoch == epoch, 1) ? record : NULL;
}

/* Takes a record and fills it like that of a thread. Returns its index + 1; 0: there is none. */
uint32_t qzi_pub_task_fill(struct qzi_publisher *p, struct qz_thread *creator, uint64_t serial, uint64_t start,
                           uint32_t name, uint64_t site);

/* Returns the name of the path of the thread that runs, which its record has; 0: it has none. */
#define QZI_NO_PATH 2u /* no path has this name, and it is not 0 */
uint64_t qzi_pub_path_goes_on(struct qz_thread *record);
static inline uint64_t qzi_pub_path_name(struct qz_thread *record) {
  uint64_t name = record->filled;
  return __builtin_expect(name && qzi_pub_top(record) == record->first_top, 1) ? name : qzi_pub_path_goes_on(record);
}

/* Returns whether qzi_pub_task_put may be called. */
static inline bool qzi_pub_tasks_usual(const struct qzi_publisher *p) { return p->record && p->time_path && p->calls; }

/* Does the same as qzi_pub_queued, except that the chain of the task is returned: p spawns a task. Returns index + 1 of
 * its record; 0: in uncommon cases, without having done anything. The free record that was used last often contains
 * what is needed: then it was filled when the same call was spawned on the same path. */
static inline __attribute__((always_inline)) uint32_t qzi_pub_task_put(struct qzi_publisher *p, uint64_t serial,
                                                                       uint64_t start, uint32_t name, uint64_t site,
                                                                       uint64_t *chain) {
  uint32_t free_count = p->free_count;
  struct qz_thread *creator = qzi_pub_running(qzi_pub_epoch);
  if (__builtin_expect(!creator, 0)) return 0;
  uint32_t index_plus_1 = 0;
  struct qz_thread *record = NULL;
  if (__builtin_expect(free_count != 0, 1)) {
    index_plus_1 = p->free[free_count - 1] + 1;
    record = qzi_pub_record_at(index_plus_1);
  }
  if (__builtin_expect(record && record->creator_filled == qzi_pub_path_name(creator) &&
                         qzi_pub_top(record) == record->first_top && record->epoch == qzi_pub_epoch &&
                         record->start == start && record->create_site == site && record->name == name,
                       1)) {
    p->free_count = free_count - 1;
    uint32_t by = (uint32_t)p->thread_plus_1;
    if (__builtin_expect(record->creator != by, 0)) record->creator = by;
    if (__builtin_expect(record->high != creator->high, 0)) record->high = creator->high;
    QZI_TRACE(thread(record, QZI_ORACLE_BEGIN, serial));
    QZI_TRACE(stack(record, qzi_pub_top(record)));
    __atomic_store_n(&record->serial, serial, __ATOMIC_RELEASE);
  } else {
    index_plus_1 = qzi_pub_task_fill(p, creator, serial, start, name, site);
    if (__builtin_expect(!index_plus_1, 0)) return 0;
    record = qzi_pub_record_at(index_plus_1);
  }
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  *chain = qzi_path_now(p->time_path) | QZ_ARRIVAL_CREATED;
  qzi_pub_count_now(p, site, start);
  uint64_t spawns = p->spawns + 1;
  struct qz_processor *processor = p->record;
  qzi_pub_store(&p->spawns, spawns);
  qzi_pub_store(&processor->spawns, spawns);
  qzi_pub_store(&processor->enqueued, spawns + p->woken);
  return index_plus_1;
}

/* p calls a task, which is counted as taken from its queue. */
static inline __attribute__((always_inline)) void qzi_pub_task_begins(struct qzi_publisher *p, struct qz_thread *record,
                                                                      uint32_t index_plus_1) {
  uint64_t dequeued = p->dequeued + 1;
  qzi_pub_store(&p->dequeued, dequeued);
  qzi_pub_store(&p->record->dequeued, dequeued);
  qzi_pub_run_record(p, record, index_plus_1, QZ_STATE_USEFUL);
}
/* The call has ended, and p continues with its caller. */
static inline __attribute__((always_inline)) void qzi_pub_task_ended(struct qzi_publisher *p, struct qz_thread *record,
                                                                     uint32_t index_plus_1) {
  (void)qzi_path_now(p->time_path); /* the task's strand ends; p is already on the caller's chain */
  QZI_TRACE(thread(record, QZI_ORACLE_END, 0));
  qzi_pub_store(&record->serial, 0);
  qzi_pub_store(&record->state, QZ_STATE_IDLE);
  if (__builtin_expect(p->free_count == QZI_PUB_POOL, 0)) qzi_pub_spill(p);
  uint32_t *free = &p->free[p->free_count++], index = index_plus_1 - 1;
  if (__builtin_expect(*free != index, 0)) *free = index;
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
}

#endif
