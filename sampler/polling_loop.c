/* Decoding of loops that poll. See polling_loop.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * chapter 2 and appendix A.
 *
 * A loop is followed once, from its first instruction to its jump back, with what is known of each register and stack slot:
 * whether it has its value from before the loop, from shared memory, or from counting. */
#include "polling_loop.h"

#define LOOP_MOST 128 /* bytes */
#define SLOTS_MOST 8 /* places in its stack frame that a loop may write */

#if defined(__x86_64__)

enum value {
  FIXED,  /* as before the loop, or a constant */
  COUNT,  /* changed by the loop itself, by steps of a constant */
  POLLED, /* read from memory at a fixed place, or at one that was so read */
};
enum { RAX = 0, RSP = 4, RBP = 5, NONE = 16, RIP = 17 };

struct memory { unsigned base, index; int64_t disp; };
struct instruction {
  unsigned length, op;   /* op: 0x100 and more for two-byte ones */
  unsigned reg, rm;      /* registers; rm: NONE where it is memory */
  unsigned kind;         /* ModRM.reg without extension: selects the operation of a group */
  struct memory at;
  int64_t number;        /* immediate, or distance of a jump */
};

struct followed {
  enum value registers[16];
  uint32_t written;                                      /* registers that the loop writes */
  struct { struct memory at; enum value value; } slots[SLOTS_MOST]; /* stack slots that it writes */
  unsigned slots_count;
  enum value flags;
  int framed, polls;
};

static int64_t number(const unsigned char *bytes, unsigned count) {
  uint64_t value = 0;
  for (unsigned k = 0; k < count; k++) value |= (uint64_t)bytes[k] << 8 * k;
  return count == 1 ? (int8_t)value : (int32_t)value;
}

static unsigned immediate_bytes(const struct instruction *its) {
  switch (its->op) {
  case 0x80: case 0x83: case 0xc6: case 0xa8: case 0x3c: case 0xeb: return 1;
  case 0x81: case 0xc7: case 0xa9: case 0x3d: case 0xe9: return 4;
  case 0xf6: return its->kind == 0 ? 1 : 0;
  case 0xf7: return its->kind == 0 ? 4 : 0;
  default: return its->op >= 0x70 && its->op <= 0x7f ? 1 : its->op >= 0x180 && its->op <= 0x18f ? 4 : its->op >= 0xb8 && its->op <= 0xbf ? 4 : 0;
  }
}

static int has_modrm(unsigned op) {
  if (op >= 0x100) return op < 0x180 || op > 0x18f;
  return !(op == 0x90 || op == 0xeb || op == 0xe9 || op == 0xa8 || op == 0xa9 || op == 0x3c || op == 0x3d || (op >= 0x70 && op <= 0x7f) ||
           (op >= 0xb8 && op <= 0xbf));
}

/* 0: there is not all of it. What it does is not looked at. */
static int decode(const unsigned char *bytes, size_t left, struct instruction *its) {
  unsigned at = 0, rex = 0;
  *its = (struct instruction){.reg = NONE, .rm = NONE, .at = {NONE, NONE, 0}};
  if (left < 18) return 0; /* more than any that it knows has */
  int narrow = 0;
  while (at < 4 && (bytes[at] == 0x66 || bytes[at] == 0xf3 || bytes[at] == 0xf0 || bytes[at] == 0x2e)) {
    narrow |= bytes[at++] == 0x66;
  }
  if (bytes[at] >> 4 == 4) rex = bytes[at++];
  its->op = bytes[at++];
  if (its->op == 0x0f) its->op = 0x100 | bytes[at++];
  if (has_modrm(its->op)) {
    unsigned mod = bytes[at] >> 6, rm = bytes[at] & 7;
    its->kind = bytes[at] >> 3 & 7;
    its->reg = its->kind | (rex & 4) << 1;
    at++;
    if (mod == 3) {
      its->rm = rm | (rex & 1) << 3;
    } else {
      unsigned bytes_of_disp = mod == 1 ? 1 : mod == 2 ? 4 : 0;
      its->at.base = rm | (rex & 1) << 3;
      if (rm == 4) {
        unsigned sib = bytes[at++], index = (sib >> 3 & 7) | (rex & 2) << 2;
        its->at.base = (sib & 7) | (rex & 1) << 3;
        its->at.index = index == 4 ? NONE : index;
        if (mod == 0 && (sib & 7) == 5) its->at.base = NONE, bytes_of_disp = 4;
      } else if (mod == 0 && rm == 5) {
        its->at.base = RIP;
        bytes_of_disp = 4;
      }
      its->at.disp = number(bytes + at, bytes_of_disp);
      at += bytes_of_disp;
    }
  } else if (its->op >= 0xb8 && its->op <= 0xbf) {
    its->rm = (its->op & 7) | (rex & 1) << 3;
    if (rex & 8) return 0;
  }
  unsigned count = immediate_bytes(its);
  if (narrow && count == 4) return 0;
  its->number = number(bytes + at, count);
  its->length = at + count;
  return its->length <= left;
}

