/* Loops that poll. See poll_loop.h.
 *
 * A loop is followed once, from its first instruction to its jump back. For each register and stack slot, the analysis
 * tracks where its value comes from: from before the loop, from shared memory, from a clock, or from counting.
 * Procedures that the loop calls are followed, too (poll_step.c). Where code is jumped over, the states of both ways
 * are merged at the target of the jump.
 */
#include "poll_loop.h"

#include "arm_poll_loop.h"
#include "sampler/machine_code/code_flow.h"
#include "loop_body.h"
#include "poll_step.h"

#ifdef QZI_DECODES

static uint64_t polls(const struct loop *loop, int framed, int alone, const struct qzi_callees *callees) {
  struct state state = {.framed = framed, .callees = callees, .alone = alone};
  struct jumps jumps = {.count = 0};
  uint64_t target;
  /* Reads through a pointer into the frame are not followed, because they may read the loop's counter. */
  state.registers[RSP] = COUNT;
  if (framed) state.registers[RBP] = COUNT;
  for (unsigned k = 0; k < loop->count; k++)
    if (loop->all[k].inside && !qzi_poll_step_prepare(&state, &loop->all[k].its)) return 0;
  for (unsigned k = 0; k < loop->count; k++) {
    const struct instruction *its = &loop->all[k].its;
    uint64_t next = loop->all[k].at + its->length;
    int polled = state.polls;
    if (!loop->all[k].inside) {
      jumps.dead = 1; /* the loop was left */
      continue;
    }
    if (!qzi_loop_state_arrives(&jumps, &state, loop->all[k].at)) return 0;
    if (jumps.dead) continue;
    if (!qzi_poll_step(&state, its, next)) return 0;
    if (!qzi_is_jump(its)) continue;
    int over = qzi_loop_jumps_inside(loop, k, &target),
        falls = !qzi_is_always_jump(its) && k + 1 < loop->count && loop->all[k + 1].inside;
    if (over && target < next) return 0; /* the loop contains another loop */
    if ((over || target == loop->start) && falls)
      state.polls = polled; /* the loop continues either way */
    else if (alone && !qzi_is_always_jump(its) && state.flags != POLLED)
      return 0; /* it ends without another thread */
    if (over && !qzi_loop_state_parts(&jumps, &state, its, target)) return 0;
    if (qzi_is_always_jump(its)) jumps.dead = 1;
    /* A jump back decided by a fixed value may never be taken; then the code after it is executed each time, too. */
    if (next == loop->end && !qzi_is_always_jump(its) && state.flags == FIXED) return 0;
  }
  return state.polls ? loop->start : 0;
}

uint64_t qzi_poll_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees) {
  struct loop loop;
  if (!qzi_loop_find(code, seen, &loop)) return 0;
  uint64_t start = polls(&loop, framed, 0, callees);
  return start ? start : polls(&loop, framed, 1, callees); /* second try: it polls a word in its own frame, whose
                                                              address other threads have */
}

#else
uint64_t qzi_poll_loop(const struct qzi_code *code, uint64_t seen, int framed, const struct qzi_callees *callees) {
  return QZI_THIS_MACHINE == QZI_AARCH64 ? qzi_arm_poll_loop(code, seen, framed) : 0;
}
#endif
