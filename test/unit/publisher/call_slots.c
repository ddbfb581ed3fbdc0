/* Where the calls of objects are found: a place that uses thousands of them makes others neither slower to count nor
 * wrong. */
#include "test/support/check.h"
#include "publisher/private.h"

struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  *publisher = NULL;
  return NULL;
}
bool qzi_sched_busy(unsigned index) { return false; }
void qzi_sched_publish_unplaced(void) {}

enum { GROUP = 8192, PLACES = 64, OBJECTS = 64 };
static struct qzi_publisher processor;

static uint64_t key(uint32_t index) { return QZI_PUB_KEY(QZ_KIND_MUTEX, index); }
static uint64_t site(int place) { return UINT64_C(0x555555557a31) + 0x5b * (uint64_t)place; }

/* Counts of so many groups at places of their own, then of a few objects at each of many places: how many of those are
 * found at once. */
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

int main(void) {
  CHECK(near_beside(1) > PLACES * OBJECTS * 95 / 100);
  CHECK(near_beside(4) > PLACES * OBJECTS * 60 / 100);
  return 0;
}