static int is_jump(const struct instruction *its) {
  return (its->op >= 0x70 && its->op <= 0x7f) || (its->op >= 0x180 && its->op <= 0x18f) || its->op == 0xeb || its->op == 0xe9;
}

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
  return reg >= 16 ? FIXED : (int)followed->registers[reg];
}

/* Value of what is read there; -1: not known to be polling. */
static int load(struct followed *followed, const struct memory *at) {
  if (is_own(followed, at)) {
    const enum value *known = slot(followed, at);
    return known ? (int)*known : FIXED;
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

/* Compares two values: -1: a count with what was read. */
static int compared(int one, int other) {
  if (one < 0 || other < 0 || (one == COUNT && other == POLLED) || (one == POLLED && other == COUNT)) return -1;
  return one > other ? one : other;
}

static int set_flags(struct followed *followed, int value) {
  if (value >= 0) followed->flags = (enum value)value;
  return value >= 0;
}

/* A step by a constant: of a count, or an offset to what was read. */
static int step(struct followed *followed, const struct instruction *its) {
  int value = operand(followed, its);
  return put(followed, its, value == FIXED ? COUNT : value) && set_flags(followed, value == FIXED ? COUNT : value);
}

/* Which operand an instruction writes. */
enum written { NOTHING, INTO_REG, INTO_RM };
static enum written writes(const struct instruction *its) {
  switch (its->op) {
  case 0x8a: case 0x8b: case 0x8d: case 0x63: case 0x1b6: case 0x1b7: case 0x1be: case 0x1bf: return INTO_REG;
  case 0x88: case 0x89: case 0x31: case 0x33: case 0xc7: case 0xc6: case 0xff: case 0xfe: return INTO_RM;
  case 0x80: case 0x81: case 0x83: return its->kind == 7 ? NOTHING : INTO_RM;
  default: return its->op >= 0xb8 && its->op <= 0xbf ? INTO_RM : NOTHING;
  }
}

/* 0: not an instruction of a loop that polls. */
static int follow(struct followed *followed, const struct instruction *its) {
  int value;
  switch (its->op) {
  case 0x90: case 0x11f: case 0x118: return 1;                     /* nothing, pause, prefetch */
  case 0x8a: case 0x8b: case 0x63: case 0x1b6: case 0x1b7: case 0x1be: case 0x1bf: /* loads */
    if ((value = operand(followed, its)) < 0 || its->reg == RSP) return 0;
    followed->registers[its->reg] = (enum value)value;
    return 1;
  case 0x8d: /* an address: a step, where it is a register and a number */
    if (its->at.index != NONE || its->at.base >= 16 || its->reg == RSP) return 0;
    value = value_of_register(followed, its->at.base);
    followed->registers[its->reg] = value == FIXED && its->reg == its->at.base ? COUNT : (enum value)value;
    return 1;
  case 0x88: case 0x89: return put(followed, its, value_of_register(followed, its->reg));
  case 0x31: case 0x33: return its->rm == its->reg && put(followed, its, FIXED); /* zero */
  case 0xc6: case 0xc7: return its->kind == 0 && put(followed, its, FIXED);
  case 0x84: case 0x85: case 0x38: case 0x39: case 0x3a: case 0x3b: /* test, compare */
    return set_flags(followed, compared(operand(followed, its), value_of_register(followed, its->reg)));
  case 0xf6: case 0xf7: return its->kind == 0 && set_flags(followed, operand(followed, its));
  case 0xa8: case 0xa9: case 0x3c: case 0x3d: return set_flags(followed, (int)followed->registers[RAX]);
  case 0x80: case 0x81: case 0x83:
    if (its->kind == 7) return set_flags(followed, operand(followed, its));
    if (its->kind == 4) { /* a mask */
      value = operand(followed, its);
      return value == POLLED && its->rm != NONE && put(followed, its, value) && set_flags(followed, value);
    }
    return (its->kind == 0 || its->kind == 5) && step(followed, its);
  case 0xfe: case 0xff: return its->kind < 2 && step(followed, its);
  case 0x86: case 0x87: case 0x1b0: case 0x1b1: /* exchange, compare and exchange: how locks are tried */
    if (its->rm != NONE || its->reg == RSP || load(followed, &its->at) != POLLED) return 0;
    followed->registers[its->op >= 0x100 ? RAX : its->reg] = POLLED;
    if (its->op >= 0x100) followed->flags = POLLED;
    return 1;
  default:
    if (its->op >= 0xb8 && its->op <= 0xbf) return put(followed, its, FIXED);
    if (!is_jump(its)) return 0;
    followed->polls |= followed->flags == POLLED && its->op != 0xeb && its->op != 0xe9;
    return 1;
  }
}

/* What the loop writes is no longer as it was before: it counts, until something else is seen of it. */
static int prepare(struct followed *followed, const struct instruction *its) {
  enum written which = writes(its);
  unsigned reg = which == INTO_REG ? its->reg : which == INTO_RM ? its->rm : NONE;
  if (its->op == 0x86 || its->op == 0x87) reg = its->reg;
  if (its->op == 0x1b0 || its->op == 0x1b1) reg = RAX;
  if (reg != NONE) {
    followed->registers[reg] = COUNT;
    return reg != RSP && (reg != RBP || !followed->framed);
  }
  if (which != INTO_RM) return 1;
  if (!is_own(followed, &its->at) || followed->slots_count == SLOTS_MOST) return 0;
  if (!slot(followed, &its->at)) {
    followed->slots[followed->slots_count].at = its->at;
    followed->slots[followed->slots_count++].value = COUNT;
  }
  return 1;
}

uint64_t qzi_polling_loop(const struct qzi_code *code, uint64_t seen, int framed) {
  uint64_t code_end = code->address + code->count, end = seen, start = 0;
  struct instruction its;
  /* On to the jump back that closes the loop. */
  while (!start && end >= code->address && end < code_end && end - seen <= LOOP_MOST) {
    if (!decode(code->bytes + (end - code->address), (size_t)(code_end - end), &its)) return 0;
    end += its.length;
    uint64_t target = end + (uint64_t)its.number;
    if (is_jump(&its) && target <= seen && seen - target <= LOOP_MOST) start = target;
    else if (its.op == 0xeb || its.op == 0xe9) return 0;
  }
  if (!start || start < code->address) return 0;
  struct followed followed = {.framed = framed};
  int met = 0;
  for (int pass = 0; pass < 2; pass++)
    for (uint64_t at = start; at < end; at += its.length) {
      if (!decode(code->bytes + (at - code->address), (size_t)(code_end - at), &its)) return 0;
      met |= at == seen;
      if (pass == 0 ? !prepare(&followed, &its) : !follow(&followed, &its)) return 0;
      uint64_t target = at + its.length + (uint64_t)its.number;
      if (is_jump(&its) && target > start && target < end) return 0; /* what is skipped was followed as if it were not */
    }
  return met && followed.polls ? start : 0;
}

#else
uint64_t qzi_polling_loop(const struct qzi_code *code, uint64_t seen, int framed) { return 0; }
#endif
