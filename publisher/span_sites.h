/* Call sites that spawn threads, create them, or wait for their end: work, span and slack by site.
 *
 * Owns:    their numbers, for the session.
 * Writer:  the thread that spawns or waits; the sums of a site are kept per actor (struct qz_site).
 * Must not: be included outside publisher/.
 */
#ifndef QZI_SPAN_SITES_H
#define QZI_SPAN_SITES_H

#include "private.h"
#include "span_data.h"

#pragma GCC visibility push(hidden)
/* Caches of an actor: the number of a site that waits; for a site that spawns, also which queries its threads with that
 * start routine belong to. */
#define QZI_SITES_NEAR 8u
struct qzi_site_near {
  uint64_t site;
  unsigned number;
};
struct qzi_spawn_near {
  uint64_t site, start;
  uint64_t word; /* of a thread or task that begins there (struct qzi_span), as if it were `top` */
  uint64_t bit;  /* of the site, in `sites`; 0: it shares its number with others */
  bool choosing; /* qzi_what_if_choosing when this was found */
};
static inline unsigned qzi_site_near_at(uint64_t site) { return site * QZ_HASH_FACTOR >> 61; }
/* Returns the site's number, from 1; 0: there are too many sites, or it is none. */
unsigned qzi_site_number(uint64_t site);
/* Returns the site with that number; 0: there is none. */
uint64_t qzi_site_address(unsigned number);
/* The first thread of a site has ended, which began with `start` and was spawned at `place`. */
void qzi_site_begins(struct qz_site *site, const struct qzi_span *span, uint64_t start, uint64_t place);
/* At `site`, which has that number, the chains in `merge` were merged into one, whose length is `longest`. */
void qzi_site_merged(struct qz_span *record, uint64_t site, unsigned number, const struct qzi_merge *merge,
                     uint64_t longest);
#pragma GCC visibility pop

/* The same as qzi_site_number, with a cache. */
static inline unsigned qzi_site_number_near(struct qzi_site_near *near, uint64_t site) {
  near += qzi_site_near_at(site);
  if (__builtin_expect(near->site != site, 0)) *near = (struct qzi_site_near){site, qzi_site_number(site)};
  return near->number;
}
/* A thread, or task, with that span has ended, which was spawned at the site. */
static inline void qzi_site_adds(struct qz_site *site, const struct qzi_span *span) {
  uint64_t *sums = span->top ? &site->top_count : &site->inner_count;
  qzi_pub_increment(&sums[0]);
  qzi_pub_more(&sums[1], span->work);
  qzi_pub_more(&sums[2], span->now.length - span->start);
}
static inline void qzi_site_ended(struct qz_span *record, const struct qzi_span *span, uint64_t start, uint64_t place) {
  struct qz_site *site = &record->sites[span->site];
  if (__builtin_expect(!site->site, 0)) qzi_site_begins(site, span, start, place);
  qzi_site_adds(site, span);
}
/* Adds a chain of that length. */
static inline void qzi_merge_add(struct qzi_merge *merge, uint64_t length) {
  uint64_t first = merge->first, second = merge->second, less = length < first ? length : first;
  merge->first = length > first ? length : first;
  merge->second = less > second ? less : second;
  merge->sum += length;
  merge->chains++;
}
/* The same as qzi_site_merged, for one chain, whose length is `its`. */
static inline void qzi_site_merged_one(struct qz_span *record, uint64_t place, unsigned number, uint64_t its,
                                       uint64_t longest) {
  struct qz_site *site = &record->sites[number];
  if (__builtin_expect(!site->site, 0)) qzi_pub_store(&site->site, number ? place : 1);
  uint64_t slack = longest - its, before = site->least_slack_plus_1;
  qzi_pub_increment(&site->merges);
  qzi_pub_increment(&site->merged);
  qzi_pub_more(&site->lost, slack != 0);
  qzi_pub_more(&site->slack, slack);
  /* without branches: which one is longer is unpredictable; a slack of 0 is none, and 0 before is greater than all */
  qzi_pub_store(&site->least_slack_plus_1, slack - 1 < before - 2 ? slack + 1 : before);
}
/* Adds the chains of `from`. */
static inline void qzi_merge_join(struct qzi_merge *merge, const struct qzi_merge *from) {
  uint64_t least = merge->first < from->first ? merge->first : from->first;
  uint64_t second = merge->second > from->second ? merge->second : from->second;
  merge->second = second > least ? second : least;
  if (from->first > merge->first) merge->first = from->first;
  merge->sum += from->sum;
  merge->chains += from->chains;
}

#endif
