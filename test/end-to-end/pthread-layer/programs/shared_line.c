/* Two threads count at the same time, each for a second of processor time: in words of one cache line, in lines of
 * their own, in one word by atomic operations, or in words of one line that a lock protects. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LINE  64
#define ROUND 1000000

static _Alignas(LINE) volatile long together[LINE / sizeof(long)];
static _Alignas(LINE) volatile long apart[2 * LINE / sizeof(long)];
static _Alignas(LINE) long common;
static _Alignas(LINE) struct { volatile long first, second; } guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int goes_on(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return used.tv_sec < 1;
}
static void count_in(volatile long *at) {
  while (goes_on())
    for (long k = 0; k < ROUND; k++) (*at)++;
}
static void *count_together(void *number) {
  count_in(&together[(long)number]);
  return NULL;
}
static void *count_apart(void *number) {
  count_in(&apart[(long)number * (LINE / (long)sizeof(long))]);
  return NULL;
}
static void *count_common(void *number) {
  (void)number;
  while (goes_on())
    for (long k = 0; k < ROUND; k++) __atomic_fetch_add(&common, 1, __ATOMIC_SEQ_CST);
  return NULL;
}
static void *count_guarded(void *number) {
  (void)number;
  while (goes_on())
    for (long k = 0; k < ROUND / 10; k++) {
      pthread_mutex_lock(&lock);
      guarded.first++;
      guarded.second += k;
      pthread_mutex_unlock(&lock);
    }
  return NULL;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void *(*start)(void *);
  } ways[] = {
    {"together", count_together}, {"apart", count_apart}, {"common", count_common}, {"guarded", count_guarded}};
  for (unsigned way = 0; argc == 2 && way < sizeof ways / sizeof *ways; way++) {
    pthread_t threads[2];
    if (strcmp(argv[1], ways[way].name) != 0) continue;
    for (long k = 0; k < 2; k++) pthread_create(&threads[k], NULL, ways[way].start, (void *)k);
    for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  }
  printf("%ld\n", together[0] + apart[0] + common + guarded.first);
  return 0;
}
