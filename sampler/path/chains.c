/* See chains.h. */
#include "chains.h"

#include <stdlib.h>
#include <string.h>
#include "abi/session_read.h"
#include "sampler/util/array.h"

#define LINKS_MANY 131072u /* number of links from which on some are forgotten */
#define LINKS_MOST 524288u /* maximum number of links */
/* in the clock page's units: younger links may still be needed */
#define RECENT     (UINT64_C(5000000000) >> QZ_PATH_TIME_SHIFT)
/* interval between readings of all actors, including those that are asleep */
#define ALL        (UINT64_C(500000000) >> QZ_PATH_TIME_SHIFT)
#define FRESH      (UINT64_C(100000000) >> QZ_PATH_TIME_SHIFT) /* an actor not seen for longer is not working */

int qzi_chains_open(struct qzi_chains *chains, const struct qz_session_view *view, qzi_chains_source *source,
                    uint64_t base, void (*settle)(void *to, const struct qzi_link *link), void *to) {
  *chains = (struct qzi_chains){.view = view, .source = source, .base = base, .settle = settle, .to = to};
  chains->actors = source == qz_session_path ? view->path_table.capacity : view->span_path_table.capacity;
  chains->counts = calloc(chains->actors ? chains->actors : 1, sizeof *chains->counts);
  chains->logs = calloc(chains->actors ? chains->actors : 1, sizeof *chains->logs);
  chains->pieces = malloc(QZI_LINK_SCRATCH * sizeof *chains->pieces);
  chains->random = base | 1;
  if (!chains->counts || !chains->logs || !chains->pieces) return -1;
  for (uint32_t k = 0; k < chains->actors; k++) { /* crumbs that an earlier recording has read */
    const struct qz_path *path = source(view, k);
    if (path && (k < view->processors || k < qz_session_thread_high(view)))
      chains->counts[k] = QZ_LOAD_ACQUIRE(&path->count);
  }
  return 0;
}

void qzi_chains_close(struct qzi_chains *chains) {
  for (uint32_t k = 0; k < chains->count; k++) free(chains->links[k].pieces);
  for (uint32_t k = 0; chains->logs && k < chains->actors; k++) qzi_observations_free(&chains->logs[k]);
  free(chains->links);
  free(chains->counts);
  free(chains->pieces);
  free(chains->logs);
  qzi_table_free(&chains->index);
  memset(chains, 0, sizeof *chains);
}

void qzi_chains_seen(struct qzi_chains *chains, uint32_t actor, const struct qzi_observation *seen) {
  if (actor < chains->actors && qzi_observations_add(&chains->logs[actor], seen, &chains->random)) chains->lost++;
}

/* ---- links ---- */

/* Time of a shifted word; 0 if it is before the recording. */
static uint64_t time_of(const struct qzi_chains *chains, uint64_t word) {
  uint64_t time = QZ_CHAIN_TIME(word);
  time = time > chains->base ? time - chains->base : 0;
  return time < chains->now ? time : chains->now;
}
static int is_old(const struct qzi_chains *chains, uint64_t word) { return QZ_CHAIN_TIME(word) < chains->base; }

static uint32_t find(const struct qzi_chains *chains, uint64_t id) {
  QZI_TABLE_EACH(&chains->index, qzi_hash(id, 0), at)
  if (chains->links[at - 1].id == id) return at;
  return 0;
}

/* Composes the link of an actor, whose previous crumb may be another one's. */
static void compose(struct qzi_chains *chains, struct qzi_link *link, uint32_t actor, uint32_t most) {
  uint32_t other = QZ_CHAIN_ACTOR(link->prev);
  int waited = link->prev && other != actor && other < chains->actors;
  qzi_link_compose(link, &chains->logs[actor], waited ? &chains->logs[other] : NULL, chains->pieces, most,
                   &chains->random);
}

/* The time after `time` that the page showed next; `time` if that is not known any more, or not yet. */
static uint64_t next_tick(const struct qzi_chains *chains, uint64_t time) {
  uint64_t next = time, count = chains->ticks_count;
  for (uint64_t k = 0; k < count && k < QZI_TICKS; k++) {
    uint64_t tick = chains->ticks[(count - 1 - k) % QZI_TICKS];
    if (tick <= time) return next;
    next = tick;
  }
  return count <= QZI_TICKS ? next : time;
}

