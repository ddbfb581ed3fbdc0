/* See unwinding.h. */
#include "unwinding.h"

struct qz_unwinding *qzi_unwinding_of(struct qzi_interner *in, uint32_t module) {
  struct qzi_file *file = in->file;
  uint64_t count = qzi_file_count(file, QZ_SECTION_UNWINDING);
  if (module > qzi_file_count(file, QZ_SECTION_MODULES)) module = 0;
  if (module >= count) {
    uint64_t more = module + UINT64_C(1) - count;
    if (module >= file->head->sections[QZ_SECTION_UNWINDING].capacity ||
        qzi_file_room(file, QZ_SECTION_UNWINDING, more))
      return NULL;
    for (uint64_t k = count; k <= module; k++) file->unwinding[k] = (struct qz_unwinding){.walks = 0};
    qzi_file_append(file, QZ_SECTION_UNWINDING, more);
  }
  return &file->unwinding[module];
}
