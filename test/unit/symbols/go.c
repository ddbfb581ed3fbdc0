/* Procedures of a stripped Go program, by Go's own table, compared with the symbol table of the same program.
 * And the place of main.
 * test_symbol_go SYMBOLS STRIPPED [MAGIC]: two builds that differ only in that. MAGIC: the stripped one is read from a
 * copy whose table has that magic number, of a later Go with the same layout. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "symbols/symbols.h"
#include "test/support/check.h"

static const char *copy_with(const char *path, uint32_t magic) {
  static char name[4096];
  snprintf(name, sizeof name, "%s.later", path);
  FILE *from = fopen(path, "rb"), *to = fopen(name, "wb");
  CHECK(from && to);
  fseek(from, 0, SEEK_END);
  size_t size = (size_t)ftell(from);
  rewind(from);
  unsigned char *bytes = malloc(size);
  CHECK(bytes && fread(bytes, 1, size, from) == size);
  static const unsigned char head[] = {0xf0, 0xff, 0xff, 0xff, 0, 0, 1, 8}; /* on x86-64 */
  unsigned char *table = memmem(bytes, size, head, sizeof head);
  CHECK(table);
  memcpy(table, &magic, sizeof magic);
  CHECK(fwrite(bytes, 1, size, to) == size);
  fclose(from);
  fclose(to);
  free(bytes);
  return name;
}

/* Go 1.19 declares a procedure's file alone: its line is that of its code. */
static void check_place(const char *program) {
  char whole[PATH_MAX];
  CHECK(realpath(program, whole));
  qz_symbols *symbols = qz_symbols_new();
  struct qz_symbol found;
  struct qz_symbol_place place;
  CHECK(symbols && !qz_symbols_add_module(symbols, 1, UINT64_MAX / 2, 0, whole, ""));
  CHECK_IS(qz_symbols_named(symbols, "main.main", false, &place, 1), 1);
  CHECK(qz_symbols_find(symbols, place.low, QZ_SYMBOL_PROCEDURE, &found) == QZ_SYMBOL_FOUND);
  CHECK(strstr(found.file, "program.go"));
  CHECK_IS(found.line, 5);
  qz_symbols_free(symbols);
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  check_place(argv[1]);
  char stripped[PATH_MAX];
  CHECK(realpath(argc > 3 ? copy_with(argv[2], (uint32_t)strtoul(argv[3], NULL, 16)) : argv[2], stripped));
  qz_symbols *symbols = qz_symbols_new();
  CHECK(symbols && !qz_symbols_add_module(symbols, 1, UINT64_MAX / 2, 0, stripped, ""));
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(open(argv[1], O_RDONLY), ELF_C_READ_MMAP, NULL);
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  unsigned compared = 0, different = 0;
  while ((section = elf_nextscn(elf, section))) {
    if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    for (int k = 0; (size_t)k < data->d_size / header.sh_entsize; k++) {
      GElf_Sym one;
      gelf_getsym(data, k, &one);
      const char *name = elf_strptr(elf, header.sh_link, one.st_name);
      bool go = !strncmp(name, "main.", 5) || !strncmp(name, "runtime.", 8) || !strncmp(name, "fmt.", 4);
      if (GELF_ST_TYPE(one.st_info) != STT_FUNC || !one.st_size || !go || strstr(name, ".abi0")) continue;
      struct qz_symbol found;
      compared++;
      if (qz_symbols_find(symbols, one.st_value + one.st_size / 2, QZ_SYMBOL_CODE, &found) == QZ_SYMBOL_FOUND &&
          found.entry == one.st_value && !strcmp(found.linkage, name))
        continue;
      different++;
      if (different < 10) fprintf(stderr, "%s is %s at %jx\n", name, found.name, (uintmax_t)found.entry);
    }
  }
  CHECK(compared > 500);
  CHECK_IS(different, 0);
  elf_end(elf);
  qz_symbols_free(symbols);
  return 0;
}
