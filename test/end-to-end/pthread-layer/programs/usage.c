/* Works in user mode, returns memory to the kernel, and passes a byte back and forth between two threads; then prints
 * the kernel's counts (getrusage): user and system time in ns, switches, page faults. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define BYTES ((size_t)8 << 20)
#define TURNS 4000

static int there[2], back[2];

static double used(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void compute(double seconds) {
  volatile double sum = 0;
  for (double end = used() + seconds; used() < end;)
    for (int k = 0; k < 20000; k++) sum += k;
}

static void map_memory(double seconds) {
  for (double end = used() + seconds; used() < end;) {
    void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) exit(1);
    madvise(at, BYTES, MADV_NOHUGEPAGE);
    memset(at, 1, BYTES);
    munmap(at, BYTES);
  }
}

static void *answer(void *unused) {
  char byte;
  for (int k = 0; k < TURNS; k++)
    if (read(there[0], &byte, 1) != 1 || write(back[1], &byte, 1) != 1) exit(1);
  return unused;
}

static void ask(void) {
  char byte = 0;
  for (int k = 0; k < TURNS; k++)
    if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1) exit(1);
}

int main(void) {
  struct rusage all;
  pthread_t other; /* from the beginning, so that snapshots see both */
  if (pipe(there) || pipe(back) || pthread_create(&other, NULL, answer, NULL)) return 1;
  compute(0.4);
  map_memory(0.4);
  ask();
  pthread_join(other, NULL);
  getrusage(RUSAGE_SELF, &all);
  printf("%.0f %.0f %ld %ld %ld\n", (double)all.ru_utime.tv_sec * 1e9 + (double)all.ru_utime.tv_usec * 1e3,
         (double)all.ru_stime.tv_sec * 1e9 + (double)all.ru_stime.tv_usec * 1e3, all.ru_nvcsw, all.ru_nivcsw,
         all.ru_minflt + all.ru_majflt);
  return 0;
}
