/* See recipes.h. */
#include "recipes.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/call_target.h"
#include "sampler/machine_code/prologue.h"
#include "sampler/profile/generated.h"
#include "sampler/profile/modules.h"
#include "sampler/profile/symbolize.h"
#include "sampler/util/array.h"

#if defined(__x86_64__)
#define REGISTER_SP 7
#define REGISTER_FP 6
#define REGISTER_RA 16
#else
#define REGISTER_SP 31
#define REGISTER_FP 29
#define REGISTER_RA 30
#endif
#define RECIPES_MOST 65536u
#define WAITS_MOST   (4 << 20)  /* largest size in bytes of a library that is not read before the program begins */
#define UNSIZED      (1u << 14) /* bytes of code considered if the end of a procedure is unknown */

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

/* Whether the binary is a small library of the system: it is read within some milliseconds, so it can be read when a
 * walk meets it. */
static int may_wait(const char *path) {
  struct stat file;
  return qz_is_installed(path) && !stat(path, &file) && file.st_size < WAITS_MOST;
}

void qzi_recipes_prepare(struct qzi_unwinder *unwinder) {
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

/* The rule for finding the caller's value of a register. */
static enum qzi_register_rule register_rule(Dwarf_Frame *frame, int number, int32_t *offset) {
  Dwarf_Op memory[3], *ops;
  size_t count;
  if (dwarf_frame_register(frame, number, memory, &ops, &count)) return UNKNOWN;
  if (count == 0) return ops ? UNDEFINED : SAME;
  if (count == 1 && ops[0].atom == DW_OP_breg0 + REGISTER_FP) { /* in a procedure that has aligned the stack pointer */
    *offset = (int32_t)ops[0].number;
    return SAVED_AT_BASE;
  }
  if (ops[0].atom != DW_OP_call_frame_cfa || count > 2) return UNKNOWN;
  if (count == 2 && ops[1].atom != DW_OP_plus_uconst) return UNKNOWN;
  *offset = count == 2 ? (int32_t)ops[1].number : 0;
  return SAVED;
}

/* Depth of the stack in a linker's stub. Its rule is an expression, always this one: 8 bytes more after the second push
 * (System V ABI, x86-64). */
static int32_t stub_depth(uint64_t address) { return (address & 15) >= 11 ? 16 : 8; }

static void stub_rule(const Dwarf_Op *ops, size_t count, uint64_t address, struct qzi_recipe *recipe) {
  if (count < 2 || ops[0].atom != DW_OP_breg7 || ops[0].number != 8 || ops[1].atom != DW_OP_breg16) return;
  recipe->cfa_offset = stub_depth(address);
  recipe->base = QZI_BASE_SP;
}

/* The rule of a procedure that aligned the stack pointer and therefore stored the caller's (gcc's "dynamic realign
 * argument pointer"). */
static void aligned_rule(const Dwarf_Op *ops, size_t count, struct qzi_recipe *recipe) {
  if (count != 2 || ops[0].atom != DW_OP_breg0 + REGISTER_FP || ops[1].atom != DW_OP_deref) return;
  recipe->base = QZI_BASE_AT_FP;
  recipe->slot_offset = (int32_t)ops[0].number;
}

/* For tests, which compare rules derived from machine code with those of unwind information. */
static void forget_rules(struct qzi_recipe *recipe) {
  recipe->covered = 0;
  recipe->base = QZI_BASE_NONE;
}

static void read_rules(const struct qzi_unwind_binary *binary, uint64_t address, struct qzi_recipe *recipe) {
  Dwarf_Frame *frame;
  Dwarf_Op *ops;
  size_t count;
  if (!binary->cfi || dwarf_cfi_addrframe(binary->cfi, address, &frame)) return;
  recipe->covered = 1;
  if (dwarf_frame_cfa(frame, &ops, &count)) count = 0;
  stub_rule(ops, count, address, recipe);
  aligned_rule(ops, count, recipe);
  if (count == 1) {
    int number = ops[0].atom == DW_OP_bregx ? (int)ops[0].number : (int)ops[0].atom - DW_OP_breg0;
    recipe->cfa_offset = (int32_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
    recipe->base = number == REGISTER_FP ? QZI_BASE_FP : number == REGISTER_SP ? QZI_BASE_SP : QZI_BASE_NONE;
  }
  recipe->ra = (uint8_t)register_rule(frame, REGISTER_RA, &recipe->ra_offset);
  recipe->fp = (uint8_t)register_rule(frame, REGISTER_FP, &recipe->fp_offset);
  /* An undefined return address marks the outermost frame (_start, clone). */
  if (recipe->ra == UNDEFINED) recipe->outermost = 1;
  free(frame);
}

/* Finds the procedure, or separate part of one, that contains the instruction, in code that has neither symbols nor
 * unwind information. */
static enum qzi_frame_answer bounds_of(struct qzi_unwinder *unwinder, const struct qzi_unwind_binary *binary,
                                       uint64_t bias, uint64_t pc, struct qzi_code_extent *extent,
                                       struct qzi_code_extent *parent) {
  uint64_t low, high;
  if (!unwinder->code || !qzi_unwind_binary_text(binary, pc - bias, &low, &high)) return QZI_FRAME_UNKNOWN;
  uint64_t before = unwinder->no_tables ? 0 : qzi_unwind_binary_entry(binary, pc - bias),
           after = unwinder->no_tables ? 0 : qzi_unwind_binary_next(binary, pc - bias);
  /* With the piece before it: _start has unwind information in programs that have none, and names main. */
  if (before > low && before <= pc - bias) low = before;
  if (after && after < high) high = after;
  return qzi_frame_code_bounds(unwinder->code, low + bias, high + bias, pc, extent, parent);
}

static void make_recipe(struct qzi_unwinder *unwinder, uint64_t pc, struct qzi_recipe *recipe) {
  learn_modules(unwinder);
  *recipe = (struct qzi_recipe){.pc = pc, .readings = unwinder->in->map_readings};
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
  if (unwinder->no_tables && !recipe->outermost) forget_rules(recipe);
  recipe->stub = (uint8_t)qzi_unwind_binary_is_stub(binary, pc - bias);
  if (recipe->stub) return;
  enum qz_symbol_origin origin;
  recipe->entry = qz_symbols_entry(unwinder->symbols, pc, &origin);
  recipe->standard = origin == QZ_SYMBOL_STANDARD;
  if (recipe->entry) return;
  uint64_t entry = unwinder->no_tables ? 0 : qzi_unwind_binary_entry(binary, pc - bias);
  if (recipe->covered) {
    recipe->entry = entry ? entry + bias : 0;
    return;
  }
  struct qzi_code_extent extent, parent;
  enum qzi_frame_answer answer = bounds_of(unwinder, binary, bias, pc, &extent, &parent);
  recipe->pending = answer == QZI_FRAME_LATER;
  if (answer == QZI_FRAME_KNOWN) recipe->entry = parent.end ? parent.start : extent.start;
  /* The code was not decoded: assume that the procedure begins where the piece with unwind information before it
   * ends. */
  if (answer == QZI_FRAME_UNKNOWN && entry)
    recipe->entry = (binary->cfi ? qzi_unwind_binary_end_of(binary, entry) : entry) + bias;
}

static struct qzi_generated_call *generated_call(struct qzi_unwinder *unwinder, uint64_t pc) {
  struct qzi_generated_call *its = &unwinder->generated_calls[qzi_hash(pc, 5) % QZI_GENERATED_CALLS];
  uint32_t period = unwinder->walks / QZI_GENERATED_WALKS;
  if (its->pc != pc || its->period != period) *its = (struct qzi_generated_call){.pc = pc, .period = period};
  return its;
}

struct qzi_recipe *qzi_recipe_for(struct qzi_unwinder *unwinder, uint64_t pc) {
  uint32_t hash = qzi_hash(pc, 7);
  QZI_TABLE_EACH(&unwinder->table, hash, at) {
    struct qzi_recipe *recipe = &unwinder->recipes[at - 1];
    if (recipe->pc != pc) continue;
    if (recipe->readings != unwinder->in->map_readings) {
      /* Another library may be mapped there now. */
      if (!recipe->known || (recipe->module && recipe->module != qzi_intern_module(unwinder->in, pc)))
        make_recipe(unwinder, pc, recipe);
      recipe->readings = unwinder->in->map_readings;
    }
    if (recipe->pending) make_recipe(unwinder, pc, recipe);
    if (recipe->known || !qzi_intern_is_generated(unwinder->in, pc)) return recipe;
  }
  static struct qzi_recipe generated;
  /* Not kept, because the number of such places is unlimited. */
  if (qzi_intern_is_generated(unwinder->in, pc)) {
    generated = (struct qzi_recipe){.pc = pc, .entry = qzi_generated_key(unwinder->in, pc)};
    return &generated;
  }
  if (unwinder->recipes_count == RECIPES_MOST || qzi_grow((void **)&unwinder->recipes, &unwinder->recipes_room,
                                                          unwinder->recipes_count + 1, sizeof *unwinder->recipes))
    return NULL;
  struct qzi_recipe *recipe = &unwinder->recipes[unwinder->recipes_count];
  make_recipe(unwinder, pc, recipe);
  if (qzi_table_add(&unwinder->table, hash, unwinder->recipes_count + 1)) return NULL;
  unwinder->recipes_count++;
  return recipe;
}

int qzi_recipes_vdso(struct qzi_unwinder *unwinder, uint64_t pc) {
  if (!unwinder->vdso_end && !unwinder->vdso.tried++) find_vdso(unwinder);
  return pc >= unwinder->vdso_start && pc < unwinder->vdso_end;
}

void qzi_recipes_close(struct qzi_unwinder *unwinder) {
  for (uint32_t k = 0; k < unwinder->binaries_count; k++) qzi_unwind_binary_close(&unwinder->binaries[k]);
  qzi_unwind_binary_close(&unwinder->vdso);
  qzi_frame_code_close(unwinder->code);
  qzi_table_free(&unwinder->table);
  free(unwinder->binaries);
  free(unwinder->recipes);
}

/* ---- machine code ---- */

/* Finds the procedure, or separate part of one, that contains the instruction. *parent: the procedure to which a
 * separate part belongs; end 0: none. */
static enum qzi_frame_answer extent_of(struct qzi_unwinder *unwinder, uint64_t pc, struct qzi_code_extent *extent,
                                       struct qzi_code_extent *parent) {
  uint32_t module = qzi_intern_module(unwinder->in, pc);
  parent->end = 0;
  if (!module || module > unwinder->binaries_count) return QZI_FRAME_UNKNOWN;
  const struct qzi_unwind_binary *binary = binary_of(unwinder, module);
  uint64_t bias = unwinder->in->file->modules[module - 1].bias, low, high;
  if (!qz_symbols_extent(unwinder->symbols, pc, &extent->start, &extent->end))
    return bounds_of(unwinder, binary, bias, pc, extent, parent);
  extent->sized = extent->end > extent->start;
  if (!extent->sized) {
    if (pc - extent->start >= UNSIZED || !qzi_unwind_binary_text(binary, pc - bias, &low, &high))
      return QZI_FRAME_UNKNOWN;
    extent->end = high + bias - extent->start < UNSIZED ? high + bias : extent->start + UNSIZED;
  }
  enum qz_symbol_origin origin;
  uint64_t entry = qz_symbols_entry(unwinder->symbols, pc, &origin);
  if (entry == extent->start || !qz_symbols_extent(unwinder->symbols, entry, &parent->start, &parent->end))
    parent->end = 0;
  parent->sized = 1;
  return QZI_FRAME_KNOWN;
}

enum qzi_frame_answer qzi_recipe_code_rule(struct qzi_unwinder *unwinder, const struct qzi_recipe *recipe,
                                           struct qzi_frame_rule *rule) {
  struct qzi_code_extent extent, parent;
  if (!unwinder->code || !recipe->module) return QZI_FRAME_UNKNOWN;
  if (recipe->stub) { /* linkers may write no unwind information for stubs */
    *rule = (struct qzi_frame_rule){.base = QZI_BASE_SP, .cfa_offset = stub_depth(recipe->pc), .fp = QZI_FP_SAME};
    return QZI_FRAME_KNOWN;
  }
  enum qzi_frame_answer answer = extent_of(unwinder, recipe->pc, &extent, &parent);
  if (answer != QZI_FRAME_KNOWN) return answer;
  return qzi_frame_code_rule(unwinder->code, &extent, parent.end > parent.start ? &parent : NULL, recipe->pc, rule);
}

static enum qzi_call_before call_before(uint32_t pid, uint64_t back, int generated, uint64_t *target) {
  unsigned char code[8];
  *target = 0;
  if (back < 4096 || qzi_program_read(pid, back - sizeof code, code, sizeof code)) return CALL_NONE;
  /* HotSpot's interpreter pushes the address behind the jump by which it goes on to the next instruction, and calls by
   * a jump. */
  int jumps = generated && qzi_prologue_ends_with_dispatch(code, sizeof code);
  if (!jumps && !qzi_ends_with_call(code, sizeof code)) return CALL_NONE;
  if (generated) return CALL_INDIRECT; /* which procedure it calls makes no difference to qzi_recipe_link */
  *target = qzi_call_target(pid, back);
  return *target ? CALL_DIRECT : CALL_INDIRECT;
}

static void read_call(struct qzi_unwinder *unwinder, struct qzi_recipe *caller) {
  uint32_t pid = unwinder->in->file->head->pid;
  if (qzi_key_is_generated(caller->entry)) {
    struct qzi_generated_call *kept = generated_call(unwinder, caller->pc);
    if (kept->call == CALL_NOT_READ) kept->call = call_before(pid, caller->pc + 1, 1, &caller->call_target);
    caller->call = kept->call;
  } else {
    caller->call = call_before(pid, caller->pc + 1, 0, &caller->call_target);
  }
}

enum qz_link qzi_recipe_link(struct qzi_unwinder *unwinder, const struct qzi_recipe *callee, struct qzi_recipe *caller,
                             enum qz_unwound_by by) {
  struct qzi_code_extent extent, parent;
  if (qzi_recipe_is_first(caller)) return QZ_LINK_LIKELY;
  if (caller->call == CALL_NOT_READ) read_call(unwinder, caller);
  if (caller->call == CALL_NONE) return QZ_LINK_INVALID;
  /* The beginnings of procedures are not known in generated code. */
  if (qzi_key_is_generated(caller->entry) || qzi_key_is_generated(callee->entry)) return QZ_LINK_LIKELY;
  uint64_t target = caller->call_target;
  if (caller->call == CALL_INDIRECT || !callee->entry) return QZ_LINK_LIKELY;
  if (target == callee->entry) return QZ_LINK_VALID;
  enum qz_symbol_origin origin;
  if (qz_symbols_entry(unwinder->symbols, target, &origin) == callee->entry) return QZ_LINK_VALID;
  if (by == QZ_UNWOUND_BY_TABLE || !unwinder->code) return QZ_LINK_LIKELY;
  /* The call is of another procedure, which may have ended with a jump to this one (tail call). */
  if (extent_of(unwinder, target, &extent, &parent) != QZI_FRAME_KNOWN) return QZ_LINK_LIKELY;
  return qzi_frame_code_tail_calls(unwinder->code, &extent) ? QZ_LINK_LIKELY : QZ_LINK_INVALID;
}
