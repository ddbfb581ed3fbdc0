/* See stateless_loop.h. */
#include "stateless_loop.h"

#include "sampler/machine_code/hook_code.h"
#include "sampler/machine_code/code_flow.h"
#include "sampler/machine_code/x86_decode.h"

#ifdef QZI_DECODES

#define MOST       160u /* maximum number of instructions of a loop or procedure */
#define DEPTH_MOST 3u   /* maximum depth of calls */
#define SLOT_BIT   20u  /* in register sets, the first bit of stack slots */
#define NOWHERE    (-1)

struct step {
  uint64_t at, reads, writes; /* reads, writes: sets of registers and slots */
  uint64_t live;              /* registers and slots that are read from here on before they are written */
  struct instruction its;
  int next, jump; /* following step, and target of its jump; NOWHERE: outside the code */
  int inside;     /* 1: a round can be completed from it */
};
struct region {
  const struct qzi_code *code;
  const struct qzi_callees *callees;
  struct qzi_stateless *found;
  struct step all[MOST];
  unsigned count, depth;
  int framed, loads;
};

static int has_frame(const struct region *region, const struct memory *at) {
  return !at->thread && (at->base == RSP || (at->base == RBP && region->framed));
}

static int step_at(const struct region *region, uint64_t at) {
  for (unsigned k = 0; k < region->count; k++)
    if (region->all[k].at == at) return (int)k;
  return NOWHERE;
}

/* Reads the time, or draws a random number: its result differs from round to round although nobody writes it. */
static int is_source(const struct instruction *its) {
  return its->op == 0x131 || its->op == 0x101 || its->op == 0x1a2 || (its->op == 0x1c7 && its->rm != NONE) ||
         its->op == 0x133 || its->op == 0x132;
}

/* Index of the slot in the loop's frame; add: record a new one, which is written. NOWHERE: not a recorded slot, or no
 * room. */
static int slot_of(struct region *region, const struct memory *at, int add) {
  struct qzi_stateless *found = region->found;
  for (unsigned k = 0; k < found->slots; k++)
    if (found->slot[k].base == at->base && found->slot[k].disp == at->disp) return (int)k;
  if (!add || at->index != NONE || found->slots == QZI_STATELESS_SLOTS) return NOWHERE;
  found->slot[found->slots].base = at->base;
  found->slot[found->slots].disp = at->disp;
  return (int)found->slots++;
}

/* Whether a load from the frame is certainly apart from all slots that are written; with another base or an index it
 * may be the same memory. */
static int is_apart(const struct region *region, const struct memory *at) {
  const struct qzi_stateless *found = region->found;
  for (unsigned k = 0; k < found->slots; k++)
    if (at->index != NONE || found->slot[k].base != at->base ||
        (at->disp < found->slot[k].disp + 32 && found->slot[k].disp < at->disp + 32))
      return 0;
  return 1;
}

static int summarize(struct region *caller, uint64_t target, uint64_t back, struct step *call);

/* Finds the effects of a step, after all written slots were recorded. Returns 0 if a stateless loop can't contain
 * it. */
static int look_at(struct region *region, struct step *step) {
  const struct instruction *its = &step->its;
  if (its->goes == QZI_GOES_CALL)
    return summarize(region, its->op == 0xe8 ? step->at + its->length + (uint64_t)its->number : 0,
                     step->at + its->length, step);
  step->reads = its->reads;
  step->writes = its->writes;
  if (its->fences) return 1;
  if (its->tries || is_source(its) || (its->writes & (BIT(OTHER) | BIT(RSP))) ||
      (region->framed && (its->writes & BIT(RBP))))
    return 0;
  if (!its->loads && !its->stores) return 1;
  if (!has_frame(region, &its->at)) {
    region->loads |= its->loads && !its->at.thread;
    return !its->stores;
  }
  int slot = slot_of(region, &its->at, 0);
  if (slot == NOWHERE) return !its->stores && is_apart(region, &its->at);
  if (its->loads) step->reads |= UINT64_C(1) << (SLOT_BIT + (unsigned)slot);
  if (its->stores) step->writes |= UINT64_C(1) << (SLOT_BIT + (unsigned)slot);
  return 1;
}

static void find_live(struct region *region) {
  for (int more = 1; more;) {
    more = 0;
    for (unsigned k = region->count; k-- > 0;) {
      struct step *step = &region->all[k];
      if (!step->inside) continue;
      uint64_t live = 0;
      if (step->next != NOWHERE && region->all[step->next].inside) live |= region->all[step->next].live;
      if (step->jump != NOWHERE && region->all[step->jump].inside) live |= region->all[step->jump].live;
      live = step->reads | (live & ~step->writes);
      more |= live != step->live;
      step->live = live;
    }
  }
}

/* Finds the successors of the steps. Returns 0 if a jump leads into the middle of an instruction. outside: 1: jumps may
 * leave the code. */
