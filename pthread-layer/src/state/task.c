/* Chains that go through tasks. See task.h.
 *
 * A task that has ended leaves its chains with its parent, the group that it belongs to, and the team: whoever waits
 * goes on after the longest of those that it waited for. What a thread does while it waits, other than executing
 * tasks, is no strand.
 */
#include "task.h"
#include "depend.h"
#include "path.h"
#include "publisher/private.h"
#include "task_pool.h"
#include "team_data.h"

static bool is_recorded(const struct qzl_task *task) { return qzi_publishing() && task->epoch == qzi_pub_epoch; }

/* Nobody else refers to it: no locked instruction is needed, for nobody could add one. */
static bool is_alone(struct qzl_task *task) {
  return atomic_load_explicit(&task->references, memory_order_acquire) == 1;
}
static void release(const struct qzl_thread *me, struct qzl_task *task) {
  while (task && (is_alone(task) || atomic_fetch_sub_explicit(&task->references, 1, memory_order_acq_rel) == 1)) {
    struct qzl_task *parent = task->parent;
    qzl_task_free(me, task);
    task = parent;
  }
}

/* ---- making tasks ---- */

/* What stands for the calling thread in its team, or for the task that it executes; NULL: it is in no team. */
static struct qzl_task *here(struct qzl_thread *me) {
  if (me->task || !me->team) return me->task;
  struct qzl_task *task = qzl_task_new(me);
  if (!task) return NULL;
  task->team = me->team;
  task->epoch = qzi_pub_epoch;
  qzl_lock_words(&me->team->lock);
  task->next = me->team->records;
  me->team->records = task;
  qzl_unlock_words(&me->team->lock);
  return me->task = task;
}

static void has_tasks(struct qzl_team *team) {
  if (!__atomic_load_n(&team->has_tasks, __ATOMIC_RELAXED)) __atomic_store_n(&team->has_tasks, true, __ATOMIC_RELAXED);
}

void qzl_task_unknown(struct qzl_thread *me) {
  struct qzl_team *team = me->task ? me->task->team : me->team;
  if (team) __atomic_store_n(&team->has_unknown_tasks, true, __ATOMIC_RELAXED);
}

static struct qzl_task *make(struct qzl_thread *me, struct qzl_task *parent) {
  struct qzl_task *task = parent ? qzl_task_new(me) : NULL;
  if (!task) {
    qzl_task_unknown(me);
    return NULL;
  }
  task->parent = parent;
  atomic_fetch_add_explicit(&parent->references, 1, memory_order_relaxed);
  task->team = parent->team;
  task->epoch = qzi_pub_epoch;
  has_tasks(task->team);
  return task;
}

/* Hooks count the calls of procedures that have any. */
static bool has_hooks(const struct qzl_thread *me) {
  const struct qz_thread *record = me->thread.record;
  return QZ_WORD_DEPTH(__atomic_load_n(&record->word, __ATOMIC_RELAXED)) > record->base + me->held_count + 1;
}

struct qzl_task *qzl_task_made(struct qzl_thread *me, uint64_t start, uint64_t site, unsigned flags) {
  if (!me->pub.path || !me->thread.record) return NULL;
  uint64_t since = qzl_rounds_begin(&me->steps);
  struct qzl_task *parent = here(me), *task = make(me, parent);
  if (!task) return NULL;
  task->group = parent->group;
  task->start = start;
  task->site = site;
  task->counts = start && !has_hooks(me);
  task->included = flags & QZL_TASK_INCLUDED || parent->final;
  task->final = flags & QZL_TASK_FINAL || parent->final;
  task->word = qzi_path_now(me->pub.path);
  task->ticks = qzi_pub_ticks();
  task->has_span = me->pub.span && qzi_span_task_made(&me->pub, &task->span, start, site);
  qzl_step_end(&me->steps, me->pub.path, since);
  return task;
}

void qzl_task_is_model(struct qzl_task *model) {
  qzl_lock_words(&model->team->lock);
  model->next = model->team->records;
  model->team->records = model;
  qzl_unlock_words(&model->team->lock);
}

