/* Rules derived from code, compared with the unwind information of compilers and people: at each instruction of every
 * procedure of the C library that has unwind information; or of another file: sampler_frame_rules SAMPLER FILE
 * [verbose]. */
#include "sampler/machine_code/frame_rules.h"
#include "sampler/machine_code/procedure_bounds.h"
#include "sampler/machine_code/x86_decode.h"
#include "test/support/check.h"

#ifdef QZI_DECODES
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tally {
  uint64_t procedures, instructions, agree, unknown, differ, odd, other, listed, found, split;
};
static int verbose;
static unsigned every = 4; /* one in that many procedures is compared */

static const unsigned char *code_at(Elf *elf, uint64_t address, size_t length) {
  size_t count, bytes;
  const char *image = elf_rawfile(elf, &bytes);
  if (elf_getphdrnum(elf, &count)) return NULL;
  for (size_t k = 0; k < count; k++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)k, &part) || part.p_type != PT_LOAD || address < part.p_vaddr ||
        address + length > part.p_vaddr + part.p_filesz)
      continue;
    return (const unsigned char *)image + part.p_offset + (address - part.p_vaddr);
  }
  return NULL;
}

/* 1: the rule agrees with the unwind information; 0: it does not; -1: they cannot be compared. */
static int agrees(Dwarf_CFI *cfi, uint64_t address, const struct qzi_frame_rule *rule) {
  Dwarf_Frame *frame;
  Dwarf_Op *ops;
  size_t count;
  if (dwarf_cfi_addrframe(cfi, address, &frame)) return -1;
  int same = -1;
  if (!dwarf_frame_cfa(frame, &ops, &count) && count == 1) {
    int number = ops[0].atom == DW_OP_bregx ? (int)ops[0].number : (int)ops[0].atom - DW_OP_breg0;
    int64_t offset = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
    if (number == 7 && rule->base == QZI_BASE_SP)
      same = offset == rule->cfa_offset;
    else if (number == 6 && rule->from_fp)
      same = offset == rule->from_fp;
    else if (number == 7 || number == 6)
      same = 0;
  } else if (count == 2 && ops[0].atom == DW_OP_breg6 && ops[1].atom == DW_OP_deref) {
    same = rule->base == QZI_BASE_AT_FP && rule->slot_offset == (int64_t)ops[0].number && rule->cfa_offset == 0;
  }
  free(frame);
  return same;
}

static void check_one(Elf *elf, Dwarf_CFI *cfi, uint64_t start, uint64_t length, struct tally *tally) {
  const unsigned char *code = length && length <= QZI_FRAME_CODE_MOST ? code_at(elf, start, length) : NULL;
  struct qzi_frame_analysis *analysis = code ? qzi_frame_analysis_open(code, length, start, 1, NULL) : NULL;
  if (!analysis) return;
  int state;
  while (!(state = qzi_frame_analysis_step(analysis, 100))) continue;
  CHECK_IS(state, 1);
  tally->procedures++;
  tally->odd += qzi_frame_odd_returns(analysis);
  struct instruction its;
  for (uint64_t at = 0; at < length; at += its.length) {
    if (!qzi_decode(code + at, length - at, &its)) break;
    if (its.op == 0x11f || (code[at] == 0x90) || (code[at] == 0x66 && (its.op & 0xff) == 0x90) || code[at] == 0xcc)
      continue;
    const struct qzi_frame_rule *rule = qzi_frame_rule_at(analysis, start + at);
    CHECK(rule);
    int same = agrees(cfi, start + at, rule);
    tally->instructions++;
    if (rule->base == QZI_BASE_NONE)
      tally->unknown++;
    else if (same < 0)
      tally->other++;
    else if (same)
      tally->agree++;
    else {
      tally->differ++;
      if (verbose)
        printf("%lx in %lx: base %d, %d, fp %d%s\n", (long)(start + at), (long)start, rule->base, rule->cfa_offset,
               rule->from_fp, rule->guessed ? ", guessed" : "");
    }
  }
  qzi_frame_analysis_close(analysis);
}

/* The beginnings of procedures, found without symbols, compared with those in the unwind information. */
static void check_bounds(Elf *elf, const uint64_t *starts, size_t count, struct tally *tally) {
  size_t parts;
  uint64_t low = 0, high = 0;
  CHECK(!elf_getphdrnum(elf, &parts));
  for (size_t k = 0; k < parts; k++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)k, &part) || part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    low = part.p_vaddr;
    high = low + part.p_filesz;
  }
  struct qzi_procedure_bounds *bounds = qzi_procedure_bounds_open(low, high);
  for (uint64_t at; (at = qzi_procedure_bounds_next(bounds)) < high;) {
    size_t length = high - at < 65536 ? (size_t)(high - at) : 65536;
    qzi_procedure_bounds_feed(bounds, code_at(elf, at, length), length, 1000);
  }
  uint64_t same = 0, missed = 0, within = 0;
  for (size_t k = 0; k < count; k++) {
    uint64_t start, end;
    qzi_procedure_bounds_at(bounds, starts[2 * k], &start, &end);
    if (start != starts[2 * k]) {
      missed++;
      if (verbose) printf("missed %lx (%lx)\n", (long)starts[2 * k], (long)start);
    } else {
      same++;
    }
    if (end < starts[2 * k] + starts[2 * k + 1]) {
      within++;
      if (verbose) printf("false %lx in %lx\n", (long)end, (long)starts[2 * k]);
    }
  }
  tally->listed = count;
  tally->found = same;
  tally->split = within;
  printf("  starts: %lu found, %lu missed; %lu procedures with a false one in them\n", (long)same, (long)missed,
         (long)within);
  qzi_procedure_bounds_close(bounds);
}

