/* Interning of strings and entities. See interner.h. */
#include "interner.h"

#include <string.h>

#define NAME_MAX_BYTES 4096

/* ---- strings ---- */

uint32_t qzi_intern_text(struct qzi_interner *in, const char *text, size_t length) {
  if (length == 0 || length > UINT32_MAX / 2) return 0;
  uint64_t sum = length;
  for (size_t k = 0; k < length; k++) sum = (sum ^ (unsigned char)text[k]) * UINT64_C(0x100000001b3);
  uint32_t hash = qzi_hash(sum, length);
  struct qzi_file *file = in->file;
  uint64_t used = qzi_file_count(file, QZ_SECTION_STRINGS);
  QZI_TABLE_EACH(&in->texts, hash, at)
  if (at + length < used && !memcmp(file->strings + at, text, length) && !file->strings[at + length]) return at;
  if (used > UINT32_MAX - length - 1 || qzi_file_room(file, QZ_SECTION_STRINGS, length + 1) ||
      qzi_table_add(&in->texts, hash, (uint32_t)used))
    return 0;
  memcpy(file->strings + used, text, length);
  file->strings[used + length] = 0;
  qzi_file_append(file, QZ_SECTION_STRINGS, length + 1);
  return (uint32_t)used;
}

uint32_t qzi_intern_string(struct qzi_interner *in, const char *string) {
  return qzi_intern_text(in, string, strlen(string));
}

uint32_t qzi_intern_name(struct qzi_interner *in, uint32_t session_offset) {
  char text[NAME_MAX_BYTES];
  if (!session_offset) return 0;
  return qzi_intern_text(in, text, qz_session_string(in->view, session_offset, text, sizeof text));
}

/* ---- entities ---- */

uint32_t qzi_intern_module(const struct qzi_interner *in, uint64_t address) {
  /* a module added later hides an earlier one at the same addresses */
  for (uint64_t k = qzi_file_count(in->file, QZ_SECTION_MODULES); k-- > 0;)
    if ((k >= in->gone_count || !in->gone[k]) && address >= in->file->modules[k].start &&
        address < in->file->modules[k].end)
      return (uint32_t)k + 1;
  return 0;
}

uint32_t qzi_intern_entity(struct qzi_interner *in, uint32_t kind, uint64_t address, uint32_t name, uint32_t record) {
  struct qzi_file *file = in->file;
  if (qzi_file_room(file, QZ_SECTION_ENTITIES, 1)) return 0;
  uint32_t entity = (uint32_t)qzi_file_count(file, QZ_SECTION_ENTITIES), module = qzi_intern_module(in, address);
  if (address && !module) in->unknown_addresses++;
  file->entities[entity] = (struct qz_entity){
    .kind = kind, .name = name, .address = address, .module = module, .record = record, .instances = 1};
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  return entity;
}

uint32_t qzi_intern_procedure(struct qzi_interner *in, uint64_t address) {
  uint32_t hash = qzi_hash(address, 1);
  QZI_TABLE_EACH(&in->procedures, hash, entity)
  if (in->file->entities[entity].address == address) return entity;
  uint32_t entity = qzi_intern_entity(in, QZ_ENTITY_PROCEDURE, address, 0, 0);
  return entity && !qzi_table_add(&in->procedures, hash, entity) ? entity : 0;
}

uint32_t qzi_intern_inlined(struct qzi_interner *in, uint32_t into, uint32_t name, uint32_t file, uint32_t line) {
  uint32_t hash = qzi_hash((uint64_t)name << 32 | into, (uint64_t)file << 32 | line);
  QZI_TABLE_EACH(&in->inlined, hash, at) {
    const struct qz_entity *one = &in->file->entities[at];
    if (one->kind == QZ_ENTITY_PROCEDURE && one->name == name && one->record == into && one->file == file &&
        one->line == line)
      return at;
  }
  uint32_t entity = qzi_intern_entity(in, QZ_ENTITY_PROCEDURE, 0, name, into);
  if (!entity || qzi_table_add(&in->inlined, hash, entity)) return 0;
  in->file->entities[entity].module = in->file->entities[into].module;
  in->file->entities[entity].file = file;
  in->file->entities[entity].line = line;
  return entity;
}

/* Entity of a place in the code of a scope: identified by file and line, or by its address if the file is unknown. */
static uint32_t intern_code(struct qzi_interner *in, uint8_t kind, uint32_t scope, uint32_t file, uint32_t line,
                            uint64_t address) {
  uint64_t place = file ? (uint64_t)file << 32 | line : address;
  uint32_t hash = qzi_hash(place, scope);
  QZI_TABLE_EACH(&in->inlined, hash, at) {
    const struct qz_entity *one = &in->file->entities[at];
    if (one->kind == kind && one->record == scope &&
        (file ? one->file == file && one->line == line : !one->file && one->address == address))
      return at;
  }
  uint32_t entity = qzi_intern_entity(in, kind, address, 0, scope);
  if (!entity || qzi_table_add(&in->inlined, hash, entity)) return 0;
  in->file->entities[entity].module = in->file->entities[scope].module;
  in->file->entities[entity].file = file;
  in->file->entities[entity].line = line;
  return entity;
}

uint32_t qzi_intern_code_loop(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line, uint64_t address) {
  return intern_code(in, QZ_ENTITY_CODE_LOOP, scope, file, line, address);
}

uint32_t qzi_intern_code_line(struct qzi_interner *in, uint32_t scope, uint32_t file, uint32_t line) {
  return intern_code(in, QZ_ENTITY_CODE_LINE, scope, file, line, 0);
}

int qzi_intern_is_generated(const struct qzi_interner *in, uint64_t address) {
  size_t low = 0, high = in->generated_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (in->generated[middle].end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < in->generated_count && address >= in->generated[low].start && !qzi_intern_module(in, address);
}

uint64_t qzi_object_address(const struct qz_object *object) {
  uint64_t address = QZ_LOAD(&object->address);
  return address ? address : QZ_LOAD(&object->home);
}
