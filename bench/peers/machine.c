/* What figures depend on besides the CPU's name: latencies of this machine, each the least of several batches, but for
 * wakes, whose median counts. Prints lines of "name value", ns:
 *
 *   clock, ticks        clock_gettime; the CPU's own counter
 *   near, middle, far   a load that depends on the one before: 16 KiB, 256 KiB, 64 MiB
 *   forward, parts      a load of what was just stored; of eight bytes that two stores wrote
 *   fence, locked       a full fence; an uncontended compare-and-swap
 *   transfer            a cache line from one CPU to the other and back, per way; only where there are two CPUs
 *   wake                from futex wake to the sleeper's first instruction, likewise
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = 15, LINE = 64 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
static void print(const char *name, double ns) { printf("%s %.2f\n", name, ns); }
static void least(const char *name, void (*run)(long n), long n) {
  double best = 1e18;
  for (int k = 0; k < BATCHES; k++) {
    double begin = now_ns();
    run(n);
    double each = (now_ns() - begin) / (double)n;
    if (each < best) best = each;
  }
  print(name, best);
}

static void clocks(long n) {
  struct timespec t;
  for (long k = 0; k < n; k++) clock_gettime(CLOCK_MONOTONIC, &t);
}
static inline uint64_t counter(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}
static volatile uint64_t sink;
static void ticks(long n) {
  for (long k = 0; k < n; k++) sink = counter();
}

/* ---- loads: a ring of lines in random order ---- */

static void **ring;
static void follow(long n) {
  void **at = ring;
  for (long k = 0; k < n; k++) at = *at;
  sink = (uintptr_t)at;
}
static void loads(const char *name, size_t bytes, long n) {
  size_t lines = bytes / LINE;
  char *memory = aligned_alloc(LINE, bytes);
  uint32_t *order = malloc(lines * sizeof *order);
  if (!memory || !order) exit(1);
  uint64_t seed = 1;
  for (size_t k = 0; k < lines; k++) order[k] = (uint32_t)k;
  for (size_t k = lines - 1; k > 0; k--) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    size_t other = (seed >> 33) % (k + 1);
    uint32_t line = order[k];
    order[k] = order[other], order[other] = line;
  }
  for (size_t k = 0; k < lines; k++)
    *(void **)(memory + (size_t)order[k] * LINE) = memory + (size_t)order[(k + 1) % lines] * LINE;
  ring = (void **)memory;
  follow((long)lines);
  least(name, follow, n);
  free(order);
  free(memory);
}

/* ---- stores ---- */

static union {
  uint64_t whole;
  uint32_t half[2];
} word __attribute__((aligned(LINE)));
static void forward(long n) {
  volatile uint64_t *at = &word.whole;
  for (long k = 0; k < n; k++) *at = *at + 1;
}
static void parts(long n) {
  volatile uint32_t *half = word.half;
  volatile uint64_t *whole = &word.whole;
  for (long k = 0; k < n; k++) {
    uint64_t value = *whole;
    half[0] = (uint32_t)value + 1;
    half[1] = (uint32_t)(value >> 32);
  }
}
static void fence(long n) {
  for (long k = 0; k < n; k++) __sync_synchronize();
}
static void locked(long n) {
  for (long k = 0; k < n; k++) __sync_val_compare_and_swap(&word.whole, 0, 0);
}

/* ---- two CPUs ---- */

static int cpus[2];
static void pin(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}
static volatile long turn __attribute__((aligned(LINE)));
enum { TURNS = 20000 };
static void *answers(void *argument) {
  pin(cpus[1]);
  for (long k = 0; k < TURNS; k++) {
    while (turn != 2 * k + 1) {}
    turn = 2 * k + 2;
  }
  return argument;
}
static void transfer(void) {
  double best = 1e18;
  for (int batch = 0; batch < 5; batch++) {
    pthread_t other;
    turn = 0;
    pthread_create(&other, NULL, answers, NULL);
    turn = 1;
    while (turn != 2) {}
    double begin = now_ns();
    for (long k = 1; k < TURNS; k++) {
      turn = 2 * k + 1;
      while (turn != 2 * k + 2) {}
    }
    double each = (now_ns() - begin) / (2.0 * (TURNS - 1));
    if (each < best) best = each;
    pthread_join(other, NULL);
  }
  print("transfer", best);
}

enum { WAKES = 301 };
static uint32_t asleep __attribute__((aligned(LINE)));
static double woken_at;
static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
static void *sleeps(void *argument) {
  pin(cpus[1]);
  for (uint32_t k = 0; k < WAKES; k++) {
    while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) == 2 * k)
      syscall(SYS_futex, &asleep, FUTEX_WAIT_PRIVATE, 2 * k, NULL, NULL, 0);
    woken_at = now_ns();
    __atomic_store_n(&asleep, 2 * k + 2, __ATOMIC_RELEASE);
  }
  return argument;
}
static void wakes(void) {
  static double late[WAKES];
  pthread_t other;
  pthread_create(&other, NULL, sleeps, NULL);
  for (uint32_t k = 0; k < WAKES; k++) {
    usleep(500); /* it sleeps */
    double begin = now_ns();
    __atomic_store_n(&asleep, 2 * k + 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    while (__atomic_load_n(&asleep, __ATOMIC_ACQUIRE) != 2 * k + 2) sched_yield();
    late[k] = woken_at - begin;
  }
  pthread_join(other, NULL);
  qsort(late, WAKES, sizeof *late, ascending);
  print("wake", late[WAKES / 2]);
}

int main(void) {
  cpu_set_t all;
  int count = 0;
  sched_getaffinity(0, sizeof all, &all);
  for (int cpu = 0; cpu < CPU_SETSIZE && count < 2; cpu++)
    if (CPU_ISSET(cpu, &all)) cpus[count++] = cpu;
  pin(cpus[0]);
  least("clock", clocks, 100000);
  least("ticks", ticks, 100000);
  loads("near", 16 << 10, 100000);
  loads("middle", 256 << 10, 100000);
  loads("far", 64 << 20, 100000);
  least("forward", forward, 100000);
  least("parts", parts, 100000);
  least("fence", fence, 100000);
  least("locked", locked, 100000);
  if (count == 2) {
    transfer();
    wakes();
  }
  return 0;
}
