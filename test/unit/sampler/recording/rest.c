/* How often a program is looked at that waits for another one. */
#include "sampler/recording/rest.h"

#include <assert.h>
#include <stdio.h>

#define USUAL UINT64_C(1000000)

int main(void) {
  struct qzi_pacing pacing;
  struct qzi_rest rest = {0};
  qzi_pacing_start(&pacing, 1000000, 0, 0, 1);
  assert(pacing.interval_ns == USUAL);
  for (int k = 0; k < 1000; k++) assert(!qzi_rest_look(&rest, &pacing, 0, 0)); /* alone it does not rest */
  for (int k = 0; k < 31; k++) assert(!qzi_rest_look(&rest, &pacing, 0, 1));
  assert(!qzi_rest_look(&rest, &pacing, 1, 1)); /* it ran */
  for (int k = 0; k < 31; k++) assert(!qzi_rest_look(&rest, &pacing, 0, 1));
  assert(qzi_rest_look(&rest, &pacing, 0, 1));
  assert(pacing.interval_ns == 20 * USUAL);
  for (int k = 0; k < 100; k++) assert(qzi_rest_look(&rest, &pacing, 0, 1));
  assert(!qzi_rest_look(&rest, &pacing, 1, 1)); /* it runs again */
  assert(pacing.interval_ns == USUAL);
  for (int k = 0; k < 32; k++) qzi_rest_look(&rest, &pacing, 0, 1);
  assert(rest.awake_ns == USUAL);
  assert(!qzi_rest_look(&rest, &pacing, 0, 0)); /* the other one has ended */
  assert(pacing.interval_ns == USUAL);
  qzi_pacing_change(&pacing, 50 * USUAL); /* snapshots are rarer already */
  for (int k = 0; k < 100; k++) assert(!qzi_rest_look(&rest, &pacing, 0, 1));
  assert(pacing.interval_ns == 50 * USUAL);
  puts("rest: ok");
  return 0;
}
