/* Chains that go through jobs. See job.h.
 *
 * A job that has ended leaves its chains with its group. A job that another one of the same context makes belongs to
 * that one's group; any other, to the group of its context; and those of a call that begins jobs and waits for them, to
 * a group of that call, unless the context has one, with jobs that were made before.
 */
#include "job.h"
#include <sched.h>
#include "abi/hash.h"
#include "path.h"
#include "publisher/private.h"
#include "task_pool.h"

static bool is_recorded(const struct qzl_task *job) { return qzi_publishing() && job->epoch == qzi_pub_epoch; }

static void release(const struct qzl_thread *me, struct qzl_task *record) {
  if (atomic_fetch_sub_explicit(&record->references, 1, memory_order_acq_rel) == 1) qzl_task_free(me, record);
}

/* ---- groups of contexts ---- */

#define LISTS 256u /* a power of two */
static struct list {
  QZ_ALIGN(64) _Atomic uint32_t lock;
  struct qzl_task *first;
} lists[LISTS];
static struct list *list_of(uint64_t context) { return &lists[context * QZ_HASH_FACTOR >> 56]; }

/* Where it stands in its list, under the lock; *at is NULL: it does not. */
static struct qzl_task **find(struct list *list, uint64_t context) {
  struct qzl_task **at = &list->first;
  while (*at && (*at)->context != context) at = &(*at)->next;
  return at;
}
static struct qzl_task *new_group(const struct qzl_thread *me, uint64_t context) {
  struct qzl_task *group = qzl_task_new(me);
  if (!group) return NULL;
  group->context = context;
  group->epoch = qzi_pub_epoch;
  group->active = 0;
  return group;
}

/* The group, which is used by the caller until it releases it; it is made if there is none. NULL: no room. */
static struct qzl_task *group_of(const struct qzl_thread *me, uint64_t context) {
  struct list *list = list_of(context);
  qzl_lock_words(&list->lock);
  struct qzl_task **at = find(list, context), *group = *at;
  if (group && !is_recorded(group)) { /* left over from an earlier recording */
    *at = group->next;
    release(me, group);
    group = NULL;
  }
  if (!group && (group = new_group(me, context))) {
    group->next = list->first;
    list->first = group;
  }
  if (group) atomic_fetch_add_explicit(&group->references, 1, memory_order_relaxed);
  qzl_unlock_words(&list->lock);
  return group;
}

static bool has_group(uint64_t context) {
  struct list *list = list_of(context);
  if (!__atomic_load_n(&list->first, __ATOMIC_RELAXED)) return false;
  qzl_lock_words(&list->lock);
  const struct qzl_task *group = *find(list, context);
  qzl_unlock_words(&list->lock);
  return group && is_recorded(group);
}

/* Takes that of the context out of its list. its: if it is that one, and besides the caller only the list uses it. */
static void forget(const struct qzl_thread *me, uint64_t context, const struct qzl_task *its) {
  struct list *list = list_of(context);
  if (!__atomic_load_n(&list->first, __ATOMIC_RELAXED)) return;
  qzl_lock_words(&list->lock);
  struct qzl_task **at = find(list, context), *group = *at;
  if (group && (!its || (group == its && atomic_load_explicit(&group->references, memory_order_relaxed) <= 2)))
    *at = group->next;
  else
    group = NULL;
  qzl_unlock_words(&list->lock);
  if (group) release(me, group);
}
void qzl_jobs_over(uint64_t context) { forget(qzl_self, context, NULL); }

/* ---- making and executing them ---- */

static bool is_in(const struct qzl_thread *me, uint64_t context) { return me->job && me->job->context == context; }

/* Hooks count the calls of procedures that have any. */
static bool has_hooks(const struct qzl_thread *me) {
  const struct qz_thread *record = me->thread.record;
  return QZ_WORD_DEPTH(__atomic_load_n(&record->word, __ATOMIC_RELAXED)) > record->base + me->held_count + 1;
}

/* The caller's use of the group becomes the job's. */
static struct qzl_task *make(struct qzl_thread *me, struct qzl_task *group, uint64_t context, uint64_t start,
                             uint64_t site) {
  struct qzl_task *job = group ? qzl_task_new(me) : NULL;
  if (!job) {
    if (group) release(me, group);
    return NULL;
  }
  job->group = group;
  job->context = context;
  job->start = start;
  job->site = site;
  job->epoch = qzi_pub_epoch;
  job->counts = !has_hooks(me);
  job->word = qzi_path_now(me->pub.path);
  job->ticks = qzi_pub_ticks();
  job->has_span = me->pub.span && qzi_span_task_made(&me->pub, &job->span, start, site);
  return job;
}
struct qzl_task *qzl_job_made(struct qzl_thread *me, uint64_t context, uint64_t start, uint64_t site) {
  if (!me->pub.path || !me->thread.record) return NULL;
  uint64_t since = qzl_rounds_begin(&me->steps);
  struct qzl_task *group = is_in(me, context) ? me->job->group : NULL;
  if (group)
    atomic_fetch_add_explicit(&group->references, 1, memory_order_relaxed);
  else
    group = group_of(me, context);
  struct qzl_task *job = make(me, group, context, start, group && group->site ? group->site : site);
  qzl_step_end(&me->steps, me->pub.path, since);
  return job;
}

