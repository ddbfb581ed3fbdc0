/* See new_code.h. */
#include "new_code.h"

#define SHARE     100u                /* analyses may take 1/SHARE of the elapsed time, */
#define SPARE     20u                 /* and 1/SPARE while the program leaves a CPU idle; */
#define HEADSTART UINT64_C(20000000)  /* ns allowed in addition, as all code is new at first */
#define KEPT      UINT64_C(100000000) /* ns that are kept at most */
#define ONE_MOST  UINT64_C(100000)    /* ns: one that seems to have taken longer waited for a CPU */

void qzi_new_code_begin(struct qzi_new_code *code, uint64_t now_ns, int spare) {
  if (!code->begun_ns) code->allowed_ns = HEADSTART;
  if (code->begun_ns && now_ns > code->begun_ns)
    code->allowed_ns += (now_ns - code->begun_ns) / (spare ? SPARE : SHARE);
  if (code->allowed_ns > code->spent_ns + KEPT) code->allowed_ns = code->spent_ns + KEPT;
  code->begun_ns = now_ns;
}

void qzi_new_code_spend(struct qzi_new_code *code, uint64_t begun_ns) {
  uint64_t ns = qzi_clock_ns() - begun_ns;
  if (code) code->spent_ns += ns < ONE_MOST ? ns : ONE_MOST;
}
