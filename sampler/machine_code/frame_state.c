/* See frame_state.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; registers that
 * calls keep: System V ABI, x86-64. */
#include "frame_state.h"

#include <string.h>

#ifdef QZI_DECODES

#define FRAME_MOST (1 << 26) /* bytes; larger values are no offset in a frame */

void qzi_frame_state_begin(struct qzi_frame_state *state) {
  memset(state, 0, sizeof *state);
  state->of_cfa = 1u << RSP;
  state->below[RSP] = 8;
  state->fp_callers = 1;
}

static void forget(struct qzi_frame_state *state, unsigned reg) {
  if (reg >= 16) return;
  state->of_cfa &= (uint16_t) ~(1u << reg);
  state->aligned &= (uint16_t) ~(1u << reg);
  state->below[reg] = 0;
  if (reg == RBP) state->fp_callers = 0;
}

static int is_known(const struct qzi_frame_state *state, unsigned reg) {
  return reg < 16 && ((state->of_cfa | state->aligned) >> reg & 1);
}

/* to = from - less */
static void set(struct qzi_frame_state *state, unsigned to, unsigned from, int64_t less) {
  if (to >= 16) return;
  if (!is_known(state, from)) {
    forget(state, to);
    return;
  }
  int64_t below = state->below[from] + less;
  unsigned aligned = state->aligned >> from & 1;
  forget(state, to);
  if (below < -FRAME_MOST || below > FRAME_MOST) return;
  state->below[to] = (int32_t)below;
  *(aligned ? &state->aligned : &state->of_cfa) |= (uint16_t)(1u << to);
}

/* The register is stored at base + disp. */
static void store(struct qzi_frame_state *state, unsigned reg, unsigned base, int64_t disp) {
  if (!is_known(state, base) || reg >= 16) return;
  int aligned = state->aligned >> base & 1;
  int64_t below = state->below[base] - disp;
  if (reg == RBP && state->fp_callers && !state->fp_saved) {
    state->fp_saved = aligned ? 2 : 1;
    state->fp_below = (int32_t)below;
  } else if (aligned && state->of_cfa >> reg & 1) {
    state->cfa_saved = 1;
    state->cfa_below = (int32_t)below;
    state->cfa_more = state->below[reg];
  }
}

/* The register is loaded from base + disp. */
static void load(struct qzi_frame_state *state, unsigned reg, unsigned base, int64_t disp) {
  int known = is_known(state, base), aligned = known && (state->aligned >> base & 1);
  int64_t below = known ? state->below[base] - disp : 0;
  forget(state, reg);
  if (reg == RBP && known && state->fp_saved == (aligned ? 2 : 1) && below == state->fp_below) state->fp_callers = 1;
  if (reg < 16 && aligned && state->cfa_saved && below == state->cfa_below) {
    state->of_cfa |= (uint16_t)(1u << reg);
    state->below[reg] = state->cfa_more;
  }
}

static void push(struct qzi_frame_state *state, unsigned reg) {
  set(state, RSP, RSP, 8);
  store(state, reg, RSP, 0);
}

static void pop(struct qzi_frame_state *state, unsigned reg) {
  if (reg == RSP) {
    load(state, RSP, RSP, 0);
    return;
  }
  if (reg < 16) load(state, reg, RSP, 0);
  set(state, RSP, RSP, -8);
}

/* add, or, and, sub, ... of a register and a constant. Returns 1 if the instruction is one. */
static int compute(struct qzi_frame_state *state, const struct instruction *its) {
  if ((its->op != 0x81 && its->op != 0x83) || its->rm >= 16) return 0;
  if (its->kind == 0)
    set(state, its->rm, its->rm, -its->number);
  else if (its->kind == 5)
    set(state, its->rm, its->rm, its->number);
  else if (its->kind == 4 && its->rm == RSP && its->number < 0) {
    /* Values relative to an earlier alignment are unknown from here on. */
    for (unsigned reg = 0; reg < 16; reg++)
      if (state->aligned >> reg & 1) forget(state, reg);
    if (state->fp_saved == 2) state->fp_saved = 0;
    state->cfa_saved = 0;
    forget(state, RSP);
    state->aligned |= 1u << RSP;
  } else if (its->kind != 7) {
    forget(state, its->rm);
  }
  return 1;
}

