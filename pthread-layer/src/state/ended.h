/* What tasks that have ended leave for who waits for them.
 *
 * Owns:    nothing. Writer: who has executed such a task, under the lock of what contains it. Reader: who has waited.
 */
#ifndef QZL_ENDED_H
#define QZL_ENDED_H

#include "publisher/span.h"
#include "thread.h"

struct qzl_ended {
  struct qzi_span_sync span;
  uint64_t word, ticks; /* of the last: its chain of the time path, when it ended, */
  const struct qzl_thread *by;
};
static inline void qzl_ended_add(struct qzl_ended *to, const struct qzl_ended *from, bool has_span) {
  if (has_span) qzi_span_results(&to->span, &from->span);
  if (from->ticks < to->ticks) return;
  to->word = from->word;
  to->ticks = from->ticks;
  to->by = from->by;
}

#endif
