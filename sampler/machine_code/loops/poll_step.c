/* Effect of one instruction on the state of a loop, and of the procedures that the loop calls. See poll_step.h. */
#include "poll_step.h"

#include "sampler/machine_code/hook_code.h"

#define DEPTH_MOST 4 /* maximum depth of calls */

#ifdef QZI_DECODES

static int value_of_register(const struct state *state, unsigned reg) {
  return reg == NONE || reg == RIP ? FIXED : (int)state->registers[reg];
}

/* Class of the value read there; -1: a loop that polls does not read there. */
static int load(struct state *state, const struct memory *at) {
  if (at->thread)
    return value_of_register(state, at->base) == COUNT || value_of_register(state, at->index) == COUNT
             ? -1
             : FIXED; /* thread-local memory */
  if (qzi_loop_state_owns(state, at)) {
    const enum value *known = qzi_loop_state_slot(state, at);
    if (state->leaves) return -1;
    return known ? (int)*known : state->clock ? TIMED : state->alone && !state->depth ? POLLED : FIXED;
  }
  if (at->base == RSP || (at->base == RBP && state->framed)) return -1; /* an array in its own frame */
  return value_of_register(state, at->base) == COUNT || value_of_register(state, at->index) == COUNT ? -1 : POLLED;
}

static int operand(struct state *state, const struct instruction *its) {
  return its->rm != NONE ? value_of_register(state, its->rm) : load(state, &its->at);
}

static int put(struct state *state, const struct instruction *its, int value) {
  if (value < 0) return 0;
  if (its->rm != NONE) {
    state->registers[its->rm] = (enum value)value;
    return its->rm != RSP;
  }
  enum value *known = qzi_loop_state_owns(state, &its->at) ? qzi_loop_state_slot(state, &its->at) : NULL;
  if (!known) return 0;
  *known = (enum value)value;
  return 1;
}

/* Class of a computed value; -1: it depends on a count, or on a value carried from round to round. */
static int calculated(int one, int other) {
  if (one < 0 || other < 0 || one == COUNT || other == COUNT) return -1;
  return one > other ? one : other;
}

/* Class of a comparison's result; -1: a count was compared with a value that was read. */
static int compared(int one, int other) {
  if (one < 0 || other < 0 || (one == COUNT && other >= POLLED) || (one >= POLLED && other == COUNT)) return -1;
  return one > other ? one : other;
}

static int set_flags(struct state *state, int value) {
  if (value >= 0) state->flags = (enum value)value;
  return value >= 0;
}

/* Addition of a constant: counting, or an offset to a value that was read. */
static int step(struct state *state, const struct instruction *its) {
  int value = operand(state, its); /* qzi_poll_step_prepare has made values that are carried from round to round
                                      COUNT */
  return put(state, its, value) && set_flags(state, value);
}

/* An exchange-and-add: adding zero only reads. */
static int is_exchange_add(const struct instruction *its) {
  return its->rm == NONE && (its->op == 0x1c0 || its->op == 0x1c1);
}

/* Tracks one instruction of a procedure that the loop calls. Returns 1: go on; 2: the procedure returns; 0: it does
 * something that a loop that polls does not. */
static int reach_callee(struct state *state, const struct instruction *its, uint64_t end) {
  int memory;
  if (its->goes == QZI_GOES_BACK) return 2;
  if (its->op == 0xe9 && (its->number <= 0 || its->number >= (int64_t)QZI_CALLEE_BYTES)) /* tail call */
    return qzi_poll_step(state, &(struct instruction){.op = 0xe8, .number = its->number, .reg = NONE, .rm = NONE}, end)
             ? 2
             : 0;
  if (qzi_is_jump(its)) return its->number > 0; /* only forward jumps are followed */
  if ((its->op >= 0x58 && its->op <= 0x5f) || its->op == 0xc9 ||
      ((its->op == 0x83 || its->op == 0x81) && its->rm == RSP && its->kind == 0)) {
    state->leaves = 1; /* from here on it restores registers and returns */
    return 1;
  }
  if ((its->op >= 0x50 && its->op <= 0x57) ||
      ((its->op == 0x83 || its->op == 0x81) && its->rm == RSP && its->kind == 5))
    return !state->slots_count && !state->leaves; /* must come first, because slots are identified by their distance
                                                     from the stack pointer */
  if (its->op == 0x89 && its->reg == RSP && its->rm == RBP) {
    state->framed = 1;
    state->registers[RBP] = COUNT;
    return 1;
  }
  qzi_writes(its, &memory);
  if (memory && !is_exchange_add(its) &&
      (state->leaves || (!qzi_loop_state_slot(state, &its->at) && !qzi_loop_state_add(state, &its->at, FIXED))))
    return 0;
  return qzi_poll_step(state, its, end);
}

