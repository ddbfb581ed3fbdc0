/* Call sites that spawn, create, or wait for threads. See span_sites.h. */
#include "span_sites.h"

static _Atomic uint64_t numbered[QZ_SPAN_SITES];

unsigned qzi_site_number(uint64_t site) {
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

void qzi_site_ended(struct qz_span *record, const struct qzi_span *span, const struct qzi_pub_thread *t) {
  struct qz_site *site = &record->sites[span->site];
  uint64_t length = span->now.length - span->start;
  if (!site->site) {
    qzi_pub_store(&site->start, t->start);
    qzi_pub_store(&site->site, span->site ? t->create_site : 1);
  }
  qzi_pub_store(&site->count, site->count + 1);
  qzi_pub_store(&site->work, site->work + span->work);
  qzi_pub_store(&site->span, site->span + length);
  if (!span->top) return;
  qzi_pub_store(&site->top_count, site->top_count + 1);
  qzi_pub_store(&site->top_work, site->top_work + span->work);
  qzi_pub_store(&site->top_span, site->top_span + length);
}

void qzi_site_merged(struct qz_span *record, uint64_t place, unsigned number, const struct qzi_merge *merge,
                     uint64_t longest) {
  if (!merge->chains) return;
  struct qz_site *site = &record->sites[number];
  if (!site->site) qzi_pub_store(&site->site, number ? place : 1);
  /* Among the chains that are not the longest, the one nearest to it. */
  uint64_t next = merge->first < longest ? merge->first : merge->second, lost = merge->chains;
  if (merge->first >= longest) lost--;
  qzi_pub_store(&site->merges, site->merges + 1);
  qzi_pub_store(&site->merged, site->merged + merge->chains);
  qzi_pub_store(&site->lost, site->lost + lost);
  qzi_pub_store(&site->slack, site->slack + merge->chains * longest - merge->sum);
  uint64_t least = longest - next + 1;
  if (lost && (!site->least_slack_plus_1 || least < site->least_slack_plus_1))
    qzi_pub_store(&site->least_slack_plus_1, least);
}
