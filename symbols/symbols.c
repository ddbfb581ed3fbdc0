/* Procedures and variables at an address, and by name. See symbols.h. */
#include "symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "store.h"

static const char no_lines_here[] = "no line information here; compile this file with -g";

static void set_code_name(qz_symbols *symbols, struct qzi_binary *binary, const char *linkage,
                          struct qz_symbol *symbol) {
  qzi_set_name(symbols, symbol, linkage, NULL);
  const char *known = qzi_public_name(binary, linkage);
  if (known) symbol->name = symbol->full_name = qzi_arena_text(&symbols->arena, known, strlen(known));
}

static enum qz_symbol_status find_code(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       enum qz_symbol_use use, struct qz_symbol *symbol) {
  struct qzi_binary *binary = module->binary;
  uint64_t at = address - module->bias;
  uint64_t inside = use == QZ_SYMBOL_SITE ? at - 1 : at; /* the call itself lies before its return address */
  uint64_t entry = 0;
  const char *linkage = NULL;
  struct qzi_place defined = {0}, place = {0};
  bool in_dwarf = qzi_dwarf_function(binary, inside, &entry, &linkage, &defined);
  const struct qzi_symtab_entry *found = qzi_symtab_find(qzi_functions(binary), in_dwarf ? entry : inside);
  found = qzi_symtab_whole(qzi_functions(binary), found);
  if (found && in_dwarf && found->value != entry) found = NULL; /* stripped: a neighbour that was exported */
  if (found) {
    linkage = found->name;
    entry = found->value;
  }

  if (linkage) {
    set_code_name(symbols, binary, linkage, symbol);
    symbol->entry = entry + module->bias;
    symbol->offset = at - entry;
  } else {
    qzi_set_offset_name(symbols, symbol, binary->path, at);
    qzi_set_missing(symbol, binary->stripped ? QZ_MISSING_STRIPPED : QZ_MISSING_NAME, binary->no_names,
                    "no symbol at this address");
  }
  if (use == QZ_SYMBOL_PROCEDURE) {
    if (linkage && qzi_origin(linkage) == QZ_SYMBOL_MADE_FOR && qzi_dwarf_closure(binary, entry, &place))
      qzi_set_place(symbols, symbol, &place);
    else if (defined.file && defined.line > 0) /* Go (1.19) declares a file alone */
      place = defined;
    else
      qzi_dwarf_line(binary, linkage ? entry : at, &place);
  } else {
    (use == QZ_SYMBOL_SITE ? qzi_dwarf_call_line : qzi_dwarf_line)(binary, inside, &place);
  }
  qzi_set_place(symbols, symbol, &place);
  if (!symbol->file[0] && !symbol->detail[0])
    qzi_set_missing(symbol, QZ_MISSING_PLACE, binary->no_lines, no_lines_here);
  return linkage ? QZ_SYMBOL_FOUND : QZ_SYMBOL_NAMELESS;
}

static enum qz_symbol_status find_data(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       struct qz_symbol *symbol) {
  struct qzi_binary *binary = module->binary;
  uint64_t at = address - module->bias;
  const struct qzi_symtab_entry *found = qzi_symtab_find(qzi_objects(binary), at);
  if (found && found->size == 0 && found->value != at) found = NULL;
  if (!found) {
    qzi_set_offset_name(symbols, symbol, binary->path, at);
    qzi_set_missing(symbol, QZ_MISSING_NAME, binary->no_names, "no variable at this address");
    return QZ_SYMBOL_NAMELESS;
  }
  char part[256];
  bool known = qzi_dwarf_member(binary, found->value, at - found->value, part, sizeof part);
  if (!known && at != found->value)
    snprintf(part, sizeof part, "+%" PRIu64, at - found->value);
  else if (!known)
    part[0] = 0;
  qzi_set_name(symbols, symbol, found->name, part[0] ? part : NULL);
  symbol->entry = found->value + module->bias;
  symbol->offset = at - found->value;
  struct qzi_place place = {0};
  if (qzi_dwarf_variable(binary, found->value, &place)) qzi_set_place(symbols, symbol, &place);
  if (!symbol->file[0]) qzi_set_missing(symbol, QZ_MISSING_PLACE, binary->no_lines, no_lines_here);
  return QZ_SYMBOL_FOUND;
}

static enum qz_symbol_status find_name(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       struct qz_symbol *symbol) {
  struct qzi_symtab *table = qzi_functions(module->binary);
  const struct qzi_symtab_entry *found = qzi_symtab_whole(table, qzi_symtab_find(table, address - module->bias));
  symbol->module = module->binary->path;
  if (found) {
    set_code_name(symbols, module->binary, found->name, symbol);
    symbol->entry = found->value + module->bias;
    symbol->offset = address - symbol->entry;
  } else {
    qzi_set_offset_name(symbols, symbol, module->binary->path, address - module->bias);
  }
  if (found)
    qzi_set_missing(symbol, QZ_MISSING_SYSTEM, "", "in a library of the system: its debug information is not read");
  else
    qzi_set_missing(symbol, QZ_MISSING_NAME, "", "no symbol at this address");
  return found ? QZ_SYMBOL_FOUND : QZ_SYMBOL_NAMELESS;
}

