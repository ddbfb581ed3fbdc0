/* Modules, the cache of answers, and how an answer is put together.
 *
 * Owns:    qz_symbols. Reader and writer: its one user.
 */
#include "symbols.h"

#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

struct qzi_arena_block {
  struct qzi_arena_block *next;
  size_t used, size;
  char bytes[];
};

void *qzi_arena_get(struct qzi_arena *arena, size_t bytes) {
  bytes = (bytes + 15) & ~(size_t)15;
  struct qzi_arena_block *block = arena->blocks;
  if (!block || block->size - block->used < bytes) {
    size_t size = bytes > 65536 ? bytes : 65536;
    block = calloc(1, sizeof *block + size);
    if (!block) return NULL;
    block->size = size;
    block->next = arena->blocks;
    arena->blocks = block;
  }
  void *got = block->bytes + block->used;
  block->used += bytes;
  return got;
}

const char *qzi_arena_text(struct qzi_arena *arena, const char *text, size_t length) {
  char *copy = length ? qzi_arena_get(arena, length + 1) : NULL;
  if (!copy) return "";
  memcpy(copy, text, length);
  return copy;
}

void qzi_arena_free(struct qzi_arena *arena) {
  while (arena->blocks) {
    struct qzi_arena_block *next = arena->blocks->next;
    free(arena->blocks);
    arena->blocks = next;
  }
}

#define INLINED_MOST 32u
#define INLINED      5u /* use of answers about inlined procedures: their `address` is that of the debug information */

struct module {
  uint64_t start, end, bias;
  struct qzi_binary *binary;
};
struct answer {
  uint64_t address;
  unsigned use; /* enum qz_symbol_use; INLINED and the binary's number */
  enum qz_symbol_status status;
  struct qz_symbol symbol;
  struct answer *next;
};

struct qz_symbols {
  struct qzi_arena arena;
  struct module *modules;
  size_t module_count, module_capacity;
  size_t within; /* 1 + module that addresses are of, though a later one lies there; 0: none */
  struct qzi_binary **binaries;
  size_t binary_count, binary_capacity;
  char **debug_dirs;
  size_t debug_dir_count;
  struct answer **buckets;
  size_t bucket_count, answer_count;
};

qz_symbols *qz_symbols_new(void) {
  qz_symbols *symbols = calloc(1, sizeof *symbols);
  if (!symbols) return NULL;
  symbols->bucket_count = 1024;
  symbols->buckets = calloc(symbols->bucket_count, sizeof *symbols->buckets);
  if (symbols->buckets) return symbols;
  free(symbols);
  return NULL;
}

void qz_symbols_free(qz_symbols *symbols) {
  if (!symbols) return;
  for (size_t k = 0; k < symbols->binary_count; k++) {
    qzi_binary_close(symbols->binaries[k]);
    free(symbols->binaries[k]);
  }
  for (size_t k = 0; k < symbols->debug_dir_count; k++) free(symbols->debug_dirs[k]);
  free(symbols->debug_dirs);
  free(symbols->binaries);
  free(symbols->modules);
  free(symbols->buckets);
  qzi_arena_free(&symbols->arena);
  free(symbols);
}

int qz_symbols_add_debug_dir(qz_symbols *symbols, const char *directory) {
  char **grown = realloc(symbols->debug_dirs, (symbols->debug_dir_count + 1) * sizeof *grown);
  if (!grown) return ENOMEM;
  symbols->debug_dirs = grown;
  char *copy = strdup(directory);
  if (!copy) return ENOMEM;
  symbols->debug_dirs[symbols->debug_dir_count++] = copy;
  return 0;
}

