/* See arm_poll_loop.h. As in poll_loop.c, a loop is followed once, with a class of value for each register. */
#include "arm_poll_loop.h"

#include <string.h>
#include "sampler/machine_code/arm_decode.h"
#include "sampler/machine_code/code_flow.h"

#define MOST      32u /* maximum number of instructions of a loop */
#define REGISTERS 32u
#define FRAME     29u /* the frame pointer */

enum value {
  FIXED,  /* unchanged by the loop, or constant */
  TIMED,  /* read from a clock, or computed from that */
  POLLED, /* read from memory at a fixed address, or at one read so; or computed from that and perhaps from a clock */
  COUNT   /* carried from round to round, or one of several possible values */
};
struct state {
  uint8_t registers[REGISTERS], flags, reached;
};
struct loop {
  uint64_t start;
  unsigned count;
  struct arm_instruction its[MOST];
  struct qzi_code_step step[MOST];
};

static int has(const struct qzi_code *code, uint64_t at) {
  return at >= code->address && at + 4 <= code->address + code->count;
}
static int step_at(const struct qzi_code *code, uint64_t at, struct qzi_code_step *step) {
  return has(code, at) && qzi_code_step(QZI_AARCH64, code->bytes + (at - code->address), 4, step);
}
static uint64_t target_of(const struct loop *loop, unsigned k) {
  return loop->start + 4u * k + (uint64_t)loop->step[k].target;
}
static int jumps(const struct loop *loop, unsigned k) { return qzi_has_target(loop->step[k].goes); }

/* Finds the smallest loop around `first` to `last`, which ends with a jump back to `first` or before. Returns 0 if
 * there is none with only known instructions. */
static int find(const struct qzi_code *code, uint64_t first, uint64_t last, struct loop *loop) {
  struct qzi_code_step step;
  uint64_t end = first, target = 0;
  if (first % 4 || last < first || last - first >= 4 * MOST) return 0;
  for (;; end += 4) {
    if (end - first >= 4 * MOST || !step_at(code, end, &step)) return 0;
    target = end + (uint64_t)step.target;
    int back = qzi_has_target(step.goes) && target <= first && first - target < 4 * MOST;
    if (back && end >= last) break;
  }
  loop->start = target;
  loop->count = (unsigned)((end - target) / 4 + 1);
  if (!has(code, target) || loop->count > MOST) return 0;
  for (unsigned k = 0; k < loop->count; k++) {
    uint32_t word;
    memcpy(&word, code->bytes + (target + 4u * k - code->address), sizeof word);
    loop->its[k] = qzi_arm_decode(word);
    if (loop->its[k].kind == ARM_UNKNOWN || !step_at(code, target + 4u * k, &loop->step[k])) return 0;
  }
  return 1;
}

static uint8_t joined(uint8_t one, uint8_t other) { return one == other ? one : COUNT; }

static void arrive(struct state *at, const struct state *from) {
  if (!at->reached) {
    *at = *from;
    return;
  }
  for (unsigned k = 0; k < REGISTERS; k++) at->registers[k] = joined(at->registers[k], from->registers[k]);
  at->flags = joined(at->flags, from->flags);
}

/* The combined class of all values that an instruction reads; a loop that polls does not compute with a COUNT. */
static uint8_t read_by(const struct state *state, const struct arm_instruction *its) {
  uint8_t value = its->stack ? COUNT : its->reads_flags ? state->flags : FIXED;
  for (unsigned k = 0; k < 3; k++)
    if (its->from[k] != ARM_ZERO && state->registers[its->from[k]] > value) value = state->registers[its->from[k]];
  return value;
}

/* Tracks one instruction. Returns 0 if a loop that polls can't contain it. conditional: the loop jumps over some of its
 * code. */
