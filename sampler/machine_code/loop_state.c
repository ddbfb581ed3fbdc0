/* See loop_state.h. */
#include "loop_state.h"

#ifdef QZI_DECODES

int qzi_followed_owns(const struct followed *followed, const struct memory *at) {
  return !at->thread && at->index == NONE && (at->base == RSP || (at->base == RBP && followed->framed));
}

enum value *qzi_followed_slot(struct followed *followed, const struct memory *at) {
  for (unsigned k = 0; k < followed->slots_count; k++)
    if (followed->slots[k].at.base == at->base && followed->slots[k].at.disp == at->disp)
      return &followed->slots[k].value;
  return NULL;
}

int qzi_followed_add(struct followed *followed, const struct memory *at, enum value value) {
  if (!qzi_followed_owns(followed, at) || followed->slots_count == SLOTS_MOST) return 0;
  followed->slots[followed->slots_count].at = *at;
  followed->slots[followed->slots_count++].value = value;
  return 1;
}

static enum value joined(enum value one, enum value other) {
  return one == other ? one : one == COUNT || other == COUNT ? COUNT : one > other ? one : other;
}

int qzi_followed_join(struct followed *one, const struct followed *other) {
  if (one->framed != other->framed || one->leaves != other->leaves) return 0;
  for (unsigned k = 0; k < REGISTERS; k++) one->registers[k] = joined(one->registers[k], other->registers[k]);
  for (unsigned k = 0; k < other->slots_count; k++) {
    enum value *known = qzi_followed_slot(one, &other->slots[k].at);
    if (known)
      *known = joined(*known, other->slots[k].value);
    else if (!qzi_followed_add(one, &other->slots[k].at, other->slots[k].value))
      return 0;
  }
  one->zero &= other->zero;
  one->flags = joined(one->flags, other->flags);
  one->control = joined(one->control, other->control);
  one->polls |= other->polls;
  one->clock |= other->clock;
  return 1;
}

int qzi_followed_parts(struct jumps *jumps, struct followed *followed, const struct instruction *its, uint64_t target) {
  int always = its->op == 0xeb || its->op == 0xe9;
  if (jumps->count == JUMPS_MOST) return 0;
  if (!always) followed->control = joined(followed->control, followed->flags);
  jumps->all[jumps->count].target = target;
  jumps->all[jumps->count++].known = *followed;
  jumps->dead = always;
  return 1;
}

int qzi_followed_arrives(struct jumps *jumps, struct followed *followed, uint64_t at) {
  unsigned left = 0;
  for (unsigned k = 0; k < jumps->count; k++) {
    if (jumps->all[k].target < at) return 0; /* into the middle of an instruction */
    if (jumps->all[k].target > at) {
      if (left != k) jumps->all[left] = jumps->all[k];
      left++;
    } else if (jumps->dead) {
      *followed = jumps->all[k].known;
      jumps->dead = 0;
    } else if (!qzi_followed_join(followed, &jumps->all[k].known)) {
      return 0;
    }
  }
  jumps->count = left;
  if (!left) followed->control = FIXED;
  return !jumps->dead || left;
}

#endif
