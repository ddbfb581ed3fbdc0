/* Waits by sched_yield, on one CPU, where the thread that is waited for works meanwhile: see ../yields.test.ts. Either
 * a wait yields four times before it sleeps on a futex, as those of libstdc++ do, or a lock is tried and yielded for.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#define UNITS_ALONE
#include "units.h"

enum { ROUNDS = 150 };
static uint32_t begun, done; /* words: rounds */
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;

static uint32_t of(uint32_t *word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); }
/* The thread that comes last does so within the first yields, if those take as long as the other one works. */
static inline __attribute__((always_inline)) void await(uint32_t *word, uint32_t round) {
  while (of(word) < round) {
    uint32_t seen = of(word);
    for (int k = 0; k < 4 && of(word) < round; k++) sched_yield();
    if (of(word) < round) syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
  }
}
static void go_on(uint32_t *word, uint32_t round) {
  __atomic_store_n(word, round, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

PROCEDURE static void begins(void) { units(300); }
PROCEDURE static void longer(void) { units(20); }
PROCEDURE static void shorter(void) { units(5); }
PROCEDURE static void await_done(uint32_t round) {
  await(&done, round);
  __asm__ volatile("");
}
PROCEDURE static void await_begun(uint32_t round) {
  await(&begun, round);
  __asm__ volatile("");
}
static void *works(void *unused) {
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    await_begun(round);
    if (round == 1) begins(); /* so that the other one sleeps at least once */
    longer();
    go_on(&done, round);
  }
  return unused;
}
static void waits(void) {
  for (uint32_t round = 1; round <= ROUNDS; round++) {
    shorter();
    go_on(&begun, round);
    await_done(round);
  }
}

PROCEDURE static void inside(void) { units(40); }
PROCEDURE static void outside(void) { units(10); }
static void *tries(void *unused) {
  for (int round = 0; round < ROUNDS; round++) {
    while (pthread_mutex_trylock(&table)) sched_yield();
    inside();
    pthread_mutex_unlock(&table);
    outside();
  }
  return unused;
}

int main(int argc, char **argv) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  pthread_t other;
  int polls = argc > 1 && !strcmp(argv[1], "polls");
  pthread_create(&other, NULL, polls ? tries : works, NULL);
  if (polls)
    tries(NULL);
  else
    waits();
  pthread_join(other, NULL);
}