/* Makes the link of a crumb, without pieces; time before `from` is left out. */
static struct qzi_link make(const struct qzi_chains *chains, const struct qz_crumb *crumb, uint64_t from,
                            uint64_t end) {
  struct qzi_link link = {.id = crumb->id, .prev = is_old(chains, crumb->prev) ? 0 : crumb->prev & ~UINT64_C(15)};
  link.arrival = (uint8_t)QZ_CHAIN_ARRIVAL(crumb->since);
  if (link.arrival >= QZ_ARRIVAL_COUNT) link.arrival = QZ_ARRIVAL_SAME;
  link.key = crumb->key;
  link.end = end;
  link.begin = link.prev ? time_of(chains, link.prev) : 0;
  if (link.begin < from) link.begin = from;
  if (link.begin > link.end) link.begin = link.end;
  link.since = is_old(chains, crumb->since) ? 0 : time_of(chains, crumb->since);
  if (link.since < link.begin) link.since = link.begin;
  if (link.since > link.end) link.since = link.end;
  link.unsure = (uint32_t)(next_tick(chains, link.since) - link.since);
  return link;
}

/* Makes the complete link of a crumb. Observations of its actor before the crumb are not needed any more. */
static struct qzi_link make_whole(struct qzi_chains *chains, const struct qz_crumb *crumb, uint32_t actor,
                                  uint64_t end) {
  struct qzi_link link = make(chains, crumb, 0, end);
  compose(chains, &link, actor, QZI_PIECES_KEPT);
  qzi_observations_forget(&chains->logs[actor], link.end);
  return link;
}

static void add(struct qzi_chains *chains, const struct qzi_link *link) {
  if (chains->count >= LINKS_MOST || find(chains, link->id) ||
      qzi_grow((void **)&chains->links, &chains->room, chains->count + 1, sizeof *chains->links)) {
    chains->lost++;
    free(link->pieces);
    return;
  }
  chains->links[chains->count] = *link;
  if (qzi_table_add(&chains->index, qzi_hash(link->id, 0), chains->count + 1)) {
    chains->lost++;
    free(link->pieces);
    return;
  }
  chains->count++;
}

static void read_actor(struct qzi_chains *chains, uint32_t actor) {
  const struct qz_path *path = chains->source(chains->view, actor);
  uint64_t count = QZ_LOAD_ACQUIRE(&path->count), from = chains->counts[actor], limit = chains->view->crumbs_limit;
  if (count == from) return;
  if (count - from > limit) {
    chains->lost += count - from - limit;
    from = count - limit;
  }
  for (; from < count; from++) {
    const struct qz_crumb *at = &path->ring[from & (limit - 1)];
    struct qz_crumb crumb = {QZ_LOAD(&at->id), QZ_LOAD(&at->prev), QZ_LOAD(&at->since), QZ_LOAD(&at->key)};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (QZ_LOAD(&path->count) - from > limit || is_old(chains, crumb.id)) { /* overwritten while it was read */
      chains->lost++;
      continue;
    }
    struct qzi_link link = make_whole(chains, &crumb, actor, time_of(chains, crumb.id));
    add(chains, &link);
    chains->crumbs++;
  }
  chains->counts[actor] = count;
}

/* ---- forgetting ---- */

static void look_up_all(struct qzi_chains *chains) {
  for (uint32_t k = 0; k < chains->count; k++) {
    struct qzi_link *link = &chains->links[k];
    if (link->prev && !link->before) link->before = find(chains, link->prev);
  }
}

static void mark_from(struct qzi_chains *chains, uint32_t at) {
  for (; at && !chains->links[at - 1].marked; at = chains->links[at - 1].before) chains->links[at - 1].marked = 1;
}

/* Keeps only the marked links, in their order. */
static void keep_marked(struct qzi_chains *chains) {
  uint32_t kept = 0;
  for (uint32_t k = 0; k < chains->count; k++) {
    struct qzi_link *link = &chains->links[k];
    if (!link->marked) {
      free(link->pieces);
      continue;
    }
    link->marked = 0;
    link->before = 0;
    chains->links[kept++] = *link;
  }
  chains->count = kept;
  qzi_table_free(&chains->index);
  for (uint32_t k = 0; k < kept; k++)
    if (qzi_table_add(&chains->index, qzi_hash(chains->links[k].id, 0), k + 1)) chains->lost++;
  look_up_all(chains);
}

/* Settles the old links with which all chains begin. */
static void settle_trunk(struct qzi_chains *chains, uint32_t actors) {
  uint32_t *child = calloc(chains->count + 1, sizeof *child); /* for each link: its only successor, index + 1; 0:
                                                                 none; UINT32_MAX: several */
  if (!child) return;
  for (uint32_t k = 0; k < chains->count; k++) {
    uint32_t before = chains->links[k].before;
    child[before] = child[before] ? UINT32_MAX : k + 1;
  }
  for (uint32_t a = 0; a < actors; a++) { /* an actor may continue from its last link */
    uint32_t at = find(chains, QZ_LOAD(&chains->source(chains->view, a)->word));
    if (at) child[at] = UINT32_MAX;
  }
  for (uint32_t k = 0; k < chains->count; k++) chains->links[k].marked = 1;
  for (uint32_t at = child[0]; at && at != UINT32_MAX; at = child[at]) {
    struct qzi_link *link = &chains->links[at - 1];
    if (link->end + RECENT > chains->now || child[at] == 0) break;
    chains->settle(chains->to, link);
    link->marked = 0;
  }
  free(child);
  keep_marked(chains);
}

