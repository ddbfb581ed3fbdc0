/* The decoding of single instructions, as an assembler produces them; and their lengths over all of the C library and
 * the sampler, compared with those of Zydis itself, and with those of objdump if binutils are installed; and where
 * control continues, with operands and without, compared with Zydis's categories. */
#include "sampler/machine_code/x86_decode.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(QZI_DECODES)
#include <Zydis/Zydis.h>
#endif

#define F    BIT(FLAGS)
#define X(n) BIT(XMM + (n))

struct example {
  const char *what;
  struct instruction is; /* but for op, reg, rm, kind */
  unsigned char bytes[16];
};
#if defined(QZI_DECODES)
static const struct example examples[] = {
  {"mov 0x60(%rbp),%eax",
   {.length = 3, .at = {RBP, NONE, 0x60, 0}, .reads = BIT(RBP), .writes = BIT(RAX), .loads = 1},
   {0x8b, 0x45, 0x60}},
  {"mov flag(%rip),%eax",
   {.length = 6, .at = {RIP, NONE, 0x2ed5, 0}, .writes = BIT(RAX), .loads = 1},
   {0x8b, 0x05, 0xd5, 0x2e, 0, 0}},
  {"mov %fs:0x28,%rax",
   {.length = 9, .at = {NONE, NONE, 0x28, 1}, .writes = BIT(RAX), .loads = 1},
   {0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0}},
  {"mov %ah,%cl: no stack pointer",
   {.length = 2, .at = {NONE, NONE, 0, 0}, .reads = BIT(RAX), .writes = BIT(1)},
   {0x88, 0xe1}},
  {"movabs $1,%r8", {.length = 10, .at = {NONE, NONE, 0, 0}, .number = 1, .writes = BIT(8)}, {0x49, 0xb8, 1}},
  {"movw $-2,(%rdi)",
   {.length = 5, .at = {7, NONE, 0, 0}, .number = -2, .reads = BIT(7), .stores = 1},
   {0x66, 0xc7, 0x07, 0xfe, 0xff}},
  {"xor %ecx,%ecx reads nothing", {.length = 2, .at = {NONE, NONE, 0, 0}, .writes = BIT(1) | F}, {0x31, 0xc9}},
  {"xor %edx,%ecx",
   {.length = 2, .at = {NONE, NONE, 0, 0}, .reads = BIT(1) | BIT(RDX), .writes = BIT(1) | F},
   {0x31, 0xd1}},
  {"add (%rdi,%rcx,8),%rax",
   {.length = 4, .at = {7, 1, 0, 0}, .reads = BIT(7) | BIT(1) | BIT(RAX), .writes = BIT(RAX) | F, .loads = 1},
   {0x48, 0x03, 0x04, 0xcf}},
  {"addl $1,(%rdi)",
   {.length = 3, .at = {7, NONE, 0, 0}, .number = 1, .reads = BIT(7), .writes = F, .loads = 1, .stores = 1},
   {0x83, 0x07, 0x01}},
  {"lock orq $0,(%rsp)",
   {.length = 6, .at = {RSP, NONE, 0, 0}, .reads = BIT(RSP), .writes = F, .loads = 1, .stores = 1, .fences = 1},
   {0xf0, 0x48, 0x83, 0x0c, 0x24, 0}},
  {"lock andl $-1,(%rdi)",
   {.length = 4,
    .at = {7, NONE, 0, 0},
    .number = -1,
    .reads = BIT(7),
    .writes = F,
    .loads = 1,
    .stores = 1,
    .fences = 1},
   {0xf0, 0x83, 0x27, 0xff}},
  {"mfence", {.length = 3, .at = {NONE, NONE, 0, 0}, .fences = 1}, {0x0f, 0xae, 0xf0}},
  {"xchg %al,(%rdx)",
   {.length = 2,
    .at = {RDX, NONE, 0, 0},
    .reads = BIT(RDX) | BIT(RAX),
    .writes = BIT(RAX),
    .loads = 1,
    .stores = 1,
    .tries = 1},
   {0x86, 0x02}},
  {"jne -6", {.length = 2, .at = {NONE, NONE, 0, 0}, .number = -6, .goes = QZI_GOES_IF, .reads = F}, {0x75, 0xfa}},
  {"jmp +0x100", {.length = 5, .at = {NONE, NONE, 0, 0}, .number = 0x100, .goes = QZI_GOES_TO}, {0xe9, 0, 1, 0, 0}},
  {"jmp *%rax", {.length = 2, .at = {NONE, NONE, 0, 0}, .goes = QZI_GOES_ANYWHERE, .reads = BIT(RAX)}, {0xff, 0xe0}},
  {"cmovne %edx,%eax may leave it",
   {.length = 3, .at = {NONE, NONE, 0, 0}, .reads = F | BIT(RAX) | BIT(RDX), .writes = BIT(RAX)},
   {0x0f, 0x45, 0xc2}},
  {"addsd 8(%rdi),%xmm1",
   {.length = 5, .at = {7, NONE, 8, 0}, .reads = BIT(7) | X(1), .writes = X(1), .loads = 1},
   {0xf2, 0x0f, 0x58, 0x4f, 0x08}},
  {"vpaddq (%rdi),%ymm1,%ymm2",
   {.length = 4, .at = {7, NONE, 0, 0}, .reads = BIT(7) | X(1), .writes = X(2), .loads = 1},
   {0xc5, 0xf5, 0xd4, 0x17}},
  {"vpxor %xmm3,%xmm3,%xmm3 reads nothing",
   {.length = 4, .at = {NONE, NONE, 0, 0}, .writes = X(3)},
   {0xc5, 0xe1, 0xef, 0xdb}},
  {"vpaddq (%rdi),%zmm1,%zmm17, under a mask",
   {.length = 6, .at = {7, NONE, 0, 0}, .reads = BIT(7) | X(1) | BIT(OTHER), .writes = BIT(OTHER), .loads = 1},
   {0x62, 0xe1, 0xf5, 0x48, 0xd4, 0x0f}},
};

