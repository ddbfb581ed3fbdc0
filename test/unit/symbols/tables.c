/* Symbol tables are read, sorted and searched for pieces only when that is requested, and are sorted by value. */
#include <stdio.h>
#include "symbols/internal.h"
#include "symbols/store.h"

static int failures;
static void check(int good, const char *what) {
  if (good) return;
  printf("%s\n", what);
  failures++;
}

static int is_sorted(const struct qzi_symtab *table) {
  for (size_t k = 1; k < table->count; k++)
    if (table->entries[k].value < table->entries[k - 1].value) return 0;
  return 1;
}

/* Each symbol is found at its own address, or another one that begins there, too. */
static int finds_all(const struct qzi_symtab *table) {
  for (size_t k = 0; k < table->count; k++) {
    const struct qzi_symtab_entry *found = qzi_symtab_find(table, table->entries[k].value);
    if (!found || found->value != table->entries[k].value) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  qz_symbols *symbols = qz_symbols_new();
  struct qz_symbol inlined[4], found;
  enum qz_symbol_origin origin;
  qz_symbols_add_module(symbols, 0, UINT64_C(1) << 40, 0, argv[1], "");
  struct qzi_binary *binary = symbols->binaries[0];
  qz_symbols_inlined(symbols, 64, inlined, 4); /* the file's head */
  check(binary->opened && !binary->symbols_loaded, "what is inlined at an address needed the symbol table");
  qz_symbols_entry(symbols, 64, &origin);
  check(binary->symbols_loaded && binary->functions.sorted, "an entry was found without a table");
  check(!binary->objects.sorted, "variables were sorted for a procedure");
  check(!binary->functions.wholes_found, "pieces were looked for where none was found");
  struct qzi_symtab *functions = qzi_functions(binary);
  check(functions->count > 0 && is_sorted(functions) && finds_all(functions), "procedures are not sorted");
  const struct qzi_symtab_entry *piece = NULL;
  for (size_t k = 0; k < functions->count && !piece; k++)
    if (qzi_symtab_whole(functions, &functions->entries[k]) != &functions->entries[k]) piece = &functions->entries[k];
  check(!piece || functions->wholes_found, "a piece was found without a look");
  if (argc > 2) check(piece != NULL, "no piece");
  qz_symbols_find(symbols, 64, QZ_SYMBOL_DATA, &found);
  check(binary->objects.sorted && is_sorted(&binary->objects), "variables are not sorted");
  qz_symbols_free(symbols);
  return failures != 0;
}
