/* Loops that poll. See polling_loop.h.
 *
 * A loop is followed once, from its first instruction to its jump back, with what is known of each register and stack slot:
 * whether it has its value from before the loop, from shared memory, from a clock, or from counting. Procedures that it calls are followed, too, as
 * long as they go straight to their return. */
#include "polling_loop.h"

#include "instruction.h"

#define LOOP_MOST 128 /* bytes */
#define SLOTS_MOST 8 /* places in its stack frame that a loop may write */
#define DEPTH_MOST 4 /* of calls */

#if defined(__x86_64__)

enum value {
  FIXED,  /* as before the loop, or a constant */
  COUNT,  /* changed by the loop itself, by steps of a constant */
  POLLED, /* read from memory at a fixed place, or at one that was so read; or calculated from that alone */
  TIMED,  /* read from a clock, or calculated with that */
};
struct followed {
  const struct qzi_callees *callees;
  enum value registers[REGISTERS];
  struct { struct memory at; enum value value; } slots[SLOTS_MOST]; /* stack slots that it writes */
  unsigned slots_count;
  enum value flags;
  int framed, polls;
  int clock;  /* it has read a clock, into memory of its own maybe */
  int depth;  /* of calls */
  int leaves; /* a procedure gives its frame up: what was in it is not looked at any more */
};

/* ---- what it knows ---- */

static int is_own(const struct followed *followed, const struct memory *at) {
  return at->index == NONE && (at->base == RSP || (at->base == RBP && followed->framed));
}

static enum value *slot(struct followed *followed, const struct memory *at) {
  for (unsigned k = 0; k < followed->slots_count; k++)
    if (followed->slots[k].at.base == at->base && followed->slots[k].at.disp == at->disp) return &followed->slots[k].value;
  return NULL;
}

static int value_of_register(const struct followed *followed, unsigned reg) {
  return reg == NONE || reg == RIP ? FIXED : (int)followed->registers[reg];
}

/* Value of what is read there; -1: not known to be polling. */
static int load(struct followed *followed, const struct memory *at) {
  if (is_own(followed, at)) {
    const enum value *known = slot(followed, at);
    if (followed->leaves) return -1;
    return known ? (int)*known : followed->clock ? TIMED : FIXED;
  }
  if (at->base == RSP || (at->base == RBP && followed->framed)) return -1; /* an array of its own */
  return value_of_register(followed, at->base) == COUNT || value_of_register(followed, at->index) == COUNT ? -1 : POLLED;
}

static int operand(struct followed *followed, const struct instruction *its) {
  return its->rm != NONE ? value_of_register(followed, its->rm) : load(followed, &its->at);
}

static int put(struct followed *followed, const struct instruction *its, int value) {
  if (value < 0) return 0;
  if (its->rm != NONE) {
    followed->registers[its->rm] = (enum value)value;
    return its->rm != RSP;
  }
  enum value *known = is_own(followed, &its->at) ? slot(followed, &its->at) : NULL;
  if (!known) return 0;
  *known = (enum value)value;
  return 1;
}

/* Calculates with two values; -1: with a count, or something that is carried round the loop. */
static int calculated(int one, int other) {
  if (one < 0 || other < 0 || one == COUNT || other == COUNT) return -1;
  return one > other ? one : other;
}

/* Compares two values: -1: a count with what was read. */
static int compared(int one, int other) {
  if (one < 0 || other < 0 || (one == COUNT && other >= POLLED) || (one >= POLLED && other == COUNT)) return -1;
  return one > other ? one : other;
}

static int set_flags(struct followed *followed, int value) {
  if (value >= 0) followed->flags = (enum value)value;
  return value >= 0;
}

/* A step by a constant: of a count, or an offset to what was read. */
static int step(struct followed *followed, const struct instruction *its) {
  int value = operand(followed, its); /* what the loop carries from round to round is a count already */
  return put(followed, its, value) && set_flags(followed, value);
}

static int follow(struct followed *followed, const struct instruction *its, uint64_t end);

