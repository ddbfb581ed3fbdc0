/* Generates three procedures while it runs, and writes their names as run-time systems do, into /tmp/perf-PID.map, when
 * it ends. `inner`, called by `outer`, has a frame of a fixed size, the others have frame pointers. A thread runs it
 * for 600 ms of its processor time, and then `second` for 300 ms. Prints the processor time of each, in ms. */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define OUTER  256
#define SECOND 512

typedef void procedure(uint64_t from);

/* The loop is long, so that it is in several places (sampler/profile/generated.h). */
#define NOPS  100
#define INNER (sizeof head + NOPS + sizeof tail)
static const unsigned char head[] = {0x55, 0x48, 0x83, 0xec, 0x20,        /* push %rbp; sub $32,%rsp */
                                     0x48, 0xff, 0xcf};                   /* dec %rdi */
static const unsigned char tail[] = {0x0f, 0x85, 0x93, 0xff, 0xff, 0xff,  /* jne to dec */
                                     0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3}; /* add $32,%rsp; pop %rbp; ret */
static const unsigned char outer[] = {0x55, 0x48, 0x89, 0xe5,             /* push %rbp; mov %rsp,%rbp */
                                      0xe8, 0xf7, 0xfe, 0xff, 0xff,       /* call inner */
                                      0x5d, 0xc3};                        /* pop %rbp; ret */
static const unsigned char second[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3};

static procedure *calls_inner, *alone;
static double ms[2];

static uint64_t own_ns(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}
static void *runs(void *unused) {
  uint64_t begun = own_ns(), middle, end;
  while (own_ns() - begun < 600000000) calls_inner(100000);
  middle = own_ns();
  while (own_ns() - middle < 300000000) alone(1000000);
  end = own_ns();
  ms[0] = (double)(middle - begun) / 1e6;
  ms[1] = (double)(end - middle) / 1e6;
  return unused;
}

static int write_map(const unsigned char *code) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
  uintptr_t at = (uintptr_t)code;
  FILE *map = fopen(path, "w");
  if (!map) return -1;
  fprintf(map, "not a line\n%" PRIxPTR " 1000 before\n", at);
  fprintf(map, "%" PRIxPTR " %zx void Test.inner(long, java.lang.String)\n", at, INNER);
  fprintf(map, "%" PRIxPTR " %zx JS:*outer file:///srv/some app/main.js:12:5\n", at + OUTER, sizeof outer);
  fprintf(map, "%" PRIxPTR " %zx py::second:/srv/second.py\n", at + SECOND, sizeof second);
  fprintf(map, "%" PRIxPTR " 1000 unfinished", at);
  return fclose(map);
}

int main(void) {
  unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memcpy(memory, head, sizeof head);
  memset(memory + sizeof head, 0x90, NOPS);
  memcpy(memory + sizeof head + NOPS, tail, sizeof tail);
  memcpy(memory + OUTER, outer, sizeof outer);
  memcpy(memory + SECOND, second, sizeof second);
  if (mprotect(memory, 4096, PROT_READ | PROT_EXEC)) return 1;
  unsigned char *at = memory + OUTER;
  memcpy(&calls_inner, &at, sizeof at);
  at = memory + SECOND;
  memcpy(&alone, &at, sizeof at);
  pthread_t thread;
  pthread_create(&thread, NULL, runs, NULL);
  pthread_join(thread, NULL);
  printf("inner %.1f second %.1f\n", ms[0], ms[1]);
  return write_map(memory) ? 1 : 0;
}
