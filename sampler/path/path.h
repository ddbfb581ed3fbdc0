/* Recording of the time path (docs/reference/path.md).
 *
 * Owns:    the clock page's time, the chains, and the settled part of them.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: request anything from the program but what it publishes.
 *
 * In each snapshot: qzi_path_seen and qzi_path_strand_seen for each observed actor, then qzi_path_advance.
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
  uint64_t base;   /* value of the page at time 0 */
  uint64_t ticked; /* time that the page shows now */
  uint64_t now;    /* time of the current snapshot */
};

/* page: NULL, or the page that the program has mapped, which must remain valid. Without a page, or if the session has
 * no room for chains, nothing is recorded. Returns 0, or -1 if there is no memory. */
int qzi_path_open(struct qzi_path *path, struct qz_clock_page *page, const struct qz_session_view *view,
                  struct qzi_interner *in);
/* Begins a snapshot that ends at elapsed_ns. */
static inline void qzi_path_begin(struct qzi_path *path, uint64_t elapsed_ns) {
  path->now = elapsed_ns >> QZ_PATH_TIME_SHIFT;
}
/* Records the observation of an actor (a processor; pthread layer: a thread record) in this snapshot. */
static inline void qzi_path_seen(struct qzi_path *path, uint32_t actor, uint32_t stack, uint32_t thread, unsigned state,
                                 int inferred) {
  if (!path->page) return;
  struct qzi_observation seen = {path->now, stack, thread, (uint8_t)state, (uint8_t)inferred};
  qzi_chains_seen(&path->chains, actor, &seen);
}
/* The same for the span, where that is recorded. It needs what the actor executed at that time, whereas an observation
 * for the time path may attribute processor time that the kernel has counted before. */
static inline void qzi_path_strand_seen(struct qzi_path *path, uint32_t actor, uint32_t stack, uint32_t thread,
                                        unsigned state, int inferred) {
  if (!path->page || !path->span.on) return;
  struct qzi_observation seen = {path->now, stack, thread, (uint8_t)state, (uint8_t)inferred};
  qzi_chains_seen(&path->span.chains, actor, &seen);
}
/* Ends a snapshot in which all actors were reported: reads what was written until now, and shows the program that there
 * was a snapshot. awake: a bit for each actor that may have written something; NULL: all may. */
void qzi_path_advance(struct qzi_path *path, const uint64_t *awake);
/* To be called when recording has ended: writes the run's path. */
void qzi_path_finish(struct qzi_path *path);
void qzi_path_close(struct qzi_path *path);

#endif
