/* Code that is examined for loops: bytes of the program around instructions at which a thread was seen. */
#ifndef QZI_SEEN_CODE_H
#define QZI_SEEN_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Code of the program around instructions at which it was seen. */
struct qzi_code {
  uint64_t address; /* address of bytes[0] */
  const unsigned char *bytes;
  size_t count;
};

#endif
