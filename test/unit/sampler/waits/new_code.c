/* The time for analysing new code: allowed by the time that passes, kept up to a limit, and bounded for one place. */
#include "sampler/waits/new_code.h"

#include "test/support/check.h"

#define MS UINT64_C(1000000)

int main(void) {
  CHECK(qzi_new_code_may(NULL));
  struct qzi_new_code code = {0};
  CHECK(!qzi_new_code_may(&code));

  qzi_new_code_begin(&code, 1000 * MS, 0);
  CHECK(code.allowed_ns == 20 * MS && qzi_new_code_may(&code));
  code.spent_ns = 20 * MS;
  CHECK(!qzi_new_code_may(&code));
  qzi_new_code_begin(&code, 1001 * MS, 0); /* a hundredth of a CPU, */
  CHECK(code.allowed_ns == 20 * MS + MS / 100 && qzi_new_code_may(&code));
  qzi_new_code_begin(&code, 1002 * MS, 1); /* a twentieth where one is idle */
  CHECK(code.allowed_ns == 20 * MS + MS / 100 + MS / 20);
  qzi_new_code_begin(&code, 1000000 * MS, 0); /* after a long rest */
  CHECK(code.allowed_ns == 120 * MS);

  uint64_t before_ns = code.spent_ns;
  qzi_new_code_spend(&code, qzi_clock_ns() - 500 * MS); /* it waited for a CPU */
  CHECK(code.spent_ns - before_ns == MS / 10);
  before_ns = code.spent_ns;
  qzi_new_code_spend(&code, qzi_clock_ns());
  CHECK(code.spent_ns - before_ns <= MS / 10);
  qzi_new_code_spend(NULL, qzi_clock_ns());
  return 0;
}
