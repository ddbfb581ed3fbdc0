/* What the parts of symbols/ share.
 *
 * Owns:    the record of one binary: its files, its symbol tables, its debug information, and why something is
 *          missing. Written by binary.c (files), symtab.c (symbols) and dwarf.c (ranges); read by symbols.c,
 *          modules.c and inlined_symbols.c.
 * Must not: be included from outside symbols/.
 */
#ifndef QUARTZ_SYMBOLS_INTERNAL_H
#define QUARTZ_SYMBOLS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <elfutils/libdw.h>
#include <libelf.h>
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* arena.c: strings and records that live as long as the qz_symbols. */
struct qzi_arena {
  struct qzi_arena_block *blocks;
};
void *qzi_arena_get(struct qzi_arena *arena, size_t bytes);                           /* zeroed; NULL: out of memory */
const char *qzi_arena_text(struct qzi_arena *arena, const char *text, size_t length); /* "" if out of memory */
void qzi_arena_free(struct qzi_arena *arena);

/* Makes room for one more element after `count`. Returns false if there is no memory; then the array is unchanged. */
static inline bool qzi_symbols_grow(void **items, size_t *capacity, size_t count, size_t bytes) {
  if (count < *capacity) return true;
  size_t wanted = *capacity ? *capacity * 2 : 64;
  void *grown = realloc(*items, wanted * bytes);
  if (!grown) return false;
  *items = grown;
  *capacity = wanted;
  return true;
}

struct qzi_symtab_entry {
  uint64_t value, size;
  const char *name; /* in the mapped file */
  uint8_t rank;     /* which of several names for one address to show: the highest (the name may lower it) */
};
struct qzi_symtab {
  struct qzi_symtab_entry *entries; /* by value, then rank */
  size_t count;
  struct qzi_symtab_part *parts; /* pieces of procedures that the compiler moved away (.cold), by value */
  size_t parts_count;
  bool sorted, wholes_found; /* each is done when it is asked for first */
  bool exported;             /* the binary is stripped: between two symbols there may be others, unknown */
};

struct qzi_range {
  uint64_t start, end;
  size_t index;
};
struct qzi_ranges {
  struct qzi_range *items;
  size_t count, capacity;
};

/* A procedure of the debug information. */
struct qzi_function {
  Dwarf_Off die;
  uint64_t entry;
  struct qzi_scopes *scopes; /* NULL: not indexed */
  unsigned asked;            /* how often its scopes were asked for, until they are indexed */
};
struct qzi_unit {
  Dwarf_Die die;
  bool indexed;
  bool library, library_known; /* by qzi_dwarf_of_library alone */
  struct qzi_ranges ranges;    /* index: into functions */
  struct qzi_function *functions;
  size_t function_count, function_capacity;
};
struct qzi_variable {
  uint64_t address;
  Dwarf_Off die;
  size_t unit;
};

struct qzi_binary {
  char *path, *build_id;
  bool opened, dwarf_opened;
  int fd, debug_fd;
  Elf *elf, *debug_elf; /* debug_elf: the separate debug file, where there is one */
  Dwarf *dwarf;
  const char *no_names, *no_lines;       /* why; "" where there are some */
  bool stripped;                         /* it has no symbol table */
  bool linkage_known, linked_statically; /* with the C library; c_names.c alone */

  bool symbols_loaded;
  struct qzi_symtab functions, objects; /* by qzi_functions and qzi_objects alone */

  bool units_indexed, variables_indexed;
  struct qzi_unit *units;
  size_t unit_count, unit_capacity;
  struct qzi_ranges unit_ranges; /* index: into units */
  struct qzi_variable *variables;
  size_t variable_count, variable_capacity;
};

/* binary.c: opens the file and its separate debug file, once. */
void qzi_binary_open(struct qzi_binary *binary, char *const *debug_dirs, size_t debug_dir_count);
/* After that, once: their debug information. Apart, for it may have to be decompressed (40 ms for a C library's), and
 * entries of procedures need symbols alone. */
void qzi_binary_open_dwarf(struct qzi_binary *binary);
void qzi_binary_close(struct qzi_binary *binary);

/* symtab.c: the procedures and the variables of a binary that is open; its tables are read when they are asked for. */
struct qzi_symtab *qzi_functions(struct qzi_binary *binary);
const struct qzi_symtab *qzi_objects(struct qzi_binary *binary);
const struct qzi_symtab_entry *qzi_symtab_find(const struct qzi_symtab *table, uint64_t value);
/* Whether other binaries, or other files of it, can use the symbol. */
bool qzi_symtab_is_global(const struct qzi_symtab_entry *entry);
/* The procedure that it is a piece of (.cold), where only one is called so; else itself. */
const struct qzi_symtab_entry *qzi_symtab_whole(struct qzi_symtab *table, const struct qzi_symtab_entry *entry);

/* go_table.c: gives `add` the procedures of a Go program that has no symbol table, until it returns false; value, size
 * and name (in the mapped file) alone are set. Returns their number; 0: it is none. */
size_t qzi_go_procedures(Elf *elf, bool (*add)(void *context, struct qzi_symtab_entry entry), void *context);

/* dwarf.c: all take addresses in the file's own terms. */
struct qzi_place {
  const char *file;
  int line;
  const char *directory;
}; /* file NULL: unknown */
bool qzi_dwarf_function(struct qzi_binary *binary, uint64_t address, uint64_t *entry, const char **linkage,
                        struct qzi_place *defined);
