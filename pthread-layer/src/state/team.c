/* Chains that go through teams. See team.h. */
#include "team.h"
#include "path.h"
#include "task.h"
#include "publisher/private.h"

static bool is_recorded(const struct qzl_team *team) { return qzi_publishing() && team->epoch == qzi_pub_epoch; }
static bool has_span(const struct qzl_team *team, const struct qzl_thread *me) {
  return is_recorded(team) && team->has_span && me->pub.span;
}
static bool has_path(const struct qzl_team *team, const struct qzl_thread *me) {
  return is_recorded(team) && me->pub.path;
}

static _Atomic bool teams_reported;
void qzl_teams_prepare(struct qz_session *head) {
  if (atomic_load(&teams_reported)) __atomic_fetch_or(&head->flags, QZ_SESSION_TEAMS, __ATOMIC_RELAXED);
}
void qzl_teams_reported(void) {
  atomic_store(&teams_reported, true);
  if (qzi_publishing()) qzl_teams_prepare(qzi_session.head);
}

static void begin(struct qzl_team *team, struct qzl_thread *me) {
  *team = (struct qzl_team){.begun_by = me,
                            .outer = me->team,
                            .outer_task = me->task,
                            .epoch = qzi_pub_epoch,
                            .has_span = me->pub.span != NULL};
  me->task = NULL;
  if (me->pub.path) team->word = qzi_path_now(me->pub.path);
  if (me->pub.span) qzi_span_origin(&me->pub, &team->begin);
}

void qzl_team_begins(struct qzl_team *team, struct qzl_thread *me) {
  uint64_t since = qzl_rounds_begin(&me->regions);
  begin(team, me);
  qzl_rounds_add(&me->regions, since);
}

/* Whether the thread's last region has left nothing in its team that the next one must not find. */
static inline bool is_clean(const struct qzl_team *team, const struct qzl_thread *me) {
  return team && team->begun_by == me && team->epoch == qzi_pub_epoch && !team->has_span && !me->pub.span &&
         !team->has_tasks && !team->has_unknown_tasks && !team->arrivals && team->outer_task == me->task;
}

struct qzl_team *qzl_team_begins_for(struct qzl_team *room, struct qzl_thread *me, void (*body)(void *), void *data) {
  uint64_t since = qzl_rounds_begin(&me->regions);
  struct qzl_team *team = me->team ? room : me->kept;
  if (me->team || !is_clean(team, me)) {
    if (!team) team = me->kept = qzi_pub_reserve(sizeof *team);
    if (!team) team = room;
    begin(team, me);
    team->body = body;
    team->data = data;
  } else { /* as it is, where nothing has changed: its threads need not fetch it again */
    uint64_t word = me->pub.path ? qzi_path_now(me->pub.path) : 0;
    me->task = NULL;
    if (team->word != word) team->word = word;
    if (team->body != body) team->body = body;
    if (team->data != data) team->data = data;
  }
  qzl_rounds_add(&me->regions, since);
  return team;
}

void qzl_team_enters(struct qzl_team *team, struct qzl_thread *me) {
  me->team = team;
  me->idle_since = 0;
  if (me == team->begun_by) return;
  me->task = NULL;
  if (has_path(team, me)) qzl_path_goes_on(me, team->word, QZ_ARRIVAL_CREATED, 0);
  if (has_span(team, me)) qzi_span_begins_after(&me->pub, &team->begin);
}

/* Where only the time path is recorded. Who has begun the region needs no report of it. */
static inline void leave_path(struct qzl_team *team, struct qzl_thread *me) {
  uint64_t ticks = me->idle_since = qzi_pub_ticks(), word = qzi_path_now(me->pub.path);
  if (me == team->begun_by) {
    me->left_ticks = ticks;
    return;
  }
  qzl_lock_words(&team->lock);
  team->end.last = me;
  team->end.ticks = ticks;
  team->end.word = word;
  qzl_unlock_words(&team->lock);
}

/* Under the lock. */
static void leave(const struct qzl_team *team, struct qzl_team_chains *at, struct qzl_thread *me) {
  if (has_span(team, me)) {
    uint64_t work = at->span.work;
    qzi_span_merge(&me->pub, &at->span);
    if (me == team->begun_by) at->span.work = work; /* it has its own already */
  }
  if (!has_path(team, me)) return;
  at->last = me;
  at->ticks = me->idle_since = qzi_pub_ticks();
  at->word = qzi_path_now(me->pub.path);
}
/* The thread waited for others, perhaps with its processor: that is no strand of it, unless it may have executed tasks
 * there of which nothing is known. Tasks that it executed are. */
