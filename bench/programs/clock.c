/* Put in front of a program by LD_PRELOAD: appends "NAME cpu SECONDS wall SECONDS" to the file in QUARTZ_BENCH_CLOCK
 * when it ends. So the program's own time is seen, without the tool that starts it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begun;

__attribute__((no_instrument_function)) static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
__attribute__((constructor, no_instrument_function)) static void begin(void) { begun = seconds(CLOCK_MONOTONIC); }
__attribute__((destructor, no_instrument_function)) static void end(void) {
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), wall = seconds(CLOCK_MONOTONIC) - begun;
  const char *path = getenv("QUARTZ_BENCH_CLOCK");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s cpu %.6f wall %.6f\n", program_invocation_short_name, cpu, wall);
  fclose(file);
}
