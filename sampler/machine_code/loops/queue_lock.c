/* See queue_lock.h. The loop of a ticket lock compares the polled value with the number that it drew; it polls at
 * another address than it drew the number from, and the address does not depend on the number (that of a ring buffer
 * does). The loop of a queue lock whose exchange returned a predecessor writes to the predecessor's node, or polls
 * it. */
#include "queue_lock.h"

#include "sampler/machine_code/x86_decode.h"

#ifdef QZI_DECODES

/* maximum distance in bytes of the exchange from the loop: compilers put waiting after the expected case */
#define BEFORE_MOST 512u
#define LOOP_MOST   128u
#define SLOTS_MOST  4u
#define EXCHANGE    5u /* minimum number of bytes read for it */

/* Where the value from the exchange is: unchanged (same), or in a value computed from it (made). */
struct drawn {
  uint64_t same, made; /* registers */
  uint64_t changed;    /* registers changed since the exchange */
  struct {
    struct memory at;
    int same;
  } slots[SLOTS_MOST]; /* stack slots that contain it */
  unsigned slots_count;
  struct instruction exchange;
  uint64_t next; /* address after the exchange */
  int writes;    /* 1: memory at the address given by the value is written */
};

static int is_frame(const struct memory *at) { return at->index == NONE && (at->base == RSP || at->base == RBP); }
static int has(uint64_t registers, unsigned reg) { return reg < REGISTERS && (registers & BIT(reg)) != 0; }
static int is_memory(const struct instruction *its) {
  return its->rm == NONE && (its->at.base != NONE || its->at.index != NONE);
}

/* Whether the slot contains the value: 2: unchanged, 1: computed from it, 0: no. */
static int in_slot(const struct drawn *drawn, const struct memory *at) {
  for (unsigned k = 0; k < drawn->slots_count; k++)
    if (drawn->slots[k].at.base == at->base && drawn->slots[k].at.disp == at->disp && is_frame(at))
      return 1 + drawn->slots[k].same;
  return 0;
}
static int in_register(const struct drawn *drawn, unsigned reg) {
  return has(drawn->same, reg) ? 2 : has(drawn->made, reg);
}
static int in_operand(const struct drawn *drawn, const struct instruction *its) {
  return its->rm != NONE ? in_register(drawn, its->rm) : in_slot(drawn, &its->at);
}
static void keep(struct drawn *drawn, unsigned reg, int what) {
  if (reg >= REGISTERS) return;
  drawn->same = what == 2 ? drawn->same | BIT(reg) : drawn->same & ~BIT(reg);
  drawn->made = what ? drawn->made | BIT(reg) : drawn->made & ~BIT(reg);
}

/* Tracks one instruction between the exchange and the loop. */
static void tracker(struct drawn *drawn, const struct instruction *its) {
  int memory, from = 0;
  uint64_t written = qzi_writes(its, &memory);
  int points = is_memory(its) && (has(drawn->same, its->at.base) || has(drawn->same, its->at.index));
  switch (its->op) {
  case 0x89: from = in_register(drawn, its->reg); break; /* a move to a register or memory */
  case 0x8b:
  case 0x63:
  case 0x1b6:
  case 0x1b7: from = in_operand(drawn, its); break;
  default: /* masking leaves the number unchanged */
    if ((its->op == 0x83 || its->op == 0x81) && its->kind == 4)
      from = in_operand(drawn, its);
    else if (in_operand(drawn, its) || in_register(drawn, its->reg))
      from = 1;
    if (its->op == 0x8d && (in_register(drawn, its->at.base) || in_register(drawn, its->at.index))) from = 1;
  }
  drawn->writes |= points && (memory || its->op == 0x87 || its->op == 0x86);
  if (memory && is_frame(&its->at) && from && drawn->slots_count < SLOTS_MOST) {
    drawn->slots[drawn->slots_count].at = its->at;
    drawn->slots[drawn->slots_count++].same = from == 2;
  }
  drawn->changed |= written;
  for (unsigned reg = 0; reg < REGISTERS; reg++)
    if (written & BIT(reg)) keep(drawn, reg, from);
}

/* Tracks the code from the exchange to the loop, following forward jumps that lead nearer to it. Returns 0 if the loop
 * is not reached. */
