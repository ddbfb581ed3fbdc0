/* What a thread executed whose record may belong to another one by now. */
#ifndef QZI_EXECUTED_H
#define QZI_EXECUTED_H

#include <stdint.h>

struct qzi_executed {
  uint32_t node;  /* path; 0: unknown */
  uint32_t base;  /* node of its record only; 0: unknown */
  uint64_t start; /* its start routine */
};

#endif
