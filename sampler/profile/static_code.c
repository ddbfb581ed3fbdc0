/* The C library's code in statically linked programs. See static_code.h. */
#include "static_code.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sampler/linux/process.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* Bytes of the file; NULL: outside of it. */
struct image {
  const unsigned char *bytes;
  uint64_t size;
};
static const void *at(struct image image, uint64_t offset, uint64_t bytes) {
  return offset <= image.size && bytes <= image.size - offset ? image.bytes + offset : NULL;
}

static int is_reserved(const char *name) {
  static const char *const begins[] = {"__libc_", "__pthread_", "__lll_", "__nptl_", "_IO_", "__init_libc"};
  for (size_t k = 0; k < COUNT(begins); k++)
    if (!strncmp(name, begins[k], strlen(begins[k]))) return 1;
  return 0;
}

static int has_linker(struct image image, const Elf64_Ehdr *head) {
  for (unsigned k = 0; k < head->e_phnum; k++) {
    const Elf64_Phdr *part = at(image, head->e_phoff + k * sizeof *part, sizeof *part);
    if (!part || part->p_type == PT_INTERP) return 1;
  }
  return 0;
}

static const Elf64_Shdr *section(struct image image, const Elf64_Ehdr *head, uint64_t k) {
  return k < head->e_shnum ? at(image, head->e_shoff + k * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr)) : NULL;
}

/* Range from the first such procedure after `entry` to the end of its section. */
static struct qzi_range look(struct image image, const Elf64_Ehdr *head, const Elf64_Shdr *symbols) {
  struct qzi_range range = {0, 0};
  const Elf64_Shdr *strings = section(image, head, symbols->sh_link);
  const char *names = strings && strings->sh_size ? at(image, strings->sh_offset, strings->sh_size) : NULL;
  if (!names || names[strings->sh_size - 1]) return range;
  for (uint64_t k = 0; k < symbols->sh_size / sizeof(Elf64_Sym); k++) {
    const Elf64_Sym *symbol = at(image, symbols->sh_offset + k * sizeof *symbol, sizeof *symbol);
    if (!symbol) break;
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_value <= head->e_entry ||
        symbol->st_name >= strings->sh_size || !is_reserved(names + symbol->st_name) ||
        (range.end && symbol->st_value >= range.start))
      continue;
    const Elf64_Shdr *code = section(image, head, symbol->st_shndx);
    if (code && code->sh_flags & SHF_EXECINSTR && head->e_entry >= code->sh_addr && symbol->st_value >= code->sh_addr &&
        symbol->st_value - code->sh_addr < code->sh_size)
      range = (struct qzi_range){symbol->st_value, code->sh_addr + code->sh_size};
  }
  return range;
}

static struct qzi_range code_of(const char *path, uint64_t *entry) {
  struct qzi_range range = {0, 0};
  struct stat state;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  *entry = 0;
  if (fd < 0) return range;
  void *map = fstat(fd, &state) || state.st_size < (off_t)sizeof(Elf64_Ehdr)
                ? MAP_FAILED
                : mmap(NULL, (size_t)state.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (map == MAP_FAILED) return range;
  struct image image = {map, (uint64_t)state.st_size};
  Elf64_Ehdr head;
  memcpy(&head, map, sizeof head);
  if (!memcmp(head.e_ident, ELFMAG, SELFMAG) && head.e_ident[EI_CLASS] == ELFCLASS64 && !(head.e_phoff & 7) &&
      !(head.e_shoff & 7) && !has_linker(image, &head)) {
    *entry = head.e_entry;
    for (unsigned k = 0; k < head.e_shnum && !range.end; k++) {
      const Elf64_Shdr *symbols = section(image, &head, k);
      if (symbols && symbols->sh_type == SHT_SYMTAB && !(symbols->sh_offset & 7)) range = look(image, &head, symbols);
    }
  }
  munmap(map, (size_t)state.st_size);
  return range;
}

struct qzi_range qzi_static_c_code(uint32_t pid) {
  char path[64];
  uint64_t placed, entered;
  snprintf(path, sizeof path, "/proc/%u/exe", pid);
  struct qzi_range range = code_of(path, &placed);
  /* The kernel entered the program at `entered`; the difference to the file's entry is the load bias. */
  if (!range.end || !(entered = qzi_process_auxiliary((pid_t)pid, AT_ENTRY))) return (struct qzi_range){0, 0};
  return (struct qzi_range){range.start + (entered - placed), range.end + (entered - placed)};
}
