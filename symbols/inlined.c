/* Procedures that compilers have put into others (inlined), and the places of their calls.
 *
 * Reader of the debug information; owns nothing.
 */
#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

/* Procedures of such files are inlined into the program's. */
bool qzi_is_package_header(const char *file) {
  if (!file) return false;
  const char *own = strstr(file, "/include/quartz/"), *ending = strrchr(file, '.');
  return qz_is_library_source(file) || (own && !strcmp(ending, ".hpp"));
}

#define INLINED_MOST 128

/* Procedures inlined at the address, outermost first; *function: the one that they are inlined into. */
static int find_inlined(struct qzi_unit *unit, uint64_t address, Dwarf_Die *function, Dwarf_Die *found) {
  struct qzi_function *its = unit ? qzi_dwarf_function_at(unit, address, function) : NULL;
  return its ? qzi_scopes_inlined(its, function, address, found, INLINED_MOST) : 0;
}

/* Where the inlined procedure was called. */
static bool called_at(struct qzi_unit *unit, Dwarf_Die *inlined, struct qzi_place *place) {
  Dwarf_Attribute attribute;
  Dwarf_Word file, line;
  Dwarf_Files *files;
  size_t count;
  if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ||
      dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) ||
      dwarf_getsrcfiles(&unit->die, &files, &count) || file >= count)
    return false;
  place->file = dwarf_filesrc(files, file, NULL, NULL);
  place->line = (int)line;
  place->directory = qzi_dwarf_directory(unit);
  return place->file != NULL;
}

bool qzi_dwarf_call_line(struct qzi_binary *binary, uint64_t address, struct qzi_place *place) {
  if (!qzi_dwarf_line(binary, address, place)) return false;
  struct qzi_unit *unit = qzi_is_package_header(place->file) ? qzi_dwarf_unit(binary, address) : NULL;
  Dwarf_Die function, inlined[INLINED_MOST];
  int count = find_inlined(unit, address, &function, inlined);
  while (count-- > 0 && qzi_is_package_header(place->file))
    if (!called_at(unit, &inlined[count], place)) break;
  return place->file != NULL;
}

static bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
         tag == DW_TAG_union_type || tag == DW_TAG_subprogram;
}

/* Where a procedure is defined; of a lambda, which has no line of its own in gcc's debug information, where its type
 * is. */
static void defined_at(struct qzi_unit *unit, Dwarf_Die *die, struct qzi_place *place) {
  Dwarf_Attribute attribute;
  Dwarf_Die declared, *scopes = NULL;
  qzi_dwarf_declared(unit, die, place);
  if (place->line) return;
  if (!dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &declared)) declared = *die;
  if (dwarf_getscopes_die(&declared, &scopes) > 1 && is_scope(dwarf_tag(&scopes[1])))
    qzi_dwarf_declared(unit, &scopes[1], place);
  free(scopes);
}

/* The first place in the program's own code among what is inlined into `parent`: where such a procedure is defined. */
static bool find_own(struct qzi_unit *unit, Dwarf_Die *parent, int depth, struct qzi_place *place) {
  Dwarf_Die die;
  if (depth > INLINED_MOST || dwarf_child(parent, &die) != 0) return false;
  do {
    int tag = dwarf_tag(&die);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block) continue;
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (tag == DW_TAG_inlined_subroutine && called_at(unit, &die, place) && !qzi_is_package_header(place->file))
      return true;
    if (tag == DW_TAG_inlined_subroutine &&
        dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attribute), &origin)) {
      defined_at(unit, &origin, place);
      if (place->file && place->line && !qzi_is_package_header(place->file)) return true;
    }
    if (find_own(unit, &die, depth + 1, place)) return true;
  } while (dwarf_siblingof(&die, &die) == 0);
  return false;
}

bool qzi_dwarf_closure(struct qzi_binary *binary, uint64_t address, struct qzi_place *place) {
  struct qzi_unit *unit = qzi_dwarf_unit(binary, address);
  Dwarf_Die function;
  struct qzi_place found = {0};
  if (!unit || !qzi_dwarf_function_at(unit, address, &function) || !find_own(unit, &function, 0, &found)) return false;
  *place = found;
  return true;
}

/* Name as in the symbol table, of a procedure that may have no code of its own; NULL: none. */
static const char *linkage_of(Dwarf_Die *die) {
  Dwarf_Attribute attribute;
  return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
}

/* The procedure of which `inlined` is one place. */
static bool origin_of(Dwarf_Die *inlined, Dwarf_Die *origin) {
  Dwarf_Attribute attribute;
  return dwarf_formref_die(dwarf_attr(inlined, DW_AT_abstract_origin, &attribute), origin) != NULL;
}

/* Whether procedures of the unit are declared in none of namespaces, types and other procedures. (libdw finds what a
 * die is declared in by walking through the whole unit.) */
