/* Breadth-first search of a grid, in layers: each layer's vertices lie in arrays of one size, as in the case study of
 * Schardl et al., "The Cilkprof scalability profiler" (SPAA 2015), and each array is looked at by one thread.
 *
 *   search [--side N] [--array M]      a grid of N * N * N vertices (default 160), arrays of M (default 1024)
 */
#include <quartz/quartz.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT_ONCE 1024u /* vertices of the next layer that are put there together */

static long side = 160, in_array = 1024;
static uint32_t *distance; /* + 1; 0: not seen */
static uint32_t *layer, *next;
static uint64_t layer_count, next_count;
static uint32_t depth;

static uint64_t see(uint32_t *found, uint64_t count, uint32_t vertex) {
  uint32_t not_seen = 0;
  if (__atomic_load_n(&distance[vertex], __ATOMIC_RELAXED)) return count;
  if (!__atomic_compare_exchange_n(&distance[vertex], &not_seen, depth + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    return count;
  found[count] = vertex;
  return count + 1;
}
static uint64_t put(const uint32_t *found, uint64_t count) {
  uint64_t at = __atomic_fetch_add(&next_count, count, __ATOMIC_RELAXED);
  memcpy(next + at, found, count * sizeof *found);
  return 0;
}
/* The vertices of one array: their neighbours are the next layer. */
__attribute__((noinline)) static void look_at_array(int64_t from, int64_t to, void *unused) {
  uint32_t found[AT_ONCE];
  uint64_t count = 0, n = (uint64_t)side;
  uint64_t end = (uint64_t)to * (uint64_t)in_array;
  for (uint64_t k = (uint64_t)from * (uint64_t)in_array; k < end && k < layer_count; k++) {
    if (count > AT_ONCE - 6) count = put(found, count);
    uint32_t v = layer[k];
    uint64_t x = v % n, y = v / n % n, z = v / n / n;
    if (x > 0) count = see(found, count, v - 1);
    if (x + 1 < n) count = see(found, count, v + 1);
    if (y > 0) count = see(found, count, v - (uint32_t)n);
    if (y + 1 < n) count = see(found, count, v + (uint32_t)n);
    if (z > 0) count = see(found, count, v - (uint32_t)(n * n));
    if (z + 1 < n) count = see(found, count, v + (uint32_t)(n * n));
  }
  put(found, count);
}

int main(int count, char **words) {
  for (int k = 1; k + 1 < count; k += 2) {
    long number = atol(words[k + 1]);
    if (!strcmp(words[k], "--side") && number > 0 && number <= 1000) side = number;
    if (!strcmp(words[k], "--array") && number > 0) in_array = number;
  }
  uint64_t vertices = (uint64_t)(side * side * side), seen = 1;
  distance = calloc(vertices, sizeof *distance);
  layer = malloc(vertices * sizeof *layer);
  next = malloc(vertices * sizeof *next);
  if (!distance || !layer || !next) return 1;
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  layer[0] = 0;
  layer_count = distance[0] = depth = 1;
  while (layer_count) {
    next_count = 0;
    qz_parallel_for(0, (int64_t)((layer_count + (uint64_t)in_array - 1) / (uint64_t)in_array), 1, look_at_array, NULL);
    uint32_t *kept = layer;
    layer = next;
    next = kept;
    layer_count = next_count;
    seen += layer_count;
    depth++;
  }
  clock_gettime(CLOCK_MONOTONIC, &end);
  printf("%llu vertices, depth %u, in %.1f ms\n", (unsigned long long)seen, depth - 2,
         (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) / 1e6);
  return seen == vertices && depth - 2 == 3 * (uint32_t)(side - 1) ? 0 : 1;
}
