/* A generated program: components one after another, or (first word "together") side by side. Prints the elapsed time
 * and the processor time of all of them, in nanoseconds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "crew.h"

_Thread_local volatile uint64_t crew_sink;

void run_crew(const struct spec *spec, int threads, void *(*start)(void *)) {
  pthread_t ids[MAX_THREADS];
  struct member members[MAX_THREADS];
  for (int k = 0; k < threads; k++) {
    members[k] = (struct member){spec, k};
    if (pthread_create(&ids[k], NULL, start, &members[k]) != 0) abort();
  }
  for (int k = 0; k < threads; k++) pthread_join(ids[k], NULL);
}

static const struct component *const tables[] = {
  loop_components,   lock_components,   wait_components,  system_components,
  pool_components,   memory_components, delay_components,
#ifdef _OPENMP
  openmp_components,
#endif
};

struct chosen {
  const struct component *component;
  struct spec spec;
};

static const struct component *component_named(const char *kind) {
  for (unsigned k = 0; k < sizeof tables / sizeof *tables; k++)
    for (const struct component *one = tables[k]; one->kind; one++)
      if (strcmp(one->kind, kind) == 0) return one;
  fprintf(stderr, "no component %s\n", kind);
  exit(2);
}

static struct chosen chosen_of(char *word) {
  struct chosen chosen = {NULL, {1, 0, 0, 0, 0, 0}};
  char *rest = strchr(word, ':');
  if (rest) *rest++ = 0;
  chosen.component = component_named(word);
  for (char *pair = strtok(rest, ","); pair; pair = strtok(NULL, ",")) {
    const char *value = strchr(pair, '=');
    double number = value ? atof(value + 1) : 0;
    if (*pair == 't') chosen.spec.threads = number > MAX_THREADS ? MAX_THREADS : (int)number;
    if (*pair == 'n') chosen.spec.count = (long)number;
    if (*pair == 'a') chosen.spec.a = number;
    if (*pair == 'b') chosen.spec.b = number;
    if (*pair == 'c') chosen.spec.size = (long)number;
    if (*pair == 'f') chosen.spec.fix = (int)number;
  }
  return chosen;
}

static void *beside(void *chosen) {
  const struct chosen *one = chosen;
  one->component->run(&one->spec);
  return NULL;
}

static long long now(clockid_t clock) {
  struct timespec at;
  clock_gettime(clock, &at);
  return at.tv_sec * 1000000000ll + at.tv_nsec;
}

int main(int argc, char **argv) {
  long long began = now(CLOCK_MONOTONIC);
  int together = argc > 1 && strcmp(argv[1], "together") == 0, first = 1 + together;
  struct chosen all[MAX_THREADS];
  pthread_t ids[MAX_THREADS];
  int count = argc - first > MAX_THREADS ? MAX_THREADS : argc - first;
  for (int k = 0; k < count; k++) all[k] = chosen_of(argv[first + k]);
  for (int k = 0; k < count; k++) {
    if (!together)
      beside(&all[k]);
    else if (pthread_create(&ids[k], NULL, beside, &all[k]) != 0)
      abort();
  }
  for (int k = 0; together && k < count; k++) pthread_join(ids[k], NULL);
  printf("%lld %lld\n", now(CLOCK_MONOTONIC) - began, now(CLOCK_PROCESS_CPUTIME_ID));
  return 0;
}
