/* See link.h. */
#include "link.h"

#include <stdlib.h>
#include <string.h>
#include "abi/chains.h"
#include "abi/session.h"

static struct qzi_piece piece_of(const struct qzi_observation *seen, uint64_t time) {
  /* A processor was seen without a thread just before the path's thread ran there, so the thread was about to get
   * it. */
  uint8_t state = seen->state == QZ_STATE_IDLE ? QZ_STATE_READY : seen->state;
  return (struct qzi_piece){time, seen->stack, seen->thread, state, seen->inferred};
}

/* Until when, from link->since on, the actor was seen in the wait that the other one ended. A crumb has the time of the
 * last snapshot before it; parts of the next one show when the wait really ended. */
static uint64_t waited_until(const struct qzi_link *link, const struct qzi_observations *own) {
  struct qzi_observation found;
  uint32_t at = own->first, stack = 0;
  uint64_t until = link->since, ns;
  if (link->arrival != QZ_ARRIVAL_WOKEN && link->arrival != QZ_ARRIVAL_JOINED) return until;
  while ((ns = qzi_observations_next(own, &at, until, link->end, &found)) != 0) {
    if (found.state != QZ_STATE_BLOCKED || found.inferred || (stack && found.stack != stack)) break;
    if (found.end <= until) break; /* time after the last observation */
    stack = found.stack;
    until = found.end < until + ns ? found.end : until + ns;
  }
  return until;
}

/* Writes what the other actor did from link->since to `until`. Returns the number of pieces; 0: that is not known. */
static uint32_t look_at_other(const struct qzi_link *link, const struct qzi_observations *other, uint64_t until,
                              struct qzi_piece *pieces) {
  struct qzi_observation found;
  uint64_t from = link->since, ns;
  if (until <= from) return 0;
  uint32_t count = 0, at = qzi_observations_at(other, from);
  while ((ns = qzi_observations_next(other, &at, from, until, &found)) != 0) {
    from += ns;
    if (count == QZI_LINK_OTHERS)
      pieces[count - 1].time += ns;
    else
      pieces[count++] = piece_of(&found, ns);
  }
  return from == until ? count : 0;
}

/* Writes what happened from link->since to link->end to `pieces`, and sets link->others. Returns the number of
 * pieces. */
static uint32_t look_through(struct qzi_link *link, const struct qzi_observations *own,
                             const struct qzi_observations *other, struct qzi_piece *pieces) {
  struct qzi_observation found;
  uint64_t from = link->since, ns;
  uint32_t at = own->first, count = 0;
  link->others = 0;
  if (other) {
    uint64_t until = waited_until(link, own);
    count = look_at_other(link, other, until, pieces);
    link->others = (uint8_t)count;
    if (count) from = until;
  }
  while ((ns = qzi_observations_next(own, &at, from, link->end, &found)) != 0) {
    pieces[count++] = piece_of(&found, ns);
    from += ns;
  }
  if (from < link->end) pieces[count++] = (struct qzi_piece){.time = link->end - from, .state = QZ_STATE_USEFUL};
  for (uint32_t k = count; k-- > 1;) /* not attributed to a thread yet: use the thread that comes next */
    if (!pieces[k - 1].stack && !pieces[k - 1].thread) {
      pieces[k - 1].stack = pieces[k].stack;
      pieces[k - 1].thread = pieces[k].thread;
    }
  return count;
}

void qzi_link_compose(struct qzi_link *link, const struct qzi_observations *own, const struct qzi_observations *other,
                      struct qzi_piece *scratch, uint32_t most, uint64_t *random) {
  uint32_t count = look_through(link, own, other, scratch), others = link->others;
  if (count > most) count = others + qzi_pieces_shorten(scratch + others, count - others, random);
  link->pieces = count ? malloc(count * sizeof *scratch) : NULL;
  link->pieces_count = link->pieces ? count : 0;
  if (link->pieces) memcpy(link->pieces, scratch, count * sizeof *scratch);
  /* A wait gets the call path of what its thread does next. */
  const struct qzi_piece *next = count > others ? &scratch[others] : NULL;
  int io = link->arrival == QZ_ARRIVAL_IO, blocked = link->arrival == QZ_ARRIVAL_OWN && (link->key & QZ_KEY_OBJECT);
  link->waiting = (struct qzi_piece){.time = link->since - link->begin,
                                     .stack = next ? next->stack : 0,
                                     .thread = next ? next->thread : 0,
                                     .state = io        ? QZ_STATE_IO
                                              : blocked ? QZ_STATE_BLOCKED
                                                        : QZ_STATE_READY};
  if (!next && own->count > own->first) {
    link->waiting.stack = own->at[own->first].stack;
    link->waiting.thread = own->at[own->first].thread;
  }
}