static int differs(const struct example *example) {
  unsigned char bytes[24];
  struct instruction its;
  const struct instruction *is = &example->is;
  memset(bytes, 0x90, sizeof bytes);
  memcpy(bytes, example->bytes, sizeof example->bytes);
  int decoded = qzi_decode(bytes, sizeof bytes, &its);
  if (decoded && its.length == is->length && its.at.base == is->at.base && its.at.index == is->at.index &&
      its.at.disp == is->at.disp && its.at.thread == is->at.thread && its.number == is->number &&
      its.goes == is->goes && its.reads == is->reads && its.writes == is->writes && its.loads == is->loads &&
      its.stores == is->stores && its.tries == is->tries && its.fences == is->fences)
    return 0;
  printf("%s: %d, length %u, at %u %u %#lx %d, number %ld, goes %d, reads %#lx, writes %#lx, loads %d, stores %d, "
         "tries %d, fences %d\n",
         example->what, decoded, its.length, its.at.base, its.at.index, (long)its.at.disp, its.at.thread,
         (long)its.number, (int)its.goes, (long)its.reads, (long)its.writes, its.loads, its.stores, its.tries,
         its.fences);
  return 1;
}

/* The section .text of a binary, in the mapped file. */
static const unsigned char *text_of(const unsigned char *file, size_t bytes, size_t *length) {
  const Elf64_Ehdr *head = (const void *)file;
  if (bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_shstrndx >= head->e_shnum ||
      head->e_shoff > bytes || (bytes - head->e_shoff) / sizeof(Elf64_Shdr) < head->e_shnum)
    return NULL;
  const Elf64_Shdr *sections = (const void *)(file + head->e_shoff), *names = &sections[head->e_shstrndx];
  for (unsigned k = 0; k < head->e_shnum; k++) {
    const Elf64_Shdr *its = &sections[k];
    if (strcmp((const char *)file + names->sh_offset + its->sh_name, ".text") || its->sh_offset > bytes ||
        its->sh_size > bytes - its->sh_offset)
      continue;
    *length = its->sh_size;
    return file + its->sh_offset;
  }
  return NULL;
}

/* Where control continues by Zydis's mnemonics and categories; code_flow.c looks at opcodes. */
static enum qzi_goes goes_of(const ZydisDecodedInstruction *zydis) {
  int relative = zydis->raw.imm[0].is_relative;
  switch (zydis->mnemonic) {
  case ZYDIS_MNEMONIC_XEND: return QZI_GOES_ON; /* counted as a branch */
  case ZYDIS_MNEMONIC_SYSCALL: return QZI_GOES_KERNEL;
  case ZYDIS_MNEMONIC_RET: return zydis->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? QZI_GOES_AWAY : QZI_GOES_BACK;
  case ZYDIS_MNEMONIC_XBEGIN:
  case ZYDIS_MNEMONIC_HLT:
  case ZYDIS_MNEMONIC_UD0:
  case ZYDIS_MNEMONIC_UD1:
  case ZYDIS_MNEMONIC_UD2: return QZI_GOES_AWAY;
  default: break;
  }
  switch (zydis->meta.category) {
  case ZYDIS_CATEGORY_COND_BR: return QZI_GOES_IF;
  case ZYDIS_CATEGORY_CALL: return QZI_GOES_CALL;
  case ZYDIS_CATEGORY_UNCOND_BR:
    return relative                                ? QZI_GOES_TO
           : zydis->mnemonic == ZYDIS_MNEMONIC_JMP ? QZI_GOES_ANYWHERE
                                                   : QZI_GOES_AWAY; /* xabort */
  case ZYDIS_CATEGORY_RET:
  case ZYDIS_CATEGORY_SYSCALL:
  case ZYDIS_CATEGORY_SYSRET:
  case ZYDIS_CATEGORY_INTERRUPT: return QZI_GOES_AWAY;
  default: return QZI_GOES_ON;
  }
}

