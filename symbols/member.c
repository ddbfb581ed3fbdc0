/* Which part of a variable lies at an offset, in the words of its source: `.lock`, `[3].queue.lock`. */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define DEEPEST 16

/* Types that programs take as one thing, whatever they are made of. */
static bool is_whole(const char *name) {
  static const char *const known[] = {"pthread_", "mtx_t", "cnd_t", "sem_t", "once_flag", "qz_"};
  for (size_t k = 0; name && k < sizeof known / sizeof *known; k++)
    if (!strncmp(name, known[k], strlen(known[k]))) return true;
  return false;
}

/* The type without its names and qualifiers; *whole: one of the names says that it is taken as one thing. */
static bool peel(Dwarf_Die *type, bool *whole) {
  for (int k = 0; k < DEEPEST; k++) {
    int tag = dwarf_tag(type);
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if (is_whole(dwarf_diename(type))) *whole = true;
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type && tag != DW_TAG_atomic_type)
      return true;
    if (!dwarf_formref_die(dwarf_attr_integrate(type, DW_AT_type, &attribute), &next)) return false;
    *type = next;
  }
  return false;
}

static bool type_of(Dwarf_Die *die, Dwarf_Die *type) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) != NULL;
}

/* Is it a class of the C++ library (std::mutex)? */
static bool is_standard(Dwarf_Die *type) {
  Dwarf_Die *scopes;
  int count = dwarf_getscopes_die(type, &scopes);
  bool is = false;
  for (int k = 1; k < count; k++) {
    const char *name = dwarf_tag(&scopes[k]) == DW_TAG_namespace ? dwarf_diename(&scopes[k]) : NULL;
    is |= name && !strcmp(name, "std");
  }
  if (count > 0) free(scopes);
  return is;
}

/* Adds what lies at *offset in the type. true: that is a thing taken as a whole. */
static bool descend(Dwarf_Die type, uint64_t offset, char *out, size_t room, int depth) {
  bool whole = false;
  if (depth == DEEPEST || !peel(&type, &whole)) return false;
  if (whole && offset == 0) return true;
  int tag = dwarf_tag(&type);
  if (tag == DW_TAG_array_type) {
    Dwarf_Die element;
    Dwarf_Word bytes;
    if (!type_of(&type, &element) || dwarf_aggregate_size(&element, &bytes) || !bytes) return false;
    int used = snprintf(out, room, "[%lu]", (unsigned long)(offset / bytes));
    return used > 0 && (size_t)used < room &&
           descend(element, offset % bytes, out + used, room - (size_t)used, depth + 1);
  }
  if (tag != DW_TAG_structure_type && tag != DW_TAG_class_type && tag != DW_TAG_union_type) return false;
  if (offset == 0 && is_standard(&type)) return true;
  Dwarf_Die member;
  if (dwarf_child(&type, &member)) return false;
  do {
    Dwarf_Attribute attribute;
    Dwarf_Word at = 0, bytes;
    Dwarf_Die its;
    int kind = dwarf_tag(&member);
    if ((kind != DW_TAG_member && kind != DW_TAG_inheritance) || !type_of(&member, &its)) continue;
    if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) && dwarf_formudata(&attribute, &at)) continue;
    if (dwarf_attr(&member, DW_AT_external, &attribute)) continue; /* static */
    if (dwarf_aggregate_size(&its, &bytes) || offset < at || offset - at >= bytes) continue;
    const char *name = kind == DW_TAG_member ? dwarf_diename(&member) : NULL; /* bases and unnamed ones add nothing */
    int used = name ? snprintf(out, room, ".%s", name) : 0;
    if (used < 0 || (size_t)used >= room) return false;
    if (descend(its, offset - at, out + used, room - (size_t)used, depth + 1)) return true;
    if (tag != DW_TAG_union_type) break;
  } while (dwarf_siblingof(&member, &member) == 0);
  out[0] = 0;
  return false;
}

bool qzi_dwarf_member(struct qzi_binary *binary, uint64_t address, uint64_t offset, char *out, size_t room) {
  Dwarf_Die die, type;
  out[0] = 0;
  return qzi_dwarf_variable_die(binary, address, &die) && type_of(&die, &type) && descend(type, offset, out, room, 0);
}
