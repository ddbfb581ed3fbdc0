/* Code that the program generates while it runs, as a compiler of another language does: in no file, without unwind
 * information. Two threads run it in turn, under a lock that each holds for 400 ms of its processor time. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
static const unsigned char code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec %rdi; jne to its start; ret */
#else
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0}; /* subs x0, x0, #1; b.ne to its start; ret */
#endif

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void (*counts_down)(uint64_t from);

static uint64_t own_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
static void *runs(void *unused) {
  pthread_mutex_lock(&turn);
  while (own_ns() < 400000000) counts_down(1000000);
  pthread_mutex_unlock(&turn);
  return unused;
}

int main(void) {
  void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memcpy(memory, code, sizeof code);
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC)) return 1;
  __builtin___clear_cache((char *)memory, (char *)memory + sizeof code);
  memcpy(&counts_down, &memory, sizeof counts_down);
  pthread_t threads[2];
  for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, runs, NULL);
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
  puts("done");
  return 0;
}
