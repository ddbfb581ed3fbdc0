/* Programs that rest. See rest.h. */
#include "rest.h"

#define REST_AFTER 32u                /* snapshots in which no thread could run */
#define REST_NS    UINT64_C(20000000) /* interval of snapshots then */

int qzi_rest_look(struct qzi_rest *rest, struct qzi_pacing *pacing, uint32_t runnable, int beside) {
  rest->asleep = beside && !runnable ? rest->asleep + 1 : 0;
  if (!rest->asleep && rest->awake_ns) {
    qzi_pacing_change(pacing, rest->awake_ns);
    rest->awake_ns = 0;
  }
  if (rest->asleep == REST_AFTER && pacing->interval_ns < REST_NS) {
    rest->awake_ns = pacing->interval_ns;
    qzi_pacing_change(pacing, REST_NS);
  }
  return rest->awake_ns != 0;
}