/* A binary is mapped in several pieces, and perhaps several times: its tables are kept once. */
static struct qzi_binary *binary_of(qz_symbols *symbols, const char *path, const char *build_id) {
  for (size_t k = symbols->binary_count; k-- > 0;)
    if (strcmp(symbols->binaries[k]->path, path) == 0 && strcmp(symbols->binaries[k]->build_id, build_id) == 0)
      return symbols->binaries[k];
  if (symbols->binary_count == symbols->binary_capacity) {
    size_t capacity = symbols->binary_capacity ? symbols->binary_capacity * 2 : 16;
    void *grown = realloc(symbols->binaries, capacity * sizeof *symbols->binaries);
    if (!grown) return NULL;
    symbols->binaries = grown;
    symbols->binary_capacity = capacity;
  }
  struct qzi_binary *binary = calloc(1, sizeof *binary);
  if (!binary) return NULL;
  binary->path = strdup(path);
  binary->build_id = strdup(build_id);
  if (!binary->path || !binary->build_id) {
    free(binary->path);
    free(binary->build_id);
    free(binary);
    return NULL;
  }
  symbols->binaries[symbols->binary_count++] = binary;
  return binary;
}

int qz_symbols_add_module(qz_symbols *symbols, uint64_t start, uint64_t end, uint64_t bias, const char *path,
                          const char *build_id) {
  if (start >= end) return EINVAL;
  if (symbols->module_count == symbols->module_capacity) {
    size_t capacity = symbols->module_capacity ? symbols->module_capacity * 2 : 32;
    void *grown = realloc(symbols->modules, capacity * sizeof *symbols->modules);
    if (!grown) return ENOMEM;
    symbols->modules = grown;
    symbols->module_capacity = capacity;
  }
  struct qzi_binary *binary = binary_of(symbols, path, build_id);
  if (!binary) return ENOMEM;
  symbols->modules[symbols->module_count++] = (struct module){start, end, bias, binary};
  memset(symbols->buckets, 0, symbols->bucket_count * sizeof *symbols->buckets); /* answers may differ from now on */
  symbols->answer_count = 0;
  return 0;
}

static const struct module *module_of(const qz_symbols *symbols, uint64_t address);

void qz_symbols_within(qz_symbols *symbols, size_t module, uint64_t address) {
  symbols->within = 0;
  if (!module || module > symbols->module_count) return;
  if (module_of(symbols, address) != &symbols->modules[module - 1]) symbols->within = module;
}

static const char *file_text(qz_symbols *symbols, const struct qzi_place *place) {
  char path[8192];
  bool relative = place->file[0] != '/' && place->directory[0];
  int length =
    snprintf(path, sizeof path, "%s%s%s", relative ? place->directory : "", relative ? "/" : "", place->file);
  if (length < 0 || (size_t)length >= sizeof path)
    return qzi_arena_text(&symbols->arena, place->file, strlen(place->file));
  qzi_path_normalize(path);
  return qzi_arena_text(&symbols->arena, path, strlen(path));
}

static void set_place(qz_symbols *symbols, struct qz_symbol *symbol, const struct qzi_place *place) {
  if (!place->file || place->line <= 0) return;
  symbol->file = file_text(symbols, place);
  symbol->line = (uint32_t)place->line;
}

/* part: text behind a variable's name; NULL: none. */
static void set_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *linkage, const char *part) {
  symbol->linkage = qzi_arena_text(&symbols->arena, linkage, strlen(linkage));
  size_t base_length = qzi_name_base_length(linkage);
  char *base = strndup(linkage, base_length);
  char *rust = base ? qzi_rust_demangle(base) : NULL, *demangled = rust || !base ? rust : qzi_demangle(base);
  const char *full = demangled ? demangled : base ? base : linkage;
  size_t length = strlen(full);
  char *text = malloc(length + (part ? strlen(part) : 0) + 1);
  if (text) {
    if (demangled && !rust)
      qzi_name_without_parameters(full, text);
    else if (!base || (!qzi_name_fortran(base, text) && !qzi_name_variant(base, text)))
      memcpy(text, full, length + 1);
    if (part) strcat(text, part);
    symbol->name = qzi_arena_text(&symbols->arena, text, strlen(text));
    symbol->full_name = demangled && !part ? qzi_arena_text(&symbols->arena, full, length) : symbol->name;
  }
  free(text);
  free(demangled);
  free(base);
}

