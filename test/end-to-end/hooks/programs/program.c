/* A pthread program with hooks, as a user compiles it. Two threads call turn() TURNS times, and each turn calls leaf()
 * ten times. In the meantime the main thread loads a library, calls it 100 times and unloads it, LOADS times.
 *
 *   program TURNS [PLUGIN LOADS]     TURNS 0: until it is killed
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include "turns.h"

static long turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *unused) {
  for (long k = 0; !turns || k < turns; k++) {
    turn((int)k);
    if (k % 1000) continue;
    pthread_mutex_lock(&lock); /* the layer learns of a thread that ran before the attach by its calls */
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
__attribute__((noinline)) static void use(const char *path) {
  void *library = dlopen(path, RTLD_NOW);
  int (*work)(int) = library ? (int (*)(int))dlsym(library, "plugin_work") : NULL;
  if (!work) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
  for (int k = 0; k < 100; k++) sink += work(k);
  dlclose(library);
}

int main(int count, char **arguments) {
  pthread_t threads[2];
  turns = atol(arguments[1]);
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, worker, NULL);
  puts("ready");
  fflush(stdout);
  if (count > 3)
    for (int k = 0; k < atoi(arguments[3]); k++) use(arguments[2]);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  return 0;
}
