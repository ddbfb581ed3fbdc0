/* Chains of crumbs, as programs write them: which thread let which other one continue, as far back as may still be
 * asked for.
 *
 * Owns:    a link for each crumb: the one before it, and what its actor was seen doing in between.
 * Writer and reader: the aggregating thread.
 * Must not: believe a crumb: times are bounded, a crumb before it that is not known cuts the chain, which is counted.
 *
 * Bounded: when there are too many links, those that no actor's chain leads to and that are old are forgotten; and what
 * all chains have in common is given to `settled`, in time order, and forgotten. (docs/reference/path.md, "Memory")
 */
#ifndef QZI_PATH_CHAINS_H
#define QZI_PATH_CHAINS_H

#include "abi/session_read.h"
#include "observations.h"
#include "pieces.h"
#include "sampler/util/hash_index.h"

struct qzi_link {
  uint64_t id, prev;          /* names; prev 0: the beginning */
  uint64_t begin, since, end; /* time: of the one before; from when on the actor had the chain; of this one */
  uint64_t key;               /* object that it came by (QZ_KEY_OBJECT), or none */
  uint32_t before;            /* index + 1 of the link before; 0: none, or not looked up yet */
  uint32_t pieces_count;
  struct qzi_piece *pieces; /* from since to end */
  struct qzi_piece waiting; /* from begin to since */
  uint8_t arrival;          /* enum qz_arrival */
  uint8_t marked;
};

/* The actor's words and crumbs: those of the time path, or of the span (qz_session_path, qz_session_span_path). */
typedef const struct qz_path *qzi_chains_source(const struct qz_session_view *view, uint32_t actor);

struct qzi_chains {
  const struct qz_session_view *view;
  qzi_chains_source *source;
  uint64_t base; /* what the clock page says at time 0, as a time */
  uint64_t now;  /* time of the last snapshot */
  uint32_t due;  /* number of links at which some are forgotten next */
  struct qzi_link *links;
  uint32_t count, room;
  struct qzi_table index; /* of links by name */
  uint64_t *counts;       /* crumbs read of each actor */
  struct qzi_observations *logs;
  uint32_t actors;
  uint64_t all_due;         /* when all are read next */
  struct qzi_piece *pieces; /* of the link that is made; QZI_OBSERVATIONS_MOST + 1 */
  uint64_t random;          /* state of a generator, not 0 */
  uint64_t crumbs, lost;    /* read; not read, or without memory for them */
  void (*settle)(void *to, const struct qzi_link *link);
  void *to;
};

/* 0, or -1: out of memory. */
int qzi_chains_open(struct qzi_chains *chains, const struct qz_session_view *view, qzi_chains_source *source,
                    uint64_t base, void (*settle)(void *to, const struct qzi_link *link), void *to);
/* An actor was seen at time `seen->end`. */
void qzi_chains_seen(struct qzi_chains *chains, uint32_t actor, const struct qzi_observation *seen);
/* Reads the crumbs that the first `actors` have written until now; of those whose bit in `awake` is not set, only at
 * intervals. awake NULL: of all. */
void qzi_chains_read(struct qzi_chains *chains, uint32_t actors, uint64_t now, const uint64_t *awake);
/* The recording has ended at chains->now: gives `settle` the chain of the run, from its beginning to its end. */
void qzi_chains_end(struct qzi_chains *chains);
/* The same for a chain that ends with `last`, a crumb that the actor would write now. */
void qzi_chains_end_with(struct qzi_chains *chains, const struct qz_crumb *last, uint32_t actor);
/* Passes on the chain that the run would have if it ended at chains->now, from the link on that begins at or before
 * `from`, and changes nothing. Until when it is decided: all that are at work, or wait for a processor, have it in
 * common up to then; at least `from`. */
uint64_t qzi_chains_until_now(struct qzi_chains *chains, uint64_t from,
                              void (*add)(void *to, const struct qzi_link *link), void *to);
void qzi_chains_close(struct qzi_chains *chains);

#endif
