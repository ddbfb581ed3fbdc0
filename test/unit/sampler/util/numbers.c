/* The numbers in the sampler's own lines have the same format as in reports. */
#include "sampler/util/numbers.h"
#include "test/support/check.h"

#define IS(call, expected)                                                  \
  do {                                                                      \
    char text[QZI_NUMBER];                                                  \
    if (strcmp(call, expected)) {                                           \
      fprintf(stderr, "%s is \"%s\", not \"%s\"\n", #call, call, expected); \
      exit(1);                                                              \
    }                                                                       \
  } while (0)

int main(void) {
  IS(qzi_count_text(text, 0), "0");
  IS(qzi_count_text(text, 999), "999");
  IS(qzi_count_text(text, 1000), "1,000");
  IS(qzi_count_text(text, 1234567), "1,234,567");
  IS(qzi_count_text(text, UINT64_MAX), "18,446,744,073,709,551,615");
  IS(qzi_things_text(text, 0, "interval"), "0 intervals");
  IS(qzi_things_text(text, 1, "interval"), "1 interval");
  IS(qzi_things_text(text, 2, "interval"), "2 intervals");
  IS(qzi_things_text(text, 1085, "snapshot"), "1,085 snapshots");
  IS(qzi_time_text(text, 0), "0");
  IS(qzi_time_text(text, 1620000000), "1.62 s");
  IS(qzi_time_text(text, 24100000), "24.1 ms");
  IS(qzi_percent_text(text, 243, 1000), "24.3 %");
  return 0;
}
