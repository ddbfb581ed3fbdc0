/* What all components of generated programs use: counted work, threads, and the numbers of a component.
 * bench/truth/generated/components.ts draws them; README.md of this directory says what they are. */
#ifndef GENERATED_CREW_H
#define GENERATED_CREW_H
#include <stdint.h>

enum { MAX_THREADS = 16, LINE_BYTES = 128 };

/* One component, as the command line describes it: kind:t=..,n=..,a=..,b=..,c=..,fix=.. */
struct spec {
  int threads; /* t */
  long count;  /* n: pieces, rounds or requests in all */
  double a, b; /* work of two parts, in microseconds */
  long size;   /* c: capacity, bytes, or what the component says */
  int fix;     /* 0: as it is; 1, 2: with the change */
};

struct component {
  const char *kind;
  void (*run)(const struct spec *spec);
};
extern const struct component loop_components[], lock_components[], wait_components[], system_components[],
  pool_components[], memory_components[], delay_components[], openmp_components[];

struct member {
  const struct spec *spec;
  int index;
};

/* Starts that many threads and waits for their end. */
void run_crew(const struct spec *spec, int threads, void *(*start)(void *));

/* Iterations that take about a microsecond on this machine's CPUs; truth is counted in them, whatever they take. */
enum { PER_US = 690 };

extern _Thread_local volatile uint64_t crew_sink;

/* A procedure of its own, whose work nobody can leave out. */
#define WORK(name)                                                                                       \
  __attribute__((noipa)) static void name(double us) {                                                   \
    uint64_t x = crew_sink | 1;                                                                          \
    for (long left = (long)(us * PER_US); left > 0; left--) x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u + 1; \
    crew_sink = x;                                                                                       \
  }
#endif
