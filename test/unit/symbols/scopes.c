/* What is inlined around an address is the same by the index of a procedure's scopes as without: at each address of
 * each procedure of the given file that has debug information. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include "symbols/internal.h"

#define MOST 128

static volatile int sink;

/* Nests for compilers: blocks with variables, loops, procedures inlined twice, and into each other. */
static inline __attribute__((always_inline)) int innermost(int n) {
  int sum = 0;
  for (int k = 0; k < n; k++) {
    int square = k * k;
    sum += square ^ sink;
  }
  return sum;
}
static inline __attribute__((always_inline)) int middle(int n) {
  int sum = innermost(n);
  if (n > 3) {
    int more = innermost(n - 1);
    sum += more + sink;
  }
  return sum;
}
__attribute__((noinline)) static int outermost(int n) {
  int sum = sink;
  for (int k = 0; k < n; k++) sum += middle(k) + innermost(k);
  return sum;
}

static long compared, inlined;
static int deepest;

/* Returns the number of addresses with another answer. */
static int compare(struct qzi_unit *unit, uint64_t start, uint64_t end) {
  Dwarf_Die die, one[MOST], other[MOST];
  int different = 0;
  for (uint64_t at = start; at < end; at++) {
    struct qzi_function *function = qzi_dwarf_function_at(unit, at, &die);
    if (!function) continue;
    struct qzi_function fresh = {.die = function->die, .entry = function->entry};
    int expected = qzi_scopes_inlined(&fresh, &die, at, one, MOST), count = 0;
    while (!function->scopes) count = qzi_scopes_inlined(function, &die, at, other, MOST);
    count = qzi_scopes_inlined(function, &die, at, other, MOST);
    int same = count == expected;
    for (int k = 0; same && k < count; k++) same = dwarf_dieoffset(&one[k]) == dwarf_dieoffset(&other[k]);
    if (!same) printf("%#lx: %d procedures are inlined, not %d\n", (unsigned long)at, count, expected);
    different += !same;
    compared++;
    inlined += count > 0;
    if (count > deepest) deepest = count;
  }
  return different;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  sink = outermost(argc);
  elf_version(EV_CURRENT);
  struct qzi_binary binary = {.path = strdup(argv[1]), .build_id = strdup(""), .fd = -1, .debug_fd = -1};
  qzi_binary_open(&binary, NULL, 0);
  qzi_binary_open_dwarf(&binary);
  qzi_dwarf_unit(&binary, 1);
  int different = 0;
  for (size_t k = 0; k < binary.unit_ranges.count; k++) {
    const struct qzi_range *range = &binary.unit_ranges.items[k];
    different += compare(&binary.units[range->index], range->start, range->end);
  }
  qzi_binary_close(&binary);
  printf("%ld addresses, %ld with inlined procedures, at most %d deep, %d different\n", compared, inlined, deepest,
         different);
  return different || !compared || !inlined || deepest < 2;
}