static int connect(struct region *region, uint64_t start, uint64_t end, int outside) {
  for (unsigned k = 0; k < region->count; k++) {
    struct step *step = &region->all[k];
    uint64_t target = step->at + step->its.length + (uint64_t)step->its.number;
    int jumps = qzi_has_target(step->its.goes);
    /* A system call is a way out, too: in the kernel it may wait or do anything. */
    int on = qzi_goes_on(step->its.goes) && step->its.goes != QZI_GOES_KERNEL;
    step->next = on && k + 1 < region->count ? (int)k + 1 : NOWHERE;
    step->jump = jumps && target >= start && target < end ? step_at(region, target) : NOWHERE;
    if (jumps && step->jump == NOWHERE && (!outside || (target >= start && target < end))) return 0;
  }
  return 1;
}

/* ---- procedures ---- */

/* As look_at for a step in a procedure, whose frame is new in each call and so carries no values from round to round.
 * Returns 0 if a stateless loop can't contain it. */
static int look_inside(struct region *region, struct step *step) {
  const struct instruction *its = &step->its;
  uint64_t registers = its->writes & ~BIT(RSP);
  int moves = (its->op >= 0x50 && its->op <= 0x5f) || its->op == 0xc9; /* push, pop, leave */
  if (its->goes == QZI_GOES_BACK) return 1;
  if (its->goes == QZI_GOES_KERNEL || its->goes == QZI_GOES_ANYWHERE || its->goes == QZI_GOES_AWAY) return 0;
  if (its->goes == QZI_GOES_CALL) return look_at(region, step);
  step->reads = its->reads;
  step->writes = registers;
  if (its->fences || moves) return 1;
  if (its->tries || is_source(its) || (registers & BIT(OTHER))) return 0;
  if ((its->writes & BIT(RSP)) && its->op != 0x83 && its->op != 0x81 && its->op != 0x8d) return 0;
  if (!has_frame(region, &its->at)) region->loads |= its->loads && !its->at.thread;
  return !its->stores || (has_frame(region, &its->at) && its->at.index == NONE);
}

/* Decodes the procedure from its entry to its last return. */
static int read_procedure(struct region *region) {
  uint64_t at = region->code->address, end = at + region->code->count, furthest = at;
  for (int over = 0; !over || at <= furthest; region->count++) {
    if (at >= end || region->count == MOST) return 0;
    struct step *step = &region->all[region->count];
    const unsigned char *bytes = region->code->bytes + (at - region->code->address);
    unsigned length;
    *step = (struct step){.at = at, .inside = 1};
    enum qzi_hook hook = qzi_hook_code(bytes, (size_t)(end - at), &length);
    if (hook != QZI_NO_HOOK) {
      step->its =
        (struct instruction){.length = length,
                             .op = 0x90,
                             .rm = NONE,
                             .reg = NONE,
                             .writes = BIT(hook == QZI_HOOK_ENTRY ? RAX : 1) | BIT(10) | BIT(11) | BIT(FLAGS)};
    } else if (!qzi_decode(bytes, (size_t)(end - at), &step->its)) {
      return 0;
    }
    const struct instruction *its = &step->its;
    if (its->op == 0x89 && its->reg == RSP && its->rm == RBP) region->framed = 1;
    at += its->length;
    uint64_t target = at + (uint64_t)its->number;
    if (qzi_has_target(its->goes) && target > furthest) furthest = target;
    over = !qzi_goes_on(its->goes);
  }
  return connect(region, region->code->address, at, 0);
}

/* Finds what a call reads and writes. Returns 0 if it may do work. */
static int summarize(struct region *caller, uint64_t target, uint64_t back, struct step *call) {
  unsigned char bytes[QZI_CALLEE_BYTES];
  struct qzi_code code;
  if (!caller->callees || caller->depth == DEPTH_MOST) return 0;
  enum qzi_callee what = caller->callees->look(caller->callees->context, target, back, &code, bytes);
  if (what == QZI_CALLEE_YIELD) call->writes = CHANGED;
  if (what == QZI_CALLEE_HOOK || what == QZI_CALLEE_YIELD) return 1;
  if (what != QZI_CALLEE_CODE) return 0;
  struct region inside = {
    .code = &code, .callees = caller->callees, .found = caller->found, .depth = caller->depth + 1};
  if (!read_procedure(&inside)) return 0;
  for (unsigned k = 0; k < inside.count; k++) {
    if (!look_inside(&inside, &inside.all[k])) return 0;
    call->writes |= inside.all[k].writes;
  }
  find_live(&inside);
  caller->found->writes |= call->writes;
  caller->loads |= inside.loads;
  call->reads = inside.all[0].live & CHANGED;
  call->writes &= CHANGED | BIT(FLAGS); /* registers that the procedure saves are restored when it returns */
  return 1;
}

/* ---- loops ---- */

/* Finds the steps from which a round can be completed. */
static void find_inside(struct region *region) {
  for (int more = 1; more;) {
    more = 0;
    for (unsigned k = region->count; k-- > 0;) {
      struct step *step = &region->all[k];
      int inside = step->jump == 0 || (step->jump != NOWHERE && region->all[step->jump].inside) ||
                   (step->next != NOWHERE && region->all[step->next].inside);
      more |= inside != step->inside;
      step->inside = inside;
    }
  }
}

