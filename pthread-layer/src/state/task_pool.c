/* Room for tasks. See task_pool.h. */
#include "task_pool.h"
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include "path.h"
#include "publisher/private.h"

#define LISTS  16u /* threads beyond them share one */
#define BATCH  16u
#define OWNERS 256u /* threads that keep a few for themselves, without a lock; */
#define OWNED  16u  /* so many */
static struct list {
  QZ_ALIGN(64) _Atomic uint32_t lock;
  struct qzl_task *first;
} lists[LISTS];
static struct owned { /* by place; the thread that has the place */
  QZ_ALIGN(64) struct qzl_task *first;
  uint32_t count;
} owned[OWNERS];
static struct qzl_task *_Atomic tasks; /* NULL: none yet */
static _Atomic uint32_t used;

static struct qzl_task *take_all(struct list *list) {
  qzl_lock_words(&list->lock);
  struct qzl_task *first = list->first;
  list->first = NULL;
  qzl_unlock_words(&list->lock);
  return first;
}
static void give(struct list *list, struct qzl_task *first, struct qzl_task *last) {
  qzl_lock_words(&list->lock);
  last->next = list->first;
  list->first = first;
  qzl_unlock_words(&list->lock);
}

/* Those that were never used, linked. */
static struct qzl_task *fresh(void) {
  struct qzl_task *all = atomic_load(&tasks);
  if (!all) {
    struct qzl_task *made = qzi_pub_reserve(QZL_TASKS * sizeof *made);
    if (!made) return NULL;
    if (atomic_compare_exchange_strong(&tasks, &all, made))
      all = made;
    else
      munmap(made, QZL_TASKS * sizeof *made); /* another thread has just done so */
  }
  if (atomic_load(&used) >= QZL_TASKS) return NULL;
  uint32_t from = atomic_fetch_add(&used, BATCH);
  if (from >= QZL_TASKS) return NULL;
  for (uint32_t k = 0; k < BATCH; k++) {
    all[from + k].number = from + k;
    all[from + k].next = k + 1 < BATCH ? &all[from + k + 1] : NULL;
  }
  return &all[from];
}

static struct qzl_task *elsewhere(const struct list *own) {
  for (unsigned k = 0; k < LISTS; k++) {
    struct qzl_task *first =
      &lists[k] != own && __atomic_load_n(&lists[k].first, __ATOMIC_RELAXED) ? take_all(&lists[k]) : NULL;
    if (first) return first;
  }
  return fresh();
}

/* Of a constant number of bytes, by stores of 16: what the compiler uses for so many takes three times as long. */
__attribute__((always_inline)) static inline void clear(void *at, size_t bytes) {
  size_t k = 0;
  for (; k + 64 <= bytes; k += 64) memset((char *)at + k, 0, 64);
  memset((char *)at + k, 0, bytes - k);
}

static struct qzl_task *take_owned(const struct qzl_thread *me) {
  struct owned *own = me->slot < OWNERS ? &owned[me->slot] : NULL;
  struct qzl_task *task = own ? own->first : NULL;
  if (!task) return NULL;
  own->first = task->next;
  own->count--;
  return task;
}

static struct qzl_task *take_shared(const struct qzl_thread *me) {
  struct list *own = &lists[me->slot % LISTS];
  qzl_lock_words(&own->lock);
  struct qzl_task *task = own->first;
  if (task) own->first = task->next;
  qzl_unlock_words(&own->lock);
  if (!task) {
    task = elsewhere(own);
    if (!task) return NULL;
    if (task->next) {
      struct qzl_task *last = task->next;
      while (last->next) last = last->next;
      give(own, task->next, last);
    }
  }
  return task;
}

struct qzl_task *qzl_task_new(const struct qzl_thread *me) {
  struct qzl_task *task = take_owned(me);
  if (!task) task = take_shared(me);
  if (!task) return NULL;
  uint64_t number = task->number + QZL_TASKS;
  clear(task, offsetof(struct qzl_task, span));
  task->next = NULL;
  task->is_over = false;
  clear(&task->ended, sizeof task->ended);
  task->number = number;
  atomic_store_explicit(&task->references, 1, memory_order_relaxed);
  return task;
}

void qzl_task_free(const struct qzl_thread *me, struct qzl_task *task) {
  struct owned *own = me && me->slot < OWNERS ? &owned[me->slot] : NULL;
  if (own && own->count < OWNED) {
    task->next = own->first;
    own->first = task;
    own->count++;
    return;
  }
  give(&lists[me ? me->slot % LISTS : 0], task, task);
}

/* Locks of threads that do not exist there. */
void qzl_tasks_forked(void) {
  for (unsigned k = 0; k < LISTS; k++) atomic_store(&lists[k].lock, 0);
  if (atomic_load(&tasks)) memset(owned, 0, sizeof owned);
}
