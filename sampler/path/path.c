/* See path.h. */
#include "path.h"

#include <string.h>

/* Minimum interval between requests for crumbs. Observations are recorded in every snapshot. */
#define TICK (UINT64_C(1000000) >> QZ_PATH_TIME_SHIFT)

int qzi_path_open(struct qzi_path *path, struct qz_clock_page *page, const struct qz_session_view *view,
                  struct qzi_interner *in) {
  *path = (struct qzi_path){.view = view, .file = in->file};
  if (!page || !view->path_table.capacity) return 0;
  /* Words of an earlier recording must be older than the new base, also those of one with the same page. */
  uint64_t ended = QZ_CHAIN_TIME(__atomic_load_n(&qz_session_head(view)->path_clock, __ATOMIC_RELAXED));
  uint64_t shown = QZ_CHAIN_TIME(__atomic_load_n(&page->now, __ATOMIC_RELAXED));
  path->base = (ended > shown ? ended : shown) + 1;
  qzi_settled_open(&path->settled, in);
  if (qzi_chains_open(&path->chains, view, qz_session_path, path->base, qzi_settle, &path->settled)) return -1;
  path->page = page;
  if (page->wants & QZ_WANTS_SPAN && qzi_span_sums_open(&path->span, view, in, path->base, page->what_if)) return -1;
  return 0;
}

static uint32_t actors(const struct qzi_path *path) {
  return path->view->publisher == QZ_PUBLISHER_PTHREAD ? qz_session_thread_high(path->view) : path->view->processors;
}

void qzi_path_advance(struct qzi_path *path, const uint64_t *awake) {
  if (!path->page || path->now < path->ticked + TICK) return;
  qzi_chains_read(&path->chains, actors(path), path->now, awake);
  if (path->span.on) qzi_chains_read(&path->span.chains, actors(path), path->now, awake);
  if (qzi_recent_due(&path->recent, path->now))
    qzi_recent_write(&path->recent, &path->chains, &path->settled, path->file, path->file->head->elapsed_ns);
  path->ticked = path->now;
  __atomic_store_n(&path->page->now, QZ_CHAIN(path->base + path->now, 0, 0), __ATOMIC_RELEASE);
}

void qzi_path_finish(struct qzi_path *path) {
  if (!path->page) return;
  struct qz_profile *head = path->file->head;
  path->now = head->elapsed_ns >> QZ_PATH_TIME_SHIFT;
  if (path->now) {
    qzi_chains_read(&path->chains, actors(path), path->now, NULL);
    qzi_recent_finish(&path->recent, &path->chains, &path->settled, path->file, head->elapsed_ns);
    qzi_chains_end(&path->chains);
    qzi_settled_write(&path->settled, path->file, head->elapsed_ns);
  }
  head->path_crumbs = path->chains.crumbs;
  head->path_lost = path->chains.lost + path->settled.memory;
  for (uint32_t a = 0; a < actors(path); a++) {
    const struct qz_path *actor = qz_session_path(path->view, a);
    if (actor) head->path_lost += __atomic_load_n(&actor->lost, __ATOMIC_RELAXED);
  }
  if (path->span.on) qzi_span_sums_finish(&path->span, actors(path), path->now);
  head->path_to_exit = qz_session_head(path->view)->path_end != 0;
}

void qzi_path_close(struct qzi_path *path) {
  if (path->page) {
    qzi_chains_close(&path->chains);
    qzi_settled_free(&path->settled);
    qzi_recent_free(&path->recent);
    if (path->span.on) qzi_span_sums_close(&path->span);
  }
  memset(path, 0, sizeof *path);
}