static void forget(struct qzi_chains *chains, uint32_t actors) {
  if (actors > chains->actors) actors = chains->actors;
  look_up_all(chains);
  for (uint32_t a = 0; a < actors; a++)
    mark_from(chains, find(chains, QZ_LOAD(&chains->source(chains->view, a)->word)));
  for (uint32_t k = 0; k < chains->count; k++)
    if (chains->links[k].end + RECENT > chains->now) mark_from(chains, k + 1);
  keep_marked(chains);
  settle_trunk(chains, actors);
}

void qzi_chains_read(struct qzi_chains *chains, uint32_t actors, uint64_t now, const uint64_t *awake) {
  chains->now = now;
  if (!chains->ticks_count || now > chains->ticks[(chains->ticks_count - 1) % QZI_TICKS])
    chains->ticks[chains->ticks_count++ % QZI_TICKS] = now;
  if (actors > chains->actors) actors = chains->actors;
  if (!awake || now >= chains->all_due) {
    for (uint32_t k = 0; k < actors; k++) read_actor(chains, k);
    chains->all_due = now + ALL;
  } else {
    for (uint32_t word = 0; word < (actors + 63) / 64; word++)
      for (uint64_t left = awake[word]; left; left &= left - 1) {
        uint32_t k = word * 64 + (uint32_t)__builtin_ctzll(left);
        if (k < actors) read_actor(chains, k);
      }
  }
  if (chains->count < LINKS_MANY || chains->count < chains->due) return;
  forget(chains, actors);
  chains->due = chains->count + LINKS_MANY / 4;
}

/* ---- the end ---- */

static uint32_t actors_of(const struct qzi_chains *chains) {
  const struct qz_session_view *view = chains->view;
  uint32_t high = view->publisher == QZ_PUBLISHER_PTHREAD ? qz_session_thread_high(view) : view->processors;
  return high < chains->actors ? high : chains->actors;
}

static int is_busy(const struct qzi_observations *log) {
  return log->count &&
         (log->at[log->count - 1].state == QZ_STATE_USEFUL || log->at[log->count - 1].state == QZ_STATE_OVERHEAD);
}

/* Whether the actor was seen in one of the last snapshots; a thread that has ended was not. */
static int is_fresh(const struct qzi_chains *chains, const struct qzi_observations *log) {
  return log->count && log->at[log->count - 1].end + FRESH >= chains->now;
}

/* The actor whose chain is the run's if the program did not end normally: of those that worked last, the one that has
 * had its chain for the shortest time. */
static uint32_t youngest(const struct qzi_chains *chains) {
  uint32_t high = actors_of(chains), best = 0;
  for (uint32_t a = 1; a < high; a++) {
    int busy = is_busy(&chains->logs[a]) << is_fresh(chains, &chains->logs[a]);
    int than = is_busy(&chains->logs[best]) << is_fresh(chains, &chains->logs[best]);
    if (busy > than || (busy == than && QZ_LOAD(&chains->source(chains->view, a)->since) >
                                          QZ_LOAD(&chains->source(chains->view, best)->since)))
      best = a;
  }
  return best;
}

/* Makes the crumb that the actor on the run's path would write now. Returns the actor, or a value out of range if there
 * is none. */
static uint32_t end_of(const struct qzi_chains *chains, struct qz_crumb *crumb) {
  uint64_t end = QZ_LOAD_ACQUIRE(&qz_session_head(chains->view)->path_end);
  if (end && QZ_CHAIN_ACTOR(end) < chains->actors && !is_old(chains, end)) {
    *crumb = (struct qz_crumb){.prev = end, .since = end & ~UINT64_C(15)};
    return QZ_CHAIN_ACTOR(end);
  }
  uint32_t actor = youngest(chains);
  const struct qz_path *path = chains->source(chains->view, actor);
  *crumb = (struct qz_crumb){.prev = QZ_LOAD(&path->word), .since = QZ_LOAD(&path->since), .key = QZ_LOAD(&path->key)};
  return actor;
}

void qzi_chains_end(struct qzi_chains *chains) {
  struct qz_crumb crumb;
  uint32_t actor = end_of(chains, &crumb);
  qzi_chains_end_with(chains, &crumb, actor);
}

