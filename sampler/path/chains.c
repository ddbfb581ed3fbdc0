/* See chains.h. */
#include "chains.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/util/array.h"

#define LOAD(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)

#define LINKS_MANY       131072u                                      /* then it is time to forget some */
#define LINKS_MOST       524288u                                      /* no more are kept */
#define RECENT           (UINT64_C(5000000000) >> QZ_PATH_TIME_SHIFT) /* what is younger may still be in use */
#define ALL              (UINT64_C(500000000) >> QZ_PATH_TIME_SHIFT)  /* between readings of those who rest, too */

int qzi_chains_open(struct qzi_chains *chains, const struct qz_session_view *view, qzi_chains_source *source,
                    uint64_t base, void (*settle)(void *to, const struct qzi_link *link), void *to) {
  *chains = (struct qzi_chains){.view = view, .source = source, .base = base, .settle = settle, .to = to};
  chains->actors = source == qz_session_path ? view->path_table.capacity : view->span_path_table.capacity;
  chains->counts = calloc(chains->actors ? chains->actors : 1, sizeof *chains->counts);
  chains->logs = calloc(chains->actors ? chains->actors : 1, sizeof *chains->logs);
  chains->pieces = malloc((QZI_OBSERVATIONS_MOST + 1) * sizeof *chains->pieces);
  chains->random = base | 1;
  if (!chains->counts || !chains->logs || !chains->pieces) return -1;
  for (uint32_t k = 0; k < chains->actors; k++) { /* what an earlier recording has read */
    const struct qz_path *path = source(view, k);
    if (path && (k < view->processors || k < qz_session_thread_high(view)))
      chains->counts[k] = LOAD_ACQUIRE(&path->count);
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

/* Time of a shifted word; before the recording: 0. */
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

/* What the actor did from since to end, and who waited until then. */
static void compose(struct qzi_chains *chains, struct qzi_link *link, uint32_t actor) {
  struct qzi_observations *log = &chains->logs[actor];
  struct qzi_piece *pieces = chains->pieces;
  struct qzi_observation found;
  uint32_t at = log->first, count = 0;
  uint64_t from = link->since, ns;
  while ((ns = qzi_observations_next(log, &at, from, link->end, &found)) != 0) {
    /* A processor that was seen without a thread, just before the path's thread came: it was on its way. */
    uint8_t state = found.state == QZ_STATE_IDLE ? QZ_STATE_READY : found.state;
    pieces[count++] = (struct qzi_piece){ns, found.stack, found.thread, state, found.inferred};
    from += ns;
  }
  if (from < link->end) pieces[count++] = (struct qzi_piece){.time = link->end - from, .state = QZ_STATE_USEFUL};
  for (uint32_t k = count; k-- > 1;) /* nobody yet: who comes */
    if (!pieces[k - 1].stack && !pieces[k - 1].thread) {
      pieces[k - 1].stack = pieces[k].stack;
      pieces[k - 1].thread = pieces[k].thread;
    }
  count = qzi_pieces_shorten(pieces, count, &chains->random);
  link->pieces = count ? malloc(count * sizeof *pieces) : NULL;
  link->pieces_count = link->pieces ? count : 0;
  if (link->pieces) memcpy(link->pieces, pieces, count * sizeof *pieces);
  /* A wait has the path of what its thread does next. */
  int io = link->arrival == QZ_ARRIVAL_IO, blocked = link->arrival == QZ_ARRIVAL_OWN && (link->key & QZ_KEY_OBJECT);
  link->waiting = (struct qzi_piece){.time = link->since - link->begin,
                                     .stack = count ? pieces[0].stack : 0,
                                     .thread = count ? pieces[0].thread : 0,
                                     .state = io        ? QZ_STATE_IO
                                              : blocked ? QZ_STATE_BLOCKED
                                                        : QZ_STATE_READY};
  if (!count && log->count > log->first) {
    link->waiting.stack = log->at[log->first].stack;
    link->waiting.thread = log->at[log->first].thread;
  }
  qzi_observations_forget(log, link->end);
}

/* A link that ends now, of which the name is known. */
static struct qzi_link make(struct qzi_chains *chains, const struct qz_crumb *crumb, uint32_t actor, uint64_t end) {
  struct qzi_link link = {.id = crumb->id, .prev = is_old(chains, crumb->prev) ? 0 : crumb->prev & ~UINT64_C(15)};
  link.arrival = (uint8_t)QZ_CHAIN_ARRIVAL(crumb->since);
  if (link.arrival >= QZ_ARRIVAL_COUNT) link.arrival = QZ_ARRIVAL_SAME;
  link.key = crumb->key;
  link.end = end;
  link.begin = link.prev ? time_of(chains, link.prev) : 0;
  if (link.begin > link.end) link.begin = link.end;
  link.since = is_old(chains, crumb->since) ? 0 : time_of(chains, crumb->since);
  if (link.since < link.begin) link.since = link.begin;
  if (link.since > link.end) link.since = link.end;
  compose(chains, &link, actor);
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
  uint64_t count = LOAD_ACQUIRE(&path->count), from = chains->counts[actor], limit = chains->view->crumbs_limit;
  if (count == from) return;
  if (count - from > limit) {
    chains->lost += count - from - limit;
    from = count - limit;
  }
  for (; from < count; from++) {
    const struct qz_crumb *at = &path->ring[from & (limit - 1)];
    struct qz_crumb crumb = {LOAD(&at->id), LOAD(&at->prev), LOAD(&at->since), LOAD(&at->key)};
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (LOAD(&path->count) - from > limit || is_old(chains, crumb.id)) { /* overwritten meanwhile */
      chains->lost++;
      continue;
    }
    struct qzi_link link = make(chains, &crumb, actor, time_of(chains, crumb.id));
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

/* Keeps the marked ones, in their order. */
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

/* What all chains begin with, and is old, is settled. */
static void settle_trunk(struct qzi_chains *chains, uint32_t actors) {
  uint32_t *child = calloc(chains->count + 1, sizeof *child); /* of a link, index + 1; UINT32_MAX: several */
  if (!child) return;
  for (uint32_t k = 0; k < chains->count; k++) {
    uint32_t before = chains->links[k].before;
    child[before] = child[before] ? UINT32_MAX : k + 1;
  }
  for (uint32_t a = 0; a < actors; a++) { /* who is at a link may yet go on from there */
    uint32_t at = find(chains, LOAD(&chains->source(chains->view, a)->word));
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
  for (uint32_t a = 0; a < actors; a++) mark_from(chains, find(chains, LOAD(&chains->source(chains->view, a)->word)));
  for (uint32_t k = 0; k < chains->count; k++)
    if (chains->links[k].end + RECENT > chains->now) mark_from(chains, k + 1);
  keep_marked(chains);
  settle_trunk(chains, actors);
}

void qzi_chains_read(struct qzi_chains *chains, uint32_t actors, uint64_t now, const uint64_t *awake) {
  chains->now = now;
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

static int is_busy(const struct qzi_observations *log) {
  return log->count &&
         (log->at[log->count - 1].state == QZ_STATE_USEFUL || log->at[log->count - 1].state == QZ_STATE_OVERHEAD);
}

/* The actor whose chain is the run's where the program did not end in order: of those that were at work last, the one
 * that has its chain for the shortest time. */
static uint32_t youngest(const struct qzi_chains *chains) {
  const struct qz_session_view *view = chains->view;
  uint32_t high = view->publisher == QZ_PUBLISHER_PTHREAD ? qz_session_thread_high(view) : view->processors, best = 0;
  for (uint32_t a = 1; a < high && a < chains->actors; a++) {
    int busy = is_busy(&chains->logs[a]), than = is_busy(&chains->logs[best]);
    if (busy > than ||
        (busy == than && LOAD(&chains->source(view, a)->since) > LOAD(&chains->source(view, best)->since)))
      best = a;
  }
  return best;
}

void qzi_chains_end(struct qzi_chains *chains) {
  uint64_t end = LOAD_ACQUIRE(&qz_session_head(chains->view)->path_end);
  if (end && QZ_CHAIN_ACTOR(end) < chains->actors && !is_old(chains, end)) {
    struct qz_crumb crumb = {.prev = end, .since = end & ~UINT64_C(15)};
    qzi_chains_end_with(chains, &crumb, QZ_CHAIN_ACTOR(end));
    return;
  }
  uint32_t actor = youngest(chains);
  const struct qz_path *path = chains->source(chains->view, actor);
  struct qz_crumb crumb = {.prev = LOAD(&path->word), .since = LOAD(&path->since), .key = LOAD(&path->key)};
  qzi_chains_end_with(chains, &crumb, actor);
}

void qzi_chains_end_with(struct qzi_chains *chains, const struct qz_crumb *crumb, uint32_t actor) {
  struct qzi_link last = make(chains, crumb, actor, chains->now);
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