static int add_slot(struct followed *followed, const struct memory *at, enum value value) {
  if (!is_own(followed, at) || followed->slots_count == SLOTS_MOST) return 0;
  followed->slots[followed->slots_count].at = *at;
  followed->slots[followed->slots_count++].value = value;
  return 1;
}

/* One instruction of a procedure that the loop calls. 1: go on, 2: it returns, 0: it does something else. */
static int follow_callee(struct followed *followed, const struct instruction *its, uint64_t end) {
  int memory;
  if (its->op == 0xc3) return 2;
  if (its->op == 0xe9 || its->op == 0xeb) /* ends as another one */
    return its->op == 0xe9 && follow(followed, &(struct instruction){.op = 0xe8, .number = its->number, .reg = NONE, .rm = NONE}, end) ? 2 : 0;
  if (qzi_is_jump(its)) return 0; /* what is skipped would be followed as if it were not */
  if ((its->op >= 0x58 && its->op <= 0x5f) || its->op == 0xc9 || ((its->op == 0x83 || its->op == 0x81) && its->rm == RSP && its->kind == 0)) {
    followed->leaves = 1; /* registers are restored when it returns */
    return 1;
  }
  if ((its->op >= 0x50 && its->op <= 0x57) || ((its->op == 0x83 || its->op == 0x81) && its->rm == RSP && its->kind == 5))
    return !followed->slots_count && !followed->leaves; /* slots go by their distance from the stack pointer */
  if (its->op == 0x89 && its->reg == RSP && its->rm == RBP) {
    followed->framed = 1;
    followed->registers[RBP] = COUNT;
    return 1;
  }
  qzi_writes(its, &memory);
  if (memory && (followed->leaves || (!slot(followed, &its->at) && !add_slot(followed, &its->at, FIXED)))) return 0;
  return follow(followed, its, end);
}

/* The procedure that the call before `back` goes to, or the one at `target`. 0: it may do work. */
static int called(struct followed *followed, uint64_t target, uint64_t back) {
  unsigned char bytes[QZI_CALLEE_BYTES];
  struct qzi_code code;
  struct instruction its;
  if (!followed->callees || followed->depth == DEPTH_MOST) return 0;
  enum qzi_callee what = followed->callees->look(followed->callees->context, target, back, &code, bytes);
  if (what == QZI_CALLEE_UNKNOWN) return 0;
  if (what != QZI_CALLEE_CODE) {
    for (unsigned k = 0; k < REGISTERS; k++)
      if (CHANGED & BIT(k)) followed->registers[k] = what == QZI_CALLEE_CLOCK ? TIMED : FIXED;
    followed->clock |= what == QZI_CALLEE_CLOCK;
    return 1;
  }
  struct followed inside = *followed;
  inside.depth++;
  inside.slots_count = 0;
  inside.framed = inside.leaves = 0;
  uint64_t at = code.address, end = code.address + code.count;
  for (int state = 1; state == 1; at += its.length) {
    if (at >= end || !qzi_decode(code.bytes + (at - code.address), (size_t)(end - at), &its)) return 0;
    if (!(state = follow_callee(&inside, &its, at + its.length))) return 0;
    if (state == 2) break;
  }
  for (unsigned k = 0; k < REGISTERS; k++)
    if (CHANGED & BIT(k)) followed->registers[k] = inside.registers[k];
  followed->clock = inside.clock;
  return 1;
}

/* A register with itself, to clear it. */
static int is_zero(const struct instruction *its) {
  return its->rm == its->reg && (its->op == 0x31 || its->op == 0x33 || its->op == 0x157 || its->op == 0x1ef);
}

