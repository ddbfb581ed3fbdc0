/* Walking the stacks of another process. See unwinder.h. */
#include "unwinder.h"

#include <sys/uio.h>

#ifdef QUARTZ_SYMBOLS
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sampler/profile/modules.h"
#include "sampler/profile/symbolize.h"
#include "sampler/machine_code/prologue.h"
#include "symbols/symbols.h"
#include "unwind_tables.h"
#include "sampler/linux/process_memory.h"

#if defined(__x86_64__)
#define REGISTER_SP 7
#define REGISTER_FP 6
#define REGISTER_RA 16
#define CODE_BITS   (~UINT64_C(0))
#else
#define REGISTER_SP 31
#define REGISTER_FP 29
#define REGISTER_RA 30
#define CODE_BITS   UINT64_C(0x0000ffffffffffff) /* signed return addresses */
#endif
#define RECIPES_MOST 65536u
#define CHUNK        4096u     /* of the program's memory read at once */
#define CHUNKS_MOST  64u       /* in one walk */
#define WAITS_MOST   (4 << 20) /* bytes of a library that is not read before the program begins */

/* How the caller of a place is found: its stack pointer (CFA) and what it had in the registers that matter. */
enum rule { UNKNOWN = 0, UNDEFINED, SAME, SAVED };
struct recipe {
  uint64_t pc, entry;
  uint32_t module;
  uint32_t readings; /* of the program's map when it was made: one that failed is tried again after the next */
  int32_t cfa_offset, ra_offset, fp_offset;                       /* bytes from the base register; from the CFA */
  int32_t frame_size;                                             /* qzi_frame_size, where base_is_fp */
  uint8_t covered;                                                /* 1: unwind information says what is there */
  uint8_t known, standard, base_is_fp, usable, outermost, ra, fp; /* ra, fp: enum rule */
};

struct qzi_unwinder {
  struct qzi_interner *in;
  qz_symbols *symbols;
  struct qzi_unwind_binary *binaries; /* by module */
  struct qzi_unwind_binary vdso;      /* the kernel's code in every process: the same as in ours */
  uint64_t vdso_start, vdso_end, vdso_bias;
  uint32_t binaries_count;
  struct qzi_table table; /* recipes by pc */
  struct recipe *recipes;
  uint32_t recipes_count, recipes_room;
};

struct qzi_unwinder *qzi_unwinder_open(struct qzi_interner *in) {
  struct qzi_unwinder *unwinder = calloc(1, sizeof *unwinder);
  if (!unwinder) return NULL;
  unwinder->in = in;
  unwinder->vdso.fd = -1;
  unwinder->symbols = qzi_symbols(in);
  if (unwinder->symbols) return unwinder;
  free(unwinder);
  return NULL;
}

void qzi_unwinder_close(struct qzi_unwinder *unwinder) {
  if (!unwinder) return;
  for (uint32_t k = 0; k < unwinder->binaries_count; k++) qzi_unwind_binary_close(&unwinder->binaries[k]);
  qzi_unwind_binary_close(&unwinder->vdso);
  qzi_table_free(&unwinder->table);
  free(unwinder->binaries);
  free(unwinder->recipes);
  free(unwinder);
}

/* ---- binaries ---- */

static void find_vdso(struct qzi_unwinder *unwinder) {
  char name[64], line[512], *at = (char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
  unsigned long start, end, offset;
  snprintf(name, sizeof name, "/proc/%u/maps", unwinder->in->file->head->pid);
  FILE *maps = at ? fopen(name, "re") : NULL;
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, "[vdso]") && sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3) {
      unwinder->vdso_start = unwinder->vdso_bias = start;
      unwinder->vdso_end = end;
    }
  if (maps) fclose(maps);
  if (!unwinder->vdso_end) return;
  elf_version(EV_CURRENT);
  unwinder->vdso.elf = elf_memory(at, unwinder->vdso_end - unwinder->vdso_start);
  if (unwinder->vdso.elf) unwinder->vdso.cfi = dwarf_getcfi_elf(unwinder->vdso.elf);
}

static void learn_modules(struct qzi_unwinder *unwinder) {
  const struct qzi_file *file = unwinder->in->file;
  uint32_t count = (uint32_t)qzi_file_count(file, QZ_SECTION_MODULES);
  if (count <= unwinder->binaries_count) return;
  struct qzi_unwind_binary *all = realloc(unwinder->binaries, count * sizeof *all);
  if (!all) return;
  unwinder->binaries = all;
  for (uint32_t k = unwinder->binaries_count; k < count; k++) all[k] = (struct qzi_unwind_binary){.fd = -1};
  unwinder->binaries_count = count;
  qzi_symbols(unwinder->in);
}

