/* Quicksort, as in figure 1 of Schardl et al., "The Cilkprof scalability profiler" (SPAA 2015): what limits it is its
 * partition, which is serial.
 *
 *   quicksort [--numbers N] serial|parallel     sorts, with that partition
 *   quicksort [--numbers N] cilkprof            sorts without any parallelism, and prints work, span and the
 * partition's part of the span by the algorithm of that paper
 */
#define _GNU_SOURCE
#include <quartz/quartz.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COARSENING 32    /* shorter ones are sorted by insertion */
#define PARTS      8     /* of a parallel partition */
#define LEAST      65536 /* shorter ones are partitioned by one thread */

static bool parallel;
static long *room; /* of a parallel partition: where it writes */

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
/* Numbers that are the same in each run, and of each part by itself. */
static uint64_t random_of(uint64_t seed) {
  seed += UINT64_C(0x9e3779b97f4a7c15);
  seed = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  seed = (seed ^ seed >> 27) * UINT64_C(0x94d049bb133111eb);
  return seed ^ seed >> 31;
}
static long pivot_of(const long *a, long low, long high) {
  return a[low + (long)(random_of((uint64_t)low * 31 + (uint64_t)high) % (uint64_t)(high - low))];
}

__attribute__((noinline)) static long partition(long *a, long low, long high) {
  long pivot = pivot_of(a, low, high), left = low - 1, right = high;
  for (;;) {
    do left++;
    while (a[left] < pivot);
    do right--;
    while (a[right] > pivot);
    if (left >= right) return left == low ? left + 1 : left;
    long kept = a[left];
    a[left] = a[right];
    a[right] = kept;
  }
}
__attribute__((noinline)) static void insertion(long *a, long low, long high) {
  for (long k = low + 1; k < high; k++) {
    long one = a[k], at = k;
    for (; at > low && a[at - 1] > one; at--) a[at] = a[at - 1];
    a[at] = one;
  }
}

/* ---- a parallel partition: each part counts, then writes its numbers where they belong, then copies back ---- */

struct parts {
  long *a;
  long low, high, pivot;
  long less[PARTS + 1]; /* of each part, then of all before it */
};
static long begin_of(const struct parts *p, long part) { return p->low + (p->high - p->low) * part / PARTS; }

static void count_part(int64_t from, int64_t to, void *argument) {
  struct parts *p = argument;
  for (int64_t part = from; part < to; part++) {
    long less = 0;
    for (long k = begin_of(p, part); k < begin_of(p, part + 1); k++) less += p->a[k] < p->pivot;
    p->less[part + 1] = less;
  }
}
static void move_part(int64_t from, int64_t to, void *argument) {
  struct parts *p = argument;
  for (int64_t part = from; part < to; part++) {
    long less = p->low + p->less[part];
    long more = p->low + p->less[PARTS] + (begin_of(p, part) - p->low - p->less[part]);
    for (long k = begin_of(p, part); k < begin_of(p, part + 1); k++) {
      bool is_less = p->a[k] < p->pivot;
      room[is_less ? less : more] = p->a[k];
      less += is_less;
      more += !is_less;
    }
  }
}
static void copy_part(int64_t from, int64_t to, void *argument) {
  struct parts *p = argument;
  long begin = begin_of(p, from), end = begin_of(p, to);
  memcpy(p->a + begin, room + begin, (size_t)(end - begin) * sizeof *room);
}
__attribute__((noinline)) static long parallel_partition(long *a, long low, long high) {
  struct parts p = {.a = a, .low = low, .high = high, .pivot = pivot_of(a, low, high)};
  qz_parallel_for(0, PARTS, 1, count_part, &p);
  for (int part = 0; part < PARTS; part++) p.less[part + 1] += p.less[part];
  if (!p.less[PARTS]) return partition(a, low, high); /* the pivot is the least */
  qz_parallel_for(0, PARTS, 1, move_part, &p);
  qz_parallel_for(0, PARTS, 1, copy_part, &p);
  return low + p.less[PARTS];
}