void qzl_job_begins(struct qzl_thread *me, struct qzl_task *job) {
  uint64_t since = qzl_rounds_begin(&me->steps);
  job->was = me->job;
  if (!me->job && !me->idle_since) me->idle_since = 1; /* a thread of the library, which looks for jobs */
  job->was_idle = me->idle_since;
  me->job = job;
  me->idle_since = 0;
  atomic_fetch_add_explicit(&job->group->active, 1, memory_order_relaxed);
  if (!is_recorded(job)) return;
  if (job->counts) qzl_count(me, job->site, job->start);
  if (me->pub.path && job->ticks > job->was_idle && job->was_idle)
    qzl_path_goes_on(me, job->word, QZ_ARRIVAL_CREATED, 0);
  job->has_span = job->has_span && me->pub.span;
  if (job->has_span) qzi_span_task_begins(&me->pub, &job->span, &job->before);
  qzl_step_end(&me->steps, me->pub.path, since);
}

void qzl_job_ends(struct qzl_thread *me, struct qzl_task *job) {
  uint64_t since = qzl_rounds_begin(&me->steps);
  struct qzl_task *group = job->group;
  if (is_recorded(job)) {
    struct qzl_ended ended = {.by = me, .ticks = qzi_pub_ticks()};
    if (me->pub.path) ended.word = qzi_path_now(me->pub.path);
    if (job->has_span) qzi_span_task_ended(&me->pub, job->start, job->site, &job->before, &ended.span);
    qzl_lock_words(&group->lock);
    qzl_ended_add(&group->ended, &ended, job->has_span);
    qzl_unlock_words(&group->lock);
    if (job->was_idle) job->was_idle = ended.ticks;
  }
  atomic_fetch_sub_explicit(&group->active, 1, memory_order_release);
  me->job = job->was;
  me->idle_since = job->was_idle;
  release(me, group);
  qzl_task_free(me, job);
  if (qzi_publishing()) qzl_step_end(&me->steps, me->pub.path, since);
}
void qzl_job_dropped(struct qzl_task *job) {
  release(qzl_self, job->group);
  qzl_task_free(qzl_self, job);
}

/* ---- waiting for them ---- */

void qzl_jobs_wait(struct qzl_job_wait *wait, struct qzl_thread *me, uint64_t context, uint64_t site, uint64_t start) {
  wait->me = NULL;
  if (!me || !me->pub.path || !me->thread.record) return;
  bool scoped = start && (is_in(me, context) || !has_group(context));
  struct qzl_task *group = scoped ? new_group(me, context) : is_in(me, context) ? me->job->group : NULL;
  if (group && !scoped) atomic_fetch_add_explicit(&group->references, 1, memory_order_relaxed);
  if (!group) group = group_of(me, context);
  if (!group) return;
  if (scoped) group->site = site;
  *wait = (struct qzl_job_wait){.me = me, .group = group, .site = site, .start = start, .epoch = qzi_pub_epoch};
  wait->has_call = scoped && me->pub.span && qzi_span_call_of_tasks(&me->pub, &wait->call, start, site);
  if (!wait->has_call && me->pub.span) qzi_span_spins(&me->pub);
  wait->was_idle = me->idle_since;
  me->idle_since = qzi_pub_ticks();
}
struct qzl_task *qzl_job_of_wait(const struct qzl_job_wait *wait, uint64_t context) {
  if (!wait->me) return NULL;
  atomic_fetch_add_explicit(&wait->group->references, 1, memory_order_relaxed);
  return make(wait->me, wait->group, context, wait->start, wait->site);
}

/* The last thing that a job does for who waits for it is to count itself as done, inside the call that executes it. So
 * it may still be about to end; then it needs a few instructions, if it has a CPU. Where contexts are shared, others
 * are active for long: then that is not tried any more. */
#if defined(__x86_64__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif
#define PAUSES 256u
#define YIELDS 64u
#define TRIES  16
static _Atomic int tries_left = TRIES;
static void let_end(const struct qzl_thread *me, struct qzl_task *group) {
  uint32_t own = 0;
  for (const struct qzl_task *job = me->job; job; job = job->was) own += job->group == group;
  if (atomic_load_explicit(&group->active, memory_order_acquire) <= own) return;
  int left = atomic_load_explicit(&tries_left, memory_order_relaxed);
  if (left <= 0) return;
  for (unsigned k = 0; k < PAUSES + YIELDS; k++) {
    if (k < PAUSES)
      PAUSE();
    else
      qzl_real.sched_yield();
    if (atomic_load_explicit(&group->active, memory_order_acquire) > own) continue;
    if (left < TRIES) atomic_fetch_add_explicit(&tries_left, 1, memory_order_relaxed);
    return;
  }
  atomic_fetch_sub_explicit(&tries_left, 1, memory_order_relaxed);
}

static void go_on(const struct qzl_job_wait *wait, const struct qzl_ended *ended) {
  struct qzl_thread *me = wait->me;
  uint64_t idle_since = me->idle_since;
  if (me->pub.span) {
    qzi_span_waited_busy(&me->pub);
    if (ended->span.merge.chains) qzi_span_after(&me->pub, &ended->span, wait->site);
    if (wait->has_call) qzi_span_call_of_tasks_ended(&me->pub, &wait->call, wait->start, wait->site);
  }
  if (me->pub.path && idle_since && ended->by != me && ended->ticks > idle_since)
    qzl_path_goes_on(me, ended->word, QZ_ARRIVAL_JOINED, 0);
}

void qzl_jobs_waited(const struct qzl_job_wait *wait) {
  struct qzl_thread *me = wait->me;
  if (!me) return;
  struct qzl_task *group = wait->group;
  let_end(me, group);
  qzl_lock_words(&group->lock);
  struct qzl_ended ended = group->ended;
  group->ended.span = (struct qzi_span_sync){0};
  qzl_unlock_words(&group->lock);
  if (qzi_publishing() && wait->epoch == qzi_pub_epoch) go_on(wait, &ended);
  me->idle_since = wait->was_idle;
  forget(me, group->context, group);
  release(me, group);
}

void qzl_jobs_forked(void) {
  for (unsigned k = 0; k < LISTS; k++) atomic_store(&lists[k].lock, 0);
}
