/* Instructions that the layer adds while it publishes. To free locks: hardly more for read-write locks and semaphores
 * than for a mutex, which was optimized first. To waits: half of what it was when each condition was tested where it is
 * needed (docs/evidence/pthread-layer.md). To system calls by number: none, except for the kernel's futex. With the
 * layer preloaded, and attached to by itself. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include "abi/cycles.h"
#include "bench/attach.h"
#include "test/support/instructions.h"

#define TIMES  24 /* each operation is counted that often; the minimum is used */
#define WARM   50 /* repetitions before that, until each place knows its lock */
#define LARGER 60 /* more than what is added to a mutex, which is let go without a call of the C library */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t units;

static void lock(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
static void lock_to_read(void) {
  pthread_rwlock_rdlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void lock_to_write(void) {
  pthread_rwlock_wrlock(&rwlock);
  pthread_rwlock_unlock(&rwlock);
}
static void wait_post(void) {
  sem_wait(&units);
  sem_post(&units);
}
/* Until a time that is over: all that a wait publishes, without another thread. */
static const struct timespec past = {0, 1};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void wait_in_vain(void) {
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&changed, &mutex, &past);
  pthread_mutex_unlock(&mutex);
}
static void signal_nobody(void) { pthread_cond_signal(&changed); }
/* Where the kernel does not say that it keeps time by the CPU's counter, times are the clock's (publisher/ticks.h). */
static void read_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
}
static int word, other;
static void call(void) { syscall(SYS_getpid); }
static void wake_nobody(void) { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0); }
static void find_another_value(void) { syscall(SYS_futex, &other, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0); }
static const struct {
  const char *name;
  void (*does)(void);
  unsigned most;     /* that may be added; 0: as to the mutex */
  unsigned by_clock; /* the same, beside two readings of the clock, where that gives the time: no wait is short then */
} cases[] = {{"mutex", lock, 0, 0},
             {"read lock", lock_to_read, 0, 0},
             {"write lock", lock_to_write, 0, 0},
             {"semaphore", wait_post, 0, 0},
             {"system call", call, 0, 0},
             {"clock", read_clock, 0, 0},
             {"futex, nobody to wake", wake_nobody, 80, 0},
             {"futex, another value", find_another_value, 340, 520},
             {"condition, time over", wait_in_vain, 380, 920},
             {"condition, nobody waits", signal_nobody, 34, 0}};
enum { CALL = 4, CLOCK };
#define CASES (sizeof cases / sizeof *cases)

static void all(void) {
  for (unsigned k = 0; k < CASES; k++) {
    for (int n = 0; n < WARM; n++) cases[k].does();
    for (int n = 0; n < TIMES; n++) {
      instructions_mark();
      cases[k].does();
      instructions_mark();
    }
  }
}
static void *nothing(void *unused) { return unused; }
static void traced(void) {
  pthread_t thread;
  if (sem_init(&units, 0, 1) || pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL)) exit(99);
  all();
  bench_attach();
  all();
  _exit(0);
}

int main(int number, char **words) {
  uint64_t counts[2 * CASES];
  if (number == 2 && !strcmp(words[1], "--traced")) traced();
  int failed = instructions_count(counts, 2 * CASES, TIMES);
  if (failed) return failed;
  uint64_t *published = counts + CASES;
  bool by_clock = !qz_cycles_keep_time();
  for (unsigned k = 0; k < CASES; k++) {
    printf("%s: %llu instructions, published %llu\n", cases[k].name, (unsigned long long)counts[k],
           (unsigned long long)published[k]);
    uint64_t most = cases[k].most ? cases[k].most : published[0] - counts[0] + LARGER;
    if (by_clock && cases[k].by_clock) most = cases[k].by_clock + 2 * counts[CLOCK];
    failed |= k == CALL || k == CLOCK ? published[k] != counts[k]
                                      : published[k] <= counts[k] || published[k] - counts[k] > most;
  }
  return failed;
}
