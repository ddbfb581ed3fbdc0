/* Numbers as the reports write them (ts-frontend/src/model/wording/numbers.ts), for the sampler's own lines. ASCII.
   Each function writes to `text` and returns it. Thread-safe. */
#ifndef QZI_NUMBERS_H
#define QZI_NUMBERS_H

#include <stdint.h>

#define QZI_NUMBER 40 /* longest text, including the NUL */

/* A whole number with separators: "1,234,567". */
const char *qzi_count_text(char text[QZI_NUMBER], uint64_t value);
/* A number and a noun whose plural ends in s: "1 snapshot", "2 snapshots". `one` has at most 12 letters. */
const char *qzi_things_text(char text[QZI_NUMBER], uint64_t value, const char *one);
/* A time given in ns, with three significant digits and the unit: "1.62 s", "24.1 ms", "0". */
const char *qzi_time_text(char text[QZI_NUMBER], uint64_t ns);
/* A share of `whole`: "24.3 %", "<0.1 %". */
const char *qzi_percent_text(char text[QZI_NUMBER], uint64_t part, uint64_t whole);

#endif
