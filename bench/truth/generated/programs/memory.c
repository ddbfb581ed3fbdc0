/* Components that use memory: many small blocks of malloc's, an array that is read again and again, a table that is
 * read anywhere. */
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "crew.h"

/* memory: n rows are looked up in a table of c KiB, anywhere. fix: in parts of 128 KiB. */
static uint64_t *orders;
__attribute__((noipa)) static void join_orders(long rows, uint64_t mask, uint64_t seed) {
  uint64_t sum = seed;
  for (long k = 0; k < rows; k++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    sum += orders[((seed >> 20) + (sum & 1)) & mask];
  }
  crew_sink = sum;
}
static void *joiner(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  uint64_t words = spec->fix ? (128u << 10) / sizeof *orders : ((uint64_t)spec->size << 10) / sizeof *orders;
  join_orders(spec->count / spec->threads, words - 1, (uint64_t)self->index + 1);
  return NULL;
}
static void run_memory(const struct spec *spec) {
  orders = malloc((size_t)spec->size << 10);
  if (!orders) abort();
  memset(orders, 1, (size_t)spec->size << 10);
  run_crew(spec, spec->threads, joiner);
  free(orders);
}

/* nodes: n trees of 64 nodes of c bytes, each node from malloc, with a us of work. fix: one block for each tree. */
enum { NODES = 64 };
WORK(balance_tree)
__attribute__((noipa)) static void build_tree(const struct spec *spec) {
  char *nodes[NODES];
  size_t bytes = (size_t)spec->size;
  char *block = spec->fix ? malloc(NODES * bytes) : NULL;
  for (size_t k = 0; k < NODES; k++) {
    nodes[k] = block ? block + k * bytes : malloc(bytes);
    if (!nodes[k]) abort();
    *(volatile char *)nodes[k] = (char)k;
  }
  balance_tree(spec->a);
  if (block)
    free(block);
  else
    for (size_t k = 0; k < NODES; k++) free(nodes[k * 37 % NODES]);
}
static void *forester(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  for (long k = 0; k < spec->count / spec->threads; k++) build_tree(spec);
  return NULL;
}
static void run_nodes(const struct spec *spec) { run_crew(spec, spec->threads, forester); }

/* stream: n passes over an array of c KiB, a part of it by each thread. fix: all passes over 64 KiB, then the next. */
static double *samples;
__attribute__((noipa)) static void smooth_samples(double *from, double *to, double weight) {
  for (double *at = from; at < to; at++) *at = *at * weight + 1;
}
static void *smoother(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  long words = (spec->size << 10) / (long)sizeof *samples / spec->threads;
  long each = spec->fix ? (64 << 10) / (long)sizeof *samples : words;
  double *mine = samples + self->index * words;
  for (long from = 0; from < words; from += each)
    for (long pass = 0; pass < spec->count; pass++)
      smooth_samples(mine + from, mine + (from + each < words ? from + each : words), 0.5);
  return NULL;
}
static void run_stream(const struct spec *spec) {
  samples = calloc((size_t)spec->size << 10, 1);
  if (!samples) abort();
  run_crew(spec, spec->threads, smoother);
  free(samples);
}

const struct component memory_components[] = {
  {"memory", run_memory}, {"nodes", run_nodes}, {"stream", run_stream}, {NULL, NULL}};
