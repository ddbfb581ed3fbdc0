/* The calling thread. See thread.h. */
#include "thread.h"
#include "publisher/private.h"

_Thread_local struct qzl_thread *qzl_self __attribute__((tls_model("initial-exec")));
QZI_READ_OFTEN uint32_t qzl_regime = 1;

void qzl_count_shared(uint64_t site, uint64_t key) { qzi_call_count_shared(site, key); }
