/* See x86_decode.h. */
#include "x86_decode.h"

#if defined(__x86_64__)

static int64_t number(const unsigned char *bytes, unsigned count) {
  uint64_t value = 0;
  for (unsigned k = 0; k < count; k++) value |= (uint64_t)bytes[k] << 8 * k;
  return count == 1 ? (int8_t)value : (int32_t)value;
}

static unsigned immediate_bytes(const struct instruction *its) {
  switch (its->op) {
  case 0x80: case 0x83: case 0xc6: case 0xa8: case 0x3c: case 0xeb: case 0x6b: case 0xc0: case 0xc1: case 0x24: case 0x34: return 1;
  case 0x81: case 0xc7: case 0xa9: case 0x3d: case 0xe9: case 0xe8: case 0x69: case 0x25: case 0x35: return 4;
  case 0xf6: return its->kind == 0 ? 1 : 0;
  case 0xf7: return its->kind == 0 ? 4 : 0;
  default: return its->op >= 0x70 && its->op <= 0x7f ? 1 : its->op >= 0x180 && its->op <= 0x18f ? 4 : its->op >= 0xb8 && its->op <= 0xbf ? 4 : its->op >= 0xb0 && its->op <= 0xb7;
  }
}

static int has_modrm(unsigned op) {
  if (op >= 0x100) return op < 0x180 || op > 0x18f;
  return !(op == 0x90 || op == 0xeb || op == 0xe9 || op == 0xe8 || op == 0xa8 || op == 0xa9 || op == 0x3c || op == 0x3d || op == 0x98 || op == 0x99 ||
           op == 0x24 || op == 0x25 || op == 0x34 || op == 0x35 || op == 0xc3 || op == 0xc9 || (op >= 0x50 && op <= 0x5f) ||
           (op >= 0x70 && op <= 0x7f) || (op >= 0xb0 && op <= 0xbf));
}

/* Moves and arithmetic of single numbers in SSE registers. */
static int is_sse(unsigned op) {
  switch (op) {
  case 0x110: case 0x111: case 0x128: case 0x129: case 0x12a: case 0x12e: case 0x12f: case 0x157: case 0x158: case 0x159: case 0x15a: case 0x15c:
  case 0x15e: case 0x16e: case 0x1ef: return 1;
  default: return 0;
  }
}

int qzi_decode(const unsigned char *bytes, size_t left, struct instruction *its) {
  unsigned at = 0, rex = 0;
  *its = (struct instruction){.reg = NONE, .rm = NONE, .at = {NONE, NONE, 0}};
  if (left < 18) return 0; /* more than any that it knows has */
  int narrow = 0;
  while (at < 4 && (bytes[at] == 0x66 || bytes[at] == 0xf3 || bytes[at] == 0xf2 || bytes[at] == 0xf0 || bytes[at] == 0x2e)) {
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
  } else if (its->op >= 0xb0 && its->op <= 0xbf) { /* a byte: of the others of its register nothing that follows asks */
    its->rm = (its->op & 7) | (rex & 1) << 3;
    if ((rex & 8) || (its->op >= 0xb4 && its->op <= 0xb7 && !rex)) return 0;
  } else if (its->op >= 0x50 && its->op <= 0x5f) {
    its->rm = (its->op & 7) | (rex & 1) << 3;
  }
  if (is_sse(its->op)) {
    its->reg += XMM;
    if (its->rm != NONE && its->op != 0x12a && its->op != 0x16e) its->rm += XMM;
  }
  unsigned count = immediate_bytes(its);
  if (narrow && count == 4) return 0;
  its->number = number(bytes + at, count);
  its->length = at + count;
  return its->length <= left;
}

int qzi_is_jump(const struct instruction *its) {
  return (its->op >= 0x70 && its->op <= 0x7f) || (its->op >= 0x180 && its->op <= 0x18f) || its->op == 0xeb || its->op == 0xe9;
}

uint64_t qzi_writes(const struct instruction *its, int *memory) {
  int rm = 0, reg = 0;
  *memory = 0;
  switch (its->op) {
  case 0x8a: case 0x8b: case 0x8d: case 0x63: case 0x1b6: case 0x1b7: case 0x1be: case 0x1bf: case 0x03: case 0x0b: case 0x23: case 0x2b: case 0x33:
  case 0x69: case 0x6b: case 0x1af: case 0x110: case 0x128: case 0x12a: case 0x157: case 0x158: case 0x159: case 0x15a: case 0x15c: case 0x15e: case 0x16e: case 0x1ef:
    reg = 1;
    break;
  case 0x86: case 0x87: return its->reg == NONE ? 0 : BIT(its->reg);
  case 0x1b0: case 0x1b1: case 0x98: case 0x24: case 0x25: case 0x34: case 0x35: return BIT(RAX);
  case 0x99: return BIT(RDX);
  case 0x131: return BIT(RAX) | BIT(RDX);
  case 0xe8: return CHANGED;
  case 0xff: case 0xfe:
    if (its->op == 0xff && its->kind == 2) return CHANGED;
    rm = 1;
    break;
  case 0xf6: case 0xf7:
    if (its->kind >= 4) return BIT(RAX) | BIT(RDX);
    rm = its->kind >= 2;
    break;
  case 0x80: case 0x81: case 0x83: rm = its->kind != 7; break;
  case 0x88: case 0x89: case 0x01: case 0x09: case 0x21: case 0x29: case 0x31: case 0xc7: case 0xc6: case 0xc0: case 0xc1: case 0xd0: case 0xd1: case 0xd2:
  case 0xd3: case 0x111: case 0x129: rm = 1; break;
  default:
    if (its->op >= 0x140 && its->op <= 0x14f) reg = 1;
    rm = (its->op >= 0xb0 && its->op <= 0xbf) || (its->op >= 0x190 && its->op <= 0x19f);
  }
  *memory = rm && its->rm == NONE;
  return reg ? BIT(its->reg) : rm && its->rm != NONE ? BIT(its->rm) : 0;
}

#endif
