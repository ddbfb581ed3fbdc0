/* See instructions.h. */
#include "instructions.h"

#include <string.h>

uint32_t qzi_instruction_find(struct qzi_instructions *instructions, uint64_t address, uint64_t entry) {
  struct qzi_interner *in = instructions->in;
  if (!in) return 0;
  uint32_t hash = qzi_hash(address, 17);
  QZI_TABLE_EACH(&instructions->index, hash, at)
  if (in->file->instructions[at - 1].address == address) return at;
  uint32_t procedure = qzi_intern_procedure(in, entry);
  if (!procedure ||
      qzi_file_count(in->file, QZ_SECTION_INSTRUCTIONS) >= in->file->head->sections[QZ_SECTION_INSTRUCTIONS].capacity ||
      qzi_file_room(in->file, QZ_SECTION_INSTRUCTIONS, 1))
    return 0;
  uint32_t at = (uint32_t)qzi_file_count(in->file, QZ_SECTION_INSTRUCTIONS);
  if (qzi_table_add(&instructions->index, hash, at + 1)) return 0;
  in->file->instructions[at] = (struct qz_instruction){.address = address, .procedure = procedure};
  qzi_file_append(in->file, QZ_SECTION_INSTRUCTIONS, 1);
  return at + 1;
}

void qzi_instructions_close(struct qzi_instructions *instructions) {
  qzi_table_free(&instructions->index);
  memset(instructions, 0, sizeof *instructions);
}