static int flow_differs(const unsigned char *bytes, size_t left, const ZydisDecodedInstruction *zydis,
                        const struct instruction *its) {
  struct qzi_code_step step;
  enum qzi_goes expected = goes_of(zydis);
  if (its->goes != expected || !qzi_code_step(QZI_X86_64, bytes, left, &step) || step.length != zydis->length ||
      step.goes != expected)
    return 1;
  return qzi_has_target(expected) &&
         (step.target != zydis->length + zydis->raw.imm[0].value.s || its->number != zydis->raw.imm[0].value.s);
}

/* From the first byte of a binary's code to the last one, also through bytes that are no instruction: both refuse
 * these. */
static int differs_from_zydis(const char *binary) {
  struct stat state;
  ZydisDecoder decoder;
  unsigned long all = 0, none = 0, wrong = 0;
  size_t length = 0;
  int fd = open(binary, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &state)) return printf("%s cannot be read\n", binary), 1;
  size_t bytes = (size_t)state.st_size;
  const unsigned char *file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  const unsigned char *text = file == MAP_FAILED ? NULL : text_of(file, bytes, &length);
  if (!text) return printf("%s has no code\n", binary), 1;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  for (size_t at = 0; at < length;) {
    ZydisDecodedInstruction zydis;
    struct instruction its;
    int known = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, text + at, length - at, &zydis));
    unsigned expected = known ? zydis.length : 0, is = qzi_decode(text + at, length - at, &its) ? its.length : 0;
    if (is != expected && wrong++ < 3) printf("%s, .text + %#zx: length %u, not %u\n", binary, at, is, expected);
    if (known && is == expected && flow_differs(text + at, length - at, &zydis, &its) && wrong++ < 3)
      printf("%s, .text + %#zx: control continues differently\n", binary, at);
    all++;
    none += !known;
    at += known ? zydis.length : 1;
  }
  munmap((void *)(uintptr_t)file, bytes);
  printf("%s: %lu of %lu lengths or targets differ from Zydis (%lu places are no instruction)\n", binary, wrong, all,
         none);
  return wrong > 0 || all < 10000;
}

/* The number of lengths in which the decoder and objdump differ, and of all instructions of a binary. */
static int differs_from_objdump(const char *binary) {
  char command[600], line[400];
  unsigned long all = 0, wrong = 0;
  snprintf(command, sizeof command, "objdump -d -w -j .text '%s' 2>/dev/null", binary);
  FILE *lines = popen(command, "r");
  while (lines && fgets(line, sizeof line, lines)) {
    unsigned char bytes[32];
    unsigned count = 0;
    char *at = strchr(line, '\t'), *end;
    char *stop = at ? strchr(at + 1, '\t') : NULL;
    if (line[0] != ' ' || !stop || strstr(line, "(bad)") || strstr(line, ".byte")) continue;
    memset(bytes, 0x90, sizeof bytes);
    *stop = 0;
    for (at++; count < 15; at = end) {
      unsigned long byte = strtoul(at, &end, 16);
      if (end == at) break;
      bytes[count++] = (unsigned char)byte;
    }
    struct instruction its;
    all++;
    if (qzi_decode(bytes, sizeof bytes, &its) && its.length == count) continue;
    if (wrong++ < 3) printf("%s: length %u, not %u: %s", binary, its.length, count, stop + 1);
  }
  if (lines) pclose(lines);
  printf("%s: %lu of %lu lengths differ from objdump\n", binary, wrong, all);
  return wrong > all / 10000; /* objdump itself decodes some prefixes as instructions, where code contains data */
}

static int find_libc(char *path, size_t room) {
  char line[600];
  FILE *maps = fopen("/proc/self/maps", "r");
  int found = 0;
  while (maps && !found && fgets(line, sizeof line, maps)) {
    char *name = strchr(line, '/');
    if (!name || !strstr(name, "/libc.so") || strlen(name) >= room) continue;
    strcpy(path, name);
    path[strcspn(path, "\n")] = 0;
    found = 1;
  }
  if (maps) fclose(maps);
  return found;
}
#endif

int main(int count, char **arguments) {
  int failed = 0;
#if defined(QZI_DECODES)
  char libc[600];
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) failed |= differs(&examples[k]);
  struct instruction its;
  if (qzi_decode(examples[0].bytes, 2, &its)) failed |= printf("one that is cut short was decoded\n");
  if (find_libc(libc, sizeof libc)) failed |= differs_from_zydis(libc) | differs_from_objdump(libc);
  for (int k = 1; k < count; k++) failed |= differs_from_zydis(arguments[k]) | differs_from_objdump(arguments[k]);
#endif
  return failed != 0;
}
