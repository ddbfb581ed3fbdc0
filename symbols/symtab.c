/* Symbol tables of ELF files, sorted by address. Owns qzi_symtab; reads .symtab, else .dynsym. */
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
  if (table->symtab->count == table->capacity) {
    size_t capacity = table->capacity ? table->capacity * 2 : 256;
    void *grown = realloc(table->symtab->entries, capacity * sizeof *table->symtab->entries);
    if (!grown) return false;
    table->symtab->entries = grown;
    table->capacity = capacity;
  }
  table->symtab->entries[table->symtab->count++] = entry;
  return true;
}

/* Of several names for one address people know the one that is not reserved (__x, _X), and not there for old programs
 * alone (cfree beside free); then a typed, sized, global one. */
static uint8_t rank(const char *name, unsigned type, unsigned binding, uint64_t size, bool old) {
  bool reserved = name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] < 'Z' && name[1] != 'R'));
  return (uint8_t)((size ? 16 : 0) + (type != STT_NOTYPE ? 8 : 0) + (reserved || old ? 0 : 4) +
                   (binding == STB_GLOBAL ? 2
                    : binding == STB_WEAK ? 1
                                          : 0));
}

static int by_value(const void *a, const void *b) {
  const struct qzi_symtab_entry *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return -strcmp(x->name, y->name); /* so that the choice does not depend on the sort */
}

static bool executable(Elf *elf, size_t section_index) {
  GElf_Shdr header;
  Elf_Scn *section = elf_getscn(elf, section_index);
  return section && gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR);
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
static bool is_old(Elf_Data *versions, size_t at, const char *name) {
  GElf_Versym version;
  const char *mark = strchr(name, '@');
  return (mark && mark[1] != '@') || (versions && gelf_getversym(versions, (int)at, &version) && (version & 0x8000));
}

static bool load_section(struct qzi_binary *binary, Elf *elf, Elf64_Word wanted, struct table *functions,
                         struct table *objects) {
  Elf_Scn *section = NULL;
  Elf_Data *versions = versions_of(elf, wanted);
  bool found = false;
  while ((section = elf_nextscn(elf, section))) {
    GElf_Shdr header;
    if (!gelf_getshdr(section, &header) || header.sh_type != wanted || header.sh_entsize == 0) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !data->d_buf) continue;
    size_t count = data->d_size / header.sh_entsize;
    if (count > INT32_MAX) continue;
    for (size_t k = 0; k < count; k++) {
      GElf_Sym symbol;
      if (!gelf_getsym(data, (int)k, &symbol)) break;
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
      const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (!name || !name[0]) continue;
      unsigned type = GELF_ST_TYPE(symbol.st_info);
      struct qzi_symtab_entry entry = {
        symbol.st_value, symbol.st_size, name,
        rank(name, type, GELF_ST_BIND(symbol.st_info), symbol.st_size, is_old(versions, k, name))};
      if (type == STT_FUNC || type == STT_GNU_IFUNC)
        found |= append(functions, entry);
      else if (type == STT_OBJECT && symbol.st_size && symbol.st_shndx < SHN_LORESERVE &&
               executable(elf, symbol.st_shndx))
        found |= append(functions, entry); /* GHC's procedures, which have a table before them */
      else if (type == STT_OBJECT || type == STT_COMMON)
        found |= append(objects, entry);
      else if (type == STT_NOTYPE && name[0] != '$' && name[0] != '.' && symbol.st_shndx < SHN_LORESERVE &&
               executable(elf, symbol.st_shndx))
        found |= append(functions, entry); /* written in assembly without a type; $x marks are not names */
    }
  }
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

void qzi_symtab_load(struct qzi_binary *binary) {
  struct table functions = {&binary->functions, 0}, objects = {&binary->objects, 0};
  bool full = (binary->debug_elf && load_section(binary, binary->debug_elf, SHT_SYMTAB, &functions, &objects)) ||
              (binary->elf && load_section(binary, binary->elf, SHT_SYMTAB, &functions, &objects));
  if (!full) {
    if (binary->elf) load_section(binary, binary->elf, SHT_DYNSYM, &functions, &objects);
    binary->no_names = "stripped: no symbol table";
    binary->stripped = true;
  }
  if (binary->functions.count)
    qsort(binary->functions.entries, binary->functions.count, sizeof *binary->functions.entries, by_value);
  find_wholes(&binary->functions);
  if (binary->objects.count)
    qsort(binary->objects.entries, binary->objects.count, sizeof *binary->objects.entries, by_value);
}

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
    if (entry->size == 0 && steps == 0) return entry; /* unsized: reaches to the next symbol */
  }
  return NULL;
}

const struct qzi_symtab_entry *qzi_symtab_whole(const struct qzi_symtab *table, const struct qzi_symtab_entry *entry) {
  size_t low = 0, high = entry && cold_at(entry->name) ? table->parts_count : 0;
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
