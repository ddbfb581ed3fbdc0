/* Procedures, lines and variables of the debug information.
 *
 * Owns:    the indexes of address ranges: of units (made once a binary), of procedures (once a unit), of static
 *          variables (once a binary), each on first use, so that a few addresses in a large binary stay cheap.
 * Reader:  symbols.c.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

static void add_range(struct qzi_ranges *ranges, uint64_t start, uint64_t end, size_t index) {
  if (start == 0 || start >= end) return; /* 0: code that the linker dropped */
  if (!qzi_symbols_grow((void **)&ranges->items, &ranges->capacity, ranges->count, sizeof *ranges->items)) return;
  ranges->items[ranges->count++] = (struct qzi_range){start, end, index};
}

void qzi_ranges_add(struct qzi_ranges *ranges, Dwarf_Die *die, size_t index) {
  Dwarf_Addr base, start, end;
  ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) add_range(ranges, start, end, index);
}

static int by_start(const void *a, const void *b) {
  const struct qzi_range *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  if (x->end != y->end) return x->end < y->end ? 1 : -1;
  return x->index < y->index ? -1 : x->index > y->index;
}

void qzi_ranges_sort(struct qzi_ranges *ranges) {
  if (ranges->count) qsort(ranges->items, ranges->count, sizeof *ranges->items, by_start);
}

