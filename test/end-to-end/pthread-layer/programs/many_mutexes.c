/* 100,000 mutexes created at one place; all are taken twice, the first 250 also once at each of 16 places, and one of
 * them (the last but nine) is contended. Prints the amount of memory used, to be compared with and without Quartz. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 100000
static pthread_mutex_t *all;

static long resident_kib(void) {
  long unused, pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &unused, &pages) != 2) exit(1);
  fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void make_all(void) {
  for (int k = 0; k < COUNT; k++) pthread_mutex_init(&all[k], NULL);
}
static void take_all(void) {
  for (int k = 0; k < COUNT; k++) {
    pthread_mutex_lock(&all[k]);
    pthread_mutex_unlock(&all[k]);
  }
}
#define TAKE  pthread_mutex_lock(&all[k]), pthread_mutex_unlock(&all[k]);
#define TAKE4 TAKE TAKE TAKE TAKE
static void take_at_places(void) {
  for (int k = 0; k < 250; k++) { TAKE4 TAKE4 TAKE4 TAKE4 }
}
static void *fight(void *unused) {
  pthread_mutex_lock(&all[COUNT - 10]);
  pthread_mutex_unlock(&all[COUNT - 10]);
  return NULL;
}

int main(void) {
  pthread_t thread;
  all = malloc(COUNT * sizeof *all);
  memset(all, 1, COUNT * sizeof *all);
  long before = resident_kib();
  make_all();
  take_all();
  take_at_places();
  pthread_mutex_lock(&all[COUNT - 10]);
  pthread_create(&thread, NULL, fight, NULL);
  usleep(300000);
  pthread_mutex_unlock(&all[COUNT - 10]);
  pthread_join(thread, NULL);
  take_all();
  printf("%ld\n", resident_kib() - before);
  for (int k = 0; k < COUNT; k++) pthread_mutex_destroy(&all[k]);
  return 0;
}
