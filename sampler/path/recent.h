/* The path's last ten seconds, as they stand while the program runs: what a live screen shows of the path.
 *
 * Owns:    what becomes the sections RECENT_PATHS and RECENT_SEGMENTS, and when they are made.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: change what the run's path will be; cost more the longer the recording is. It goes back from now through
 *           what ten seconds have left (at most one crumb a snapshot), once a second, or less often where that takes
 *           more than 1/500 of the time.
 *
 * A reader may copy the sections at any time: they hold two windows alternately, and the one that was written before
 * stays as it is while the next is written.
 */
#ifndef QZI_PATH_RECENT_H
#define QZI_PATH_RECENT_H

#include "settled.h"

struct qzi_recent {
  struct qzi_settled window_path;
  uint64_t overlap; /* what the first link has of the time before the window, or of what was settled before */
  uint64_t links;   /* in the one that is made */
  uint64_t due;     /* time at which the next one is made */
  uint64_t number;  /* of windows made */
};

/* 1: it is time to. */
static inline int qzi_recent_due(const struct qzi_recent *recent, uint64_t now) { return now >= recent->due; }
/* Makes and writes the window that ends at elapsed_ns. Crumbs were read until chains->now. */
void qzi_recent_write(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                      struct qzi_file *file, uint64_t elapsed_ns);
/* The same once more, at the end of the recording: alone in the file. */
void qzi_recent_finish(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                       struct qzi_file *file, uint64_t elapsed_ns);
void qzi_recent_free(struct qzi_recent *recent);

#endif
