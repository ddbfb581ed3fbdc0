/* Symbol tables of ELF files, sorted by address. Owns qzi_symtab; reads .symtab, else .dynsym and Go's
 * own table.
 *
 * They are read while the program that is recorded runs, and large ones have some hundred thousand symbols: so they are
 * read, sorted and searched for pieces only when somebody asks for that, and names are read only where they decide.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"
#include "abi/hash.h"

struct table {
  struct qzi_symtab *symtab;
  size_t capacity;
};

static bool append(struct table *table, struct qzi_symtab_entry entry) {
  if (!qzi_symbols_grow((void **)&table->symtab->entries, &table->capacity, table->symtab->count,
                        sizeof *table->symtab->entries))
    return false;
  table->symtab->entries[table->symtab->count++] = entry;
  return true;
}

#define SIZED        16u
#define TYPED        8u
#define KNOWN        4u
#define GLOBAL       2u
#define WEAK         1u
#define SECTIONS     65536u

/* Bytes that a symbol without a size reaches in a stripped binary. x264's last exported one of 8-bit assembly is
 * followed by 225 KB of other procedures. */
#define UNSIZED_MOST 4096u

/* Of several names for one address people know the one that is not reserved (__x, _X), and not there for old programs
 * alone (cfree beside free); then a typed, sized, global one. */
static uint8_t rank(const char *name, unsigned type, unsigned binding, uint64_t size, bool old) {
  bool reserved = name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] < 'Z' && name[1] != 'R'));
  return (uint8_t)((size ? SIZED : 0) + (type != STT_NOTYPE ? TYPED : 0) + (reserved || old ? 0 : KNOWN) +
                   (binding == STB_GLOBAL ? GLOBAL
                    : binding == STB_WEAK ? WEAK
                                          : 0));
}

bool qzi_symtab_is_global(const struct qzi_symtab_entry *entry) { return (entry->rank & (GLOBAL | WEAK)) != 0; }

/* The same, where the name itself may say that it is an old one: a version that is not the default one. */
static unsigned rank_of(const struct qzi_symtab_entry *entry) {
  const char *mark = entry->rank & KNOWN ? strchr(entry->name, '@') : NULL;
  return mark && mark[1] != '@' ? entry->rank - KNOWN : entry->rank;
}

static int by_rank(const void *a, const void *b) {
  const struct qzi_symtab_entry *x = a, *y = b;
  unsigned its = rank_of(x), other = rank_of(y);
  if (its != other) return its < other ? -1 : 1;
  return -strcmp(x->name, y->name); /* so that the choice does not depend on the sort */
}

/* One pass of a sort by digits. false: all have the same one, and nothing was moved. */
#define DIGIT_BITS 11u
#define DIGITS     (1u << DIGIT_BITS)
static bool sort_by_digit(const struct qzi_symtab_entry *from, struct qzi_symtab_entry *to, size_t count,
                          unsigned shift) {
  size_t places[DIGITS] = {0}, place = 0;
  for (size_t k = 0; k < count; k++) places[from[k].value >> shift & (DIGITS - 1)]++;
  if (places[from[0].value >> shift & (DIGITS - 1)] == count) return false;
  for (unsigned digit = 0; digit < DIGITS; digit++) {
    size_t its = places[digit];
    places[digit] = place;
    place += its;
  }
  for (size_t k = 0; k < count; k++) to[places[from[k].value >> shift & (DIGITS - 1)]++] = from[k];
  return true;
}

static int by_value(const void *a, const void *b) {
  const struct qzi_symtab_entry *x = a, *y = b;
  return x->value != y->value ? (x->value < y->value ? -1 : 1) : by_rank(a, b);
}

/* By value, then rank. Names are read only where several have one value. */
static void sort(struct qzi_symtab *table) {
  size_t count = table->count;
  struct qzi_symtab_entry *other = count ? malloc(count * sizeof *other) : NULL;
  if (!other) {
    if (count) qsort(table->entries, count, sizeof *table->entries, by_value);
    return;
  }
  for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
    if (!sort_by_digit(table->entries, other, count, shift)) continue;
    struct qzi_symtab_entry *sorted = other;
    other = table->entries;
    table->entries = sorted;
  }
  free(other);
  for (size_t first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && table->entries[end].value == table->entries[first].value;) end++;
    if (end > first + 1) qsort(table->entries + first, end - first, sizeof *table->entries, by_rank);
  }
}