struct qzl_task *qzl_task_like(struct qzl_thread *me, struct qzl_task *model) {
  if (!is_recorded(model) || !me->pub.path || !me->thread.record) return NULL;
  struct qzl_task *task = make(me, model->parent);
  if (!task) return NULL;
  task->group = model->group;
  task->start = model->start;
  task->site = model->site;
  task->counts = model->counts;
  task->included = model->included;
  task->final = model->final;
  task->word = model->word;
  task->ticks = model->ticks;
  task->span = model->span;
  task->has_span = model->has_span && me->pub.span;
  if (task->included && task->has_span) /* one after another */
    task->has_span = qzi_span_task_made(&me->pub, &task->span, task->start, task->site);
  return task;
}

void qzl_task_depends(struct qzl_task *task, uint64_t address, bool writes) {
  if (task->depend_count == QZL_DEPENDS) return;
  task->writes |= (uint32_t)writes << task->depend_count;
  task->depends[task->depend_count++] = address;
}

/* ---- executing them ---- */

/* Number that its parent's tasks have in common. */
static uint64_t family_of(const struct qzl_task *task) { return task->parent->number; }

static void follow(struct qzl_task *task) {
  struct qzl_ended after = {.ticks = task->ticks, .word = task->word};
  for (uint32_t k = 0; k < task->depend_count; k++)
    qzl_depend_follow(family_of(task), task->depends[k], task->writes & 1u << k, &after);
  task->ticks = after.ticks;
  task->word = after.word;
  if (task->has_span) qzi_span_precedes(&task->span, &after.span.most);
}

void qzl_task_begins(struct qzl_thread *me, struct qzl_task *task) {
  uint64_t since = qzl_rounds_begin(&me->steps);
  task->was = me->task;
  task->was_idle = me->idle_since;
  me->task = task;
  me->idle_since = 0;
  if (!is_recorded(task)) return;
  if (task->depend_count) follow(task);
  if (task->counts) qzl_count(me, task->site, task->start);
  if (me->pub.path && task->was_idle && task->ticks > task->was_idle)
    qzl_path_goes_on(me, task->word, QZ_ARRIVAL_CREATED, 0);
  task->has_span = task->has_span && me->pub.span;
  if (task->has_span) qzi_span_task_begins(&me->pub, &task->span, &task->before);
  qzl_step_end(&me->steps, me->pub.path, since);
}

static void add(struct qzl_ended *to, const struct qzl_ended *from, bool has_span, bool with_work) {
  uint64_t work = to->span.work;
  qzl_ended_add(to, from, has_span);
  if (!with_work) to->span.work = work;
}
/* The work of a task whose parent has ended goes to who will wait for that one. Returns whether its end may be the last
 * one of the team's tasks: not where the parent is a task that goes on, for that ends later. */
static bool add_to_parent(struct qzl_task *task, const struct qzl_ended *ended) {
  bool with_all = true, may_be_last = true;
  for (struct qzl_task *parent = task->parent; parent; parent = parent->parent) {
    qzl_lock_words(&parent->lock);
    bool is_over = parent->is_over;
    if (with_all && parent->parent) may_be_last = is_over;
    if (with_all)
      add(&parent->ended, ended, task->has_span, !is_over);
    else if (!is_over)
      parent->ended.span.work += ended->span.work;
    qzl_unlock_words(&parent->lock);
    if (!is_over || !ended->span.work) break;
    with_all = false;
  }
  return may_be_last;
}
static void add_to(_Atomic uint32_t *lock, struct qzl_ended *to, const struct qzl_ended *ended, bool has_span) {
  qzl_lock_words(lock);
  add(to, ended, has_span, false);
  qzl_unlock_words(lock);
}

uint64_t qzl_tasks_work(struct qzl_task *task) {
  if (!task) return 0;
  qzl_lock_words(&task->lock);
  uint64_t work = task->ended.span.work;
  task->ended.span.work = 0;
  qzl_unlock_words(&task->lock);
  return work;
}

static void leave(struct qzl_thread *me, struct qzl_task *task) {
  struct qzl_ended ended = {.by = me, .ticks = qzi_pub_ticks()};
  if (me->pub.path) ended.word = qzi_path_now(me->pub.path);
  if (task->has_span) {
    me->span.work += qzl_tasks_work(task);
    qzi_span_task_ended(&me->pub, task->start, task->site, &task->before, &ended.span);
    if (task->included) {
      me->span.work += ended.span.work;
      qzi_span_get(&me->pub, &ended.span.most, 0);
    }
  }
  if (!task->included) {
    bool may_be_last = add_to_parent(task, &ended);
    if (task->group) add_to(&task->group->lock, &task->group->ended, &ended, task->has_span);
    if (task->has_span || may_be_last) add_to(&task->team->lock, &task->team->ended, &ended, task->has_span);
  }
  for (uint32_t k = 0; k < task->depend_count; k++)
    qzl_depend_leave(family_of(task), task->depends[k], task->writes & 1u << k, &ended);
  if (task->was_idle) task->was_idle = ended.ticks;
}

