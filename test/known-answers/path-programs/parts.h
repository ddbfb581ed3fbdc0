/* Parts of strands: counted work, and how long it took; work and span of parts after and beside each other. */
#ifndef TEST_PARTS_H
#define TEST_PARTS_H
#include "units.h"

/* What a strand does: so many units, which took so long. */
enum { UNITS, NS, KINDS };
struct part {
  uint64_t is[KINDS];
};
static struct part of(uint64_t count) { return (struct part){{[UNITS] = count}}; }
static void execute(struct part *part) { part->is[NS] = units_ns(part->is[UNITS]); }
static uint64_t longer(uint64_t one, uint64_t other) { return one > other ? one : other; }

static uint64_t work[KINDS], span[KINDS];
/* One strand after what has been added before. */
static void add(const struct part *part) {
  for (int kind = 0; kind < KINDS; kind++) {
    work[kind] += part->is[kind];
    span[kind] += part->is[kind];
  }
}
/* Strands beside each other, after what has been added before. */
static void add_beside(const struct part *parts, unsigned count) {
  for (int kind = 0; kind < KINDS; kind++) {
    uint64_t longest = 0;
    for (unsigned k = 0; k < count; k++) {
      work[kind] += parts[k].is[kind];
      longest = longer(longest, parts[k].is[kind]);
    }
    span[kind] += longest;
  }
}

static void print_sums(void) {
  for (int kind = 0; kind < KINDS; kind++)
    printf("%llu %llu\n", (unsigned long long)work[kind], (unsigned long long)span[kind]);
}

#endif
