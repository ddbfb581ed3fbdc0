/* What is known of places in the program's code, for walks of its stacks: the procedure there, and how its caller is
 * found.
 *
 * Owns:    what is known of the program's binaries; a recipe for each place seen.
 * Writer and reader: the aggregating thread, through unwinder.c.
 * Must not: be used by any other file.
 *
 * Unwind information (.eh_frame) comes first, by libdw, once for each place (DWARF 5, section 6.4). Where it has no
 * rule that can be followed, the machine code is analysed (frame_code.h).
 */
#ifndef QZI_RECIPES_H
#define QZI_RECIPES_H

#include "frame_code.h"
#include "unwind_tables.h"
#include "unwinder.h"

/* How the caller of a place is found: its stack pointer (CFA) and what it had in the registers that matter. */
enum qzi_register_rule { UNKNOWN = 0, UNDEFINED, SAME, SAVED, SAVED_AT_BASE };
/* What stands before a return address. */
enum qzi_call_before { CALL_NOT_READ = 0, CALL_NONE, CALL_DIRECT, CALL_INDIRECT };

struct qzi_recipe {
  uint64_t pc, entry;
  uint64_t call_target; /* of a direct call that ends at pc + 1 */
  uint32_t module;
  uint32_t readings; /* of the program's map when it was made: one that failed is tried again after the next */
  /* By unwind information: bytes from the base register, where the CFA or its address is; from there on, where it is
   * read from; from the CFA; from the CFA or the base register. */
  int32_t cfa_offset, slot_offset, ra_offset, fp_offset;
  uint8_t covered; /* 1: unwind information says what is there */
  uint8_t base;    /* enum qzi_frame_base; NONE: it can't be followed */
  uint8_t ra, fp;  /* enum qzi_register_rule */
  uint8_t known, standard, outermost, stub;
  uint8_t pending; /* 1: where the procedure begins is not known yet */
  uint8_t call;    /* enum qzi_call_before */
};

struct qzi_unwinder {
  struct qzi_interner *in;
  qz_symbols *symbols;
  struct qzi_unwind_binary *binaries; /* by module */
  struct qzi_unwind_binary vdso;      /* the kernel's code in every process: the same as in ours */
  uint64_t vdso_start, vdso_end, vdso_bias;
  uint32_t binaries_count;
  struct qzi_table table; /* recipes by pc */
  struct qzi_recipe *recipes;
  uint32_t recipes_count, recipes_room;
  struct qzi_frame_code *code;
  enum qz_cut cut; /* why the last walk ended early */
  int no_tables;   /* 1: as if there were no unwind information, for tests; the outermost frame is known by it yet */
};

void qzi_recipes_close(struct qzi_unwinder *unwinder);
/* The place before a return address is its procedure's first instruction: no call ends there. Whoever made the stack
 * put it there, for what runs when its outermost procedure returns (Go: goexit): the stack begins there. (Unwind
 * information of what signal handlers return to begins one byte before it, too, and says how to go on.) */
static inline int qzi_recipe_is_first(const struct qzi_recipe *caller) {
  return caller->known && !caller->covered && caller->entry && caller->entry == caller->pc;
}

/* NULL: no memory. It holds until the next call. */
struct qzi_recipe *qzi_recipe_for(struct qzi_unwinder *unwinder, uint64_t pc);
/* The rule that follows from the machine code at that place. */
enum qzi_frame_answer qzi_recipe_code_rule(struct qzi_unwinder *unwinder, const struct qzi_recipe *recipe,
                                           struct qzi_frame_rule *rule);
/* Whether a frame that a walk found is one: `caller` is the place before the return address by which the procedure of
 * `callee` returns, found by `by`. */
enum qz_link qzi_recipe_link(struct qzi_unwinder *unwinder, const struct qzi_recipe *callee, struct qzi_recipe *caller,
                             enum qz_unwound_by by);
int qzi_recipes_vdso(struct qzi_unwinder *unwinder, uint64_t pc);

#endif