/* 0: not an instruction of a loop that polls. */
static int follow(struct followed *followed, const struct instruction *its, uint64_t end) {
  int value;
  switch (its->op) {
  case 0x90: case 0x11e: case 0x11f: case 0x118: return 1;        /* nothing, pause, marks, prefetch */
  case 0xe8: return called(followed, end + (uint64_t)its->number, its->length ? end : 0);
  case 0x131: /* the time-stamp counter */
    followed->registers[RAX] = followed->registers[RDX] = TIMED;
    return 1;
  case 0x8a: case 0x8b: case 0x63: case 0x1b6: case 0x1b7: case 0x1be: case 0x1bf: /* loads */
    if ((value = operand(followed, its)) < 0 || its->reg == RSP) return 0;
    followed->registers[its->reg] = (enum value)value;
    return 1;
  case 0x8d: /* an address: a step, where it is a register and a number */
    if (its->reg == RSP) return 0;
    if (its->at.index != NONE || its->at.base >= 16) {
      value = calculated(value_of_register(followed, its->at.base), value_of_register(followed, its->at.index));
      if (value >= 0) followed->registers[its->reg] = (enum value)value;
      return value >= 0;
    }
    value = value_of_register(followed, its->at.base);
    followed->registers[its->reg] = (enum value)value;
    return 1;
  case 0x88: case 0x89: return put(followed, its, value_of_register(followed, its->reg));
  case 0x33: case 0x157: case 0x1ef: case 0x03: case 0x0b: case 0x23: case 0x2b: case 0x1af: case 0x158: case 0x159: case 0x15c: case 0x15e:
    if (is_zero(its)) return put(followed, its, FIXED) && set_flags(followed, FIXED);
    value = calculated(operand(followed, its), value_of_register(followed, its->reg));
    if (value < 0 || its->reg == RSP) return 0;
    followed->registers[its->reg] = (enum value)value;
    return set_flags(followed, value);
  case 0x01: case 0x09: case 0x21: case 0x29: case 0x31:
    if (is_zero(its)) return put(followed, its, FIXED) && set_flags(followed, FIXED);
    value = calculated(operand(followed, its), value_of_register(followed, its->reg));
    return put(followed, its, value) && set_flags(followed, value);
  case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2: case 0xd3: /* shifts */
    value = calculated(operand(followed, its), its->op >= 0xd2 ? value_of_register(followed, 1) : FIXED);
    return put(followed, its, value) && set_flags(followed, value);
  case 0x69: case 0x6b: case 0x12a: case 0x15a: case 0x16e: case 0x110: case 0x128: /* from the other operand alone */
    value = operand(followed, its);
    if (its->op != 0x110 && its->op != 0x128 && its->op != 0x16e) value = calculated(value, FIXED);
    if (value < 0 || its->reg == RSP) return 0;
    followed->registers[its->reg] = (enum value)value;
    return 1;
  case 0x111: case 0x129: return put(followed, its, value_of_register(followed, its->reg));
  case 0x12e: case 0x12f: return set_flags(followed, compared(operand(followed, its), value_of_register(followed, its->reg)));
  case 0x98: return 1;
  case 0x99: followed->registers[RDX] = followed->registers[RAX]; return 1;
  case 0x24: case 0x25: case 0x34: case 0x35:
    return followed->registers[RAX] != COUNT && set_flags(followed, (int)followed->registers[RAX]);
  case 0xc6: case 0xc7: return its->kind == 0 && put(followed, its, FIXED);
  case 0x84: case 0x85: case 0x38: case 0x39: case 0x3a: case 0x3b: /* test, compare */
    return set_flags(followed, compared(operand(followed, its), value_of_register(followed, its->reg)));
  case 0xf6: case 0xf7:
    if (its->kind == 0) return set_flags(followed, operand(followed, its));
    if (its->kind < 2) return 0;
    value = calculated(operand(followed, its), FIXED);
    if (its->kind < 4) return put(followed, its, value) && set_flags(followed, value);
    value = calculated(value, calculated((int)followed->registers[RAX], its->kind >= 6 ? (int)followed->registers[RDX] : FIXED));
    if (value < 0) return 0;
    followed->registers[RAX] = followed->registers[RDX] = followed->flags = (enum value)value;
    return 1;
  case 0xa8: case 0xa9: case 0x3c: case 0x3d: return set_flags(followed, (int)followed->registers[RAX]);
  case 0x80: case 0x81: case 0x83:
    if (its->kind == 7) return set_flags(followed, operand(followed, its));
    if (its->kind == 4 || its->kind == 6 || its->kind == 1) { /* a mask */
      value = operand(followed, its);
      return value >= POLLED && its->rm != NONE && put(followed, its, value) && set_flags(followed, value);
    }
    return (its->kind == 0 || its->kind == 5) && step(followed, its);
  case 0xfe: case 0xff:
    if (its->op == 0xff && its->kind == 2) return its->at.base == RIP && called(followed, 0, end);
    return its->kind < 2 && step(followed, its);
  case 0x86: case 0x87: case 0x1b0: case 0x1b1: /* exchange, compare and exchange: how locks are tried */
    if (its->op >= 0x100 && value_of_register(followed, its->reg) != FIXED) return 0; /* an update, tried again where another one came between */
    if (its->rm != NONE || its->reg == RSP || load(followed, &its->at) != POLLED) return 0;
    followed->registers[its->op >= 0x100 ? RAX : its->reg] = POLLED;
    if (its->op >= 0x100) followed->flags = POLLED;
    return 1;
  default:
    if (its->op >= 0xb0 && its->op <= 0xbf) return put(followed, its, FIXED);
    if (its->op >= 0x190 && its->op <= 0x19f) return put(followed, its, followed->flags == COUNT ? -1 : (int)followed->flags);
    if (its->op >= 0x140 && its->op <= 0x14f) {
      value = calculated(calculated(operand(followed, its), value_of_register(followed, its->reg)), (int)followed->flags);
      if (value < 0 || its->reg == RSP) return 0;
      followed->registers[its->reg] = (enum value)value;
      return 1;
    }
    if (!qzi_is_jump(its)) return 0;
    followed->polls |= followed->flags == POLLED && its->op != 0xeb && its->op != 0xe9;
    return 1;
  }
}

