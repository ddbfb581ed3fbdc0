/* Prologues of procedures in generated code, as run-time systems write them. */
#include "sampler/machine_code/prologue.h"
#include "test/support/check.h"

#include <string.h>

#if defined(__x86_64__)
static uint32_t before(const char *code, size_t count) {
  unsigned char bytes[64];
  memset(bytes, 0x90, sizeof bytes);
  memcpy(bytes + 8, code, count);
  return qzi_prologue_before(bytes, sizeof bytes);
}
#define BEFORE(code) before(code, sizeof(code) - 1)

int main(void) {
  uint32_t above;
  CHECK(BEFORE("\x55\x48\x89\xe5") == QZI_PROLOGUE_POINTER);                 /* V8 */
  CHECK(BEFORE("\x55\x48\x8b\xec\x48\x83\xec\x20") == QZI_PROLOGUE_POINTER); /* HotSpot with frame pointers */
  CHECK(BEFORE("\x55\x48\x83\xec\x20") == 0x20 + 16);
  CHECK(BEFORE("\x55\x48\x81\xec\x50\x01\x00\x00") == 0x150 + 16);
  CHECK(BEFORE("\x48\x81\xec\x18\x00\x00\x00\x48\x89\x6c\x24\x10") == 0x18 + 8);
  CHECK(BEFORE("\x48\x81\xec\x18\x00\x00\x00\x48\x89\x6c\x24\x10\x48\x8b\xec") == QZI_PROLOGUE_POINTER);
  CHECK(BEFORE("\x48\x81\xec\x18\x00\x00\x00\x48\x89\x6c\x24\x08") == QZI_PROLOGUE_NONE); /* saved elsewhere */
  CHECK(BEFORE("\x55\x41\x57") == QZI_PROLOGUE_NONE);
  CHECK(BEFORE("\x55\x48\x81\xec\x00\x00\x00\x7f") == QZI_PROLOGUE_NONE); /* no frame is that large */
  /* the nearest one, and only what is complete before the end */
  CHECK(BEFORE("\x55\x48\x89\xe5\x5d\xc3\x55\x48\x83\xec\x30") == 0x30 + 16);
  CHECK(qzi_prologue_before((const unsigned char *)"\x55\x48\x89\xe5\x55\x48\x83\xec", 8) == QZI_PROLOGUE_POINTER);
  CHECK(qzi_prologue_before((const unsigned char *)"", 0) == QZI_PROLOGUE_NONE);

  CHECK(qzi_prologue_without_frame((const unsigned char *)"\x55\x48\x89\xe5", 4, &above) && above == 0);
  CHECK(qzi_prologue_without_frame((const unsigned char *)"\xc3\x90\x90\x90", 4, &above) && above == 0);
  CHECK(qzi_prologue_without_frame((const unsigned char *)"\x48\x89\xe5\x90", 4, &above) && above == 8);
  CHECK(!qzi_prologue_without_frame((const unsigned char *)"\x48\xff\xcf\x90", 4, &above));
  return 0;
}
#else
int main(void) { return 0; }
#endif
