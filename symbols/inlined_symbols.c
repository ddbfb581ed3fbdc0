/* Which procedures are inlined at an address, as reports show them. See symbols.h. */
#include <string.h>
#include "symbols.h"
#include "store.h"

#define INLINED_MOST 32u
#define INLINED      5u /* use of answers about inlined procedures: their `address` is that of the debug information */

struct inlined {
  struct qz_symbol symbol;
  bool library;
};

/* What is inlined at the address, outermost first. */
static size_t inlined_at(qz_symbols *symbols, const struct module *module, uint64_t address, struct inlined *found) {
  struct qzi_binary *binary = module->binary;
  uint64_t ids[INLINED_MOST];
  unsigned use = INLINED;
  size_t used = 0;
  qzi_binary_open(binary, symbols->debug_dirs, symbols->debug_dir_count);
  qzi_binary_open_dwarf(binary);
  while (use - INLINED < symbols->binary_count && symbols->binaries[use - INLINED] != binary) use++;
  size_t count = qzi_dwarf_inlined(binary, address - module->bias, ids, INLINED_MOST);
  for (size_t k = 0; k < count; k++) {
    struct inlined *one = &found[used];
    struct qzi_inlined its;
    const struct answer *answer = qzi_answer_known(symbols, ids[k], use);
    if (answer) {
      *one = (struct inlined){answer->symbol, answer->status != QZ_SYMBOL_FOUND};
    } else {
      if (!qzi_dwarf_describe(binary, ids[k], &its)) continue;
      *one = (struct inlined){qzi_no_symbol, its.library};
      one->symbol.module = binary->path;
      if (its.linkage)
        qzi_set_name(symbols, &one->symbol, its.linkage, NULL);
      else
        one->symbol.name = one->symbol.full_name = qzi_arena_text(&symbols->arena, its.name, strlen(its.name));
      qzi_set_place(symbols, &one->symbol, &its.place);
      qzi_answer_keep(symbols, ids[k], use, its.library ? QZ_SYMBOL_NAMELESS : QZ_SYMBOL_FOUND, &one->symbol);
    }
    used++;
  }
  return used;
}

/* Of what is inlined at the address, all[0 .. count-1], what reports show: own[k] is its index. Returns their number.
 */
static size_t own_of(const struct module *module, uint64_t address, const struct inlined *all, size_t count,
                     size_t *own) {
  const struct qzi_symtab_entry *whole =
    count ? qzi_symtab_find(qzi_functions(module->binary), address - module->bias) : NULL;
  bool shown = whole && qzi_runs_functor(whole->name); /* under that name is the first one known already */
  size_t used = 0;
  for (size_t k = 0; k < count; k++) {
    if (!all[k].library && !shown) own[used++] = k;
    shown = shown && all[k].library;
  }
  return used;
}

size_t qz_symbols_inlined(qz_symbols *symbols, uint64_t address, struct qz_symbol *found, size_t most) {
  const struct module *module = qzi_module_of(symbols, address);
  struct inlined all[INLINED_MOST];
  size_t own[INLINED_MOST], count = module ? inlined_at(symbols, module, address, all) : 0;
  size_t used = own_of(module, address, all, count, own);
  if (used > most) used = most;
  for (size_t k = 0; k < used; k++) found[k] = all[own[k]].symbol;
  return used;
}

bool qz_symbols_scope_line(qz_symbols *symbols, uint64_t address, size_t depth, struct qz_symbol *found) {
  const struct module *module = qzi_module_of(symbols, address);
  if (!module) return false;
  struct inlined all[INLINED_MOST];
  size_t own[INLINED_MOST], count = inlined_at(symbols, module, address, all);
  size_t used = own_of(module, address, all, count, own);
  size_t next = depth > used ? count : depth ? own[depth - 1] + 1 : 0; /* what is inlined into that scope */
  struct qzi_place place = {0};
  *found = qzi_no_symbol;
  if (next < count ? !qzi_dwarf_inlined_call(module->binary, address - module->bias, next, &place)
                   : !qzi_dwarf_line(module->binary, address - module->bias, &place))
    return false;
  qzi_set_place(symbols, found, &place);
  return found->line != 0;
}

int qz_symbols_inlined_ready(qz_symbols *symbols, uint64_t address) {
  const struct module *module = qzi_module_of(symbols, address);
  return !module || qzi_dwarf_ready(module->binary, address - module->bias);
}

int qz_symbols_inlined_call(qz_symbols *symbols, uint64_t address, struct qz_symbol *found) {
  const struct module *module = qzi_module_of(symbols, address - 1);
  struct inlined all[INLINED_MOST];
  size_t count = module ? inlined_at(symbols, module, address - 1, all) : 0, outermost = count;
  while (outermost > 0 && all[outermost - 1].library) outermost--;
  if (outermost == count) return 0;
  *found = all[outermost].symbol;
  return 1;
}

bool qz_symbols_serves(qz_symbols *symbols, uint64_t site) {
  struct qz_symbol its;
  enum qz_symbol_origin origin;
  qz_symbols_find(symbols, site, QZ_SYMBOL_SITE, &its);
  if (its.file[0]) return qzi_is_package_header(its.file);
  return qz_symbols_entry(symbols, site - 1, &origin) && origin == QZ_SYMBOL_STANDARD;
}