static void over(const struct qzl_thread *me, struct qzl_task *task) {
  if (!is_alone(task)) {
    qzl_lock_words(&task->lock);
    task->is_over = true;
    qzl_unlock_words(&task->lock);
  }
  release(me, task);
}
void qzl_task_ends(struct qzl_thread *me, struct qzl_task *task) {
  uint64_t since = qzl_rounds_begin(&me->steps);
  if (is_recorded(task)) leave(me, task);
  me->task = task->was;
  me->idle_since = task->was_idle;
  over(me, task);
  if (qzi_publishing()) qzl_step_end(&me->steps, me->pub.path, since);
}
void qzl_task_dropped(struct qzl_task *task) { over(NULL, task); }

/* ---- waiting for them ---- */

void qzl_tasks_wait(struct qzl_thread *me) {
  if (!me->task || !is_recorded(me->task)) return;
  if (!me->pub.span && is_alone(me->task)) return; /* they have ended: it does not wait */
  if (me->pub.span) qzi_span_spins(&me->pub);
  me->idle_since = qzi_pub_ticks();
}

/* It has waited for those; site: where they are merged. */
static void go_on(struct qzl_thread *me, const struct qzl_ended *ended, uint64_t site) {
  uint64_t idle_since = me->idle_since;
  me->idle_since = 0;
  if (me->pub.span) {
    qzi_span_waited_busy(&me->pub);
    if (site && ended->span.merge.chains)
      qzi_span_after(&me->pub, &ended->span, site);
    else
      qzi_span_get(&me->pub, &ended->span.most, 0);
  }
  if (me->pub.path && idle_since && ended->by != me && ended->ticks > idle_since)
    qzl_path_goes_on(me, ended->word, QZ_ARRIVAL_JOINED, 0);
}

/* What they have left; who takes it takes it once. is_shared: another thread may still add to it. */
static struct qzl_ended taken(struct qzl_task *of, bool is_shared) {
  if (is_shared) qzl_lock_words(&of->lock);
  struct qzl_ended ended = of->ended;
  of->ended.span = (struct qzi_span_sync){0};
  if (is_shared) qzl_unlock_words(&of->lock);
  return ended;
}

void qzl_tasks_waited(struct qzl_thread *me, uint64_t site) {
  if (!me->task || !is_recorded(me->task)) return;
  struct qzl_ended ended = taken(me->task, !is_alone(me->task));
  go_on(me, &ended, site);
}

void qzl_tasks_waited_at(struct qzl_thread *me, const uint64_t *addresses, uint32_t writes, uint32_t count) {
  if (!me->task || !is_recorded(me->task)) return;
  struct qzl_ended ended = {0};
  for (uint32_t k = 0; k < count; k++) qzl_depend_follow(me->task->number, addresses[k], writes & 1u << k, &ended);
  go_on(me, &ended, 0);
}

void qzl_tasks_grouped(struct qzl_thread *me) {
  struct qzl_task *task = me->pub.path && me->thread.record ? here(me) : NULL, *group = task ? qzl_task_new(me) : NULL;
  if (task && !group) task->unknown_groups++;
  if (!group) return;
  group->epoch = qzi_pub_epoch;
  group->was = task->group;
  task->group = group;
}

void qzl_group_waited(struct qzl_thread *me, uint64_t site) {
  struct qzl_task *task = me->task, *group = task ? task->group : NULL;
  if (task && task->unknown_groups) {
    task->unknown_groups--;
    return;
  }
  if (!group) return;
  struct qzl_ended ended = taken(group, true);
  task->group = group->was;
  qzl_task_free(me, group);
  if (!is_recorded(task)) return;
  if (me->pub.span) me->span.work += qzl_tasks_work(task);
  go_on(me, &ended, site);
}

uint64_t qzl_tasks_over(struct qzl_team *team) {
  uint64_t work = 0;
  struct qzl_thread *me = qzl_self;
  for (struct qzl_task *task = team->records, *next; task; task = next) {
    next = task->next;
    work += qzl_tasks_work(task);
    release(me, task);
  }
  team->records = NULL;
  return work;
}