/* Whether every round passes that step: without it, no way leads from the first step back to the first. */
static int is_in_each_round(const struct region *region, int step) {
  unsigned char reached[MOST] = {0};
  unsigned short todo[MOST];
  unsigned count = 0;
  if (!step) return 1;
  for (int at = 0;; at = todo[--count]) {
    for (int jumps = 0; jumps < 2; jumps++) {
      int to = jumps ? region->all[at].jump : region->all[at].next;
      if (to == NOWHERE || to == step || !region->all[to].inside || reached[to]) continue;
      if (!to) return 0;
      reached[to] = 1;
      todo[count++] = (unsigned short)to;
    }
    if (!count) return 1;
  }
}

/* A round may begin at any step: a loop that begins with the test of its sum carries the sum up to the test, but
 * nothing beyond. So one step suffices that every round passes, where no written value is live. */
static int carries_nothing(const struct region *region, uint64_t writes) {
  for (unsigned k = 0; k < region->count; k++)
    if (region->all[k].inside && !(region->all[k].live & writes) && is_in_each_round(region, (int)k)) return 1;
  return 0;
}

static int is_stateless(struct region *region, uint64_t start, uint64_t end, uint64_t seen) {
  const struct qzi_code *code = region->code;
  for (uint64_t at = start; at < end; region->count++) {
    struct step *step = &region->all[region->count];
    if (region->count == MOST) return 0;
    *step = (struct step){.at = at};
    if (!qzi_decode(code->bytes + (at - code->address), (size_t)(code->address + code->count - at), &step->its))
      return 0;
    at += step->its.length;
  }
  int here = step_at(region, seen);
  if (here == NOWHERE || !connect(region, start, end, 1)) return 0;
  find_inside(region);
  if (!region->all[0].inside || !region->all[here].inside) return 0;
  for (unsigned k = 0; k < region->count; k++) {
    const struct instruction *its = &region->all[k].its;
    if (region->all[k].inside && its->stores && its->goes != QZI_GOES_CALL && !its->fences &&
        has_frame(region, &its->at) && slot_of(region, &its->at, 1) == NOWHERE)
      return 0;
  }
  uint64_t writes = 0;
  for (unsigned k = 0; k < region->count; k++) {
    if (!region->all[k].inside) continue;
    if (!look_at(region, &region->all[k])) return 0;
    writes |= region->all[k].writes;
  }
  find_live(region);
  region->found->writes |= writes;
  return region->loads && carries_nothing(region, writes);
}

/* Whether it is a jump that counts or tests rcx (loop, jrcxz): its opcode is before its displacement of one byte. */
static int counts(const struct qzi_code_step *step, const unsigned char *bytes) {
  return step->goes == QZI_GOES_IF && step->length < 6 && (bytes[step->length - 2] & 0xfc) == 0xe0;
}

/* Finds the next jump from *at on, except those that count; *target: its target. Returns 0 if there is none before
 * `end`. */
static int next_jump(const struct qzi_code *code, uint64_t *at, uint64_t end, uint64_t *target) {
  uint64_t code_end = code->address + code->count;
  struct qzi_code_step step;
  while (*at < end && *at < code_end) {
    const unsigned char *bytes = code->bytes + (*at - code->address);
    if (!qzi_code_step(QZI_X86_64, bytes, (size_t)(code_end - *at), &step)) return 0;
    *target = *at + (uint64_t)step.target;
    *at += step.length;
    if (qzi_has_target(step.goes) && !counts(&step, bytes)) return 1;
  }
  return 0;
}

/* Widens *start .. *end to the next larger loop. Returns 0 if there is none. */
static int widen(const struct qzi_code *code, uint64_t *start, uint64_t *end) {
  uint64_t target, best = 0, most = *end + QZI_STATELESS_BYTES;
  for (uint64_t at = *start; next_jump(code, &at, *end, &target);)
    if (target < *start && target > best) best = target;
  for (uint64_t at = *end; !best && next_jump(code, &at, most, &target);) {
    if (target > *start) continue;
    best = target;
    *end = at;
  }
  if (best < code->address || !best) return 0;
  *start = best;
  /* Loops that begin in this code may end after it. */
  for (uint64_t at = *end; next_jump(code, &at, most, &target);)
    if (target >= *start && target < *end) *end = at;
  return *end - *start <= QZI_STATELESS_BYTES;
}

struct qzi_stateless qzi_stateless_loop(const struct qzi_code *code, uint64_t seen, int framed,
                                        const struct qzi_callees *callees) {
  uint64_t start = seen, end = seen;
  if (seen < code->address) return (struct qzi_stateless){.start = 0};
  while (widen(code, &start, &end)) {
    struct qzi_stateless found = {.start = start};
    struct region region = {.code = code, .callees = callees, .found = &found, .framed = framed};
    if (is_stateless(&region, start, end, seen)) return found;
  }
  return (struct qzi_stateless){.start = 0};
}

#else
struct qzi_stateless qzi_stateless_loop(const struct qzi_code *code, uint64_t seen, int framed,
                                        const struct qzi_callees *callees) {
  return (struct qzi_stateless){.start = 0};
}
#endif
