/* See repeating_loop.h. */
#include "repeating_loop.h"

#include <string.h>
#include "loop_callees.h"
#include "abi/hash.h"
#include "poll_detector.h"
#include "sampler/machine_code/x86_decode.h"

#ifdef QZI_DECODES

#define ROUNDS_LEAST 8u    /* samples: 16 ms of processor time, or more where samples are further apart */
#define COMPARED     2048u /* bytes of stack that are compared */
#define LEADING      QZI_STATELESS_BYTES

static const struct qzi_stateless *look_at(struct qzi_stateless_known *known, struct qzi_paths *paths, uint32_t pid,
                                           uint64_t pc, int framed) {
  unsigned char bytes[2 * QZI_STATELESS_BYTES + 256];
  struct qzi_code code;
  struct qzi_callees callees = {paths, qzi_callee_look};
  uint64_t seen = pc << 1 | (uint64_t)(framed != 0), at = (seen * QZ_HASH_FACTOR) >> (64 - QZI_STATELESS_BITS);
  static const struct qzi_stateless not_yet;
  if (known->known[at].seen == seen) return &known->known[at].its;
  if (!qzi_new_code_may(known->new_code)) return &not_yet;
  uint64_t begun_ns = qzi_clock_ns();
  /* Includes the code before it, if that can be read. */
  int none = qzi_code_around(pid, pc - LEADING, pc, bytes, sizeof bytes, &code) || pc - code.address >= code.count;
  none = none && qzi_code_around(pid, pc, pc, bytes, sizeof bytes, &code);
  known->known[at].seen = seen;
  known->known[at].its =
    none ? (struct qzi_stateless){.start = 0} : qzi_stateless_loop(&code, pc, framed, paths ? &callees : NULL);
  qzi_new_code_spend(known->new_code, begun_ns);
  return &known->known[at].its;
}

static uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * QZ_HASH_FACTOR;
  return sum ^ sum >> 29;
}

static uint64_t word_at(const struct qzi_sample *sample, uint64_t at) {
  uint64_t word = 0;
  if (at >= sample->copy.address && at + 8 <= sample->copy.address + sample->copy.bytes)
    memcpy(&word, sample->copy.data + (at - sample->copy.address), 8);
  return word;
}

/* Start of the frame in which a call returns to pc; 0: not in the copy. */
static uint64_t frame_below(const struct qzi_sample *sample, uint64_t pc) {
  for (uint64_t at = sample->copy.address; at + 8 <= sample->copy.address + sample->copy.bytes; at += 8)
    if (word_at(sample, at) == pc) return at + 8;
  return 0;
}

/* Hash of everything that the loop does not change: registers, and the stack from its frame at sp on; fp: its frame
 * pointer, 0: unknown. Returns 0 if that can't be determined. values: receives what the loop changes. */
static uint64_t print_of(const struct qzi_stateless *its, const struct qzi_sample *sample, uint64_t sp, uint64_t fp,
                         uint64_t *values) {
  uint64_t sum = mix(its->start, sp), end = sp + COMPARED, left[QZI_STATELESS_SLOTS];
  for (unsigned k = 0; k < its->slots; k++) {
    if (its->slot[k].base == RBP && !fp) return 0;
    left[k] = (its->slot[k].base == RBP ? fp : sp) + (uint64_t)its->slot[k].disp;
    values[16 + k] = (uint32_t)word_at(sample, left[k]); /* if a slot has four bytes, the other half belongs to
                                                            another variable */
  }
  for (unsigned reg = 0; reg < 16; reg++) {
    if (reg == RSP || reg == RBP) continue;
    if (its->writes & BIT(reg))
      values[reg] = sample->general[reg];
    else
      sum = mix(sum, sample->general[reg]);
  }
  if (sp < sample->copy.address) return 0;
  for (uint64_t at = sp & ~UINT64_C(7); at + 8 <= end && at + 8 <= sample->copy.address + sample->copy.bytes; at += 8) {
    int changes = 0;
    for (unsigned k = 0; k < its->slots; k++) changes |= at < left[k] + 16 && left[k] < at + 8;
    if (!changes) sum = mix(sum, word_at(sample, at));
  }
  return sum ? sum : 1;
}