static void set_offset_name(qz_symbols *symbols, struct qz_symbol *symbol, const char *path, uint64_t offset) {
  const char *slash = strrchr(path, '/');
  char text[320];
  int length =
    snprintf(text, sizeof text, "%.256s%s0x%" PRIx64, slash && slash[1] ? slash + 1 : path, path[0] ? "+" : "", offset);
  symbol->name = symbol->full_name = qzi_arena_text(&symbols->arena, text, (size_t)length);
}

/* A piece that the compiler moved away (.cold) belongs to the procedure that it came from. */
static const struct qzi_symtab_entry *whole_function(const struct qzi_symtab *table,
                                                     const struct qzi_symtab_entry *entry) {
  if (!entry || !strstr(entry->name, ".cold")) return entry;
  const struct qzi_symtab_entry *whole =
    qzi_symtab_named(table, entry->name, (size_t)(strstr(entry->name, ".cold") - entry->name));
  return whole ? whole : entry;
}

/* Why something is missing: what the binary lacks as a whole, else what it lacks here. */
static void explain(struct qz_symbol *symbol, enum qz_missing missing, const char *whole, const char *here) {
  symbol->missing = missing;
  symbol->detail = whole[0] ? whole : here;
}
static const char no_lines_here[] = "no line information here; compile this file with -g";

static enum qz_symbol_status find_code(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       enum qz_symbol_use use, struct qz_symbol *symbol) {
  struct qzi_binary *binary = module->binary;
  uint64_t at = address - module->bias;
  uint64_t inside = use == QZ_SYMBOL_SITE ? at - 1 : at; /* the call itself lies before its return address */
  uint64_t entry = 0;
  const char *linkage = NULL;
  struct qzi_place defined = {0}, place = {0};
  bool in_dwarf = qzi_dwarf_function(binary, inside, &entry, &linkage, &defined);
  const struct qzi_symtab_entry *found = qzi_symtab_find(&binary->functions, in_dwarf ? entry : inside);
  found = whole_function(&binary->functions, found);
  if (found && in_dwarf && found->value != entry) found = NULL; /* stripped: a neighbour that was exported */
  if (found) {
    linkage = found->name;
    entry = found->value;
  }

  if (linkage) {
    set_name(symbols, symbol, linkage, NULL);
    symbol->entry = entry + module->bias;
    symbol->offset = at - entry;
  } else {
    set_offset_name(symbols, symbol, binary->path, at);
    explain(symbol, binary->stripped ? QZ_MISSING_STRIPPED : QZ_MISSING_NAME, binary->no_names,
            "no symbol at this address");
  }
  if (use == QZ_SYMBOL_PROCEDURE) {
    if (linkage && qzi_origin(linkage) == QZ_SYMBOL_MADE_FOR && qzi_dwarf_closure(binary, entry, &place))
      set_place(symbols, symbol, &place);
    else if (defined.file)
      place = defined;
    else
      qzi_dwarf_line(binary, linkage ? entry : at, &place);
  } else {
    (use == QZ_SYMBOL_SITE ? qzi_dwarf_call_line : qzi_dwarf_line)(binary, inside, &place);
  }
  set_place(symbols, symbol, &place);
  if (!symbol->file[0] && !symbol->detail[0]) explain(symbol, QZ_MISSING_PLACE, binary->no_lines, no_lines_here);
  return linkage ? QZ_SYMBOL_FOUND : QZ_SYMBOL_NAMELESS;
}

