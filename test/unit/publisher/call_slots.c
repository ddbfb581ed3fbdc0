/* The slots in which calls of objects are found: a place that uses thousands of objects makes counting for other places
 * neither slower nor wrong. And the table for threads without a table of their own: every call is counted, whichever
 * thread has the CPU. */
#include <pthread.h>
#include "test/support/check.h"
#include "publisher/private.h"
#include "publisher/publisher.h"

struct qzi_pub_thread *qzi_sched_in_region(void) {
  return NULL;
}
struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  *publisher = NULL;
  return NULL;
}
bool qzi_sched_busy(unsigned index) { return false; }
void qzi_sched_close(void) {}
void qzi_sched_publish_unplaced(void) {}

enum { GROUP = 8192, PLACES = 64, OBJECTS = 64 };
static struct qzi_publisher processor;

static uint64_t key(uint32_t index) { return QZI_PUB_KEY(QZ_KIND_MUTEX, index); }
static uint64_t site(int place) { return UINT64_C(0x555555557a31) + 0x5b * (uint64_t)place; }

/* Counts of that many groups at places of their own, then of a few objects at each of many places; returns how many of
 * those are found at once. */
static int near_beside(int groups) {
  processor.calls = calloc(QZI_CALL_SLOTS, sizeof *processor.calls);
  for (int c = 0; c < groups; c++)
    for (uint32_t k = 1; k <= GROUP; k++) qzi_pub_count_now(&processor, site(PLACES + c), key(k));
  int near = 0;
  for (int round = 1; round <= 3; round++)
    for (int p = 0; p < PLACES; p++)
      for (uint32_t k = 0; k < OBJECTS; k++) {
        uint64_t of = key(100003 + 5 * k);
        qzi_pub_count_now(&processor, site(p), of);
        struct qz_call *call = qzi_pub_near_slot(processor.calls, site(p), of);
        if (call) CHECK_IS(call->count, round);
        if (round == 3) near += call != NULL;
      }
  uint64_t pairs = 0, counted = 0;
  for (uint32_t slot = 0; slot < QZI_CALL_SLOTS; slot++) {
    pairs += processor.calls[slot].site != 0;
    counted += processor.calls[slot].count;
  }
  CHECK_IS(pairs, groups * GROUP + PLACES * OBJECTS);
  CHECK_IS(counted, groups * GROUP + 3 * PLACES * OBJECTS);
  free(processor.calls);
  return near;
}

enum { COUNTERS = 8, SHARED_PAIRS = 100, SHARED_ROUNDS = 10000 };

static void *count_shared(void *unused) {
  for (int round = 0; round < SHARED_ROUNDS; round++)
    for (uint32_t k = 1; k <= SHARED_PAIRS; k++) qzi_call_count_shared(site(0), key(k));
  return unused;
}

static void shared_table(void) {
  struct qz_processor counts = {0};
  pthread_t threads[COUNTERS];
  qzi_session.processors = 1;
  qzi_session.processor_base = &counts;
  qzi_session.call_base = calloc(QZI_CALL_SLOTS, sizeof *qzi_session.call_base);
  for (int k = 0; k < COUNTERS; k++) CHECK(!pthread_create(&threads[k], NULL, count_shared, NULL));
  for (int k = 0; k < COUNTERS; k++) pthread_join(threads[k], NULL);
  uint64_t of[SHARED_PAIRS + 1] = {0};
  for (uint32_t slot = 0; slot < QZI_CALL_SLOTS; slot++) {
    const struct qz_call *call = &qzi_session.call_base[slot];
    if (call->site == site(0) && QZ_KEY_INDEX(call->key) <= SHARED_PAIRS) of[QZ_KEY_INDEX(call->key)] += call->count;
  }
  for (uint32_t k = 1; k <= SHARED_PAIRS; k++) CHECK_IS(of[k], COUNTERS * SHARED_ROUNDS);
  CHECK_IS(counts.calls_lost, 0);
  free(qzi_session.call_base);
}

int main(void) {
  shared_table();
  CHECK(near_beside(1) > PLACES * OBJECTS * 95 / 100);
  CHECK(near_beside(4) > PLACES * OBJECTS * 60 / 100);
  return 0;
}