/* Instructions that copy addresses of the frame. Returns 1 if the instruction is one. */
static int move(struct qzi_frame_state *state, const struct instruction *its) {
  int plain = its->at.index == NONE && !its->at.thread && its->at.base < 16;
  switch (its->op) {
  case 0x89: /* mov from a register to a register or memory */
    if (its->rm < 16)
      set(state, its->rm, its->reg, 0);
    else if (plain)
      store(state, its->reg, its->at.base, its->at.disp);
    return 1;
  case 0x8b:
    if (its->rm < 16)
      set(state, its->reg, its->rm, 0);
    else if (plain)
      load(state, its->reg, its->at.base, its->at.disp);
    else
      forget(state, its->reg);
    return 1;
  case 0x8d: /* lea */
    if (plain)
      set(state, its->reg, its->at.base, -its->at.disp);
    else
      forget(state, its->reg);
    return 1;
  default: return 0;
  }
}

/* Instructions that change the stack pointer. Returns 1 if the instruction is one. */
static int stack(struct qzi_frame_state *state, const struct instruction *its) {
  if (its->op >= 0x50 && its->op <= 0x57)
    push(state, its->rm);
  else if (its->op >= 0x58 && its->op <= 0x5f)
    pop(state, its->rm);
  else if (its->op == 0x68 || its->op == 0x6a || its->op == 0x9c || (its->op == 0xff && its->kind == 6))
    push(state, NONE);
  else if (its->op == 0x9d)
    pop(state, NONE);
  else if (its->op == 0x8f) {
    forget(state, its->rm);
    set(state, RSP, RSP, -8);
  } else if (its->op == 0xc9) { /* leave */
    set(state, RSP, RBP, 0);
    pop(state, RBP);
  } else {
    return 0;
  }
  return 1;
}

void qzi_frame_state_after(struct qzi_frame_state *state, const struct instruction *its) {
  if (its->goes == QZI_GOES_CALL) {
    for (unsigned reg = 0; reg < 16; reg++)
      if (CHANGED >> reg & 1) forget(state, reg);
    return;
  }
  if (its->goes == QZI_GOES_KERNEL) {
    forget(state, 0);
    forget(state, 1);
    forget(state, 11);
    return;
  }
  if (stack(state, its) || compute(state, its) || move(state, its)) return;
  for (unsigned reg = 0; reg < 16; reg++)
    if (its->writes >> reg & 1) forget(state, reg);
}

int32_t qzi_frame_state_depth(const struct qzi_frame_state *state) {
  return state->of_cfa >> RSP & 1 ? state->below[RSP] : -1;
}

void qzi_frame_state_rule(const struct qzi_frame_state *state, struct qzi_frame_rule *rule) {
  unsigned base = RSP;
  rule->base = QZI_BASE_NONE;
  rule->from_fp = state->of_cfa >> RBP & 1 ? state->below[RBP] : 0;
  if (state->of_cfa >> RSP & 1) {
    rule->base = QZI_BASE_SP;
  } else if (state->of_cfa >> RBP & 1) {
    rule->base = QZI_BASE_FP;
    base = RBP;
  } else if (state->cfa_saved && (state->aligned >> RBP & 1)) {
    rule->base = QZI_BASE_AT_FP;
    base = RBP;
  } else if (state->cfa_saved && (state->aligned >> RSP & 1)) {
    rule->base = QZI_BASE_AT_SP;
  }
  if (rule->base == QZI_BASE_NONE) return;
  int at = rule->base == QZI_BASE_AT_SP || rule->base == QZI_BASE_AT_FP;
  rule->cfa_offset = at ? state->cfa_more : state->below[base];
  rule->slot_offset = at ? state->below[base] - state->cfa_below : 0;
  if (state->fp_callers) {
    rule->fp = QZI_FP_SAME;
  } else if (state->fp_saved == 1) {
    rule->fp = QZI_FP_AT_CFA;
    rule->fp_offset = -state->fp_below;
  } else if (state->fp_saved == 2 && (state->aligned >> base & 1)) {
    rule->fp = QZI_FP_AT_BASE;
    rule->fp_offset = state->below[base] - state->fp_below;
  }
}

#endif
