/* See counted.h. */
#include "counted.h"

#include <string.h>

static uint32_t find(struct qzi_counted *counted, uint32_t node, enum qz_counter counter) {
  struct qzi_file *file = counted->file;
  uint32_t hash = qzi_hash(node, counter);
  QZI_TABLE_EACH(&counted->index, hash, at)
  if (file->counted[at - 1].stack == node && file->counted[at - 1].counter == counter) return at;
  uint64_t used = qzi_file_count(file, QZ_SECTION_COUNTED);
  if (used >= file->head->sections[QZ_SECTION_COUNTED].capacity || qzi_file_room(file, QZ_SECTION_COUNTED, 1) ||
      qzi_table_add(&counted->index, hash, (uint32_t)used + 1))
    return 0;
  file->counted[used] = (struct qz_counted){.stack = node, .counter = counter};
  qzi_file_append(file, QZ_SECTION_COUNTED, 1);
  return (uint32_t)used + 1;
}

void qzi_counted_add(struct qzi_counted *counted, uint32_t node, enum qz_counter counter, uint64_t amount) {
  uint32_t at = find(counted, node, counter);
  if (!at) at = find(counted, 0, counter);
  if (at) counted->file->counted[at - 1].amount += amount;
}

void qzi_counted_close(struct qzi_counted *counted) {
  qzi_table_free(&counted->index);
  memset(counted, 0, sizeof *counted);
}
