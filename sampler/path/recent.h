/* The last ten seconds of the path while the program runs, for live screens.
 *
 * Owns:    the contents of the sections RECENT_PATHS and RECENT_SEGMENTS, those of ON_PATH while the recording
 * continues, and the time at which they are made next.
 * Writer and reader: the aggregating thread; the control thread when that has ended.
 * Must not: change the path of the run; become more expensive with the length of the recording: it goes back from now
 * over the crumbs of ten seconds (at most one for each snapshot), once a second, or less often if that would take more
 * than 1/500 of the time.
 *
 * A reader may copy the sections at any time: they contain two windows alternately, and the window written last does
 * not change while the next one is written.
 */
#ifndef QZI_PATH_RECENT_H
#define QZI_PATH_RECENT_H

#include "settled.h"

struct qzi_recent {
  struct qzi_settled window_path;
  struct qzi_settled until_now; /* sums of all windows: of what is decided, or was before the window */
  uint64_t overlap;             /* time of the first link before the window, or before the part that is settled */
  uint64_t links;               /* number of links in the window being made */
  uint64_t due;                 /* time at which the next window is made */
  uint64_t number;              /* number of windows made */
};

/* Whether it is time to make a window. */
static inline int qzi_recent_due(const struct qzi_recent *recent, uint64_t now) { return now >= recent->due; }
/* Makes and writes the window that ends at elapsed_ns. Crumbs must have been read up to chains->now. */
void qzi_recent_write(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                      struct qzi_file *file, uint64_t elapsed_ns);
/* Writes the last window at the end of the recording; it is then the only one in the file. */
void qzi_recent_finish(struct qzi_recent *recent, struct qzi_chains *chains, const struct qzi_settled *settled,
                       struct qzi_file *file, uint64_t elapsed_ns);
void qzi_recent_free(struct qzi_recent *recent);

#endif
