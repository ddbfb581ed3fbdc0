/* Formats numbers for the sampler's own lines. See numbers.h. */
#include "numbers.h"

#include <stdio.h>
#include <string.h>

/* Inserts separators into the integer part of the number in `text`. */
static const char *separate(char text[QZI_NUMBER]) {
  size_t whole = strspn(text, "0123456789");
  for (size_t at = whole; at > 3;) {
    at -= 3;
    memmove(text + at + 1, text + at, strlen(text + at) + 1);
    text[at] = ',';
  }
  return text;
}

const char *qzi_count_text(char text[QZI_NUMBER], uint64_t value) {
  snprintf(text, QZI_NUMBER, "%llu", (unsigned long long)value);
  return separate(text);
}

const char *qzi_things_text(char text[QZI_NUMBER], uint64_t value, const char *one) {
  char number[QZI_NUMBER];
  snprintf(text, QZI_NUMBER, "%.25s %.12s%s", qzi_count_text(number, value), one, value == 1 ? "" : "s");
  return text;
}

const char *qzi_time_text(char text[QZI_NUMBER], uint64_t ns) {
  static const struct {
    double ns;
    const char *name;
  } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  if (ns == 0) return strcpy(text, "0");
  unsigned unit = 0;
  while (unit < 3 && (double)ns < units[unit].ns * 0.9995) unit++; /* 999.5 ms would be rounded to 1,000 ms */
  double value = (double)ns / units[unit].ns;
  int decimals = unit == 3 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  snprintf(text, QZI_NUMBER, "%.*f %s", decimals, value, units[unit].name);
  return separate(text);
}

const char *qzi_percent_text(char text[QZI_NUMBER], uint64_t part, uint64_t whole) {
  if (whole == 0 || part == 0) return strcpy(text, "0 %");
  double value = 100 * (double)part / (double)whole;
  if (value < 0.05) return strcpy(text, "<0.1 %");
  snprintf(text, QZI_NUMBER, "%.*f %%", value >= 99.95 ? 0 : 1, value);
  return separate(text);
}
