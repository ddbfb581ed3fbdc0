/* A program for walks without unwind information, in which main is not aligned, follows a jump through a table, and is
 * named by the C library's start alone. */
#include <stdlib.h>

static volatile long kept;

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void sorts(int count) {
  int numbers[64];
  for (int k = 0; k < 64; k++) numbers[k] = (k * 37 + count) % 61;
  qsort(numbers, 64, sizeof *numbers, by_value);
  kept += numbers[count % 64];
}
static long chosen(long which) {
  switch (which % 7) {
  case 0: return kept + 3;
  case 1: return kept * 5;
  case 2: return kept - 7;
  case 3: sorts(3); return kept;
  case 4: return kept ^ 9;
  case 5: return kept / 3;
  default: return 11;
  }
}

int main(void) {
  for (long k = 0;; k++) kept = chosen(k);
}
