/* Components whose work is divided, or should be: serial code, loops, barriers, threads for each request. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include "crew.h"

/* serial: n records of a us, by one thread. fix: spread over two. */
WORK(parse_record)
__attribute__((noipa)) static void load_catalog(const struct spec *spec, long from, long to) {
  for (long k = from; k < to; k++) parse_record(spec->a);
}
static void *load_part(void *member) {
  const struct member *self = member;
  long half = self->spec->count / 2;
  load_catalog(self->spec, self->index * half, self->index ? self->spec->count : half);
  return NULL;
}
static void run_serial(const struct spec *spec) {
  if (spec->fix)
    run_crew(spec, 2, load_part);
  else
    load_catalog(spec, 0, spec->count);
}

/* even: n blocks of a us, divided evenly. fix: half of the work. */
WORK(hash_block)
static void *hash_part(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  for (long k = self->index; k < spec->count; k += spec->threads) hash_block(spec->fix ? spec->a / 2 : spec->a);
  return NULL;
}
static void run_even(const struct spec *spec) { run_crew(spec, spec->threads, hash_part); }

/* uneven: n rows, which get longer (a us on average), each thread has a part of them. fix: one row in turn. */
WORK(shade_row)
static void *shade_part(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  long each = spec->count / spec->threads, from = self->index * each;
  double slope = 2 * spec->a / (double)spec->count;
  if (spec->fix)
    for (long k = self->index; k < each * spec->threads; k += spec->threads) shade_row(slope * (double)k);
  else
    for (long k = from; k < from + each; k++) shade_row(slope * (double)k);
  return NULL;
}
static void run_uneven(const struct spec *spec) { run_crew(spec, spec->threads, shade_part); }

/* barrier: n rounds between barriers; who has the longer part (a + b us, the others a) changes. fix: 1 the same for
 * all, 2 sixteen times fewer rounds. */
static pthread_barrier_t round_barrier;
WORK(relax_cells)
static void *relax_part(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  int coarser = spec->fix == 2 ? 16 : 1;
  for (long k = 0; k < spec->count / coarser; k++) {
    double extra = spec->fix == 1                                                              ? spec->b / spec->threads
                   : (k * 2654435761u >> 8) % (unsigned)spec->threads == (unsigned)self->index ? spec->b
                                                                                               : 0;
    relax_cells(coarser * (spec->a + extra));
    pthread_barrier_wait(&round_barrier);
  }
  return NULL;
}
static void run_barrier(const struct spec *spec) {
  pthread_barrier_init(&round_barrier, NULL, (unsigned)spec->threads);
  run_crew(spec, spec->threads, relax_part);
  pthread_barrier_destroy(&round_barrier);
}

/* jitter: n rounds between barriers; each thread's part takes a us on average, at random. fix: sixteen times fewer
 * rounds. */
static pthread_barrier_t season_barrier;
WORK(grow_field)
static void *grow_part(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  long each = spec->fix ? 16 : 1;
  uint64_t random = (uint64_t)self->index * 977 + 1;
  for (long k = 0; k < spec->count / each; k++) {
    for (long one = 0; one < each; one++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      double part = (double)(random >> 40) / (1 << 24);
      grow_field(3 * spec->a * part * part);
    }
    pthread_barrier_wait(&season_barrier);
  }
  return NULL;
}
static void run_jitter(const struct spec *spec) {
  pthread_barrier_init(&season_barrier, NULL, (unsigned)spec->threads);
  run_crew(spec, spec->threads, grow_part);
  pthread_barrier_destroy(&season_barrier);
}

/* spinbarrier: like barrier, but threads spin until all have come, and are more than there are CPUs. fix: two. */
static atomic_int sweep_come;
static atomic_long sweep_round;
__attribute__((noipa)) static void await_sweep(int threads) {
  long mine = atomic_load(&sweep_round);
  if (atomic_fetch_add(&sweep_come, 1) == threads - 1) {
    atomic_store(&sweep_come, 0);
    atomic_store(&sweep_round, mine + 1);
  } else
    while (atomic_load_explicit(&sweep_round, memory_order_acquire) == mine) {}
}
WORK(sweep_grid)
static void *sweep_part(void *member) {
  const struct member *self = member;
  const struct spec *spec = self->spec;
  int threads = spec->fix ? 2 : spec->threads;
  for (long k = 0; k < spec->count; k++) {
    sweep_grid(spec->a * spec->threads / threads);
    await_sweep(threads);
  }
  return NULL;
}
static void run_spinbarrier(const struct spec *spec) { run_crew(spec, spec->fix ? 2 : spec->threads, sweep_part); }

/* threads: n requests of a us, a thread for each, two at a time. fix: two threads with half of them each. */
WORK(answer_request)
static void *one_request(void *member) {
  answer_request(((const struct member *)member)->spec->a);
  return NULL;
}
static void *half_of_requests(void *member) {
  const struct spec *spec = ((const struct member *)member)->spec;
  for (long k = 0; k < spec->count / 2; k++) answer_request(spec->a);
  return NULL;
}
__attribute__((noipa)) static void serve_requests(const struct spec *spec) {
  for (long k = 0; k < spec->count; k += 2) run_crew(spec, 2, one_request);
}
static void run_threads(const struct spec *spec) {
  if (spec->fix)
    run_crew(spec, 2, half_of_requests);
  else
    serve_requests(spec);
}

const struct component loop_components[] = {
  {"serial", run_serial},   {"even", run_even},     {"uneven", run_uneven},
  {"barrier", run_barrier}, {"jitter", run_jitter}, {"spinbarrier", run_spinbarrier},
  {"threads", run_threads}, {NULL, NULL},
};