static int reach(const struct qzi_code *code, uint64_t from, uint64_t start, uint64_t end, struct drawn *drawn) {
  uint64_t code_end = code->address + code->count;
  struct instruction its;
  for (uint64_t at = from; at < start;) {
    if (!qzi_decode(code->bytes + (at - code->address), (size_t)(code_end - at), &its) || its.goes == QZI_GOES_BACK)
      return 0;
    uint64_t next = at + its.length, target = next + (uint64_t)its.number;
    if (at == from) {
      drawn->exchange = its;
      drawn->next = next;
      drawn->changed = BIT(its.reg);
      keep(drawn, its.reg, 2);
    } else if (qzi_is_jump(&its)) {
      int nearer = its.number >= 0 && target < end, always = its.goes == QZI_GOES_TO;
      if (always && !nearer) return 0;
      if (nearer) next = target;
    } else {
      tracker(drawn, &its);
    }
    at = next;
    if (at >= end) return 0;
  }
  return 1;
}

static int is_same_place(const struct drawn *drawn, const struct instruction *its, uint64_t next) {
  const struct memory *one = &drawn->exchange.at, *other = &its->at;
  if (one->base == RIP && other->base == RIP) return drawn->next + (uint64_t)one->disp == next + (uint64_t)other->disp;
  return one->base < REGISTERS && !has(drawn->changed, one->base) && !has(drawn->changed, one->index) &&
         one->base == other->base && one->index == other->index && one->disp == other->disp;
}

/* Whether the loop waits for its turn, given where the drawn value is. */
static int waits_for_turn(const struct qzi_code *code, uint64_t start, uint64_t end, struct drawn *drawn, int ticket) {
  uint64_t code_end = code->address + code->count;
  struct instruction its;
  int compared = 0, polled = 0;
  for (uint64_t at = start; at < end; at += its.length) {
    if (!qzi_decode(code->bytes + (at - code->address), (size_t)(code_end - at), &its)) return 0;
    int from = in_operand(drawn, &its), with = in_register(drawn, its.reg);
    int depends = is_memory(&its) && (in_register(drawn, its.at.base) || in_register(drawn, its.at.index));
    if (ticket && its.op != 0x8d && is_memory(&its) && (depends || is_same_place(drawn, &its, at + its.length)))
      return 0;
    polled |= depends && (its.op == 0x8b || its.op == 0x8a || its.op == 0x1b6 || its.op == 0x84 || its.op == 0x85 ||
                          its.op == 0x83 || its.op == 0x80);
    compared |=
      ((its.op >= 0x38 && its.op <= 0x3b) || its.op == 0x29 || its.op == 0x2b || its.op == 0x31 || its.op == 0x33) &&
      (from == 2) != (with == 2);
    int memory;
    uint64_t written = qzi_writes(&its, &memory);
    int moved = its.op == 0x8b || its.op == 0x63 || its.op == 0x1b6 || its.op == 0x1b7 ? from
                : its.op == 0x89                                                       ? with
                                                                                       : from || with;
    drawn->changed |= written;
    for (unsigned reg = 0; reg < REGISTERS; reg++)
      if (written & BIT(reg)) keep(drawn, reg, moved);
  }
  return ticket ? compared : polled || drawn->writes;
}

int qzi_queue_lock(const struct qzi_code *code, uint64_t start) {
  uint64_t code_end = code->address + code->count, end = 0;
  struct instruction its;
  for (uint64_t at = start; !end && at < code_end && at - start < LOOP_MOST;) {
    if (!qzi_decode(code->bytes + (at - code->address), (size_t)(code_end - at), &its)) return 0;
    at += its.length;
    if (qzi_is_jump(&its) && at + (uint64_t)its.number == start) end = at;
  }
  for (uint64_t at = start; end && at > code->address && start - at < BEFORE_MOST;) {
    const unsigned char *bytes = code->bytes + (--at - code->address);
    if (code_end - at < EXCHANGE) continue;
    int rex = bytes[bytes[0] == 0xf0] >> 4 == 4, locked = bytes[0] == 0xf0;
    const unsigned char *op = bytes + locked + rex;
    int ticket = locked && op[0] == 0x0f && op[1] == 0xc1 && op[2] < 0xc0, exchange = op[0] == 0x87 && op[1] < 0xc0;
    struct drawn drawn = {.writes = 0};
    if ((ticket || exchange) && reach(code, at, start, end, &drawn) && waits_for_turn(code, start, end, &drawn, ticket))
      return 1;
  }
  return 0;
}

#else
int qzi_queue_lock(const struct qzi_code *code, uint64_t start) { return 0; }
#endif
