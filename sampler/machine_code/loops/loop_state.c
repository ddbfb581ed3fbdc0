/* See loop_state.h. */
#include "loop_state.h"

#ifdef QZI_DECODES

int qzi_loop_state_owns(const struct state *state, const struct memory *at) {
  return !at->thread && at->index == NONE && (at->base == RSP || (at->base == RBP && state->framed));
}

enum value *qzi_loop_state_slot(struct state *state, const struct memory *at) {
  for (unsigned k = 0; k < state->slots_count; k++)
    if (state->slots[k].at.base == at->base && state->slots[k].at.disp == at->disp) return &state->slots[k].value;
  return NULL;
}

int qzi_loop_state_add(struct state *state, const struct memory *at, enum value value) {
  if (!qzi_loop_state_owns(state, at) || state->slots_count == SLOTS_MOST) return 0;
  state->slots[state->slots_count].at = *at;
  state->slots[state->slots_count++].value = value;
  return 1;
}

static enum value joined(enum value one, enum value other) {
  return one == other ? one : one == COUNT || other == COUNT ? COUNT : one > other ? one : other;
}

int qzi_loop_state_join(struct state *one, const struct state *other) {
  if (one->framed != other->framed || one->leaves != other->leaves) return 0;
  for (unsigned k = 0; k < REGISTERS; k++) one->registers[k] = joined(one->registers[k], other->registers[k]);
  for (unsigned k = 0; k < other->slots_count; k++) {
    enum value *known = qzi_loop_state_slot(one, &other->slots[k].at);
    if (known)
      *known = joined(*known, other->slots[k].value);
    else if (!qzi_loop_state_add(one, &other->slots[k].at, other->slots[k].value))
      return 0;
  }
  one->zero &= other->zero;
  one->flags = joined(one->flags, other->flags);
  one->control = joined(one->control, other->control);
  one->polls |= other->polls;
  one->clock |= other->clock;
  return 1;
}

int qzi_loop_state_parts(struct jumps *jumps, struct state *state, const struct instruction *its, uint64_t target) {
  int always = its->op == 0xeb || its->op == 0xe9;
  if (jumps->count == JUMPS_MOST) return 0;
  if (!always) state->control = joined(state->control, state->flags);
  jumps->all[jumps->count].target = target;
  jumps->all[jumps->count++].known = *state;
  jumps->dead = always;
  return 1;
}

int qzi_loop_state_arrives(struct jumps *jumps, struct state *state, uint64_t at) {
  unsigned left = 0;
  for (unsigned k = 0; k < jumps->count; k++) {
    if (jumps->all[k].target < at) return 0; /* a jump into the middle of an instruction */
    if (jumps->all[k].target > at) {
      if (left != k) jumps->all[left] = jumps->all[k];
      left++;
    } else if (jumps->dead) {
      *state = jumps->all[k].known;
      jumps->dead = 0;
    } else if (!qzi_loop_state_join(state, &jumps->all[k].known)) {
      return 0;
    }
  }
  jumps->count = left;
  if (!left) state->control = FIXED;
  return !jumps->dead || left;
}

#endif