static enum qz_symbol_status find_data(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       struct qz_symbol *symbol) {
  struct qzi_binary *binary = module->binary;
  uint64_t at = address - module->bias;
  const struct qzi_symtab_entry *found = qzi_symtab_find(&binary->objects, at);
  if (found && found->size == 0 && found->value != at) found = NULL;
  if (!found) {
    set_offset_name(symbols, symbol, binary->path, at);
    explain(symbol, QZ_MISSING_NAME, binary->no_names, "no variable at this address");
    return QZ_SYMBOL_NAMELESS;
  }
  char part[256];
  bool known = qzi_dwarf_member(binary, found->value, at - found->value, part, sizeof part);
  if (!known && at != found->value)
    snprintf(part, sizeof part, "+%" PRIu64, at - found->value);
  else if (!known)
    part[0] = 0;
  set_name(symbols, symbol, found->name, part[0] ? part : NULL);
  symbol->entry = found->value + module->bias;
  symbol->offset = at - found->value;
  struct qzi_place place = {0};
  if (qzi_dwarf_variable(binary, found->value, &place)) set_place(symbols, symbol, &place);
  if (!symbol->file[0]) explain(symbol, QZ_MISSING_PLACE, binary->no_lines, no_lines_here);
  return QZ_SYMBOL_FOUND;
}

static const struct module *module_of(const qz_symbols *symbols, uint64_t address) {
  const struct module *within = symbols->within ? &symbols->modules[symbols->within - 1] : NULL;
  if (within && within->start <= address && address < within->end) return within;
  for (size_t k = symbols->module_count; k-- > 0;)
    if (symbols->modules[k].start <= address && address < symbols->modules[k].end) return &symbols->modules[k];
  return NULL;
}

static enum qz_symbol_status find_name(qz_symbols *symbols, const struct module *module, uint64_t address,
                                       struct qz_symbol *symbol) {
  const struct qzi_symtab *table = &module->binary->functions;
  const struct qzi_symtab_entry *found = whole_function(table, qzi_symtab_find(table, address - module->bias));
  symbol->module = module->binary->path;
  if (found) {
    set_name(symbols, symbol, found->name, NULL);
    symbol->entry = found->value + module->bias;
    symbol->offset = address - symbol->entry;
  } else {
    set_offset_name(symbols, symbol, module->binary->path, address - module->bias);
  }
  if (found)
    explain(symbol, QZ_MISSING_SYSTEM, "", "in a library of the system: its debug information is not read");
  else
    explain(symbol, QZ_MISSING_NAME, "", "no symbol at this address");
  return found ? QZ_SYMBOL_FOUND : QZ_SYMBOL_NAMELESS;
}