static const struct qzi_range *find_range(const struct qzi_ranges *ranges, uint64_t address) {
  size_t low = 0, high = ranges->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (ranges->items[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  for (size_t steps = 0; low > 0 && steps < 16; low--, steps++)
    if (address < ranges->items[low - 1].end) return &ranges->items[low - 1];
  return NULL;
}

static void index_units(struct qzi_binary *binary) {
  if (binary->units_indexed) return;
  binary->units_indexed = true;
  if (!binary->dwarf) return;
  Dwarf_CU *cu = NULL;
  Dwarf_Half version;
  uint8_t type;
  Dwarf_Die die, split;
  while (dwarf_get_units(binary->dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    bool has_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
    if (!qzi_symbols_grow((void **)&binary->units, &binary->unit_capacity, binary->unit_count, sizeof *binary->units))
      return;
    qzi_ranges_add(&binary->unit_ranges, &die, binary->unit_count);
    binary->units[binary->unit_count++] = (struct qzi_unit){.die = has_split ? split : die};
  }
  qzi_ranges_sort(&binary->unit_ranges);
}

/* false: no memory. */
static bool add_function(struct qzi_unit *unit, Dwarf_Die *die) {
  Dwarf_Addr entry, base, end;
  /* One in several pieces may have no entry of its own: then the first piece begins with it. */
  if (dwarf_entrypc(die, &entry) != 0 && dwarf_ranges(die, 0, &base, &entry, &end) <= 0) return true;
  if (!qzi_symbols_grow((void **)&unit->functions, &unit->function_capacity, unit->function_count,
                        sizeof *unit->functions))
    return false;
  qzi_ranges_add(&unit->ranges, die, unit->function_count);
  unit->functions[unit->function_count++] = (struct qzi_function){.die = dwarf_dieoffset(die), .entry = entry};
  return true;
}

/* Lambdas that are not inlined stand in the blocks of the procedures that contain them. */
static void index_functions(struct qzi_unit *unit, Dwarf_Die *parent, int depth) {
  Dwarf_Die die;
  if (depth > 16 || dwarf_child(parent, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
    case DW_TAG_subprogram:
      if (!add_function(unit, &die)) return;
      index_functions(unit, &die, depth + 1);
      break;
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_module: index_functions(unit, &die, depth + 1); break;
    default: break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

struct qzi_unit *qzi_dwarf_unit(struct qzi_binary *binary, uint64_t address) {
  index_units(binary);
  const struct qzi_range *range = find_range(&binary->unit_ranges, address);
  return range ? &binary->units[range->index] : NULL;
}

/* Rust's library is one unit of some hundred thousand dies, which take 12 ms to walk through. */
bool qzi_dwarf_of_library(struct qzi_unit *unit) {
  const char *name = unit->library_known ? NULL : dwarf_diename(&unit->die);
  if (name) unit->library = qz_is_library_source(name);
  unit->library_known = true;
  return unit->library;
}

bool qzi_dwarf_ready(struct qzi_binary *binary, uint64_t address) {
  if (!binary->dwarf_opened || (binary->dwarf && !binary->units_indexed)) return false;
  const struct qzi_unit *unit = qzi_dwarf_unit(binary, address);
  return !unit || unit->indexed || unit->library;
}

const char *qzi_dwarf_directory(struct qzi_unit *unit) {
  Dwarf_Attribute attribute;
  const char *directory = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
  return directory ? directory : "";
}

/* libdw (0.188) ends the process that asks where a die of a split unit is declared before the unit's list of files was
 * read. */
static const char *declaring_file(Dwarf_Die *die) {
  Dwarf_Die unit;
  Dwarf_Files *files;
  Dwarf_Attribute attribute;
  Dwarf_Word number;
  Dwarf_Half version;
  size_t count;
  if (!dwarf_diecu(die, &unit, NULL, NULL) || dwarf_getsrcfiles(&unit, &files, &count)) return NULL;
  /* From DWARF 5 on number 0 is the unit's own file (clang), which libdw takes for none. */
  if (!dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &attribute), &number) && number == 0 && count &&
      !dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) && version >= 5)
    return dwarf_filesrc(files, 0, NULL, NULL);
  return dwarf_decl_file(die);
}

void qzi_dwarf_declared(struct qzi_unit *unit, Dwarf_Die *die, struct qzi_place *place) {
  int line = 0;
  place->file = declaring_file(die);
  place->line = dwarf_decl_line(die, &line) == 0 ? line : 0;
  place->directory = qzi_dwarf_directory(unit);
}

static Dwarf_Die *die_at(struct qzi_unit *unit, Dwarf_Off offset, Dwarf_Die *die) {
  return dwarf_offdie(dwarf_cu_getdwarf(unit->die.cu), offset, die);
}

/* The procedure that the code at the address belongs to. */
struct qzi_function *qzi_dwarf_function_at(struct qzi_unit *unit, uint64_t address, Dwarf_Die *die) {
  if (!unit->indexed) {
    unit->indexed = true;
    index_functions(unit, &unit->die, 0);
    qzi_ranges_sort(&unit->ranges);
  }
  const struct qzi_range *range = find_range(&unit->ranges, address);
  return range && die_at(unit, unit->functions[range->index].die, die) ? &unit->functions[range->index] : NULL;
}

bool qzi_dwarf_function(struct qzi_binary *binary, uint64_t address, uint64_t *entry, const char **linkage,
                        struct qzi_place *defined) {
  struct qzi_unit *unit = qzi_dwarf_unit(binary, address);
  Dwarf_Die die;
  const struct qzi_function *function = unit ? qzi_dwarf_function_at(unit, address, &die) : NULL;
  if (!function) return false;
  *entry = function->entry;
  Dwarf_Attribute attribute;
  *linkage = dwarf_formstring(dwarf_attr_integrate(&die, DW_AT_linkage_name, &attribute));
  if (!*linkage) *linkage = dwarf_diename(&die);
  qzi_dwarf_declared(unit, &die, defined);
  return true;
}

bool qzi_dwarf_line(struct qzi_binary *binary, uint64_t address, struct qzi_place *place) {
  struct qzi_unit *unit = qzi_dwarf_unit(binary, address);
  if (!unit) return false;
  Dwarf_Line *line = dwarf_getsrc_die(&unit->die, address);
  if (!line) return false;
  int number = 0;
  place->file = dwarf_linesrc(line, NULL, NULL);
  if (dwarf_lineno(line, &number) != 0) number = 0;
  place->line = number;
  place->directory = qzi_dwarf_directory(unit);
  return place->file != NULL;
}

/* Address of a static variable, as such or as a number in the table of addresses (split units; DWARF 5). */
static bool static_address(Dwarf_Die *die, uint64_t *address) {
  Dwarf_Attribute attribute, indexed;
  Dwarf_Op *operations;
  size_t count;
  Dwarf_Addr found;
  if (!dwarf_attr(die, DW_AT_location, &attribute) || dwarf_getlocation(&attribute, &operations, &count) || count != 1)
    return false;
  *address = operations[0].number;
  if (operations[0].atom == DW_OP_addr) return true;
  if (operations[0].atom != DW_OP_addrx && operations[0].atom != DW_OP_GNU_addr_index) return false;
  if (dwarf_getlocation_attr(&attribute, operations, &indexed) || dwarf_formaddr(&indexed, &found)) return false;
  *address = found;
  return true;
}

static void index_variables(struct qzi_binary *binary, size_t unit, Dwarf_Die *parent, int depth) {
  Dwarf_Die die;
  if (depth > 24 || dwarf_child(parent, &die) != 0) return;
  do {
    int tag = dwarf_tag(&die);
    if (tag == DW_TAG_variable) {
      uint64_t address;
      if (!static_address(&die, &address)) continue;
      if (!qzi_symbols_grow((void **)&binary->variables, &binary->variable_capacity, binary->variable_count,
                            sizeof *binary->variables))
        return;
      binary->variables[binary->variable_count++] = (struct qzi_variable){address, dwarf_dieoffset(&die), unit};
    } else if (tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
               tag == DW_TAG_structure_type || tag == DW_TAG_class_type) {
      index_variables(binary, unit, &die, depth + 1);
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b) {
  const struct qzi_variable *x = a, *y = b;
  return x->address < y->address ? -1 : x->address > y->address;
}

bool qzi_dwarf_variable_die(struct qzi_binary *binary, uint64_t address, Dwarf_Die *die) {
  index_units(binary);
  if (!binary->variables_indexed) {
    binary->variables_indexed = true;
    for (size_t k = 0; k < binary->unit_count; k++) index_variables(binary, k, &binary->units[k].die, 0);
    if (binary->variable_count) qsort(binary->variables, binary->variable_count, sizeof *binary->variables, by_address);
  }
  struct qzi_variable key = {.address = address};
  struct qzi_variable *found =
    binary->variable_count ? bsearch(&key, binary->variables, binary->variable_count, sizeof key, by_address) : NULL;
  return found && die_at(&binary->units[found->unit], found->die, die);
}

bool qzi_dwarf_variable(struct qzi_binary *binary, uint64_t address, struct qzi_place *place) {
  Dwarf_Die die, unit_die;
  if (!qzi_dwarf_variable_die(binary, address, &die) || !dwarf_diecu(&die, &unit_die, NULL, NULL)) return false;
  struct qzi_unit unit = {.die = unit_die};
  qzi_dwarf_declared(&unit, &die, place);
  return place->file != NULL;
}
