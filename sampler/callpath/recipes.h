/* Recipes for stack walks: for each place in the program's code, the procedure that contains it, and how the caller is
 * found from there.
 *
 * Owns:    what is known about the program's binaries; a recipe for each place seen.
 * Writer and reader: the aggregating thread, through unwinder.c.
 * Must not: be used by any other file.
 *
 * A recipe comes from unwind information (.eh_frame), read by libdw, once for each place (DWARF 5, section 6.4). Where
 * this has no usable rule, the machine code is analysed (frame_code.h).
 */
#ifndef QZI_RECIPES_H
#define QZI_RECIPES_H

#include "frame_code.h"
#include "unwind_tables.h"
#include "sampler/profile/interner.h"

/* How the caller's value of a register is found. */
enum qzi_register_rule { UNKNOWN = 0, UNDEFINED, SAME, SAVED, SAVED_AT_BASE };
/* The instruction before a return address. */
enum qzi_call_before { CALL_NOT_READ = 0, CALL_NONE, CALL_DIRECT, CALL_INDIRECT };

struct qzi_recipe {
  uint64_t pc, entry;
  uint64_t call_target; /* of a direct call that ends at pc + 1; 0: none */
  uint32_t module;
  uint32_t readings; /* number of readings of the program's memory map when the recipe was made; one that failed is
                        tried again after the next reading */
  /* From unwind information, in bytes: cfa_offset: from the base register, or from the value at slot_offset, to the
   * CFA; slot_offset: from the base register to where that value is stored; ra_offset: from the CFA; fp_offset: from
   * the CFA or the base register. */
  int32_t cfa_offset, slot_offset, ra_offset, fp_offset;
  uint8_t covered; /* 1: unwind information describes the place */
  uint8_t base;    /* enum qzi_frame_base; NONE: there is no usable rule */
  uint8_t ra, fp;  /* enum qzi_register_rule */
  uint8_t known, standard, outermost, stub;
  uint8_t pending; /* 1: the beginning of the procedure is not known yet */
  uint8_t call;    /* enum qzi_call_before */
};

/* What precedes return addresses in generated code, of the latest places seen. Such code may be replaced by other code,
 * so after some walks it is read again. */
#define QZI_GENERATED_CALLS 1024u
#define QZI_GENERATED_WALKS 256u
struct qzi_generated_call {
  uint64_t pc;
  uint32_t period; /* number of the walk / QZI_GENERATED_WALKS */
  uint8_t call;    /* enum qzi_call_before */
};

struct qzi_unwinder {
  struct qzi_interner *in;
  qz_symbols *symbols;
  struct qzi_unwind_binary *binaries; /* indexed by module */
  struct qzi_unwind_binary vdso;      /* code that the kernel maps into every process; it is the same in ours */
  uint64_t vdso_start, vdso_end, vdso_bias;
  uint32_t binaries_count;
  struct qzi_table table; /* finds recipes by pc */
  struct qzi_recipe *recipes;
  uint32_t recipes_count, recipes_room;
  struct qzi_frame_code *code;
  struct qzi_generated_call generated_calls[QZI_GENERATED_CALLS];
  uint32_t walks;
  enum qz_cut cut; /* why the last walk ended early */
  int beyond;      /* 1: it read memory outside the copy of the stack */
  int no_tables;   /* 1: ignore unwind information except for recognizing the outermost frame; for tests */
};

void qzi_recipes_close(struct qzi_unwinder *unwinder);
void qzi_recipes_prepare(struct qzi_unwinder *unwinder); /* see qzi_unwinder_prepare */
/* 1: the place before the return address is the first instruction of its procedure, so there is no call that ends
 * there. The code that created the stack put this return address there, to be executed when the outermost procedure
 * returns (Go: goexit); so the stack begins there. (Signal return code is an exception: its unwind information begins
 * one byte earlier, so it is covered, and says how to continue.) */
static inline int qzi_recipe_is_first(const struct qzi_recipe *caller) {
  return caller->known && !caller->covered && caller->entry && caller->entry == caller->pc;
}

/* Returns NULL if there is no memory. The result is valid until the next call. */
struct qzi_recipe *qzi_recipe_for(struct qzi_unwinder *unwinder, uint64_t pc);
/* Derives the rule for that place from the machine code. */
enum qzi_frame_answer qzi_recipe_code_rule(struct qzi_unwinder *unwinder, const struct qzi_recipe *recipe,
                                           struct qzi_frame_rule *rule);
/* Whether a frame that a walk found is plausible: `caller` is the place before the return address to which the
 * procedure of `callee` returns; `by`: how it was found. */
enum qz_link qzi_recipe_link(struct qzi_unwinder *unwinder, const struct qzi_recipe *callee, struct qzi_recipe *caller,
                             enum qz_unwound_by by);
int qzi_recipes_vdso(struct qzi_unwinder *unwinder, uint64_t pc);

#endif