static int follow(struct state *state, const struct arm_instruction *its, int framed, int conditional) {
  uint8_t value = read_by(state, its);
  switch (its->kind) {
  case ARM_UNKNOWN: return 0;
  case ARM_NOTHING:
  case ARM_BRANCH: return 1;
  case ARM_CONSTANT: value = conditional ? COUNT : FIXED; break; /* which constant may depend on what was read */
  case ARM_CLOCK: value = TIMED; break;
  case ARM_STEP:
  case ARM_MOVE: break;
  case ARM_COMPUTE:
    if (value == COUNT) return 0;
    break;
  case ARM_COMPARE: {
    uint8_t one = state->registers[its->from[0]], other = state->registers[its->from[1]];
    if ((one == COUNT && (other == POLLED || other == TIMED)) || (other == COUNT && (one == POLLED || one == TIMED)))
      return 0;
    /* One comparison after another (ccmp): either may decide. */
    if (its->reads_flags && (state->flags == POLLED || one == POLLED || other == POLLED)) value = POLLED;
    break;
  }
  case ARM_LOAD:
    /* The loop does not write its frame, and nobody else does. */
    if (its->stack || (framed && its->from[0] == FRAME))
      value = FIXED;
    else if (value == COUNT)
      return 0;
    else
      value = POLLED;
    break;
  case ARM_TRY: /* an update that is repeated if another one came between is not a wait */
    if (its->from[1] != ARM_ZERO && state->registers[its->from[1]] != FIXED) return 0;
    if (state->registers[its->from[0]] == COUNT) return 0;
    value = POLLED;
    break;
  }
  if (its->sets_flags) state->flags = value;
  if (its->to != ARM_ZERO) state->registers[its->to] = value;
  if (its->also != ARM_ZERO) state->registers[its->also] = value;
  return 1;
}

uint64_t qzi_arm_poll_loop(const struct qzi_code *code, uint64_t seen, int framed) {
  struct loop loop;
  struct state in[MOST + 1] = {{.reached = 1}};
  int polls = 0, conditional = 0;
  if (!find(code, seen, seen, &loop)) return 0;
  for (unsigned k = 0; k < loop.count; k++) { /* a value that the loop changes is assumed to be carried on until it
                                                 is found to be something else */
    in[0].registers[loop.its[k].to] = in[0].registers[loop.its[k].also] = COUNT;
    if (loop.its[k].sets_flags) in[0].flags = COUNT;
    uint64_t target = target_of(&loop, k);
    conditional |= jumps(&loop, k) && target > loop.start && target < loop.start + 4u * loop.count;
  }
  in[0].registers[ARM_ZERO] = FIXED;
  if (framed) in[0].registers[FRAME] = COUNT;
  for (unsigned k = 0; k < loop.count; k++) {
    struct state state = in[k];
    if (!state.reached) continue;
    uint8_t decides = read_by(&state, &loop.its[k]);
    if (!follow(&state, &loop.its[k], framed, conditional)) return 0;
    uint64_t target = target_of(&loop, k), end = loop.start + 4u * loop.count;
    int last = k + 1 == loop.count, inside = jumps(&loop, k) && target > loop.start && target < end,
        back = jumps(&loop, k) && target == loop.start, falls = loop.step[k].goes != QZI_GOES_TO && !last;
    if (inside && target <= loop.start + 4u * k) return 0; /* the loop contains another loop */
    if (loop.step[k].goes == QZI_GOES_IF) {
      int leaves = !(inside || back) || last; /* one of the two ways leaves the loop */
      if (leaves && decides == POLLED) polls = 1;
      /* A jump back decided by a fixed value may never be taken; then the code after it is executed each time, too. */
      if (last && back && decides == FIXED) return 0;
    }
    if (inside) arrive(&in[(target - loop.start) / 4], &state);
    if (falls) arrive(&in[k + 1], &state);
  }
  return polls ? loop.start : 0;
}

uint64_t qzi_arm_store_free_loop(const struct qzi_code *code, uint64_t first, uint64_t last) {
  struct loop loop;
  return find(code, first, last, &loop) ? loop.start : 0;
}

int qzi_arm_loop_tries(const struct qzi_code *code, uint64_t start) {
  struct loop loop;
  if (!find(code, start, start, &loop)) return 0;
  for (unsigned k = 0; k < loop.count; k++)
    if (loop.its[k].kind == ARM_TRY) return 1;
  return 0;
}
