/* Procedures of a Go program by the table that Go's run-time itself uses for stack traces (section .gopclntab; package
 * runtime, type pcHeader). It is there in stripped programs (-ldflags=-s), which have no symbol table.
 *
 * The layouts of Go 1.18 and 1.20, which differ in the magic number alone, of 64-bit little-endian machines. The file
 * is not trusted: what lies outside the section, or outside code, ends the reading.
 */
#include <gelf.h>
#include <string.h>
#include "internal.h"

#define GO_1_18 0xfffffff0u
#define GO_1_20 0xfffffff1u
#define HEAD    8u /* the magic number, two zeros, the least size of an instruction, the size of a pointer */
/* The words behind it. Entries are pairs of 32-bit numbers: a procedure's code, and its record, which has the code
 * again and then its name; each as an offset from the word that says where its part begins. */
enum { COUNT, FILES, TEXT, NAMES, UNITS, FILE_TABLE, POSITIONS, ENTRIES, WORDS };

struct go_table {
  const unsigned char *bytes;
  uint64_t size, words[WORDS];
};

static bool number(const struct go_table *table, uint64_t at, unsigned bytes, uint64_t *value) {
  if (at > table->size || bytes > table->size - at) return false;
  *value = 0;
  memcpy(value, table->bytes + at, bytes);
  return true;
}

static bool has_name(Elf *elf, const GElf_Shdr *header, const char *wanted) {
  size_t names;
  const char *name = elf_getshdrstrndx(elf, &names) ? NULL : elf_strptr(elf, names, header->sh_name);
  size_t length = name ? strlen(name) : 0, its = strlen(wanted);
  return length >= its && !strcmp(name + length - its, wanted); /* .data.rel.ro.gopclntab, too */
}

/* The word at that address as the dynamic loader leaves it: a position-independent program has it in a relocation. */
static uint64_t relocated(Elf *elf, uint64_t address) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  while ((section = elf_nextscn(elf, section))) {
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA || !header.sh_entsize) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && data->d_buf ? data->d_size / header.sh_entsize : 0;
    GElf_Rela one;
    for (size_t k = 0; k < count && k < INT32_MAX && gelf_getrela(data, (int)k, &one); k++)
      if (one.r_offset == address) return (uint64_t)one.r_addend;
  }
  return 0;
}

/* Finds the table. false: it is no Go program, or the table is of a layout that is not known. */
static bool open_table(Elf *elf, struct go_table *table) {
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  do {
    section = elf_nextscn(elf, section);
    if (!section || !gelf_getshdr(section, &header)) return false;
  } while (header.sh_type != SHT_PROGBITS || !has_name(elf, &header, ".gopclntab"));
  Elf_Data *data = elf_getdata(section, NULL);
  if (gelf_getclass(elf) != ELFCLASS64 || !data || !data->d_buf || data->d_size < HEAD) return false;
  *table = (struct go_table){.bytes = data->d_buf, .size = data->d_size};
  uint64_t magic;
  if (!number(table, 0, 4, &magic) || (magic != GO_1_18 && magic != GO_1_20) || table->bytes[7] != 8) return false;
  for (unsigned k = 0; k < WORDS; k++)
    if (!number(table, HEAD + 8 * (uint64_t)k, 8, &table->words[k])) return false;
  if (!table->words[TEXT]) table->words[TEXT] = relocated(elf, header.sh_addr + HEAD + 8 * TEXT);
  return table->words[TEXT] && table->words[COUNT] <= table->size / 8;
}

static bool is_code(Elf *elf, uint64_t start, uint64_t end) {
  size_t count = 0;
  GElf_Phdr part;
  if (elf_getphdrnum(elf, &count)) return false;
  for (size_t k = 0; k < count && k < INT32_MAX; k++)
    if (gelf_getphdr(elf, (int)k, &part) && part.p_type == PT_LOAD && part.p_flags & PF_X && start >= part.p_vaddr &&
        end - part.p_vaddr <= part.p_memsz)
      return true;
  return false;
}

/* The procedure with that index: its code, and its name. */
static bool procedure(const struct go_table *table, uint64_t index, struct qzi_symtab_entry *entry) {
  uint64_t at = table->words[ENTRIES] + 8 * index, next, record, name;
  if (!number(table, at, 4, &entry->value) || !number(table, at + 4, 4, &record) || !number(table, at + 8, 4, &next) ||
      next < entry->value)
    return false;
  entry->size = next - entry->value;
  entry->value += table->words[TEXT];
  if (!number(table, table->words[ENTRIES] + record + 4, 4, &name)) return false;
  name += table->words[NAMES];
  if (name >= table->size || !memchr(table->bytes + name, 0, table->size - name)) return false;
  entry->name = (const char *)table->bytes + name;
  return true;
}

size_t qzi_go_procedures(Elf *elf, bool (*add)(void *context, struct qzi_symtab_entry entry), void *context) {
  struct go_table table;
  size_t added = 0;
  if (!open_table(elf, &table)) return 0;
  for (uint64_t k = 0; k < table.words[COUNT]; k++) {
    struct qzi_symtab_entry entry = {0};
    if (!procedure(&table, k, &entry) || !is_code(elf, entry.value, entry.value + entry.size)) break;
    if (!entry.size || !entry.name[0]) continue;
    if (!add(context, entry)) break;
    added++;
  }
  return added;
}
