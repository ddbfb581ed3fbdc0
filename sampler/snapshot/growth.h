/* When records came into use, with limited memory. Owns nothing; its user is its only writer and reader. */
#ifndef QZI_GROWTH_H
#define QZI_GROWTH_H

#include <stdint.h>

/* Records from high[k - 1] to below high[k] came into use after since_ns[k], the time of the last look before they
 * existed. The first observation of such a record stands for the time since then: a look at a random instant of the
 * interval sees it with the probability that it existed by then. */
#define QZI_GROWTH_STEPS 64
struct qzi_growth {
  uint64_t now_ns, before_ns; /* times of the last look and of the one before */
  uint32_t count;
  uint32_t high[QZI_GROWTH_STEPS];
  uint64_t since_ns[QZI_GROWTH_STEPS];
};

/* qzi_growth_note records that `high` records are in use at now_ns; qzi_growth_since returns the time since which
 * record `index` is. */
void qzi_growth_note(struct qzi_growth *growth, uint32_t high, uint64_t now_ns);
uint64_t qzi_growth_since(const struct qzi_growth *growth, uint32_t index);

#endif