/* Which sections have code: a byte for each. NULL: no memory, or no section. */
static bool *executable_sections(Elf *elf, size_t *count) {
  if (elf_getshdrnum(elf, count) || !*count) return NULL;
  if (*count > SECTIONS) *count = SECTIONS;
  bool *executable = calloc(*count, 1);
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while (executable && (section = elf_nextscn(elf, section)))
    if (elf_ndxscn(section) < *count && gelf_getshdr(section, &header))
      executable[elf_ndxscn(section)] = (header.sh_flags & SHF_EXECINSTR) != 0;
  return executable;
}

/* Versions of the dynamic symbols; NULL: they have none. */
static Elf_Data *versions_of(Elf *elf, Elf64_Word wanted) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while (wanted == SHT_DYNSYM && (section = elf_nextscn(elf, section)))
    if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym) return elf_getdata(section, NULL);
  return NULL;
}

/* What nothing is linked with any more: a version that is not the default one (Linux Standard Base, symbol versioning).
 */
static bool is_old(Elf_Data *versions, size_t at) {
  GElf_Versym version;
  return versions && gelf_getversym(versions, (int)at, &version) && (version & 0x8000);
}

/* The names of a symbol table, in one piece that ends with a NUL; NULL: not so, they are asked for one by one. */
static const Elf_Data *names_of(Elf *elf, const GElf_Shdr *table) {
  GElf_Shdr header;
  Elf_Scn *section = elf_getscn(elf, table->sh_link);
  if (!section || !gelf_getshdr(section, &header) || header.sh_type != SHT_STRTAB || header.sh_flags & SHF_COMPRESSED)
    return NULL;
  const Elf_Data *data = elf_getdata(section, NULL);
  return data && data->d_buf && data->d_size && data->d_size == header.sh_size &&
             !((const char *)data->d_buf)[data->d_size - 1]
           ? data
           : NULL;
}

struct reading {
  Elf *elf;
  GElf_Shdr header;
  const Elf_Data *names;
  Elf_Data *versions;
  const bool *executable;
  size_t sections;
};

/* true: the symbol is kept. */
static bool add_symbol(const struct reading *from, const GElf_Sym *symbol, size_t at, struct table *functions,
                       struct table *objects) {
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !symbol->st_name) return false;
  const char *name = !from->names ? elf_strptr(from->elf, from->header.sh_link, symbol->st_name)
                     : symbol->st_name < from->names->d_size ? (const char *)from->names->d_buf + symbol->st_name
                                                             : NULL;
  if (!name || !name[0]) return false;
  unsigned type = GELF_ST_TYPE(symbol->st_info);
  bool code = symbol->st_shndx < SHN_LORESERVE && symbol->st_shndx < from->sections && from->executable &&
              from->executable[symbol->st_shndx];
  struct qzi_symtab_entry entry = {
    symbol->st_value, symbol->st_size, name,
    rank(name, type, GELF_ST_BIND(symbol->st_info), symbol->st_size, is_old(from->versions, at))};
  if (type == STT_FUNC || type == STT_GNU_IFUNC) return append(functions, entry);
  if (type == STT_OBJECT && symbol->st_size && code) return append(functions, entry); /* GHC's, with a table before */
  if (type == STT_OBJECT || type == STT_COMMON) return append(objects, entry);
  /* Written in assembly without a type; $x marks are not names. */
  return type == STT_NOTYPE && name[0] != '$' && name[0] != '.' && code && append(functions, entry);
}

static bool load_section(Elf *elf, Elf64_Word wanted, struct table *functions, struct table *objects) {
  struct reading from = {.elf = elf, .versions = versions_of(elf, wanted)};
  bool *executable = executable_sections(elf, &from.sections);
  from.executable = executable;
  Elf_Scn *section = NULL;
  bool found = false;
  while ((section = elf_nextscn(elf, section))) {
    if (!gelf_getshdr(section, &from.header) || from.header.sh_type != wanted || from.header.sh_entsize == 0) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf) continue;
    size_t count = data->d_size / from.header.sh_entsize;
    if (count > INT32_MAX) continue;
    from.names = names_of(elf, &from.header);
    for (size_t k = 0; k < count; k++) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, (int)k, &symbol)) break;
      found |= add_symbol(&from, &symbol, k, functions, objects);
    }
  }
  free(executable);
  return found;
}

/* ---- pieces ---- */

struct qzi_symtab_part {
  const struct qzi_symtab_entry *entry, *whole; /* whole: NULL: none is called so, or several are */
  size_t length;                                /* of the name of the whole */
  bool several;
};

static const char *cold_at(const char *name) { return strstr(name, ".cold"); }

static size_t hash_of(const char *name, size_t length) {
  size_t hash = length;
  for (size_t k = 0; k < length; k++) hash = (hash ^ (unsigned char)name[k]) * QZ_HASH_FACTOR_32;
  return hash ^ hash >> 15;
}

