/* Components of OpenMP: loops that are divided unevenly, or too finely; small regions, one in another; critical
 * sections; tasks. */
#include <omp.h>
#include <stddef.h>
#include "crew.h"

/* omp-uneven: n rows, which get longer (a us on average). fix: a row in turn. */
WORK(trace_row)
__attribute__((noipa)) static void trace_rows(const struct spec *spec) {
  double slope = 2 * spec->a / (double)spec->count;
  if (spec->fix) {
#pragma omp parallel for schedule(static, 1) num_threads(spec->threads)
    for (long k = 0; k < spec->count; k++) trace_row(slope * (double)k);
  } else {
#pragma omp parallel for schedule(static) num_threads(spec->threads)
    for (long k = 0; k < spec->count; k++) trace_row(slope * (double)k);
  }
}

/* omp-fine: n cells of a us, each handed out by itself. fix: divided in advance. */
WORK(age_cell)
__attribute__((noipa)) static void age_cells(const struct spec *spec) {
  if (spec->fix) {
#pragma omp parallel for schedule(static) num_threads(spec->threads)
    for (long k = 0; k < spec->count; k++) age_cell(spec->a);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(spec->threads)
    for (long k = 0; k < spec->count; k++) age_cell(spec->a);
  }
}

/* omp-regions: n regions of a us in all. fix: each by one thread. */
WORK(step_body)
__attribute__((noipa)) static void step_bodies(const struct spec *spec) {
  for (long k = 0; k < spec->count; k++) {
#pragma omp parallel for schedule(static) num_threads(spec->threads) if (!spec->fix)
    for (int body = 0; body < 8; body++) step_body(spec->a / 8);
  }
}

/* omp-critical: n samples of a us, each added in b us in a critical section. fix: added at once. */
WORK(draw_sample)
WORK(add_sample)
__attribute__((noipa)) static void draw_samples(const struct spec *spec) {
#pragma omp parallel for schedule(static) num_threads(spec->threads)
  for (long k = 0; k < spec->count; k++) {
    draw_sample(spec->a);
    if (spec->fix)
      add_sample(spec->b);
    else {
#pragma omp critical
      add_sample(spec->b);
    }
  }
}

/* omp-serial: n steps, a us each by all threads, and b us by one. fix: those by all of them, too. */
WORK(move_particle)
WORK(sort_particle)
__attribute__((noipa)) static void sort_particles(const struct spec *spec) {
  for (int k = 0; k < 8; k++) sort_particle(spec->b / 8);
}
__attribute__((noipa)) static void move_particles(const struct spec *spec) {
  for (long step = 0; step < spec->count; step++) {
#pragma omp parallel for schedule(static) num_threads(spec->threads)
    for (int k = 0; k < 8; k++) {
      move_particle(spec->a / 8);
      if (spec->fix) sort_particle(spec->b / 8);
    }
    if (!spec->fix) sort_particles(spec);
  }
}

/* omp-nested: n steps, in which two threads each begin a region of two, for a us in all. fix: the inner ones by one. */
WORK(fold_cell)
__attribute__((noipa)) static void fold_block(const struct spec *spec) {
#pragma omp parallel for schedule(static) num_threads(2) if (!spec->fix)
  for (int k = 0; k < 8; k++) fold_cell(spec->a / 16);
}
__attribute__((noipa)) static void fold_blocks(const struct spec *spec) {
  omp_set_max_active_levels(2);
  for (long step = 0; step < spec->count; step++) {
#pragma omp parallel for schedule(static) num_threads(2)
    for (int block = 0; block < 2; block++) fold_block(spec);
  }
}

/* omp-tasks: n leaves of a us, a task for each. fix: 64 in a task. */
WORK(visit_leaf)
__attribute__((noipa)) static void visit_leaves(const struct spec *spec) {
  long each = spec->fix ? 64 : 1;
#pragma omp parallel num_threads(spec->threads)
#pragma omp single
  for (long from = 0; from < spec->count; from += each) {
#pragma omp task
    for (long k = from; k < from + each && k < spec->count; k++) visit_leaf(spec->a);
  }
}

const struct component openmp_components[] = {
  {"omp-uneven", trace_rows},     {"omp-fine", age_cells},
  {"omp-regions", step_bodies},   {"omp-critical", draw_samples},
  {"omp-serial", move_particles}, {"omp-nested", fold_blocks},
  {"omp-tasks", visit_leaves},    {NULL, NULL},
};
