/* Chains of crumbs that a program writes: which thread enabled which other one to continue, as far back as may still be
 * needed.
 *
 * Owns:    a link for each crumb: the link before it, and what its actor was observed to do in between.
 * Writer and reader: the aggregating thread.
 * Must not: trust a crumb: times are limited to plausible values; a reference to an unknown crumb cuts the chain, which
 * is counted.
 *
 * Memory is bounded: when there are too many links, old links to which no actor's chain leads are forgotten; and the
 * part that all chains have in common is passed to `settled`, in order of time, and forgotten (docs/reference/path.md,
 * "Memory").
 */
#ifndef QZI_PATH_CHAINS_H
#define QZI_PATH_CHAINS_H

#include "abi/session_read.h"
#include "link.h"
#include "observations.h"
#include "sampler/util/hash_index.h"

/* Gets the words and crumbs of an actor: those of the time path, or those of the span (qz_session_path,
 * qz_session_span_path). */
typedef const struct qz_path *qzi_chains_source(const struct qz_session_view *view, uint32_t actor);

#define QZI_TICKS 64u
struct qzi_chains {
  const struct qz_session_view *view;
  qzi_chains_source *source;
  uint64_t base;             /* value of the clock page at time 0 */
  uint64_t now;              /* time of the last snapshot */
  uint64_t ticks[QZI_TICKS]; /* the last times that the page showed, */
  uint64_t ticks_count;      /* number n at n % QZI_TICKS */
  uint32_t due;              /* number of links at which some are forgotten next */
  struct qzi_link *links;
  uint32_t count, room;
  struct qzi_table index; /* finds links by id */
  uint64_t *counts;       /* for each actor: number of crumbs read */
  struct qzi_observations *logs;
  uint32_t actors;
  uint64_t all_due;         /* time of the next reading of all actors */
  struct qzi_piece *pieces; /* scratch memory for the link being made; QZI_LINK_SCRATCH elements */
  uint64_t random;          /* state of the random generator, not 0 */
  uint64_t crumbs, lost;    /* crumbs that were read; that were not, because they were overwritten or there was no
                               memory */
  void (*settle)(void *to, const struct qzi_link *link);
  void *to;
};

/* Returns 0, or -1 if there is no memory. */
int qzi_chains_open(struct qzi_chains *chains, const struct qz_session_view *view, qzi_chains_source *source,
                    uint64_t base, void (*settle)(void *to, const struct qzi_link *link), void *to);
/* Records an observation of an actor, made at time `seen->end`. */
void qzi_chains_seen(struct qzi_chains *chains, uint32_t actor, const struct qzi_observation *seen);
/* Reads the crumbs that the first `actors` actors have written; actors whose bit in `awake` is 0 are read only at
 * intervals. awake NULL: reads all. */
void qzi_chains_read(struct qzi_chains *chains, uint32_t actors, uint64_t now, const uint64_t *awake);
/* To be called when the recording has ended, at chains->now: passes the chain of the run to `settle`, from its
 * beginning to its end. */
void qzi_chains_end(struct qzi_chains *chains);
/* The same for a chain that ends with `last`, a crumb that the actor would write now. */
void qzi_chains_end_with(struct qzi_chains *chains, const struct qz_crumb *last, uint32_t actor);
/* Passes on the chain that the run would have if it ended at chains->now, beginning with the link that contains `from`;
 * changes nothing. Returns the time up to which it is certain, because all actors that work or wait for a processor
 * have it in common up to then; at least `from`. */
uint64_t qzi_chains_until_now(struct qzi_chains *chains, uint64_t from,
                              void (*add)(void *to, const struct qzi_link *link), void *to);
void qzi_chains_close(struct qzi_chains *chains);

#endif
