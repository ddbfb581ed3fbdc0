/* Work and span of OpenMP's tasks, each case by its name: see ../span-tasks.test.ts. Prints work and span in units, and
 * the same in ns of processor time, which each task measures of itself; then what `alone` has of the span, where short
 * strands have it. */
#include <omp.h>
#define UNITS_ALONE
#include "units.h"

struct chain {
  uint64_t work, span, alone; /* alone: that part of the span */
};
static struct chain counted, measured;

PROCEDURE static uint64_t alone(uint64_t count) { return units_ns(count); }
PROCEDURE static uint64_t part(uint64_t count) { return units_ns(count); }

static struct chain after(struct chain first, struct chain second) {
  return (struct chain){first.work + second.work, first.span + second.span, first.alone + second.alone};
}
static struct chain beside(struct chain one, struct chain other) {
  struct chain longer = one.span > other.span ? one : other;
  return (struct chain){one.work + other.work, longer.span, longer.alone};
}
static struct chain strand(uint64_t ns) { return (struct chain){ns, ns, 0}; }

/* The calling thread of two makes all tasks. */
#define BY_ONE _Pragma("omp parallel num_threads(2)") _Pragma("omp single")

/* 40 tasks, each waited for: work 400, span 400. */
static void one_by_one(void) {
  uint64_t ns[40] = {0};
  BY_ONE for (int k = 0; k < 40; k++) {
#pragma omp task shared(ns)
    ns[k] = part(10);
#pragma omp taskwait
  }
  for (int k = 0; k < 40; k++) measured = after(measured, strand(ns[k]));
  counted = (struct chain){400, 400, 0};
}

/* A tree of tasks that wait for theirs, 63 of 20: work 1260, span 120. */
static struct chain grow(int depth) {
  struct chain own = strand(part(20)), left = {0}, right = {0};
  if (depth == 0) return own;
#pragma omp task shared(left)
  left = grow(depth - 1);
#pragma omp task shared(right)
  right = grow(depth - 1);
#pragma omp taskwait
  return after(own, beside(left, right));
}
static void tree(void) {
  BY_ONE measured = grow(5);
  counted = (struct chain){63 * 20, 6 * 20, 0};
}

/* A tree of 64 leaves of 50, and 63 short strands of 15 after those that they wait for: work 4145, span 140. */
static struct chain merge(int depth) {
  if (depth == 0) return strand(part(50));
  struct chain left = {0}, right = {0};
#pragma omp task shared(left)
  left = merge(depth - 1);
#pragma omp task shared(right)
  right = merge(depth - 1);
#pragma omp taskwait
  uint64_t ns = alone(15);
  return after(beside(left, right), (struct chain){ns, ns, ns});
}
static void merges(void) {
  BY_ONE measured = merge(6);
  counted = (struct chain){64 * 50 + 63 * 15, 50 + 6 * 15, 6 * 15};
}

/* 100 alone, and 32 tasks of 25 that are executed at the end of the region: work 900, span 125. */
static void wide(void) {
  uint64_t ns[32], begun = alone(100);
  BY_ONE for (int k = 0; k < 32; k++) {
#pragma omp task shared(ns)
    ns[k] = part(25);
  }
  for (int k = 0; k < 32; k++) measured = beside(measured, strand(ns[k]));
  measured = after(strand(begun), measured);
  counted = (struct chain){900, 125, 0};
}

/* Each round 30 beside 10, then 10 alone: work 1000, span 800. */
static void uneven(void) {
  BY_ONE for (int round = 0; round < 20; round++) {
    uint64_t longer = 0, shorter = 0;
#pragma omp task shared(longer)
    longer = part(30);
#pragma omp task shared(shorter)
    shorter = part(10);
#pragma omp taskwait
    measured = after(measured, after(beside(strand(longer), strand(shorter)), strand(alone(10))));
  }
  counted = (struct chain){1000, 800, 0};
}

/* Four chains of ten tasks, each after the one before: work 400, span 100. */
static void chains(void) {
  char at[4] = {0};
  uint64_t ns[4][10] = {0};
  BY_ONE for (int k = 0; k < 10; k++) for (int chain = 0; chain < 4; chain++) {
#pragma omp task shared(ns, at) depend(inout : at[chain])
    ns[chain][k] = part(10);
  }
  for (int chain = 0; chain < 4; chain++) {
    struct chain all = {0};
    for (int k = 0; k < 10; k++) all = after(all, strand(ns[chain][k]));
    measured = beside(measured, all);
  }
  counted = (struct chain){400, 100, 0};
}