static enum qz_symbol_status find(qz_symbols *symbols, uint64_t address, enum qz_symbol_use use,
                                  struct qz_symbol *symbol) {
  const struct module *module = module_of(symbols, address);
  if (!module) {
    set_offset_name(symbols, symbol, "", address);
    explain(symbol, QZ_MISSING_NAME, address ? "in no file of the program: generated code, or unloaded" : "",
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
  const struct module *module = module_of(symbols, address);
  if (!module) return 0;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  const struct qzi_symtab *table = &module->binary->functions;
  const struct qzi_symtab_entry *found = whole_function(table, qzi_symtab_find(table, address - module->bias));
  if (found) *origin = qzi_origin(found->name);
  return found ? found->value + module->bias : 0;
}

const char *qz_symbols_linkage(qz_symbols *symbols, uint64_t address) {
  const struct module *module = module_of(symbols, address);
  if (!module) return "";
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  const struct qzi_symtab_entry *found = qzi_symtab_find(&module->binary->functions, address - module->bias);
  return found ? found->name : "";
}

static size_t bucket_of(const qz_symbols *symbols, uint64_t address, unsigned use) {
  return (size_t)((address * 4 + use) * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (symbols->bucket_count - 1);
}

static void grow_buckets(qz_symbols *symbols) {
  size_t old_count = symbols->bucket_count;
  struct answer **old = symbols->buckets, **grown = calloc(old_count * 2, sizeof *grown);
  if (!grown) return;
  symbols->buckets = grown;
  symbols->bucket_count = old_count * 2;
  for (size_t k = 0; k < old_count; k++)
    for (struct answer *answer = old[k], *next; answer; answer = next) {
      next = answer->next;
      size_t bucket = bucket_of(symbols, answer->address, answer->use);
      answer->next = grown[bucket];
      grown[bucket] = answer;
    }
  free(old);
}

static struct answer *known_answer(const qz_symbols *symbols, uint64_t address, unsigned use) {
  struct answer *answer = symbols->buckets[bucket_of(symbols, address, use)];
  while (answer && (answer->address != address || answer->use != use)) answer = answer->next;
  return answer;
}

static void keep_answer(qz_symbols *symbols, uint64_t address, unsigned use, enum qz_symbol_status status,
                        const struct qz_symbol *symbol) {
  struct answer *answer = qzi_arena_get(&symbols->arena, sizeof *answer);
  size_t bucket = bucket_of(symbols, address, use);
  if (!answer) return;
  *answer = (struct answer){address, use, status, *symbol, symbols->buckets[bucket]};
  symbols->buckets[bucket] = answer;
  if (++symbols->answer_count > symbols->bucket_count) grow_buckets(symbols);
}

static const struct qz_symbol nothing = {
  .name = "", .full_name = "", .linkage = "", .file = "", .module = "", .detail = ""};

enum qz_symbol_status qz_symbols_find(qz_symbols *symbols, uint64_t address, enum qz_symbol_use use,
                                      struct qz_symbol *symbol) {
  *symbol = nothing;
  if (symbols->within) return find(symbols, address, use, symbol); /* what is kept is of the last one */
  const struct answer *answer = known_answer(symbols, address, use);
  if (answer) {
    *symbol = answer->symbol;
    return answer->status;
  }
  enum qz_symbol_status status = find(symbols, address, use, symbol);
  keep_answer(symbols, address, use, status, symbol);
  return status;
}

/* ---- inlined procedures ---- */

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
    const struct answer *answer = known_answer(symbols, ids[k], use);
    if (answer) {
      *one = (struct inlined){answer->symbol, answer->status != QZ_SYMBOL_FOUND};
    } else {
      if (!qzi_dwarf_describe(binary, ids[k], &its)) continue;
      *one = (struct inlined){nothing, its.library};
      one->symbol.module = binary->path;
      if (its.linkage)
        set_name(symbols, &one->symbol, its.linkage, NULL);
      else
        one->symbol.name = one->symbol.full_name = qzi_arena_text(&symbols->arena, its.name, strlen(its.name));
      set_place(symbols, &one->symbol, &its.place);
      keep_answer(symbols, ids[k], use, its.library ? QZ_SYMBOL_NAMELESS : QZ_SYMBOL_FOUND, &one->symbol);
    }
    used++;
  }
  return used;
}

/* Of what is inlined at the address, all[0 .. count-1], what reports show: own[k] is its index. Their number. */
static size_t own_of(const struct module *module, uint64_t address, const struct inlined *all, size_t count,
                     size_t *own) {
  const struct qzi_symtab_entry *whole =
    count ? qzi_symtab_find(&module->binary->functions, address - module->bias) : NULL;
  bool shown = whole && qzi_runs_functor(whole->name); /* under that name is the first one known already */
  size_t used = 0;
  for (size_t k = 0; k < count; k++) {
    if (!all[k].library && !shown) own[used++] = k;
    shown = shown && all[k].library;
  }
  return used;
}

size_t qz_symbols_inlined(qz_symbols *symbols, uint64_t address, struct qz_symbol *found, size_t most) {
  const struct module *module = module_of(symbols, address);
  struct inlined all[INLINED_MOST];
  size_t own[INLINED_MOST], count = module ? inlined_at(symbols, module, address, all) : 0;
  size_t used = own_of(module, address, all, count, own);
  if (used > most) used = most;
  for (size_t k = 0; k < used; k++) found[k] = all[own[k]].symbol;
  return used;
}

bool qz_symbols_scope_line(qz_symbols *symbols, uint64_t address, size_t depth, struct qz_symbol *found) {
  const struct module *module = module_of(symbols, address);
  if (!module) return false;
  struct inlined all[INLINED_MOST];
  size_t own[INLINED_MOST], count = inlined_at(symbols, module, address, all);
  size_t used = own_of(module, address, all, count, own);
  size_t next = depth > used ? count : depth ? own[depth - 1] + 1 : 0; /* what is inlined into that scope */
  struct qzi_place place = {0};
  *found = nothing;
  if (next < count ? !qzi_dwarf_inlined_call(module->binary, address - module->bias, next, &place)
                   : !qzi_dwarf_line(module->binary, address - module->bias, &place))
    return false;
  set_place(symbols, found, &place);
  return found->line != 0;
}

bool qz_symbols_extent(qz_symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end) {
  const struct module *module = module_of(symbols, address);
  if (!module) return false;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  const struct qzi_symtab_entry *found = qzi_symtab_find(&module->binary->functions, address - module->bias);
  if (!found) return false;
  *start = found->value + module->bias;
  *end = *start + found->size;
  return true;
}

size_t qz_symbols_code(qz_symbols *symbols, uint64_t address, unsigned char *bytes, size_t most, const char **why) {
  const struct module *module = module_of(symbols, address);
  *why = "no binary is known to hold this address";
  if (!module) return 0;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  Elf *elf = module->binary->elf;
  *why = module->binary->no_names;
  if (!elf) return 0;
  *why = "its binary has no code there";
  uint64_t at = address - module->bias;
  size_t count = 0;
  if (elf_getphdrnum(elf, &count)) return 0;
  for (size_t k = 0; k < count && k < INT_MAX; k++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)k, &part) || part.p_type != PT_LOAD || at < part.p_vaddr ||
        at - part.p_vaddr >= part.p_filesz)
      continue;
    uint64_t offset = at - part.p_vaddr, left = part.p_filesz - offset;
    size_t wanted = left < most ? (size_t)left : most;
    if (offset > INT64_MAX - part.p_offset) return 0;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)(part.p_offset + offset), wanted, ELF_T_BYTE);
    if (!data || !data->d_buf || data->d_size < wanted) return 0;
    memcpy(bytes, data->d_buf, wanted);
    return wanted;
  }
  return 0;
}

