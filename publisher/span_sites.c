/* Call sites that spawn, create, or wait for threads. See span_sites.h. */
#include "span_sites.h"

static _Atomic uint64_t numbered[QZ_SPAN_SITES];

unsigned qzi_site_number(uint64_t site) {
  if (!site) return 0; /* the main thread's */
  unsigned at = 1 + (unsigned)(site * QZ_HASH_FACTOR >> 32) % (QZ_SPAN_SITES - 1);
  for (unsigned n = 0; n < QZ_SPAN_SITES - 1; n++) {
    uint64_t there = atomic_load_explicit(&numbered[at], memory_order_relaxed);
    if (there == site) return at;
    if (!there && (atomic_compare_exchange_strong(&numbered[at], &there, site) || there == site)) return at;
    at = at + 1 < QZ_SPAN_SITES ? at + 1 : 1;
  }
  return 0;
}

uint64_t qzi_site_address(unsigned number) { return atomic_load_explicit(&numbered[number], memory_order_relaxed); }

__attribute__((noinline, cold)) void qzi_site_begins(struct qz_site *site, const struct qzi_span *span, uint64_t start,
                                                     uint64_t place) {
  qzi_pub_store(&site->start, start);
  qzi_pub_store(&site->site, span->site ? place : 1);
}

void qzi_site_merged(struct qz_span *record, uint64_t place, unsigned number, const struct qzi_merge *merge,
                     uint64_t longest) {
  if (!merge->chains) return;
  struct qz_site *site = &record->sites[number];
  if (__builtin_expect(!site->site, 0)) qzi_pub_store(&site->site, number ? place : 1);
  /* Without branches: which one is longer is unpredictable. `next`: among the chains that are not the longest, the one
   * nearest to it. */
  uint64_t next = merge->first < longest ? merge->first : merge->second;
  uint64_t lost = merge->chains - (merge->first >= longest);
  qzi_pub_increment(&site->merges);
  qzi_pub_more(&site->merged, merge->chains);
  qzi_pub_more(&site->lost, lost);
  qzi_pub_more(&site->slack, merge->chains * longest - merge->sum);
  uint64_t before = site->least_slack_plus_1 - 1, least = lost ? longest - next : UINT64_MAX;
  qzi_pub_store(&site->least_slack_plus_1, (least < before ? least : before) + 1);
}