/* Ten times one that writes 10, and four that read it, 10 each: work 500, span 200. */
static void readers(void) {
  char value = 0;
  uint64_t writer[10], reader[10][4];
  BY_ONE for (int round = 0; round < 10; round++) {
#pragma omp task shared(writer, value) depend(out : value)
    writer[round] = part(10);
    for (int k = 0; k < 4; k++) {
#pragma omp task shared(reader, value) depend(in : value)
      reader[round][k] = part(10);
    }
  }
  for (int round = 0; round < 10; round++) {
    struct chain read = {0};
    for (int k = 0; k < 4; k++) read = beside(read, strand(reader[round][k]));
    measured = after(measured, after(strand(writer[round]), read));
  }
  counted = (struct chain){500, 200, 0};
}

/* Ten groups of two tasks, each of which leaves another one behind, 10 each; and 10 alone: work 500, span 300. */
static void groups(void) {
  BY_ONE for (int round = 0; round < 10; round++) {
    uint64_t first[2] = {0}, second[2] = {0};
#pragma omp taskgroup
    for (int k = 0; k < 2; k++) {
#pragma omp task shared(first, second)
      {
        first[k] = part(10);
#pragma omp task shared(second)
        second[k] = part(10);
      }
    }
    struct chain both = beside(after(strand(first[0]), strand(second[0])), after(strand(first[1]), strand(second[1])));
    measured = after(measured, after(both, strand(alone(10))));
  }
  counted = (struct chain){500, 300, 0};
}

/* Twice 50 alone and a loop of 16 tasks of 25: work 900, span 150. */
static void loop(void) {
  BY_ONE for (int round = 0; round < 2; round++) {
    uint64_t ns[16] = {0};
    struct chain all = {0};
    uint64_t before = alone(50);
#pragma omp taskloop shared(ns) grainsize(1)
    for (int k = 0; k < 16; k++) ns[k] = part(25);
    for (int k = 0; k < 16; k++) all = beside(all, strand(ns[k]));
    measured = after(measured, after(strand(before), all));
  }
  counted = (struct chain){900, 150, 0};
}

/* Tasks that are executed at once, for they are not deferred, or in a final one: work 400, span 400. */
static void included(void) {
  uint64_t ns[40] = {0};
  BY_ONE {
    for (int k = 0; k < 20; k++) {
#pragma omp task shared(ns) if (0)
      ns[k] = part(10);
    }
#pragma omp task shared(ns) final(1)
    for (int k = 20; k < 40; k++) {
#pragma omp task shared(ns)
      ns[k] = part(10);
    }
  }
  for (int k = 0; k < 40; k++) measured = after(measured, strand(ns[k]));
  counted = (struct chain){400, 400, 0};
}

/* A barrier after tasks of all threads, one of which is longer; then 20 of each: work 210, span 120. */
static void barrier(void) {
  uint64_t longer = 0, shorter[7] = {0}, then[2] = {0};
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp task shared(longer)
      longer = part(100);
    }
    if (omp_get_thread_num() == 1)
      for (int k = 0; k < 7; k++) {
#pragma omp task shared(shorter)
        shorter[k] = part(10);
      }
#pragma omp barrier
    then[omp_get_thread_num()] = alone(20);
  }
  measured = strand(longer);
  for (int k = 0; k < 7; k++) measured = beside(measured, strand(shorter[k]));
  measured = after(measured, beside(strand(then[0]), strand(then[1])));
  counted = (struct chain){210, 120, 0};
}

int main(int count, char **words) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"one-by-one", one_by_one}, {"tree", tree},       {"wide", wide},     {"uneven", uneven},
               {"chains", chains},         {"readers", readers}, {"groups", groups}, {"loop", loop},
               {"included", included},     {"barrier", barrier}, {"merges", merges}};
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    if (count < 2 || strcmp(words[1], cases[k].name) != 0) continue;
    cases[k].run();
    printf("%llu %llu\n", (unsigned long long)counted.work, (unsigned long long)counted.span);
    printf("%llu %llu\n", (unsigned long long)measured.work, (unsigned long long)measured.span);
    if (measured.alone) printf("%llu\n", (unsigned long long)measured.alone);
    return 0;
  }
  return 2;
}
