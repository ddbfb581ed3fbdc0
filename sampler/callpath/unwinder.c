/* Walks the stacks of another process. See unwinder.h. */
#include "unwinder.h"

#ifdef QUARTZ_SYMBOLS
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "recipes.h"
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/prologue.h"
#include "sampler/profile/generated.h"
#include "sampler/profile/symbolize.h"
#include "sampler/profile/unwinding.h"

#if defined(__x86_64__)
#define CODE_BITS (~UINT64_C(0))
#else
#define CODE_BITS UINT64_C(0x0000ffffffffffff) /* without the signature of signed return addresses */
#endif
#define CHUNK           4096u /* bytes of the program's memory read at a time */
#define CHUNKS_MOST     64u   /* maximum number of reads in one walk */
/* Bytes of generated code in which the beginning of a procedure is looked for, and how long one is at most. */
#define PROLOGUE_WITHIN (16 * CHUNK)
#define PROLOGUE_MOST   16u

struct qzi_unwinder *qzi_unwinder_open(struct qzi_interner *in) {
  struct qzi_unwinder *unwinder = calloc(1, sizeof *unwinder);
  if (!unwinder) return NULL;
  unwinder->in = in;
  unwinder->vdso.fd = -1;
  unwinder->symbols = qzi_symbols(in);
  unwinder->code = qzi_frame_code_open();
  if (unwinder->symbols) return unwinder;
  qzi_unwinder_close(unwinder);
  return NULL;
}

void qzi_unwinder_close(struct qzi_unwinder *unwinder) {
  if (!unwinder) return;
  qzi_recipes_close(unwinder);
  free(unwinder);
}

uint64_t qzi_unwind_entry(struct qzi_unwinder *unwinder, uint64_t pc) {
  const struct qzi_recipe *recipe = qzi_recipe_for(unwinder, pc);
  return recipe ? recipe->entry : 0;
}

int qzi_unwind_standard(struct qzi_unwinder *unwinder, uint64_t pc) {
  const struct qzi_recipe *recipe = qzi_recipe_for(unwinder, pc);
  return recipe && recipe->standard;
}

const char *qzi_unwind_symbol(struct qzi_unwinder *unwinder, uint64_t pc) {
  return qz_symbols_linkage(unwinder->symbols, pc);
}

void qzi_unwinder_prepare(struct qzi_unwinder *unwinder) { qzi_recipes_prepare(unwinder); }

int qzi_unwind_vdso(struct qzi_unwinder *unwinder, uint64_t pc) { return qzi_recipes_vdso(unwinder, pc); }

enum qz_cut qzi_unwind_cut(const struct qzi_unwinder *unwinder) { return unwinder->cut; }

int qzi_unwind_beyond(const struct qzi_unwinder *unwinder) { return unwinder->beyond; }

/* ---- memory ---- */

