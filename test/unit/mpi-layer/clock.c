/* The clock of the MPI layer's log, beside the kernel's: in several threads, over many readings of both clocks. */
#include "clock.h"

#include <pthread.h>
#include <time.h>
#include "test/support/check.h"

enum { THREADS = 3, ANCHORS = 20 };
#define APART_NS 2000u /* twice what clock.h allows */
#define LONG_NS  UINT64_C(30000000000)

static uint64_t kernel_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* An interrupted reading lies between two readings of the kernel's clock all the same. */
static void *reads(void *none) {
  uint64_t begin = kernel_ns(), counted = 0;
  for (int anchors = 0; anchors < ANCHORS;) {
    uint64_t anchor = qzm_here.ticks, most = qzm_here.most, before = kernel_ns(), now = qzm_now(), after = kernel_ns();
    CHECK(now + APART_NS >= before && now <= after + APART_NS);
    anchors += most && qzm_here.ticks != anchor;
    counted += most && qzm_here.ticks == anchor;
    if (!qzm_here.ticks && after - begin > LONG_NS / 1000) return none; /* this machine keeps time by another clock */
    CHECK(after - begin < LONG_NS);
  }
  CHECK(counted > 0); /* most readings are of the counter */
  return none;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int k = 0; k < THREADS; k++) CHECK(!pthread_create(&threads[k], NULL, reads, NULL));
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  CHECK(qzm_between(5, 7) == 2 && qzm_between(7, 5) == 0);
  return 0;
}