struct range {
  long *a;
  long low, high;
};
static void fill(int64_t from, int64_t to, void *argument) {
  long *a = argument;
  for (int64_t k = from; k < to; k++) {
    a[k] = (long)(random_of((uint64_t)k) >> 2);
    room[k] = 0;
  }
}
static void pqsort(void *argument) {
  const struct range *r = argument;
  if (r->high - r->low < COARSENING) {
    insertion(r->a, r->low, r->high);
    return;
  }
  bool in_parts = parallel && r->high - r->low >= LEAST;
  long middle = (in_parts ? parallel_partition : partition)(r->a, r->low, r->high);
  struct range left = {r->a, r->low, middle}, right = {r->a, middle, r->high};
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, pqsort, &left);
  pqsort(&right);
  qz_sync(&scope);
}

/* ---- the algorithm of Cilkprof ---- */

struct lengths {
  double work, span, partition; /* ns; the last: on the span */
};
/* Strands are timed by a clock that is quick to read; of every 10,000 numbers the processor time says how much of that
 * the program was not waiting for a CPU. */
#define OFTEN 10000
static struct lengths profiled(long *a, long low, long high, bool is_within) {
  bool is_last = !is_within && high - low < OFTEN;
  uint64_t cpu = is_last || !is_within ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
  clockid_t clock = is_within || is_last ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  uint64_t begin = clock == CLOCK_MONOTONIC ? now_ns(clock) : cpu;
  struct lengths all;
  if (high - low < COARSENING) {
    insertion(a, low, high);
    all.work = all.span = (double)(now_ns(clock) - begin);
    all.partition = 0;
  } else {
    long middle = partition(a, low, high);
    double own = (double)(now_ns(clock) - begin);
    struct lengths left = profiled(a, low, middle, is_within || is_last);
    struct lengths right = profiled(a, middle, high, is_within || is_last);
    const struct lengths *longer = left.span > right.span ? &left : &right;
    all = (struct lengths){own + left.work + right.work, own + longer->span, own + longer->partition};
  }
  if (is_last) {
    double had = (double)(now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu), part = had < all.work ? had / all.work : 1;
    all = (struct lengths){all.work * part, all.span * part, all.partition * part};
  }
  return all;
}

int main(int count, char **words) {
  long numbers = 10000000;
  if (count > 2 && !strcmp(words[1], "--numbers")) {
    numbers = atol(words[2]);
    count -= 2;
    words += 2;
  }
  const char *how = count == 2 ? words[1] : "";
  bool serially = !strcmp(how, "cilkprof");
  parallel = !strcmp(how, "parallel");
  if (numbers < 1 || (!serially && !parallel && strcmp(how, "serial"))) {
    fprintf(stderr, "usage: quicksort [--numbers N] serial|parallel|cilkprof\n");
    return 2;
  }
  long *a = malloc((size_t)numbers * sizeof *a);
  room = malloc((size_t)numbers * sizeof *room);
  if (!a || !room) return 1;
  qz_parallel_for(0, numbers, 65536, fill, a);
  struct range all = {a, 0, numbers};
  uint64_t begin = now_ns(CLOCK_MONOTONIC);
  if (serially) {
    struct lengths is = profiled(a, 0, numbers, false);
    printf("work %.3f ms, span %.3f ms, parallelism %.3f, partition %.3f of the span\n", is.work / 1e6, is.span / 1e6,
           is.work / is.span, is.partition / is.span);
  } else {
    pqsort(&all);
    printf("sorted in %.1f ms\n", (double)(now_ns(CLOCK_MONOTONIC) - begin) / 1e6);
  }
  for (long k = 1; k < numbers; k++)
    if (a[k - 1] > a[k]) return 1;
  free(room);
  free(a);
  return 0;
}
