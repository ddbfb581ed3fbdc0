/* No processor stays idle while runnable threads wait for another one: P threads that only yield spread over P
 * processors, each seen on a kernel thread of its own. Otherwise the test would not end. */
#include <quartz/quartz.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "test/support/check.h"

enum { MOST = 16 };
static long where[MOST]; /* kernel thread on which each was last seen */
static int count, done;

static int met(void) {
  for (int k = 0; k < count; k++)
    for (int other = 0; other <= k; other++) {
      long mine = __atomic_load_n(&where[k], __ATOMIC_RELAXED);
      if (!mine || (other < k && mine == __atomic_load_n(&where[other], __ATOMIC_RELAXED))) return 0;
    }
  return 1;
}

static void *yields(void *slot) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    __atomic_store_n((long *)slot, syscall(SYS_gettid), __ATOMIC_RELAXED);
    if (met()) __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    for (int k = 0; k < 100; k++) qz_yield();
  }
  return NULL;
}

int main(void) {
  const char *processors = getenv("QUARTZ_PROCESSORS");
  count = processors ? atoi(processors) : 2;
  CHECK(count <= MOST);
  qz_thread_t thread[MOST];
  for (int round = 0; round < 20; round++) {
    done = 0;
    for (int k = 0; k < count; k++) where[k] = 0;
    for (int k = 0; k < count; k++) CHECK(qz_create(&thread[k], "taker of turns", yields, &where[k]) == 0);
    for (int k = 0; k < count; k++) CHECK(qz_join(thread[k], NULL) == 0);
  }
  return 0;
}