/* If a hook is expanded there, skips it: it only changes some registers. Returns its length; 0: no hook. */
static unsigned pass_hook(struct state *state, const unsigned char *bytes, size_t left) {
  unsigned length;
  enum qzi_hook hook = qzi_hook_code(bytes, left, &length);
  if (hook == QZI_NO_HOOK) return 0;
  state->registers[hook == QZI_HOOK_ENTRY ? RAX : 1] = state->registers[10] = state->registers[11] = FIXED;
  state->flags = FIXED;
  return length;
}

/* Follows the procedure called by the call before `back`, or the one at `target`. Returns 0 if it may do work. */
static int called(struct state *state, uint64_t target, uint64_t back) {
  unsigned char bytes[QZI_CALLEE_BYTES];
  struct qzi_code code;
  struct instruction its;
  if (!state->callees || state->depth == DEPTH_MOST) return 0;
  enum qzi_callee what = state->callees->look(state->callees->context, target, back, &code, bytes);
  if (what == QZI_CALLEE_UNKNOWN) return 0;
  if (what == QZI_CALLEE_HOOK) return 1;
  if (what != QZI_CALLEE_CODE) {
    for (unsigned k = 0; k < REGISTERS; k++)
      if (CHANGED & BIT(k)) state->registers[k] = what == QZI_CALLEE_CLOCK ? TIMED : FIXED;
    state->clock |= what == QZI_CALLEE_CLOCK;
    return 1;
  }
  struct state inside = *state;
  inside.depth++;
  inside.slots_count = 0;
  inside.framed = inside.leaves = 0;
  uint64_t at = code.address, end = code.address + code.count;
  struct jumps jumps = {.count = 0};
  struct state result;
  int returns = 0;
  for (; !jumps.dead || jumps.count; at += its.length) {
    if (at >= end || !qzi_loop_state_arrives(&jumps, &inside, at)) return 0;
    unsigned hook = jumps.dead ? 0 : pass_hook(&inside, code.bytes + (at - code.address), (size_t)(end - at));
    if (hook) {
      its.length = hook;
      continue;
    }
    if (!qzi_decode(code.bytes + (at - code.address), (size_t)(end - at), &its)) return 0;
    uint64_t next = at + its.length;
    if (jumps.dead) continue;
    int state = reach_callee(&inside, &its, next);
    if (!state) return 0;
    if (state == 1 && qzi_is_jump(&its) && !qzi_loop_state_parts(&jumps, &inside, &its, next + (uint64_t)its.number))
      return 0;
    if (state == 1) continue;
    inside.framed = inside.leaves = 0;
    inside.slots_count = 0;
    if (returns++ && !qzi_loop_state_join(&inside, &result)) return 0;
    result = inside;
    jumps.dead = 1;
  }
  inside = result;
  for (unsigned k = 0; k < REGISTERS; k++)
    if (CHANGED & BIT(k)) state->registers[k] = inside.registers[k];
  state->clock = inside.clock;
  return 1;
}

/* An operation of a register with itself that clears it. */
static int is_zero(const struct instruction *its) {
  return its->rm == its->reg && (its->op == 0x31 || its->op == 0x33 || its->op == 0x157 || its->op == 0x1ef);
}

