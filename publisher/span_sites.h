/* Places that spawn, create, or wait for threads to end: work, span and slack by place.
 *
 * Owns:    their numbers, for the session.
 * Writer:  who spawns or waits; a place's sums are each actor's own (struct qz_site).
 * Must not: be included outside publisher/.
 */
#ifndef QZI_SPAN_SITES_H
#define QZI_SPAN_SITES_H

#include "private.h"

#pragma GCC visibility push(hidden)
/* A place and its number. */
struct qzi_site_near {
  uint64_t site;
  unsigned number;
};
/* The place's number, from 1; 0: there are too many. */
unsigned qzi_site_number(uint64_t site);
/* That with the number; 0: there is none. */
uint64_t qzi_site_address(unsigned number);
/* The thread, which has that span, has ended. */
void qzi_site_ended(struct qz_span *record, const struct qzi_span *span, const struct qzi_pub_thread *t);
/* At `site`, which has that number, the chains of those in `merge` became one, that is so long. */
void qzi_site_merged(struct qz_span *record, uint64_t site, unsigned number, const struct qzi_merge *merge,
                     uint64_t longest);
#pragma GCC visibility pop

/* The same, where it mostly is the place that was asked for last. */
static inline unsigned qzi_site_number_near(struct qzi_site_near *last, uint64_t site) {
  if (__builtin_expect(last->site != site, 0)) *last = (struct qzi_site_near){site, qzi_site_number(site)};
  return last->number;
}
/* A thread ended whose chain is so long. */
static inline void qzi_merge_add(struct qzi_merge *merge, uint64_t length) {
  uint64_t first = merge->first, second = merge->second, less = length < first ? length : first;
  merge->first = length > first ? length : first;
  merge->second = less > second ? less : second;
  merge->sum += length;
  merge->chains++;
}
/* As if those of `from` had been added one by one. */
static inline void qzi_merge_join(struct qzi_merge *merge, const struct qzi_merge *from) {
  uint64_t least = merge->first < from->first ? merge->first : from->first;
  uint64_t second = merge->second > from->second ? merge->second : from->second;
  merge->second = second > least ? second : least;
  if (from->first > merge->first) merge->first = from->first;
  merge->sum += from->sum;
  merge->chains += from->chains;
}

#endif
