/* Loads a library, works in it, unloads it, and does the same with another one, which the system usually loads at the
 * same address; prints `same` in that case. Each is a shared object whose procedure `run` calls one of its own. A
 * quarter of the work is the first one's, which is there for long enough that the sampler notices it: the memory map is
 * read some 10 ms after an unknown address was seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static volatile double sum;

__attribute__((noipa)) static void *work_in(const char *path, int units) {
  void *library = dlopen(path, RTLD_NOW);
  void *run = library ? dlsym(library, "run") : NULL;
  if (!run) return NULL;
  for (int k = 0; k < units; k++) sum = ((double (*)(double))run)(sum);
  Dl_info at = {0};
  dladdr(run, &at);
  dlclose(library);
  return at.dli_fbase;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  void *first = work_in(argv[1], 150), *second = work_in(argv[2], 450);
  if (!first || !second) return 1;
  puts(first == second ? "same" : "elsewhere");
  return 0;
}