/* Is the symbol what is shown as `name`, or does the symbol table call it so? Parts of a procedure are not. */
static bool is_called(qz_symbols *symbols, const struct qzi_symtab_entry *entry, const char *name, bool plain) {
  if (strstr(entry->name, ".cold")) return false;
  size_t length = qzi_name_base_length(entry->name);
  if (strlen(name) == length && !memcmp(entry->name, name, length)) return true;
  if (plain || entry->name[0] != '_') return !strcmp(entry->name, name);
  struct qz_symbol symbol = {0};
  set_name(symbols, &symbol, entry->name, NULL);
  return symbol.name && !strcmp(symbol.name, name);
}

size_t qz_symbols_named(qz_symbols *symbols, const char *name, bool data, struct qz_symbol_place *found, size_t most) {
  size_t count = 0;
  for (size_t m = 0; m < symbols->module_count && !count; m++) {
    const struct module *module = &symbols->modules[m];
    qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
    const struct qzi_symtab *table = data ? &module->binary->objects : &module->binary->functions;
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

int qz_symbols_inlined_ready(qz_symbols *symbols, uint64_t address) {
  const struct module *module = module_of(symbols, address);
  return !module || qzi_dwarf_ready(module->binary, address - module->bias);
}

int qz_symbols_inlined_call(qz_symbols *symbols, uint64_t address, struct qz_symbol *found) {
  const struct module *module = module_of(symbols, address - 1);
  struct inlined all[INLINED_MOST];
  size_t count = module ? inlined_at(symbols, module, address - 1, all) : 0, outermost = count;
  while (outermost > 0 && all[outermost - 1].library) outermost--;
  if (outermost == count) return 0;
  *found = all[outermost].symbol;
  return 1;
}