void qzi_chains_end_with(struct qzi_chains *chains, const struct qz_crumb *crumb, uint32_t actor) {
  struct qzi_link last = make_whole(chains, crumb, actor, chains->now);
  look_up_all(chains);
  uint32_t count = 0, at = last.prev ? find(chains, last.prev) : 0, *way = malloc((chains->count + 1) * sizeof *way);
  for (uint32_t k = at; way && k && count <= chains->count; k = chains->links[k - 1].before) way[count++] = k;
  while (count--) {
    struct qzi_link *link = &chains->links[way[count] - 1];
    chains->settle(chains->to, link);
  }
  chains->settle(chains->to, &last);
  free(way);
  free(last.pieces);
}

/* ---- the path while the program runs ---- */

static uint32_t link_before(struct qzi_chains *chains, uint32_t at) {
  struct qzi_link *link = &chains->links[at - 1];
  if (link->prev && !link->before) link->before = find(chains, link->prev);
  return link->before;
}

/* Whether the actor's chain may still become the run's path: it is working, or ready to. */
static int may_go_on(const struct qzi_chains *chains, uint32_t actor) {
  const struct qzi_observations *log = &chains->logs[actor];
  if (!is_fresh(chains, log)) return 0;
  const struct qzi_observation *last = &log->at[log->count - 1];
  return last->state >= QZ_STATE_USEFUL && last->state <= QZ_STATE_READY && !last->inferred;
}

/* Time up to which the actor's chain is the one whose links are marked 1. Other links on the way are marked 2, and
 * added to the list, as are those before them. Returns `now` if this chain does not limit the result, or if it is
 * unknown. */
static uint64_t meets(struct qzi_chains *chains, uint32_t actor, uint64_t from, uint32_t *marked, uint32_t *count) {
  uint64_t word = QZ_LOAD(&chains->source(chains->view, actor)->word) & ~UINT64_C(15);
  if (!word || is_old(chains, word) || time_of(chains, word) <= from) return from;
  uint32_t at = find(chains, word);
  if (!at) return chains->now;
  for (; at && !chains->links[at - 1].marked; at = link_before(chains, at)) {
    chains->links[at - 1].marked = 2;
    marked[(*count)++] = at;
    if (chains->links[at - 1].begin <= from) return from;
  }
  if (!at) return from;
  return chains->links[at - 1].marked == 1 ? chains->links[at - 1].end : chains->now;
}

/* Time up to which all actors that may still be on the path have the chain in `way` in common, which has `count` links
 * and room for all others; `own` is the actor with that chain. */
static uint64_t common_until(struct qzi_chains *chains, uint32_t *way, uint32_t count, uint32_t own, uint64_t from) {
  uint32_t high = actors_of(chains), marked = count;
  uint64_t common = chains->now;
  for (uint32_t k = 0; k < count; k++) chains->links[way[k] - 1].marked = 1;
  for (uint32_t a = 0; a < high && common > from; a++) {
    uint64_t until = a == own || !may_go_on(chains, a) ? chains->now : meets(chains, a, from, way, &marked);
    if (until < common) common = until;
  }
  for (uint32_t k = 0; k < marked; k++) chains->links[way[k] - 1].marked = 0;
  return common;
}

uint64_t qzi_chains_until_now(struct qzi_chains *chains, uint64_t from,
                              void (*add)(void *to, const struct qzi_link *link), void *to) {
  struct qz_crumb crumb;
  uint32_t actor = end_of(chains, &crumb), count = 0;
  for (int tries = 0; tries < 3 && crumb.prev && !is_old(chains, crumb.prev) && time_of(chains, crumb.prev) > from &&
                      !find(chains, crumb.prev & ~UINT64_C(15));
       tries++) { /* the actor has written a crumb since the crumbs were read */
    qzi_chains_read(chains, actors_of(chains), chains->now, NULL);
    actor = end_of(chains, &crumb);
  }
  struct qzi_link last = make(chains, &crumb, from, chains->now);
  compose(chains, &last, actor, QZI_OBSERVATIONS_MOST);
  uint32_t at = last.prev ? find(chains, last.prev) : 0,
           *way = malloc(2 * ((size_t)chains->count + 1) * sizeof *way); /* a hostile session may contain cycles */
  for (; way && at && count <= chains->count && chains->links[at - 1].end > from; at = link_before(chains, at))
    way[count++] = at;
  uint64_t common = way ? common_until(chains, way, count, actor, from) : from;
  while (count--) add(to, &chains->links[way[count] - 1]);
  add(to, &last);
  free(way);
  free(last.pieces);
  return common;
}