/* What the loop writes is no longer as it was before: it counts, until something else is seen of it. */
static int prepare(struct followed *followed, const struct instruction *its) {
  int memory;
  uint64_t registers = qzi_writes(its, &memory);
  for (unsigned k = 0; k < REGISTERS; k++)
    if (registers & BIT(k)) followed->registers[k] = COUNT;
  if (memory && !slot(followed, &its->at)) return add_slot(followed, &its->at, COUNT);
  return !(registers & BIT(RSP)) && !(registers & BIT(RBP) && followed->framed);
}

uint64_t qzi_polling_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees) {
  uint64_t code_end = code->address + code->count, end = seen, start = 0;
  struct instruction its;
  /* On to the jump back that closes the loop. */
  while (!start && end >= code->address && end < code_end && end - seen <= LOOP_MOST) {
    if (!qzi_decode(code->bytes + (end - code->address), (size_t)(code_end - end), &its)) return 0;
    end += its.length;
    uint64_t target = end + (uint64_t)its.number;
    if (qzi_is_jump(&its) && target <= seen && seen - target <= LOOP_MOST) start = target;
    else if (its.op == 0xeb || its.op == 0xe9) return 0;
  }
  if (!start || start < code->address) return 0;
  struct followed followed = {.framed = framed, .callees = callees};
  /* What a pointer into the frame leads to is not followed: it may be what the loop counts in. */
  followed.registers[RSP] = COUNT;
  if (framed) followed.registers[RBP] = COUNT;
  int met = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t at = start; at < end; at += its.length) {
      if (!qzi_decode(code->bytes + (at - code->address), (size_t)(code_end - at), &its)) return 0;
      met |= at == seen;
      if (pass == 0 ? !prepare(&followed, &its) : !follow(&followed, &its, at + its.length)) return 0;
      uint64_t target = at + its.length + (uint64_t)its.number;
      if (qzi_is_jump(&its) && target > start && target < end) return 0; /* what is skipped was followed as if it were not */
      /* A jump back that something fixed decides may never be taken: what stands behind it is done each time, too. */
      if (pass == 1 && at + its.length == end && its.op != 0xeb && its.op != 0xe9 && followed.flags == FIXED) return 0;
    }
  return met && followed.polls ? start : 0;
}

#else
uint64_t qzi_polling_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees) { return 0; }
#endif
