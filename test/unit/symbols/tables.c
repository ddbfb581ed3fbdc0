/* Symbol tables are read, sorted and searched for pieces only when that is requested, and are sorted by value. */
#include <stdio.h>
#include <string.h>
#include "symbols/internal.h"
#include "symbols/store.h"
#include "symbols/symbols.h"

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

/* The C library's inner procedures get the names of the public ones that the binary has. */
static void public_names(void) {
  static const struct {
    const char *inner, *public;
  } cases[] = {{"__vsnprintf_internal", "vsnprintf"},
               {"____strtol_l_internal", "strtol"},
               {"__powf_fma", "powf"},
               {"__ieee754_pow_fma4", "pow"},
               {"__sin_avx2", "(none)"},
               {"_int_malloc", "malloc"},
               {"__libc_malloc", "malloc"},
               {"__GI___libc_malloc", "malloc"},
               {"sysmalloc", "malloc"},
               {"_IO_new_file_xsputn", "fwrite"},
               {"__memmove_avx_unaligned_erms", "memmove"},
               {"__memcpy_chk", "memcpy"},
               {"__memmove_internal", "memmove"},
               {"__tz_convert", "localtime"},
               {"__lll_lock_wait", "pthread_mutex_lock"},
               {"_exit", "(none)"},
               {"__hidden", "(none)"},
               {"__hidden_internal", "(none)"},
               {"malloc", "(none)"},
               {"__cxa_throw", "(none)"}};
  static struct qzi_symtab_entry entries[] = {
    {.name = "vsnprintf", .rank = 2}, {.name = "strtol", .rank = 2}, {.name = "strtol_l", .rank = 2},
    {.name = "powf", .rank = 1},      {.name = "pow", .rank = 2},    {.name = "malloc", .rank = 2},
    {.name = "memmove", .rank = 2},   {.name = "memcpy", .rank = 2}, {.name = "exit", .rank = 2},
    {.name = "hidden", .rank = 0},    {.name = "abort", .rank = 2},  {.name = "work", .rank = 2}};
  struct qzi_symtab functions = {.entries = entries, .count = sizeof entries / sizeof *entries, .sorted = true};
  struct qzi_binary library = {.path = (char *)"/lib/libc.so.6", .symbols_loaded = true, .functions = functions};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const char *known = qzi_public_name(&library, cases[k].inner);
    check(!strcmp(known ? known : "(none)", cases[k].public), cases[k].inner);
  }
  /* A program may have procedures of its own that begin with underscores, but not if something more says so. */
  struct qzi_binary program = {.path = (char *)"/home/me/static", .symbols_loaded = true, .functions = functions};
  check(!qzi_public_name(&program, "__work"), "a program's own name");
  check(qzi_public_name(&program, "__powf_fma") != NULL, "a library that is linked statically");
  check(!qzi_public_name(&program, "sysmalloc"), "a name that may be the program's");
  functions.count--;
  entries[10].name = "aborted";
  struct qzi_binary shared = {.path = (char *)"/home/me/shared", .symbols_loaded = true, .functions = functions};
  check(!qzi_public_name(&shared, "__powf_fma"), "a program without the C library");
}

int main(int argc, char **argv) {
  public_names();
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
