/* Since when records are in use, as far as it is remembered. Owns nothing; its user is its writer and reader. */
#ifndef QZI_GROWTH_H
#define QZI_GROWTH_H

#include <stdint.h>

/* Records from high[k - 1] to below high[k] came into use after since_ns[k], the time of the last look before they were
 * there. What such a record is first seen doing stands for the time since then: a look at a random instant of the
 * interval sees it with the probability that it was there by then. */
#define QZI_GROWTH_STEPS 64
struct qzi_growth {
  uint64_t now_ns, before_ns; /* of the last look, and of the one before */
  uint32_t count;
  uint32_t high[QZI_GROWTH_STEPS];
  uint64_t since_ns[QZI_GROWTH_STEPS];
};

/* Remembers that `high` records are in use at now_ns; and since when record `index` is. */
void qzi_growth_note(struct qzi_growth *growth, uint32_t high, uint64_t now_ns);
uint64_t qzi_growth_since(const struct qzi_growth *growth, uint32_t index);

#endif