static struct qzi_unwind_binary *binary_of(struct qzi_unwinder *unwinder, uint32_t module) {
  struct qzi_unwind_binary *binary = &unwinder->binaries[module - 1];
  if (binary->tried) return binary;
  binary->tried = 1;
  const struct qzi_file *file = unwinder->in->file;
  const char *path = file->strings + file->modules[module - 1].path;
  if (path[0] == '/') qzi_unwind_binary_open(binary, file->head->pid, path);
  return binary;
}

/* A library of the system that is read within some milliseconds: when a walk meets it, if one does. */
static int may_wait(const char *path) {
  struct stat file;
  return qz_is_installed(path) && !stat(path, &file) && file.st_size < WAITS_MOST;
}

void qzi_unwinder_prepare(struct qzi_unwinder *unwinder) {
  const struct qzi_file *file = unwinder->in->file;
  learn_modules(unwinder);
  for (uint32_t k = 0; k < unwinder->binaries_count; k++) {
    if (may_wait(file->strings + file->modules[k].path)) continue;
    binary_of(unwinder, k + 1);
    enum qz_symbol_origin origin;
    qz_symbols_entry(unwinder->symbols, file->modules[k].start, &origin);
  }
}

/* ---- recipes ---- */

/* How the caller's value of a register is found. */
static enum rule register_rule(Dwarf_Frame *frame, int number, int32_t *offset) {
  Dwarf_Op memory[3], *ops;
  size_t count;
  if (dwarf_frame_register(frame, number, memory, &ops, &count)) return UNKNOWN;
  if (count == 0) return ops ? UNDEFINED : SAME;
  if (ops[0].atom != DW_OP_call_frame_cfa || count > 2) return UNKNOWN;
  if (count == 2 && ops[1].atom != DW_OP_plus_uconst) return UNKNOWN;
  *offset = count == 2 ? (int32_t)ops[1].number : 0;
  return SAVED;
}

/* The stubs' rule is an expression, always this one: 8 bytes more from their second push on (System V ABI, x86-64). */
static int stub_rule(const Dwarf_Op *ops, size_t count, uint64_t address, struct recipe *recipe) {
  if (count < 2 || ops[0].atom != DW_OP_breg7 || ops[0].number != 8 || ops[1].atom != DW_OP_breg16) return 0;
  recipe->cfa_offset = (address & 15) >= 11 ? 16 : 8;
  return 1;
}