static enum qz_symbol_status find(qz_symbols *symbols, uint64_t address, enum qz_symbol_use use,
                                  struct qz_symbol *symbol) {
  const struct module *module = qzi_module_of(symbols, address);
  if (!module) {
    qzi_set_offset_name(symbols, symbol, "", address);
    qzi_set_missing(symbol, QZ_MISSING_NAME, address ? "in no file of the program: generated code, or unloaded" : "",
                    "address 0");
    return QZ_SYMBOL_UNKNOWN;
  }
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  if (use == QZ_SYMBOL_NAME && module->binary->debug_elf) return find_name(symbols, module, address, symbol);
  qzi_binary_open_dwarf(module->binary);
  if (use == QZ_SYMBOL_NAME) use = QZ_SYMBOL_PROCEDURE;
  symbol->module = module->binary->path;
  return use == QZ_SYMBOL_DATA ? find_data(symbols, module, address, symbol)
                               : find_code(symbols, module, address, use, symbol);
}

uint64_t qz_symbols_entry(qz_symbols *symbols, uint64_t address, enum qz_symbol_origin *origin) {
  *origin = QZ_SYMBOL_OWN;
  const struct module *module = qzi_module_of(symbols, address);
  if (!module) return 0;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  struct qzi_symtab *table = qzi_functions(module->binary);
  const struct qzi_symtab_entry *found = qzi_symtab_whole(table, qzi_symtab_find(table, address - module->bias));
  if (found) *origin = qzi_origin(found->name);
  return found ? found->value + module->bias : 0;
}

const char *qz_symbols_linkage(qz_symbols *symbols, uint64_t address) {
  const struct module *module = qzi_module_of(symbols, address);
  if (!module) return "";
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  const struct qzi_symtab_entry *found = qzi_symtab_find(qzi_functions(module->binary), address - module->bias);
  return found ? found->name : "";
}

enum qz_symbol_status qz_symbols_find(qz_symbols *symbols, uint64_t address, enum qz_symbol_use use,
                                      struct qz_symbol *symbol) {
  *symbol = qzi_no_symbol;
  if (symbols->within) return find(symbols, address, use, symbol); /* what is kept is of the last one */
  const struct answer *answer = qzi_answer_known(symbols, address, use);
  if (answer) {
    *symbol = answer->symbol;
    return answer->status;
  }
  enum qz_symbol_status status = find(symbols, address, use, symbol);
  qzi_answer_keep(symbols, address, use, status, symbol);
  return status;
}

bool qz_symbols_variable(qz_symbols *symbols, uint64_t address, struct qz_symbol *variable) {
  return qz_symbols_find(symbols, address, QZ_SYMBOL_DATA, variable) == QZ_SYMBOL_FOUND &&
         strncmp(variable->name, "std::", 5) != 0;
}

/* Is the symbol what is shown as `name`, or does the symbol table call it so? Parts of a procedure are not. */
static bool is_called(qz_symbols *symbols, const struct qzi_symtab_entry *entry, const char *name, bool plain) {
  if (strstr(entry->name, ".cold")) return false;
  size_t length = qzi_name_base_length(entry->name);
  if (strlen(name) == length && !memcmp(entry->name, name, length)) return true;
  if (plain || entry->name[0] != '_') return !strcmp(entry->name, name);
  struct qz_symbol symbol = {0};
  qzi_set_name(symbols, &symbol, entry->name, NULL);
  return symbol.name && !strcmp(symbol.name, name);
}

size_t qz_symbols_named(qz_symbols *symbols, const char *name, bool data, struct qz_symbol_place *found, size_t most) {
  size_t count = 0;
  for (size_t m = 0; m < symbols->module_count && !count; m++) {
    const struct module *module = &symbols->modules[m];
    qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
    const struct qzi_symtab *table = data ? qzi_objects(module->binary) : qzi_functions(module->binary);
    /* Names that need be demangled are looked at where no other one fits. */
    for (unsigned pass = 0; pass < 2 && !count; pass++)
      for (size_t k = 0; k < table->count && count < most; k++) {
        const struct qzi_symtab_entry *entry = &table->entries[k];
        uint64_t low = entry->value + module->bias;
        if (low < module->start || low >= module->end || (count && found[count - 1].low == low)) continue;
        if (!is_called(symbols, entry, name, pass == 0)) continue;
        found[count++] = (struct qz_symbol_place){low, low + (entry->size ? entry->size : 1)};
      }
  }
  return count;
}