struct memory {
  uint32_t pid, chunks;
  struct qzi_stack_copy copy;
  uint64_t address; /* where `chunk` was read from */
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
    /* The first read is short, because the end of the stack may be near. */
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

/* ---- one step ---- */

struct walk {
  struct qzi_unwinder *unwinder;
  struct memory memory;
  struct qzi_registers now;
  int innermost;
  enum qz_cut cut; /* why the last attempt to leave a frame failed */
};

static int may_be_caller(const struct walk *walk, uint64_t cfa) {
  return cfa > walk->now.sp || (cfa == walk->now.sp && walk->innermost); /* stacks grow downwards */
}

static int fails(struct walk *walk, enum qz_cut why) {
  walk->cut = why;
  return -1;
}

/* Finds the frame's CFA; *from receives the value of the base register. Returns 0, or -1 with the reason in
 * walk->cut. */
static int find_cfa(struct walk *walk, uint8_t base, int32_t offset, int32_t slot, uint64_t *from, uint64_t *cfa) {
  int by_fp = base == QZI_BASE_FP || base == QZI_BASE_AT_FP, at = base == QZI_BASE_AT_SP || base == QZI_BASE_AT_FP;
  if (base == QZI_BASE_NONE || (by_fp && !walk->now.fp_known)) return fails(walk, QZ_CUT_NO_RULE);
  *from = *cfa = by_fp ? walk->now.fp : walk->now.sp;
  if (at && peek(&walk->memory, *from + (uint64_t)(int64_t)slot, cfa)) return fails(walk, QZ_CUT_MEMORY);
  *cfa += (uint64_t)(int64_t)offset;
  return may_be_caller(walk, *cfa) ? 0 : fails(walk, QZ_CUT_WRONG);
}

/* Steps to the caller by unwind information. */
static int step_by_table(struct walk *walk, const struct qzi_recipe *recipe, struct qzi_registers *next) {
  uint64_t from, cfa, back = 0;
  if (find_cfa(walk, recipe->base, recipe->cfa_offset, recipe->slot_offset, &from, &cfa)) return -1;
  *next = walk->now;
  if (recipe->ra == SAVED) {
    if (peek(&walk->memory, cfa + (uint64_t)(int64_t)recipe->ra_offset, &back)) return fails(walk, QZ_CUT_MEMORY);
  } else if (walk->innermost) {
    back = walk->now.link;
  }
  if (recipe->ra != SAVED && !back) return fails(walk, QZ_CUT_NO_RULE);
  if (recipe->fp >= SAVED) {
    uint64_t at = recipe->fp == SAVED ? cfa : from;
    if (peek(&walk->memory, at + (uint64_t)(int64_t)recipe->fp_offset, &next->fp)) return fails(walk, QZ_CUT_MEMORY);
    next->fp_known = 1;
  }
  if (recipe->fp < SAME) next->fp_known = 0;
  next->sp = cfa;
  next->pc = back & CODE_BITS;
  return 0;
}

/* Steps to the caller by a rule derived from the machine code. */
static int step_by_code(struct walk *walk, const struct qzi_recipe *recipe, struct qzi_registers *next) {
  struct qzi_frame_rule rule;
  uint64_t from, cfa, back;
  enum qzi_frame_answer answer = qzi_recipe_code_rule(walk->unwinder, recipe, &rule);
  if (answer != QZI_FRAME_KNOWN) return fails(walk, answer == QZI_FRAME_LATER ? QZ_CUT_LATER : QZ_CUT_NO_RULE);
  if (find_cfa(walk, rule.base, rule.cfa_offset, rule.slot_offset, &from, &cfa)) return -1;
  *next = walk->now;
  if (peek(&walk->memory, cfa - 8, &back)) return fails(walk, QZ_CUT_MEMORY);
  if (rule.fp == QZI_FP_AT_CFA || rule.fp == QZI_FP_AT_BASE) {
    uint64_t at = rule.fp == QZI_FP_AT_CFA ? cfa : from;
    if (peek(&walk->memory, at + (uint64_t)(int64_t)rule.fp_offset, &next->fp)) return fails(walk, QZ_CUT_MEMORY);
    next->fp_known = 1;
  }
  if (rule.fp == QZI_FP_LOST) next->fp_known = 0;
  next->sp = cfa;
  next->pc = back;
  return 0;
}

/* Steps to the caller by the frame pointer, if it points to something like a frame: the caller's frame must lie further
 * out. */
static int step_by_pointer(struct walk *walk, struct qzi_registers *next) {
  uint64_t fp = walk->now.fp, outer, back;
  if (!walk->now.fp_known || fp < walk->now.sp || fp & 7 || peek(&walk->memory, fp, &outer) ||
      peek(&walk->memory, fp + 8, &back) || (outer && outer <= fp) || back < 4096)
    return -1;
  *next = (struct qzi_registers){.pc = back & CODE_BITS, .sp = fp + 16, .fp = outer, .fp_known = 1};
  return 0;
}

/* Checks a step, because a guessed one may be wrong: the return address must follow a call that may have reached this
 * procedure. */
static int holds(struct walk *walk, const struct qzi_recipe *callee, const struct qzi_registers *next,
                 enum qz_unwound_by by) {
  struct qz_unwinding *row = qzi_unwinding_of(walk->unwinder->in, callee->module);
  struct qzi_recipe *caller = qzi_recipe_for(walk->unwinder, next->pc - 1);
  int may = caller && (caller->known || qzi_key_is_generated(caller->entry));
  enum qz_link link = may ? qzi_recipe_link(walk->unwinder, callee, caller, by) : QZ_LINK_INVALID;
  if (row) row->steps[by][link]++;
  if (link != QZ_LINK_INVALID) return 1;
  walk->cut = QZ_CUT_WRONG;
  return 0;
}

/* Steps from a procedure to its caller. Returns 0, or -1 with the reason in walk->cut. */
static int step(struct walk *walk, const struct qzi_recipe *recipe) {
  struct qzi_registers next;
  if (!step_by_table(walk, recipe, &next)) {
    if (next.pc) holds(walk, recipe, &next, QZ_UNWOUND_BY_TABLE);
    walk->now = next;
    return 0;
  }
  /* There is no rule, it is not supported, or it needs the frame pointer, which is unknown. */
  enum qz_cut why = walk->cut;
  if (!step_by_code(walk, recipe, &next) && holds(walk, recipe, &next, QZ_UNWOUND_BY_CODE)) {
    walk->now = next;
    return 0;
  }
  if (why == QZ_CUT_NO_RULE) why = walk->cut;
  if (!recipe->covered && !step_by_pointer(walk, &next) && holds(walk, recipe, &next, QZ_UNWOUND_BY_POINTER)) {
    walk->now = next;
    return 0;
  }
  walk->cut = why;
  return -1;
}

/* ---- generated code ---- */

/* What the procedure with that instruction does with the stack: found once for each place. */
static uint32_t generated_frame(struct walk *walk, const struct qzi_recipe *recipe) {
  uint32_t *kept = qzi_generated_frame(walk->unwinder->in, recipe->entry), frame = QZI_PROLOGUE_NONE;
  unsigned char code[CHUNK + PROLOGUE_MOST];
  if (kept && *kept) return *kept - 1;
  size_t after = 0; /* bytes that were read before, which a beginning may reach into */
  uint64_t end = recipe->pc, least = end > PROLOGUE_WITHIN ? end - PROLOGUE_WITHIN : 0;
  while (!frame && end > least) {
    uint64_t start = (end - 1) & ~(uint64_t)(CHUNK - 1); /* page by page: the one before may not be mapped */
    memmove(code + (end - start), code, after);
    if (qzi_program_read(walk->memory.pid, start, code, end - start)) break;
    frame = qzi_prologue_before(code, end - start + after);
    after = end - start < PROLOGUE_MOST ? end - start : PROLOGUE_MOST;
    end = start;
  }
  if (kept) *kept = frame + 1;
  return frame;
}

/* Steps to the caller of generated code, which has no unwind information. */
static int step_generated(struct walk *walk, const struct qzi_recipe *recipe) {
  struct qzi_registers next = walk->now;
  unsigned char code[4];
  uint32_t frame = generated_frame(walk, recipe), above;
  if (walk->innermost && !qzi_program_read(walk->memory.pid, walk->now.pc, code, sizeof code) &&
      qzi_prologue_without_frame(code, sizeof code, &above)) {
    next.sp = walk->now.sp + above + 8;
    if (above && peek(&walk->memory, walk->now.sp, &next.fp)) return -1;
    if (peek(&walk->memory, walk->now.sp + above, &next.pc)) return -1;
  } else if (frame > QZI_PROLOGUE_POINTER) {
    next.sp = walk->now.sp + frame;
    if (peek(&walk->memory, next.sp - 16, &next.fp) || peek(&walk->memory, next.sp - 8, &next.pc)) return -1;
    next.fp_known = 1;
  } else if (frame == QZI_PROLOGUE_POINTER) {
    /* its caller may use that register for anything, unlike where no beginning is known */
    uint64_t fp = walk->now.fp;
    if (!walk->now.fp_known || fp < walk->now.sp || fp & 7) return -1;
    next.sp = fp + 16;
    if (peek(&walk->memory, fp, &next.fp) || peek(&walk->memory, fp + 8, &next.pc)) return -1;
  } else if (step_by_pointer(walk, &next)) {
    return -1;
  }
  enum qz_unwound_by by = frame == QZI_PROLOGUE_NONE ? QZ_UNWOUND_BY_POINTER : QZ_UNWOUND_BY_CODE;
  if (!holds(walk, recipe, &next, by)) return -1;
  walk->now = next;
  return 0;
}

/* ---- the walk ---- */

static uint32_t cut_at(struct walk *walk, uint32_t count, enum qz_cut why) {
  walk->unwinder->cut = why;
  walk->unwinder->beyond = walk->memory.copy.bytes && walk->memory.chunks;
  return count;
}

uint32_t qzi_unwind(struct qzi_unwinder *unwinder, const struct qzi_registers *from, const struct qzi_stack_copy *copy,
                    struct qzi_frame *frames, uint32_t most, int *complete) {
  struct walk walk;
  walk.unwinder = unwinder;
  walk.memory.pid = unwinder->in->file->head->pid;
  walk.memory.chunks = walk.memory.bytes = 0;
  walk.memory.address = 0;
  walk.memory.copy = copy ? *copy : (struct qzi_stack_copy){0};
  walk.now = *from;
  walk.cut = QZ_CUT_NOT;
  uint32_t count = 0;
  unwinder->walks++;
  *complete = 0;
  if (unwinder->code) qzi_frame_code_begin(unwinder->code, walk.memory.pid);
  while (count < most) {
    /* A return address may be after its procedure's last instruction, so look up the byte before it. */
    const struct qzi_recipe *found = qzi_recipe_for(unwinder, count ? walk.now.pc - 1 : walk.now.pc);
    if (!found) return cut_at(&walk, count, QZ_CUT_NO_RULE);
    struct qzi_recipe recipe = *found; /* a copy, because new recipes may move the table */
    frames[count++] = (struct qzi_frame){.pc = walk.now.pc,
                                         .entry = recipe.entry,
                                         .module = recipe.module,
                                         .framed = recipe.base == QZI_BASE_FP,
                                         .standard = recipe.standard};
    *complete = (recipe.outermost && recipe.known) || (count > 1 && qzi_recipe_is_first(&recipe));
    if (*complete) return cut_at(&walk, count, QZ_CUT_NOT);
    int generated = qzi_key_is_generated(recipe.entry);
    if (!recipe.known && !generated) return cut_at(&walk, count, QZ_CUT_WRONG);
    walk.innermost = count == 1;
    if (generated && step_generated(&walk, &recipe)) return cut_at(&walk, count, QZ_CUT_GENERATED);
    if (!generated && step(&walk, &recipe)) return cut_at(&walk, count, walk.cut);
    *complete = !walk.now.pc;
    if (*complete) return cut_at(&walk, count, QZ_CUT_NOT);
  }
  return cut_at(&walk, count, QZ_CUT_DEEP);
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
enum qz_cut qzi_unwind_cut(const struct qzi_unwinder *unwinder) { return QZ_CUT_NO_RULE; }
int qzi_unwind_beyond(const struct qzi_unwinder *unwinder) { return 0; }
uint64_t qzi_unwind_entry(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }
int qzi_unwind_standard(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }
const char *qzi_unwind_symbol(struct qzi_unwinder *unwinder, uint64_t pc) { return ""; }
int qzi_unwind_vdso(struct qzi_unwinder *unwinder, uint64_t pc) { return 0; }

#endif