static bool has_no_scopes(Dwarf_Die *unit) {
  switch (dwarf_srclang(unit)) {
  case DW_LANG_C:
  case DW_LANG_C89:
  case DW_LANG_C99:
  case DW_LANG_C11:
  case DW_LANG_Mips_Assembler: return true;
  default: return false;
  }
}

/* Appends the die's name behind those of what it is declared in: "app::total", "main::{lambda}", whose operator() is
 * the lambda itself. */
static void qualify(Dwarf_Die *die, char *name, size_t room, int depth) {
  Dwarf_Attribute attribute;
  Dwarf_Die declared, *scopes = NULL;
  if (!dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &declared)) declared = *die;
  int count = depth < 16 ? dwarf_getscopes_die(&declared, &scopes) : 0;
  for (int k = 1; k < count; k++)
    if (is_scope(dwarf_tag(&scopes[k]))) {
      qualify(&scopes[k], name, room, depth + 1);
      break;
    }
  free(scopes);
  size_t used = strlen(name);
  const char *own = dwarf_diename(&declared);
  if (own && !strcmp(own, "operator()") && used && name[used - 1] == '}') return;
  if (!own || !strncmp(own, "<lambda", 7))
    own = dwarf_tag(&declared) == DW_TAG_namespace ? "(anonymous namespace)" : "{lambda}";
  int length = snprintf(name + used, room - used, "%s%s", used ? "::" : "", own);
  if (length < 0 || (size_t)length >= room - used) name[used] = 0;
}

#define UNIT_SHIFT 40 /* a split unit has offsets of its own: its number, above them */

/* Those of qzi_dwarf_inlined, with the die of each place. */
static size_t inlined_dies(struct qzi_binary *binary, struct qzi_unit *unit, uint64_t address, Dwarf_Die *dies,
                           uint64_t *found, size_t most) {
  Dwarf_Die function, origin, inlined[INLINED_MOST];
  int count = unit && qzi_dwarf_of_library(unit) ? 0 : find_inlined(unit, address, &function, inlined);
  bool split = count && dwarf_cu_getdwarf(unit->die.cu) != binary->dwarf;
  uint64_t of_unit = split ? (uint64_t)(unit - binary->units + 1) << UNIT_SHIFT : 0, before = 0;
  if (count && origin_of(&function, &origin)) before = of_unit | dwarf_dieoffset(&origin);
  size_t used = 0;
  for (int k = 0; k < count && used < most; k++) {
    if (!origin_of(&inlined[k], &origin)) continue;
    uint64_t id = of_unit | dwarf_dieoffset(&origin);
    if (id == before) continue; /* itself: recursion */
    dies[used] = inlined[k];
    before = found[used++] = id;
  }
  return used;
}

size_t qzi_dwarf_inlined(struct qzi_binary *binary, uint64_t address, uint64_t *found, size_t most) {
  Dwarf_Die dies[INLINED_MOST];
  if (most > INLINED_MOST) most = INLINED_MOST;
  return inlined_dies(binary, qzi_dwarf_unit(binary, address), address, dies, found, most);
}

bool qzi_dwarf_inlined_call(struct qzi_binary *binary, uint64_t address, size_t index, struct qzi_place *place) {
  Dwarf_Die dies[INLINED_MOST];
  uint64_t found[INLINED_MOST];
  struct qzi_unit *unit = qzi_dwarf_unit(binary, address);
  return inlined_dies(binary, unit, address, dies, found, INLINED_MOST) > index && called_at(unit, &dies[index], place);
}

bool qzi_dwarf_describe(struct qzi_binary *binary, uint64_t id, struct qzi_inlined *one) {
  uint64_t number = id >> UNIT_SHIFT;
  if (number > binary->unit_count || !binary->unit_count) return false;
  struct qzi_unit *unit = &binary->units[number ? number - 1 : 0];
  Dwarf_Die die, own;
  if (!dwarf_offdie(number ? dwarf_cu_getdwarf(unit->die.cu) : binary->dwarf, id & ((UINT64_C(1) << UNIT_SHIFT) - 1),
                    &die))
    return false;
  if (!number && !dwarf_diecu(&die, &own, NULL, NULL)) return false;
  struct qzi_unit its = {.die = number ? unit->die : own};
  one->linkage = linkage_of(&die);
  one->place = (struct qzi_place){0};
  one->name[0] = 0;
  defined_at(&its, &die, &one->place);
  const char *plain = !one->linkage && has_no_scopes(&its.die) ? dwarf_diename(&die) : NULL;
  if (plain && strlen(plain) < sizeof one->name)
    strcpy(one->name, plain);
  else if (!one->linkage)
    qualify(&die, one->name, sizeof one->name, 0);
  one->library = qzi_is_package_header(one->place.file) || (one->linkage && qzi_origin(one->linkage) != QZ_SYMBOL_OWN);
  return one->linkage || one->name[0];
}