static void go_on(const struct qzl_team *team, const struct qzl_team_chains *at, const struct qzl_ended *tasks,
                  struct qzl_thread *me, uint64_t site) {
  me->idle_since = 0;
  if (has_span(team, me)) {
    if (!__atomic_load_n(&team->has_unknown_tasks, __ATOMIC_RELAXED)) qzi_span_waited_busy(&me->pub);
    if (tasks->span.merge.chains) qzi_span_precedes(&me->span, &tasks->span.most);
    if (site)
      qzi_span_after(&me->pub, &at->span, site);
    else
      qzi_span_get(&me->pub, &at->span.most, 0);
  }
  bool by_task = tasks->ticks > at->ticks;
  const struct qzl_thread *last = by_task ? tasks->by : at->last;
  if (has_path(team, me) && last && last != me)
    qzl_path_goes_on(me, by_task ? tasks->word : at->word, QZ_ARRIVAL_JOINED, 0);
}

void qzl_team_leaves(struct qzl_team *team, struct qzl_thread *me) {
  uint64_t since = me == team->begun_by ? qzl_rounds_now(&me->regions) : 0;
  if (team->has_span) {
    qzl_lock_words(&team->lock);
    leave(team, &team->end, me);
    qzl_unlock_words(&team->lock);
  } else if (has_path(team, me))
    leave_path(team, me);
  me->team = me == team->begun_by ? team->outer : NULL;
  if (me != team->begun_by) me->task = NULL;
  qzl_rounds_add(&me->regions, since);
}

/* All threads have left, and do nothing in the team any more: nothing is locked. */
static void go_on_path(struct qzl_team *team, struct qzl_thread *me) {
  const struct qzl_thread *last = team->end.last;
  uint64_t ticks = me->left_ticks, word = 0;
  me->left_ticks = me->idle_since = 0;
  if (!ticks || !has_path(team, me)) return;
  bool by_other = last && team->end.ticks > ticks, by_task = false;
  if (by_other) ticks = team->end.ticks, word = team->end.word;
  if (team->has_tasks && team->ended.ticks > ticks) by_task = true;
  if (by_task) last = team->ended.by, word = team->ended.word;
  if ((by_other || by_task) && last != me) qzl_path_goes_on(me, word, QZ_ARRIVAL_JOINED, 0);
}

void qzl_team_ended(struct qzl_team *team, struct qzl_thread *me, uint64_t site) {
  uint64_t since = qzl_rounds_now(&me->regions);
  me->task = team->outer_task;
  if (team->has_span)
    go_on(team, &team->end, &team->ended, me, site);
  else
    go_on_path(team, me);
  if (team->records) me->span.work += qzl_tasks_over(team);
  if (has_path(team, me)) qzl_rounds_end(&me->regions, me->pub.path, since);
}

void qzl_team_waited(struct qzl_thread *me) {
  if (qzi_publishing() && me->pub.span) qzi_span_waited_busy(&me->pub);
}

unsigned qzl_team_arrives(struct qzl_team *team, struct qzl_thread *me, unsigned parties) {
  uint64_t since = me == team->begun_by ? qzl_rounds_begin(&me->barriers) : 0;
  qzl_lock_words(&team->lock);
  unsigned round = team->arrivals++ / (parties ? parties : 1) & 1;
  struct qzl_team_chains *at = &team->round[round];
  if (at->came == parties) *at = (struct qzl_team_chains){0};
  at->came++;
  leave(team, at, me);
  qzl_unlock_words(&team->lock);
  qzl_rounds_add(&me->barriers, since);
  return round;
}

void qzl_team_passed(struct qzl_team *team, struct qzl_thread *me, unsigned round) {
  bool is_its_own = me == team->begun_by;
  uint64_t since = is_its_own ? qzl_rounds_now(&me->barriers) : 0;
  qzl_lock_words(&team->lock);
  struct qzl_team_chains at = team->round[round];
  struct qzl_ended tasks = team->ended;
  qzl_unlock_words(&team->lock);
  if (me->task) me->span.work += qzl_tasks_work(me->task);
  go_on(team, &at, &tasks, me, 0);
  if (is_its_own && has_path(team, me)) qzl_rounds_end(&me->barriers, me->pub.path, since);
}