static int is_near(const struct qzi_repeating_loop *repeating, uint64_t pc) {
  for (uint32_t k = 0; k < repeating->places; k++)
    if (pc - repeating->place[k] + QZI_STATELESS_BYTES <= 2 * QZI_STATELESS_BYTES) return 1;
  return 0;
}

/* Finds the loop that a sample is in, or that waits for a procedure to return, and its hash. Returns 0 if there is
 * none. */
static uint64_t find(const struct qzi_repeating_loop *repeating, struct qzi_stateless_known *known,
                     struct qzi_paths *paths, uint32_t pid, const struct qzi_sample *sample,
                     const struct qzi_walk *walk, uint64_t *print, uint64_t *values) {
  uint64_t sp = sample->at.sp, fp = sample->at.fp;
  int framed = fp >= sp && fp - sp < QZI_RUNNING_STACK;
  const struct qzi_stateless *its =
    is_near(repeating, sample->at.pc) ? look_at(known, paths, pid, sample->at.pc, framed) : NULL;
  if (its && its->start && (*print = print_of(its, sample, sp, framed ? fp : 0, values))) return its->start;
  for (uint32_t k = 0; walk && k < walk->callers; k++) {
    if (!is_near(repeating, walk->caller[k].pc)) continue;
    its = look_at(known, paths, pid, walk->caller[k].pc, walk->caller[k].framed);
    if (!its->start || !(sp = frame_below(sample, walk->caller[k].pc))) continue;
    /* A procedure with its own frame stores the caller's frame pointer where its own points. */
    fp = sample->at.fp >= sp ? sample->at.fp : word_at(sample, sample->at.fp);
    if ((*print = print_of(its, sample, sp, walk->caller[k].framed && fp >= sp ? fp : 0, values))) return its->start;
  }
  return 0;
}

/* Whether a value that the loop changes has only grown or only shrunk. */
static int goes_one_way(struct qzi_repeating_loop *repeating, const uint64_t *values) {
  int one_way = 0;
  for (unsigned k = 0; k < QZI_REPEATING_LOOP_VALUES; k++) {
    if (repeating->rounds && values[k] > repeating->values[k].last) repeating->values[k].rose = 1;
    if (repeating->rounds && values[k] < repeating->values[k].last) repeating->values[k].fell = 1;
    repeating->values[k].last = values[k];
    one_way |= repeating->values[k].rose != repeating->values[k].fell;
  }
  return one_way;
}

uint64_t qzi_repeating_loop_look(struct qzi_repeating_loop *repeating, struct qzi_stateless_known *known,
                                 struct qzi_paths *paths, uint32_t pid, const struct qzi_sample *sample,
                                 const struct qzi_walk *walk) {
  /* Where an interrupt led into the kernel, the registers are those of the loop, which goes on afterwards. */
  uint64_t print = 0, values[QZI_REPEATING_LOOP_VALUES] = {0},
           loop = find(repeating, known, paths, pid, sample, walk, &print, values);
  if (!loop || loop != repeating->loop || print != repeating->print) {
    repeating->rounds = 0;
    repeating->repeats = 0;
    memset(repeating->values, 0, sizeof repeating->values);
  }
  repeating->loop = loop;
  repeating->print = print;
  repeating->place[0] = sample->at.pc;
  repeating->places = 1;
  for (uint32_t k = 0; walk && k < walk->callers; k++) repeating->place[repeating->places++] = walk->caller[k].pc;
  if (!loop) return 0;
  int one_way = goes_one_way(repeating, values);
  repeating->rounds += sample->user;
  if (repeating->rounds >= ROUNDS_LEAST && !one_way) repeating->repeats = 1;
  return repeating->repeats ? loop : 0;
}

#else
uint64_t qzi_repeating_loop_look(struct qzi_repeating_loop *repeating, struct qzi_stateless_known *known,
                                 struct qzi_paths *paths, uint32_t pid, const struct qzi_sample *sample,
                                 const struct qzi_walk *walk) {
  return 0;
}
#endif
