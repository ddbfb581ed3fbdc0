/* The time path of a recording (docs/reference/path.md): what the sampler has to do for it.
 *
 * Owns:    the clock page's time, the chains, what of them is settled.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: ask the program for anything but what it publishes.
 *
 * In each snapshot: qzi_path_seen for each actor that was looked at, then qzi_path_advance.
 */
#ifndef QZI_PATH_H
#define QZI_PATH_H

#include "clock_page.h"
#include "recent.h"
#include "settled.h"
#include "span.h"

struct qzi_path {
  struct qzi_chains chains;
  struct qzi_settled settled;
  struct qzi_recent recent;
  struct qzi_span_sums span;
  struct qz_clock_page *page; /* NULL: no path is recorded */
  const struct qz_session_view *view;
  struct qzi_file *file;
  uint64_t base;   /* what the page says at time 0, as a time */
  uint64_t ticked; /* time that it says now */
  uint64_t now;    /* of the snapshot under way */
};

/* page: NULL, or the page that the program has mapped, which lasts as long. Without a page, or where the session has no
 * room for chains, nothing is recorded. 0, or -1: out of memory. */
int qzi_path_open(struct qzi_path *path, struct qz_clock_page *page, const struct qz_session_view *view,
                  struct qzi_interner *in);
/* The snapshot under way, which ends at elapsed_ns. */
static inline void qzi_path_begin(struct qzi_path *path, uint64_t elapsed_ns) {
  path->now = elapsed_ns >> QZ_PATH_TIME_SHIFT;
}
/* Its actor (a processor; pthread layer: a thread record) did that. */
static inline void qzi_path_seen(struct qzi_path *path, uint32_t actor, uint32_t stack, uint32_t thread, unsigned state,
                                 int inferred) {
  if (!path->page) return;
  struct qzi_observation seen = {path->now, stack, thread, (uint8_t)state, (uint8_t)inferred};
  qzi_chains_seen(&path->chains, actor, &seen);
  if (path->span.on) qzi_chains_seen(&path->span.chains, actor, &seen);
}
/* All have been reported: reads what was written until now, and lets the program know of the snapshot. awake: a bit for
 * each actor that may have written something; NULL: all may. */
void qzi_path_advance(struct qzi_path *path, const uint64_t *awake);
/* Recording has ended: writes the run's path. */
void qzi_path_finish(struct qzi_path *path);
void qzi_path_close(struct qzi_path *path);

#endif
