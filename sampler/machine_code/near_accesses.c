/* See near_accesses.h. */
#include "near_accesses.h"

#include "code_flow.h"
#include "x86_decode.h"

#ifdef QZI_DECODES

#define BEFORE_MOST 3u  /* maximum number of instructions before the place */
#define BEHIND_MOST 10u /* maximum number of instructions from the place on */
#define NO_WAY      255u

struct found {
  struct qzi_access *access;
  unsigned count;
};

/* Adds the access of an instruction that ends at `end`. */
static void add(struct found *found, const struct instruction *its, uint64_t end) {
  const struct memory *at = &its->at;
  if (!its->bytes.count || at->thread || at->base == RSP || its->fences) return;
  if (its->tries && its->locked && (its->op == 0x86 || its->op == 0x87)) return;
  if ((at->base >= 16 && at->base != NONE && at->base != RIP) || (at->index >= 16 && at->index != NONE)) return;
  if (found->count == QZI_NEAR_ACCESSES) return;
  found->access[found->count++] = (struct qzi_access){
    .disp = at->base == RIP ? (int64_t)(end + (uint64_t)at->disp) : at->disp,
    .base = at->base == RIP ? NONE : (uint8_t)at->base,
    .index = (uint8_t)at->index,
    .scale = (uint8_t)its->bytes.scale,
    .bytes = its->bytes.count > 64 ? 64 : (uint8_t)its->bytes.count,
    .written = its->bytes.written != 0,
    .read = its->bytes.read != 0,
    .locked = !its->locked ? 0
              : its->tries ? QZI_LOCKED_COMPARE
                           : QZI_LOCKED_CHANGE,
  };
}

static uint64_t address_registers(const struct instruction *its) {
  return (its->at.base < 16 ? BIT(its->at.base) : 0) | (its->at.index < 16 ? BIT(its->at.index) : 0);
}

/* Finds the instructions before the offset `to`. Decoding from most of the preceding bytes soon falls in step with the
 * real instructions, wherever it begins, so the most frequent way is right. Writes the offsets of the last few
 * instructions to `starts`, the last one first; returns their number. */
static unsigned lead(const unsigned char *bytes, size_t to, unsigned starts[BEFORE_MOST]) {
  uint8_t next[QZI_NEAR_BEFORE + 1], ways[QZI_NEAR_BEFORE + 1] = {0};
  size_t first = to > QZI_NEAR_BEFORE ? to - QZI_NEAR_BEFORE : 0, count = to - first;
  for (size_t k = 0; k < count; k++) {
    struct qzi_code_step step;
    int decoded = qzi_code_step(QZI_X86_64, bytes + first + k, to + 15 - first - k, &step);
    next[k] = decoded && k + step.length <= count ? (uint8_t)(k + step.length) : NO_WAY;
    ways[k]++;
    if (next[k] != NO_WAY) ways[next[k]] = (uint8_t)(ways[next[k]] + ways[k]);
  }
  unsigned found = 0;
  for (size_t at = count; found < BEFORE_MOST; found++) {
    size_t best = count;
    for (size_t k = 0; k < count; k++)
      if (next[k] == at && (best == count || ways[k] > ways[best])) best = k;
    if (best == count || ways[best] < 3) break; /* most ways do not pass there */
    starts[found] = (unsigned)(first + best);
    at = best;
  }
  return found;
}

unsigned qzi_near_accesses(const unsigned char *bytes, size_t count, uint64_t address, uint64_t pc,
                           struct qzi_access access[QZI_NEAR_ACCESSES]) {
  struct found found = {access, 0};
  struct instruction its;
  if (pc < address || pc - address >= count) return 0;
  size_t at = (size_t)(pc - address);
  uint64_t changed = 0;
  unsigned starts[BEFORE_MOST];
  size_t place = at;
  for (unsigned k = 0; k < BEHIND_MOST && at < count; k++) {
    if (!qzi_decode(bytes + at, count - at, &its) || its.goes != QZI_GOES_ON) break;
    at += its.length;
    if (!(address_registers(&its) & changed)) add(&found, &its, address + at);
    changed |= its.writes;
  }
  changed = 0;
  if (place + 15 > count) return found.count;
  unsigned leading = lead(bytes, place, starts);
  for (unsigned k = 0; k < leading; k++) {
    if (!qzi_decode(bytes + starts[k], count - starts[k], &its) || its.goes != QZI_GOES_ON) break;
    changed |= its.writes;
    if (!(address_registers(&its) & changed)) add(&found, &its, address + starts[k] + its.length);
  }
  return found.count;
}

#else
unsigned qzi_near_accesses(const unsigned char *bytes, size_t count, uint64_t address, uint64_t pc,
                           struct qzi_access access[QZI_NEAR_ACCESSES]) {
  return 0;
}
#endif