static void read_rules(const struct qzi_unwind_binary *binary, uint64_t address, struct recipe *recipe) {
  Dwarf_Frame *frame;
  Dwarf_Op *ops;
  size_t count;
  if (!binary->cfi || dwarf_cfi_addrframe(binary->cfi, address, &frame)) return;
  recipe->covered = 1;
  if (dwarf_frame_cfa(frame, &ops, &count)) count = 0;
  if (count > 1) recipe->usable = (uint8_t)stub_rule(ops, count, address, recipe);
  if (count == 1) {
    int number = ops[0].atom == DW_OP_bregx ? (int)ops[0].number : (int)ops[0].atom - DW_OP_breg0;
    recipe->cfa_offset = (int32_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
    recipe->base_is_fp = number == REGISTER_FP;
    recipe->usable = number == REGISTER_FP || number == REGISTER_SP;
  }
  recipe->ra = (uint8_t)register_rule(frame, REGISTER_RA, &recipe->ra_offset);
  recipe->fp = (uint8_t)register_rule(frame, REGISTER_FP, &recipe->fp_offset);
  /* An undefined return address marks the outermost frame (_start, clone). */
  if (recipe->ra == UNDEFINED) recipe->outermost = 1;
  free(frame);
}

static void make_recipe(struct qzi_unwinder *unwinder, uint64_t pc, struct recipe *recipe) {
  learn_modules(unwinder);
  *recipe = (struct recipe){.pc = pc, .readings = unwinder->in->map_readings};
  if (!unwinder->vdso_end && !unwinder->vdso.tried++) find_vdso(unwinder);
  if (pc >= unwinder->vdso_start && pc < unwinder->vdso_end) {
    recipe->known = 1;
    read_rules(&unwinder->vdso, pc - unwinder->vdso_bias, recipe);
    return;
  }
  uint32_t module = qzi_intern_module(unwinder->in, pc);
  if (!module || module > unwinder->binaries_count) {
    unwinder->in->unknown_addresses++;
    return;
  }
  struct qzi_unwind_binary *binary = binary_of(unwinder, module);
  uint64_t bias = unwinder->in->file->modules[module - 1].bias;
  recipe->module = module;
  recipe->known = 1;
  read_rules(binary, pc - bias, recipe);
  if (qzi_unwind_binary_is_stub(binary, pc - bias)) return;
  enum qz_symbol_origin origin;
  recipe->entry = qz_symbols_entry(unwinder->symbols, pc, &origin);
  recipe->standard = origin == QZ_SYMBOL_STANDARD;
  if (!recipe->entry) {
    /* Code without unwind information (assembly, other compilers') begins where the piece before it ends. */
    uint64_t entry = qzi_unwind_binary_entry(binary, pc - bias);
    if (entry && binary->cfi && !recipe->covered) entry = qzi_unwind_binary_end_of(binary, entry);
    recipe->entry = entry ? entry + bias : 0;
  }
  unsigned char code[48];
  recipe->frame_size = recipe->base_is_fp && recipe->entry &&
                           !qzi_program_read(unwinder->in->file->head->pid, recipe->entry, code, sizeof code)
                         ? qzi_frame_size(code, sizeof code)
                         : -1;
}

static const struct recipe *recipe_for(struct qzi_unwinder *unwinder, uint64_t pc) {
  uint32_t hash = qzi_hash(pc, 7);
  QZI_TABLE_EACH(&unwinder->table, hash, at) {
    struct recipe *recipe = &unwinder->recipes[at - 1];
    if (recipe->pc != pc) continue;
    if (recipe->readings != unwinder->in->map_readings) {
      /* Another library may lie there now. */
      if (!recipe->known || (recipe->module && recipe->module != qzi_intern_module(unwinder->in, pc)))
        make_recipe(unwinder, pc, recipe);
      recipe->readings = unwinder->in->map_readings;
    }
    if (recipe->known || !qzi_intern_is_generated(unwinder->in, pc)) return recipe;
  }
  static const struct recipe generated = {.entry = QZI_KEY_GENERATED};
  if (qzi_intern_is_generated(unwinder->in, pc)) return &generated; /* not kept: there is no end to such places */
  if (unwinder->recipes_count == unwinder->recipes_room) {
    uint32_t room = unwinder->recipes_room ? unwinder->recipes_room * 2 : 512;
    struct recipe *all = room <= RECIPES_MOST ? realloc(unwinder->recipes, room * sizeof *all) : NULL;
    if (!all) return NULL;
    unwinder->recipes = all;
    unwinder->recipes_room = room;
  }
  struct recipe *recipe = &unwinder->recipes[unwinder->recipes_count];
  make_recipe(unwinder, pc, recipe);
  if (qzi_table_add(&unwinder->table, hash, unwinder->recipes_count + 1)) return NULL;
  unwinder->recipes_count++;
  return recipe;
}

uint64_t qzi_unwind_entry(struct qzi_unwinder *unwinder, uint64_t pc) {
  const struct recipe *recipe = recipe_for(unwinder, pc);
  return recipe ? recipe->entry : 0;
}

int qzi_unwind_standard(struct qzi_unwinder *unwinder, uint64_t pc) {
  const struct recipe *recipe = recipe_for(unwinder, pc);
  return recipe && recipe->standard;
}

const char *qzi_unwind_symbol(struct qzi_unwinder *unwinder, uint64_t pc) {
  return qz_symbols_linkage(unwinder->symbols, pc);
}

int qzi_unwind_vdso(struct qzi_unwinder *unwinder, uint64_t pc) {
  if (!unwinder->vdso_end && !unwinder->vdso.tried++) find_vdso(unwinder);
  return pc >= unwinder->vdso_start && pc < unwinder->vdso_end;
}

/* ---- the walk ---- */

struct memory {
  uint32_t pid, chunks;
  struct qzi_stack_copy copy;
  uint64_t address; /* of `chunk` */
  uint32_t bytes;
  unsigned char chunk[CHUNK];
};

static int peek(struct memory *memory, uint64_t address, uint64_t *value) {
  if (address - memory->copy.address < memory->copy.bytes &&
      memory->copy.bytes - (address - memory->copy.address) >= 8) {
    memcpy(value, memory->copy.data + (address - memory->copy.address), 8);
    return 0;
  }
  if (address - memory->address >= memory->bytes || memory->bytes - (address - memory->address) < 8) {
    if (memory->chunks++ == CHUNKS_MOST) return -1;
    /* From a little below: what was pushed last lies there. Not beyond the stack, whose end may be near. */
    uint32_t bytes = memory->chunks == 1 ? 1024 : CHUNK;
    struct iovec here = {memory->chunk, bytes}, there = {(void *)(uintptr_t)address, bytes};
    ssize_t got = process_vm_readv((pid_t)memory->pid, &here, 1, &there, 1, 0);
    memory->address = address;
    memory->bytes = got > 0 ? (uint32_t)got : 0;
    if (memory->bytes < 8) return -1;
  }
  memcpy(value, memory->chunk + (address - memory->address), 8);
  return 0;
}

/* The frame pointer of a procedure whose stack pointer alone is known. It is believed where the frame that it points to
 * looks like one: a caller's frame further out, and a return address behind a call. */
static int find_frame(struct memory *memory, const struct recipe *recipe, struct qzi_registers *now) {
  unsigned char code[8];
  uint64_t fp = now->sp + (uint64_t)(int64_t)recipe->frame_size, outer, back;
  if (recipe->frame_size < 0 || peek(memory, fp, &outer) || peek(memory, fp + 8, &back)) return -1;
  if ((outer && outer <= fp) || back < 4096 || qzi_program_read(memory->pid, back - sizeof code, code, sizeof code))
    return -1;
  if (!qzi_ends_with_call(code, sizeof code)) return -1;
  now->fp = fp;
  now->fp_known = 1;
  return 0;
}

uint32_t qzi_unwind(struct qzi_unwinder *unwinder, const struct qzi_registers *from, const struct qzi_stack_copy *copy,
                    struct qzi_frame *frames, uint32_t most, int *complete) {
  struct memory memory;
  memory.pid = unwinder->in->file->head->pid;
  memory.chunks = memory.bytes = 0;
  memory.address = 0;
  memory.copy = copy ? *copy : (struct qzi_stack_copy){0};
  struct qzi_registers now = *from;
  uint32_t count = 0;
  *complete = 0;
  while (count < most) {
    /* A return address may lie behind its procedure's last instruction. */
    const struct recipe *recipe = recipe_for(unwinder, count ? now.pc - 1 : now.pc);
    if (!recipe) return count;
    frames[count++] = (struct qzi_frame){.pc = now.pc,
                                         .entry = recipe->entry,
                                         .module = recipe->module,
                                         .framed = recipe->base_is_fp,
                                         .standard = recipe->standard};
    if (recipe->outermost && recipe->known) {
      *complete = 1;
      return count;
    }
    if (!recipe->usable || (recipe->base_is_fp && !now.fp_known && (count == 1 || find_frame(&memory, recipe, &now))))
      return count;
    uint64_t cfa = (recipe->base_is_fp ? now.fp : now.sp) + (uint64_t)(int64_t)recipe->cfa_offset, back = 0;
    if (cfa < now.sp || (cfa == now.sp && count > 1)) return count; /* stacks grow downwards */
    if (recipe->ra == SAVED ? peek(&memory, cfa + (uint64_t)(int64_t)recipe->ra_offset, &back)
                            : (back = count == 1 ? now.link : 0) == 0)
      return count;
    if (recipe->fp == SAVED && peek(&memory, cfa + (uint64_t)(int64_t)recipe->fp_offset, &now.fp)) return count;
    if (recipe->fp == SAVED) now.fp_known = 1;
    if (recipe->fp < SAME) now.fp_known = 0;
    now.sp = cfa;
    now.pc = back & CODE_BITS;
    if (!now.pc) {
      *complete = 1;
      return count;
    }
  }
  return count;
}

#else

struct qzi_unwinder *qzi_unwinder_open(struct qzi_interner *in) {
  return NULL;
}
void qzi_unwinder_close(struct qzi_unwinder *unwinder) {}
void qzi_unwinder_prepare(struct qzi_unwinder *unwinder) {}
uint32_t qzi_unwind(struct qzi_unwinder *unwinder, const struct qzi_registers *from, const struct qzi_stack_copy *copy,
                    struct qzi_frame *frames, uint32_t most, int *complete) {
  *complete = 0;
  return 0;
}
uint64_t qzi_unwind_entry(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }
int qzi_unwind_standard(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }
const char *qzi_unwind_symbol(struct qzi_unwinder *unwinder, uint64_t pc) { return ""; }
int qzi_unwind_vdso(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }

#endif
