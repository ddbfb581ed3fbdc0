/* What happened in one link of a chain: who waited, who was about to let it continue, what it did then.
 *
 * Owns:    the pieces of a link.
 * Writer and reader: the aggregating thread.
 * Must not: take observations for what they are not: an actor that was still seen waiting in the snapshot in which it
 * was let go has done nothing on the chain yet; the one that let it go has.
 */
#ifndef QZI_PATH_LINK_H
#define QZI_PATH_LINK_H

#include <stdint.h>
#include "observations.h"
#include "pieces.h"

struct qzi_link {
  uint64_t id, prev;          /* ids of this crumb and the previous one; prev 0: the beginning */
  uint64_t begin, since, end; /* times: of the previous crumb; from which on the actor had the chain; of this crumb */
  uint64_t key;               /* object through which the chain came to the actor (QZ_KEY_OBJECT); 0: none */
  uint32_t before;            /* index + 1 of the previous link; 0: none, or not looked up yet */
  uint32_t pieces_count;
  struct qzi_piece *pieces; /* activities from `since` to `end` */
  struct qzi_piece waiting; /* activity from `begin` to `since` */
  uint8_t arrival;          /* enum qz_arrival */
  uint8_t marked;
  uint8_t others;  /* the first pieces, which are of the actor that let this one continue, up to when it did */
  uint32_t unsure; /* for so long from `since` on, what the actor was seen doing may be of before it got the chain: up
                      to the next snapshot. 0: not known */
};

#define QZI_LINK_OTHERS  8u                                            /* maximum of link->others */
#define QZI_LINK_SCRATCH (QZI_OBSERVATIONS_MOST + QZI_LINK_OTHERS + 1) /* pieces that a link may have at first */

/* Sets the link's pieces: what its actor did, at most `most` pieces, and who waited before that. own, other: logs of
 * the link's actor and of the one with the previous crumb (the same: NULL). scratch: QZI_LINK_SCRATCH pieces. */
void qzi_link_compose(struct qzi_link *link, const struct qzi_observations *own, const struct qzi_observations *other,
                      struct qzi_piece *scratch, uint32_t most, uint64_t *random);

#endif
