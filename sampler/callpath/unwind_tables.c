/* See unwind_tables.h. */
#include "unwind_tables.h"

#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARTS_MOST 256u /* maximum number of rows of one procedure's unwind information that are skipped */

/* Finds the sorted table of procedures that the linker made for exceptions (.eh_frame_hdr); stripped binaries have it,
 * too. */
static void find_index(struct qzi_unwind_binary *binary) {
  size_t count, bytes;
  const unsigned char *image = (const unsigned char *)elf_rawfile(binary->elf, &bytes);
  if (!image || elf_getphdrnum(binary->elf, &count)) return;
  for (size_t k = 0; k < count; k++) {
    GElf_Phdr part;
    uint32_t found;
    if (!gelf_getphdr(binary->elf, (int)k, &part) || part.p_type != PT_GNU_EH_FRAME) continue;
    if (part.p_offset > bytes || part.p_filesz > bytes - part.p_offset || part.p_filesz < 12) return;
    const unsigned char *at = image + part.p_offset;
    /* Requires version 1, the count as 4 bytes, and the table as 4-byte offsets from this header. */
    if (at[0] != 1 || at[2] != DW_EH_PE_udata4 || at[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4)) return;
    memcpy(&found, at + 8, sizeof found);
    if (found > (part.p_filesz - 12) / 8) return;
    binary->index = at + 12;
    binary->index_address = part.p_vaddr;
    binary->index_count = found;
  }
}

static void find_stubs(struct qzi_unwind_binary *binary) {
  size_t names;
  GElf_Shdr header;
  Elf_Scn *section = NULL;
  if (elf_getshdrstrndx(binary->elf, &names)) return;
  while ((section = elf_nextscn(binary->elf, section)) && binary->stubs_count < STUBS_MOST) {
    const char *name = gelf_getshdr(section, &header) ? elf_strptr(binary->elf, names, header.sh_name) : NULL;
    if (!name || strncmp(name, ".plt", 4) || !(header.sh_flags & SHF_EXECINSTR)) continue;
    binary->stubs[binary->stubs_count].low = header.sh_addr;
    binary->stubs[binary->stubs_count++].high = header.sh_addr + header.sh_size;
  }
}

int qzi_unwind_binary_is_stub(const struct qzi_unwind_binary *binary, uint64_t address) {
  for (uint32_t k = 0; k < binary->stubs_count; k++)
    if (address >= binary->stubs[k].low && address < binary->stubs[k].high) return 1;
  return 0;
}

static uint64_t index_entry(const struct qzi_unwind_binary *binary, uint32_t k) {
  int32_t offset;
  memcpy(&offset, binary->index + 8 * (size_t)k, sizeof offset);
  return binary->index_address + (uint64_t)(int64_t)offset;
}

/* Number of pieces that begin at or before the address. */
static uint32_t index_at(const struct qzi_unwind_binary *binary, uint64_t address) {
  uint32_t low = 0, high = binary->index_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (index_entry(binary, middle) <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

uint64_t qzi_unwind_binary_entry(const struct qzi_unwind_binary *binary, uint64_t address) {
  uint32_t at = index_at(binary, address);
  return at ? index_entry(binary, at - 1) : 0;
}

uint64_t qzi_unwind_binary_next(const struct qzi_unwind_binary *binary, uint64_t address) {
  uint32_t at = index_at(binary, address);
  return at < binary->index_count ? index_entry(binary, at) : 0;
}

int qzi_unwind_binary_text(const struct qzi_unwind_binary *binary, uint64_t address, uint64_t *low, uint64_t *high) {
  size_t count;
  if (!binary->elf || elf_getphdrnum(binary->elf, &count)) return 0;
  for (size_t k = 0; k < count; k++) {
    GElf_Phdr part;
    if (!gelf_getphdr(binary->elf, (int)k, &part) || part.p_type != PT_LOAD || !(part.p_flags & PF_X) ||
        address < part.p_vaddr || address - part.p_vaddr >= part.p_filesz)
      continue;
    *low = part.p_vaddr;
    *high = part.p_vaddr + part.p_filesz;
    return 1;
  }
  return 0;
}

uint64_t qzi_unwind_binary_end_of(const struct qzi_unwind_binary *binary, uint64_t entry) {
  Dwarf_Addr at = entry, begin, end;
  Dwarf_Frame *frame;
  for (unsigned k = 0; k < PARTS_MOST && !dwarf_cfi_addrframe(binary->cfi, at, &frame); k++) {
    int failed = dwarf_frame_info(frame, &begin, &end, NULL) < 0 || end <= at;
    free(frame);
    if (failed) break;
    at = end;
  }
  return at;
}

void qzi_unwind_binary_open(struct qzi_unwind_binary *binary, uint32_t pid, const char *path) {
  char name[4200];
  snprintf(name, sizeof name, "/proc/%u/root%s", pid, path); /* the process may have another root directory */
  binary->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (binary->fd < 0) binary->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (binary->fd < 0) return;
  elf_version(EV_CURRENT);
  binary->elf = elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
  if (!binary->elf) {
    close(binary->fd);
    binary->fd = -1;
    return;
  }
  binary->cfi = dwarf_getcfi_elf(binary->elf);
  find_index(binary);
  find_stubs(binary);
}

void qzi_unwind_binary_close(struct qzi_unwind_binary *binary) {
  if (binary->cfi) dwarf_cfi_end(binary->cfi);
  if (binary->elf) elf_end(binary->elf);
  if (binary->fd >= 0) close(binary->fd);
}