static struct tally check_file(const char *path) {
  static uint64_t starts[200000];
  size_t starts_count = 0;
  struct tally tally = {0};
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
  Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
  CHECK(cfi);
  Elf_Scn *section = NULL;
  GElf_Shdr header;
  size_t names;
  CHECK(!elf_getshdrstrndx(elf, &names));
  while ((section = elf_nextscn(elf, section))) {
    if (!gelf_getshdr(section, &header) || strcmp(elf_strptr(elf, names, header.sh_name), ".eh_frame")) continue;
    Elf_Data *data = elf_getdata(section, NULL);
    Dwarf_CFI_Entry entry;
    for (Dwarf_Off at = 0, next; !dwarf_next_cfi((unsigned char *)elf_getident(elf, NULL), data, 1, at, &next, &entry);
         at = next) {
      int32_t offset;
      uint32_t length;
      if (dwarf_cfi_cie_p(&entry)) continue;
      /* pc-relative 4-byte pointers, as linkers of this machine have them */
      memcpy(&offset, entry.fde.start, 4);
      memcpy(&length, entry.fde.start + 4, 4);
      uint64_t start =
        header.sh_addr + (uint64_t)(entry.fde.start - (unsigned char *)data->d_buf) + (uint64_t)(int64_t)offset;
      if (starts_count % every == 0) check_one(elf, cfi, start, length, &tally);
      if (starts_count < 100000) {
        starts[2 * starts_count] = start;
        starts[2 * starts_count++ + 1] = length;
      }
    }
  }
  check_bounds(elf, starts, starts_count, &tally);
  dwarf_cfi_end(cfi);
  elf_end(elf);
  close(fd);
  printf(
    "%s: %lu procedures, %lu instructions: %.3f %% agree, %.3f %% unknown, %.3f %% differ, %.3f %% by other rules; "
    "%lu odd returns\n",
    path, (long)tally.procedures, (long)tally.instructions, 100.0 * (double)tally.agree / (double)tally.instructions,
    100.0 * (double)tally.unknown / (double)tally.instructions,
    100.0 * (double)tally.differ / (double)tally.instructions, 100.0 * (double)tally.other / (double)tally.instructions,
    (long)tally.odd);
  return tally;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *argument) {
  void **wanted = argument;
  (void)size;
  if (strstr(info->dlpi_name, wanted[0])) *(const char **)wanted[1] = info->dlpi_name;
  return 0;
}

/* What only a table's jump leads to has that jump's frame, not that of a tail call through a register. */
static void check_tail_call_behind_table(void) {
  static const unsigned char code[] = {
    0x53,                                     /* push rbx */
    0x85, 0xff, 0x74, 0x07,                   /* test edi, edi; je 12 */
    0xff, 0x24, 0xfd, 0x00, 0x00, 0x10, 0x00, /* jmp [0x100000 + rdi * 8] */
    0x5b, 0xff, 0xe0,                         /* 12: pop rbx; jmp rax */
    0x31, 0xc0, 0x5b, 0xc3,                   /* 15: xor eax, eax; pop rbx; ret */
  };
  struct qzi_frame_analysis *analysis = qzi_frame_analysis_open(code, sizeof code, 0x1000, 1, NULL);
  CHECK(analysis);
  while (!qzi_frame_analysis_step(analysis, 100)) continue;
  CHECK_IS(qzi_frame_rule_at(analysis, 0x1000 + 13)->cfa_offset, 8);
  CHECK_IS(qzi_frame_rule_at(analysis, 0x1000 + 15)->cfa_offset, 16);
  CHECK(qzi_frame_tail_calls(analysis));
  CHECK_IS(qzi_frame_odd_returns(analysis), 0);
  qzi_frame_analysis_close(analysis);
}

int main(int count, char **arguments) {
  check_tail_call_behind_table();
  if (count > 2) {
    verbose = count > 3;
    every = 1;
    check_file(arguments[2]);
    return 0;
  }
  char libc[] = LIBC_SO, *path = NULL;
  dl_iterate_phdr(find_library, (void *[]){libc, &path});
  struct tally tally = check_file(path ? path : arguments[0]);
  CHECK(tally.procedures > 10);
  CHECK(tally.agree * 1000 >= (tally.agree + tally.differ + tally.unknown) * 990);
  CHECK(tally.found * 10 >= tally.listed * 7 && tally.split * 20 <= tally.listed);
  return 0;
}
#else
int main(void) {
  puts("built without Zydis");
  return 77;
}
#endif