static int sets_zero(const struct instruction *its) {
  return is_zero(its) || (its->op >= 0xb8 && its->op <= 0xbf && its->number == 0) ||
         (its->op == 0xc7 && its->rm != NONE && its->number == 0);
}

/* Tracks one instruction. Returns 0 if a loop that polls can't contain it. */
static int track_one(struct state *state, const struct instruction *its, uint64_t end) {
  int value;
  if (its->fences) return its->rm == NONE && its->stores ? set_flags(state, load(state, &its->at)) : 1;
  switch (its->op) {
  case 0x90:
  case 0x11e:
  case 0x11f:
  case 0x118: return 1; /* nop, pause, endbr, prefetch */
  case 0xe8: return called(state, end + (uint64_t)its->number, its->length ? end : 0);
  case 0x131: /* the time-stamp counter */ state->registers[RAX] = state->registers[RDX] = TIMED; return 1;
  case 0x8a:
  case 0x8b:
  case 0x63:
  case 0x1b6:
  case 0x1b7:
  case 0x1be:
  case 0x1bf: /* loads */
    if ((value = operand(state, its)) < 0 || its->reg == RSP) return 0;
    state->registers[its->reg] = (enum value)value;
    return 1;
  case 0x8d: /* lea: a step, if it adds a constant to a register */
    if (its->reg == RSP) return 0;
    if (its->at.index != NONE || its->at.base >= 16) {
      value = calculated(value_of_register(state, its->at.base), value_of_register(state, its->at.index));
      if (value >= 0) state->registers[its->reg] = (enum value)value;
      return value >= 0;
    }
    value = value_of_register(state, its->at.base);
    state->registers[its->reg] = (enum value)value;
    return 1;
  case 0x88:
  case 0x89: return put(state, its, value_of_register(state, its->reg));
  case 0x33:
  case 0x157:
  case 0x1ef:
  case 0x03:
  case 0x0b:
  case 0x23:
  case 0x2b:
  case 0x1af:
  case 0x158:
  case 0x159:
  case 0x15c:
  case 0x15e:
    if (is_zero(its)) return put(state, its, state->control) && set_flags(state, state->control);
    value = calculated(operand(state, its), value_of_register(state, its->reg));
    if (value < 0 || its->reg == RSP) return 0;
    state->registers[its->reg] = (enum value)value;
    return set_flags(state, value);
  case 0x01:
  case 0x09:
  case 0x21:
  case 0x29:
  case 0x31:
    if (is_zero(its)) return put(state, its, state->control) && set_flags(state, state->control);
    value = calculated(operand(state, its), value_of_register(state, its->reg));
    return put(state, its, value) && set_flags(state, value);
  case 0xc0:
  case 0xc1:
  case 0xd0:
  case 0xd1:
  case 0xd2:
  case 0xd3: /* shifts */
    value = calculated(operand(state, its), its->op >= 0xd2 ? value_of_register(state, 1) : FIXED);
    return put(state, its, value) && set_flags(state, value);
  case 0x69:
  case 0x6b:
  case 0x12a:
  case 0x15a:
  case 0x16e:
  case 0x110:
  case 0x128: /* the result depends only on the other operand */
    value = operand(state, its);
    if (its->op != 0x110 && its->op != 0x128 && its->op != 0x16e) value = calculated(value, FIXED);
    if (value < 0 || its->reg == RSP) return 0;
    state->registers[its->reg] = (enum value)value;
    return 1;
  case 0x111:
  case 0x129: return put(state, its, value_of_register(state, its->reg));
  case 0x12e:
  case 0x12f: return set_flags(state, compared(operand(state, its), value_of_register(state, its->reg)));
  case 0x98: return 1;
  case 0x99: state->registers[RDX] = state->registers[RAX]; return 1;
  case 0x24:
  case 0x25:
  case 0x34:
  case 0x35: return state->registers[RAX] != COUNT && set_flags(state, (int)state->registers[RAX]);
  case 0xc6:
  case 0xc7: return its->kind == 0 && put(state, its, state->control);
  case 0x84:
  case 0x85:
  case 0x38:
  case 0x39:
  case 0x3a:
  case 0x3b: /* test, compare */
    return set_flags(state, compared(operand(state, its), value_of_register(state, its->reg)));
  case 0xf6:
  case 0xf7:
    if (its->kind == 0) return set_flags(state, operand(state, its));
    if (its->kind < 2) return 0;
    value = calculated(operand(state, its), FIXED);
    if (its->kind < 4) return put(state, its, value) && set_flags(state, value);
    value =
      calculated(value, calculated((int)state->registers[RAX], its->kind >= 6 ? (int)state->registers[RDX] : FIXED));
    if (value < 0) return 0;
    state->registers[RAX] = state->registers[RDX] = state->flags = (enum value)value;
    return 1;
  case 0xa8:
  case 0xa9:
  case 0x3c:
  case 0x3d: return set_flags(state, (int)state->registers[RAX]);
  case 0x80:
  case 0x81:
  case 0x83:
    if (its->kind == 7) return set_flags(state, operand(state, its));
    if (its->kind == 4 || its->kind == 6 || its->kind == 1) { /* and with a mask */
      value = operand(state, its);
      return value >= POLLED && its->rm != NONE && put(state, its, value) && set_flags(state, value);
    }
    return (its->kind == 0 || its->kind == 5) && step(state, its);
  case 0xfe:
  case 0xff:
    if (its->op == 0xff && its->kind == 2) return its->at.base == RIP && called(state, 0, end);
    return its->kind < 2 && step(state, its);
  case 0x1c0:
  case 0x1c1:
    if (!is_exchange_add(its) || its->reg >= NONE || !(state->zero & BIT(its->reg)) || load(state, &its->at) != POLLED)
      return 0;
    state->registers[its->reg] = state->flags = POLLED;
    return 1;
  case 0x86:
  case 0x87:
  case 0x1b0:
  case 0x1b1: /* exchange, compare-and-exchange: how locks are tried */
    if (its->op >= 0x100 && value_of_register(state, its->reg) != FIXED)
      return 0; /* an update that is repeated if another one came between */
    if (its->rm != NONE || its->reg == RSP || load(state, &its->at) != POLLED) return 0;
    state->registers[its->op >= 0x100 ? RAX : its->reg] = POLLED;
    if (its->op >= 0x100) state->flags = POLLED;
    return 1;
  default:
    if (its->op >= 0xb0 && its->op <= 0xbf) return put(state, its, state->control);
    if (its->op >= 0x190 && its->op <= 0x19f) return put(state, its, state->flags == COUNT ? -1 : (int)state->flags);
    if (its->op >= 0x140 && its->op <= 0x14f) {
      value = calculated(calculated(operand(state, its), value_of_register(state, its->reg)), (int)state->flags);
      if (value < 0 || its->reg == RSP) return 0;
      state->registers[its->reg] = (enum value)value;
      return 1;
    }
    if (!qzi_is_jump(its)) return 0;
    state->polls |= state->flags == POLLED && its->goes != QZI_GOES_TO;
    return 1;
  }
}

int qzi_poll_step(struct state *state, const struct instruction *its, uint64_t end) {
  int goes_on = track_one(state, its, end), memory;
  state->zero &= ~qzi_writes(its, &memory);
  if (sets_zero(its) && its->rm < NONE) state->zero |= BIT(its->rm);
  return goes_on;
}

int qzi_poll_step_prepare(struct state *state, const struct instruction *its) {
  int memory;
  uint64_t registers = qzi_writes(its, &memory);
  for (unsigned k = 0; k < REGISTERS; k++)
    if (registers & BIT(k)) state->registers[k] = COUNT;
  if (memory && !is_exchange_add(its) && !qzi_loop_state_slot(state, &its->at))
    return qzi_loop_state_add(state, &its->at, COUNT);
  return !(registers & BIT(RSP)) && !(registers & BIT(RBP) && state->framed);
}

#endif
