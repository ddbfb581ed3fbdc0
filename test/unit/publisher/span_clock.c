/* The clock of strands, where this test is the kernel and the host of a virtual machine: what time passed, how long the
 * thread ran, waited and slept. (Whenever the real kernel takes the CPU away, the clock asks once more, and gets the
 * same answers.) */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include "test/support/check.h"

static int its_clock_gettime(clockid_t which, struct timespec *to);
static int its_getrusage(int whose, struct rusage *to);
static ssize_t its_pread(int fd, void *to, size_t bytes, off_t at);
#define clock_gettime its_clock_gettime
#define getrusage     its_getrusage
#define pread         its_pread
#include "publisher/span_clock.c"
#undef clock_gettime
#undef getrusage
#undef pread

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

_Atomic(bool) qzi_no_system_calls;
uint64_t qzi_pub_tick_scale; /* 0: ticks are ns */

static uint64_t now = 1000 * MS, ran = 10 * MS, waited = 20 * MS;
static long slept = 3;
static unsigned asked;

uint64_t qzi_pub_clock_ns(void) { return now; }
static int its_clock_gettime(clockid_t which, struct timespec *to) {
  CHECK(which == CLOCK_THREAD_CPUTIME_ID);
  asked++;
  *to = (struct timespec){(time_t)(ran / (1000 * MS)), (long)(ran % (1000 * MS))};
  return 0;
}
static int its_getrusage(int whose, struct rusage *to) {
  CHECK(whose == RUSAGE_THREAD);
  *to = (struct rusage){.ru_nvcsw = slept};
  return 0;
}
static ssize_t its_pread(int fd, void *to, size_t bytes, off_t at) {
  CHECK(fd >= 0 && at == 0);
  return snprintf(to, bytes, "%llu %llu 1\n", (unsigned long long)ran, (unsigned long long)waited);
}

#if HAS_RSEQ
/* The thread runs so long, or the host takes the CPU away. */
static void runs(uint64_t ns) {
  now += ns;
  ran += ns;
}
static void is_stolen(uint64_t ns) { now += ns; }
/* Other threads run, or it sleeps and waits for its CPU then. */
static void waits(uint64_t ns) {
  now += ns;
  waited += ns;
  __atomic_store_n(qzi_kept_word(), 0, __ATOMIC_RELAXED);
}
static void sleeps(uint64_t ns) {
  now += ns;
  slept++;
  waits(0);
}
static uint64_t since(void) {
  static uint64_t last;
  uint64_t time = clock_now(), passed = time - last;
  last = time;
  return passed;
}

int main(void) {
  if (!qzi_kept_works()) {
    puts("skipped: the kernel does not say when it takes the CPU away, or the C library has registered no restartable "
         "sequences");
    return 77;
  }
  qzi_span_cpu_waits = true;
  since();

  runs(5 * MS);
  CHECK_IS(since(), 5 * MS);
  runs(2 * MS), waits(7 * MS), runs(3 * US);
  CHECK_IS(since(), 2 * MS + 3 * US);

  /* The host takes the CPU away: the thread notices nothing, */
  runs(1 * MS), is_stolen(40 * MS), runs(1 * MS);
  CHECK_IS(since(), 2 * MS);
  /* or it loses its CPU as well. */
  runs(1 * MS), is_stolen(40 * MS), waits(8 * MS), is_stolen(3 * MS), runs(1 * MS);
  CHECK_IS(since(), 2 * MS);

  /* Sleep is time, the wait for a CPU after it is not. */
  runs(1 * MS), sleeps(30 * MS), waits(4 * MS), runs(1 * MS);
  CHECK_IS(since(), 32 * MS);
  sleeps(50 * MS);
  CHECK_IS(since(), 50 * MS);
  runs(1 * MS), is_stolen(9 * MS);
  CHECK_IS(since(), 1 * MS);

  /* The kernel is not asked at each reading; what is stolen until then is missing from the first long strand. */
  runs(3 * MS);
  since();
  unsigned before = asked;
  uint64_t passed = 0;
  for (int k = 0; k < 90; k++) {
    runs(9 * US), is_stolen(1 * US);
    passed += since();
  }
  CHECK(asked <= before + 5); /* by the real kernel's interruptions */
  runs(500 * US);
  passed += since();
  CHECK_IS(passed, 90 * 9 * US + 500 * US);

  /* In a child of a fork the thread's processor time begins again. */
  now += 3 * MS, ran = 1 * MS, waited = 0;
  CHECK_IS(since(), 3 * MS);
  runs(2 * MS), is_stolen(2 * MS);
  CHECK_IS(since(), 2 * MS);
  return 0;
}
#else
int main(void) {
  puts("skipped: the kernel's waits are not asked for here");
  return 77;
}
#endif
