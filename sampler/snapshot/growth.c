/* See growth.h. */
#include "growth.h"

void qzi_growth_note(struct qzi_growth *growth, uint32_t high, uint64_t now_ns) {
  if (now_ns != growth->now_ns) {
    growth->before_ns = growth->now_ns;
    growth->now_ns = now_ns;
  }
  if (growth->count && growth->high[growth->count - 1] >= high) return;
  if (growth->count == QZI_GROWTH_STEPS) { /* removes every second step: its records are assumed to be as new as
                                              those of the next step */
    for (uint32_t k = 0; k < QZI_GROWTH_STEPS / 2; k++) {
      growth->high[k] = growth->high[2 * k + 1];
      growth->since_ns[k] = growth->since_ns[2 * k + 1];
    }
    growth->count = QZI_GROWTH_STEPS / 2;
  }
  growth->high[growth->count] = high;
  growth->since_ns[growth->count++] = growth->before_ns;
}

uint64_t qzi_growth_since(const struct qzi_growth *growth, uint32_t index) {
  uint32_t k = 0;
  while (k + 1 < growth->count && growth->high[k] <= index) k++;
  return growth->count ? growth->since_ns[k] : 0;
}
