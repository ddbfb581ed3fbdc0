/* Decoding of short loops. See store_free_loop.h. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * chapter 2 and appendix A. */
#include "store_free_loop.h"

#define LOOP_MOST 128 /* bytes */

#if defined(__x86_64__)

struct instruction {
  unsigned length;  /* 0: not one that is known to write nothing */
  int jumps;        /* 1: if a condition holds, 2: always */
  int64_t distance; /* of the jump, from its end */
};

/* ModRM byte and what follows it, from bytes[at]: number of bytes, or 0. */
static unsigned operand(const unsigned char *bytes, size_t left) {
  if (left < 2) return 0;
  unsigned mod = bytes[0] >> 6, rm = bytes[0] & 7, length = 1;
  if (mod == 3) return length;
  if (rm == 4) {
    length++;
    if (mod == 0 && (bytes[1] & 7) == 5) length += 4;
  }
  if (mod == 0 && rm == 5) length += 4;
  if (mod == 1) length += 1;
  if (mod == 2) length += 4;
  return length;
}

static int64_t number(const unsigned char *bytes, unsigned count) {
  uint64_t value = 0;
  for (unsigned k = 0; k < count; k++) value |= (uint64_t)bytes[k] << 8 * k;
  return count == 1 ? (int8_t)value : (int32_t)value;
}

static struct instruction jump(unsigned at, const unsigned char *bytes, unsigned count, int jumps) {
  return (struct instruction){.length = at + count, .jumps = jumps, .distance = number(bytes + at, count)};
}

static struct instruction decode(const unsigned char *bytes, size_t left) {
  static const struct instruction unknown;
  unsigned at = 0;
  while (at < left && (bytes[at] == 0x66 || bytes[at] == 0xf3 || bytes[at] == 0xf0)) at++;
  int locked = at && bytes[at - 1] == 0xf0;
  if (at < left && bytes[at] >> 4 == 4) at++; /* REX */
  if (left < at + 8) return unknown;
  unsigned op = bytes[at++], wide = op & 1, mod, reg, length;
  if (op == 0x0f) {
    op = 0x100 | bytes[at++];
    if (op >= 0x180 && op <= 0x18f) return jump(at, bytes, 4, 1);
  } else if (op >= 0x70 && op <= 0x7f) {
    return jump(at, bytes, 1, 1);
  } else if (op == 0xeb || op == 0xe9) {
    return jump(at, bytes, op == 0xeb ? 1 : 4, 2);
  } else if (op == 0x90) {
    return (struct instruction){.length = at};
  } else if (op == 0xa8 || op == 0x3c) {
    return (struct instruction){.length = at + 1};
  } else if (op == 0xa9 || op == 0x3d) {
    return (struct instruction){.length = at + 4};
  }
  mod = bytes[at] >> 6;
  reg = bytes[at] >> 3 & 7;
  if (!(length = operand(bytes + at, left - at))) return unknown;
  length += at;
  switch (op) {
  case 0x86: case 0x87: case 0x1b0: case 0x1b1: /* exchange, compare and exchange */
    return (struct instruction){.length = length};
  case 0x8a: case 0x8b: case 0x8d: case 0x63: case 0x84: case 0x85:           /* loads, address, test */
  case 0x38: case 0x39: case 0x3a: case 0x3b:                                   /* compare */
  case 0x1b6: case 0x1b7: case 0x1be: case 0x1bf: case 0x11f: case 0x118:       /* loads that extend, nothing, prefetch */
    return locked ? unknown : (struct instruction){.length = length};
  case 0x88: case 0x89: case 0x01: case 0x09: case 0x21: case 0x29: case 0x31: /* from register to register only */
    return mod == 3 ? (struct instruction){.length = length} : unknown;
  case 0x03: case 0x0b: case 0x23: case 0x2b: case 0x33:
    return locked ? unknown : (struct instruction){.length = length};
  case 0x80: case 0x83: case 0x81: /* compare with a number; else only registers */
    if (reg != 7 && mod != 3) return unknown;
    return (struct instruction){.length = length + (op == 0x81 ? 4 : 1)};
  case 0xf6: case 0xf7: /* test with a number */
    return reg == 0 ? (struct instruction){.length = length + (wide ? 4 : 1)} : unknown;
  case 0x1ae: /* fences */
    return mod == 3 && reg >= 5 ? (struct instruction){.length = length} : unknown;
  default: return unknown;
  }
}

uint64_t qzi_waiting_loop(const struct qzi_code *code, uint64_t first, uint64_t last) {
  uint64_t end = code->address + code->count, at = first, start = 0;
  if (first < code->address || last >= end || last - first > LOOP_MOST) return 0;
  /* On to a jump back that closes the loop around all of them. */
  while (at < end && at - first <= LOOP_MOST) {
    struct instruction here = decode(code->bytes + (at - code->address), (size_t)(end - at));
    if (!here.length) return 0;
    at += here.length;
    uint64_t target = at + (uint64_t)here.distance;
    if (here.jumps && at > last && target <= first && first - target <= LOOP_MOST) {
      start = target;
      break;
    }
    if (here.jumps == 2) return 0;
  }
  if (!start || start < code->address) return 0;
  /* All of it, in step with where it was seen. */
  int met = 0;
  for (uint64_t its = start; its < at;) {
    struct instruction here = decode(code->bytes + (its - code->address), (size_t)(end - its));
    met |= its == first;
    if (!here.length || (here.jumps == 2 && its + here.length != at)) return 0;
    its += here.length;
  }
  return met ? start : 0;
}

#else
uint64_t qzi_waiting_loop(const struct qzi_code *code, uint64_t first, uint64_t last) { return 0; }
#endif