/* Finds the procedure of each piece, in one pass: there may be a hundred thousand procedures, and pieces are looked up
 * while a program runs. Without memory pieces stand for themselves. */
static void find_wholes(struct qzi_symtab *table) {
  size_t count = 0, mask = 63;
  for (size_t k = 0; k < table->count; k++) count += cold_at(table->entries[k].name) != NULL;
  while (mask < 2 * count) mask = 2 * mask + 1;
  struct qzi_symtab_part *parts = count ? calloc(count, sizeof *parts) : NULL;
  uint32_t *slots = parts ? calloc(mask + 1, sizeof *slots) : NULL; /* by name: number of the piece, from 1 */
  table->parts = parts;
  if (!slots) return;
  for (size_t k = 0; k < table->count; k++) {
    const struct qzi_symtab_entry *entry = &table->entries[k];
    const char *cold = cold_at(entry->name);
    if (!cold) continue;
    parts[table->parts_count++] = (struct qzi_symtab_part){.entry = entry, .length = (size_t)(cold - entry->name)};
    size_t at = hash_of(entry->name, (size_t)(cold - entry->name)) & mask;
    while (slots[at]) at = (at + 1) & mask;
    slots[at] = (uint32_t)table->parts_count;
  }
  for (size_t k = 0; k < table->count; k++) {
    const struct qzi_symtab_entry *entry = &table->entries[k];
    size_t length = strlen(entry->name);
    for (size_t at = hash_of(entry->name, length) & mask; slots[at]; at = (at + 1) & mask) {
      struct qzi_symtab_part *part = &parts[slots[at] - 1];
      if (part->length != length || memcmp(part->entry->name, entry->name, length) != 0) continue;
      part->several |= part->whole && part->whole->value != entry->value;
      part->whole = part->several ? NULL : entry;
    }
  }
  free(slots);
}

static bool add_go(void *functions, struct qzi_symtab_entry entry) {
  entry.rank = SIZED | TYPED | KNOWN;
  return append(functions, entry);
}

static void load(struct qzi_binary *binary) {
  struct table functions = {&binary->functions, 0}, objects = {&binary->objects, 0};
  bool full = (binary->debug_elf && load_section(binary->debug_elf, SHT_SYMTAB, &functions, &objects)) ||
              (binary->elf && load_section(binary->elf, SHT_SYMTAB, &functions, &objects));
  if (full) return;
  if (binary->elf) load_section(binary->elf, SHT_DYNSYM, &functions, &objects);
  if (binary->elf && qzi_go_procedures(binary->elf, add_go, &functions)) return;
  binary->functions.exported = true;
  binary->no_names = "stripped: no symbol table";
  binary->stripped = true;
}

static struct qzi_symtab *loaded(struct qzi_binary *binary, struct qzi_symtab *table) {
  if (!binary->symbols_loaded && (binary->elf || binary->debug_elf)) load(binary);
  binary->symbols_loaded = true;
  if (!table->sorted) sort(table);
  table->sorted = true;
  return table;
}
struct qzi_symtab *qzi_functions(struct qzi_binary *binary) {
  return loaded(binary, &binary->functions);
}
const struct qzi_symtab *qzi_objects(struct qzi_binary *binary) { return loaded(binary, &binary->objects); }

const struct qzi_symtab_entry *qzi_symtab_find(const struct qzi_symtab *table, uint64_t value) {
  size_t low = 0, high = table->count; /* first entry above value */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table->entries[middle].value <= value)
      low = middle + 1;
    else
      high = middle;
  }
  /* The nearest entry below is the one, unless it has ended: then a larger one may still enclose the address. */
  for (size_t steps = 0; low > 0 && steps < 32; low--, steps++) {
    const struct qzi_symtab_entry *entry = &table->entries[low - 1];
    uint64_t offset = value - entry->value;
    if (offset < entry->size || offset == 0) return entry;
    /* Unsized (assembly): reaches to the next symbol, if all are known. */
    if (entry->size == 0 && steps == 0 && (!table->exported || offset < UNSIZED_MOST)) return entry;
  }
  return NULL;
}

const struct qzi_symtab_entry *qzi_symtab_whole(struct qzi_symtab *table, const struct qzi_symtab_entry *entry) {
  if (!entry || !cold_at(entry->name)) return entry;
  if (!table->wholes_found) find_wholes(table);
  table->wholes_found = true;
  size_t low = 0, high = table->parts_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct qzi_symtab_part *part = &table->parts[middle];
    if (part->entry == entry) return part->whole ? part->whole : entry;
    if (part->entry < entry)
      low = middle + 1;
    else
      high = middle;
  }
  return entry;
}