bool qzi_dwarf_line(struct qzi_binary *binary, uint64_t address, struct qzi_place *place);
bool qzi_dwarf_variable_die(struct qzi_binary *binary, uint64_t address, Dwarf_Die *die);
/* member.c: the part of the variable at `address` that lies `offset` bytes behind its start, as text to go behind its
 * name. */
bool qzi_dwarf_member(struct qzi_binary *binary, uint64_t address, uint64_t offset, char *out, size_t room);
bool qzi_dwarf_variable(struct qzi_binary *binary, uint64_t address, struct qzi_place *place);

/* inlined.c: whether it is a header of the thread package, or source of another library that is compiled into
 * programs. */
bool qzi_is_package_header(const char *file);
/* Whether all of the unit is a library's that was compiled with it: nothing of the program is inlined there. */
bool qzi_dwarf_of_library(struct qzi_unit *unit);
/* Whether the debug information that says what is inlined at the address has been read; there may be none. */
bool qzi_dwarf_ready(struct qzi_binary *binary, uint64_t address);
/* What parts of dwarf.c and inlined.c share: the unit that has the address, NULL: none; the procedure there; where a
 * die is declared. */
struct qzi_unit *qzi_dwarf_unit(struct qzi_binary *binary, uint64_t address);
struct qzi_function *qzi_dwarf_function_at(struct qzi_unit *unit, uint64_t address, Dwarf_Die *die);
void qzi_dwarf_declared(struct qzi_unit *unit, Dwarf_Die *die, struct qzi_place *place);
const char *qzi_dwarf_directory(struct qzi_unit *unit);
/* Adds the addresses of a die. Sorts: by start, what begins there and ends last first, then by index. */
void qzi_ranges_add(struct qzi_ranges *ranges, Dwarf_Die *die, size_t index);
void qzi_ranges_sort(struct qzi_ranges *ranges);

/* scopes.c: what is inlined at the address into the procedure, outermost first; how many, at most `most`. */
int qzi_scopes_inlined(struct qzi_function *function, Dwarf_Die *die, uint64_t address, Dwarf_Die *found, int most);
void qzi_scopes_free(struct qzi_scopes *scopes);

/* inlined.c: as qzi_dwarf_line, but where that line is in the thread package's C++ header, or in another of a library:
 * the line that the inlined call stands on. */
bool qzi_dwarf_call_line(struct qzi_binary *binary, uint64_t address, struct qzi_place *place);
/* The place of the program's own code that is inlined into a library's procedure. */
bool qzi_dwarf_closure(struct qzi_binary *binary, uint64_t address, struct qzi_place *place);
/* Which procedures are inlined at the address, outermost first, without repetitions by recursion; how many, at most
 * `most`. */
size_t qzi_dwarf_inlined(struct qzi_binary *binary, uint64_t address, uint64_t *found, size_t most);
/* Where the one with that index among them is called. false: unknown. */
bool qzi_dwarf_inlined_call(struct qzi_binary *binary, uint64_t address, size_t index, struct qzi_place *place);
/* One of these. false: nothing is known of it. */
struct qzi_inlined {
  const char *linkage; /* NULL: none; then `name` */
  char name[256];
  struct qzi_place place; /* where it is defined */
  bool library;           /* there in a header of a library */
};
bool qzi_dwarf_describe(struct qzi_binary *binary, uint64_t id, struct qzi_inlined *one);

/* rust.c: a name of Rust as one reads it, without hashes; NULL: it is none. To be freed. */
char *qzi_rust_demangle(const char *mangled);
/* Is the procedure of one of the libraries that come with Rust? */
bool qzi_rust_standard(const char *name);
/* Such a one: was it made for a closure of another crate? */
bool qzi_rust_made_for(const char *name);

/* origin.c */
enum qz_symbol_origin qzi_origin(const char *linkage);
/* The state of a std::thread of libstdc++ that runs a lambda, or an object of a class, of the program. */
bool qzi_runs_functor(const char *linkage);

/* c_names.c: the public procedure of the C library for which an inner one works: "__vsnprintf_internal" gives
 * "vsnprintf". NULL: it is none of the C library's, or no such one is known. */
const char *qzi_public_name(struct qzi_binary *binary, const char *linkage);

/* names.c: `out` must take as many bytes as `name` has, and the NUL. */
void qzi_name_without_parameters(const char *demangled, char *out);
/* A procedure of a Fortran module, as gfortran writes it: "__heat_MOD_step" to "heat::step". false: it is none. `out`
 * as above. */
bool qzi_name_fortran(const char *linkage, char *out);
/* The C library's variant of a procedure of strings or memory for some processors: "__strcmp_evex" to "strcmp". false:
 * it is none. */
bool qzi_name_variant(const char *name, char *out);
/* The variable of a critical section of OpenMP, as gcc and clang name it: ".gomp_critical_user_sum" to "omp
 * critical(sum)", that of all sections without a name to "omp critical". false: it is none. `out` as above. */
bool qzi_name_critical(const char *linkage, char *out);
/* Length of `name` without what compilers append to clones (.cold, .part.0, .constprop.0, .isra.0, .llvm.123). */
size_t qzi_name_base_length(const char *name);
/* How many characters at the end of the first `length` ones of a linkage name say that it is the body of an OpenMP
 * region ("._omp_fn.0"): no demangler knows them. 0: it is none. */
size_t qzi_name_region(const char *name, size_t length);
/* Takes "." and ".." and double slashes out of an absolute path, in place. */
void qzi_path_normalize(char *path);

/* demangle.cc: malloced, or NULL if `name` is not a mangled name. */
char *qzi_demangle(const char *name);

#ifdef __cplusplus
}
#endif
#endif
