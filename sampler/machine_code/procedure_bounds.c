/* See procedure_bounds.h. */
#include "procedure_bounds.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/util/array.h"
#include "x86_decode.h"

#define JUMPS  8u    /* number of recent forward jumps that are remembered */
#define NEAR   4096u /* maximum distance of a branch within a procedure; a longer one may come from a separate part, */
/* and does not hide what looks like a procedure's beginning; a branch longer than this is ignored */
#define FAR    65536u
#define ACROSS 3u /* number of supposed procedures that may turn out to be one */

struct starts {
  uint32_t *all; /* offsets from `low` */
  uint32_t count, room;
};
struct entrance {
  uint32_t to, from; /* offsets of a branch into what may be a separate part of a procedure, and of that branch */
};
struct qzi_procedure_bounds {
  uint64_t low, high;
  uint64_t at;                  /* offset of the next instruction */
  struct starts found;          /* ascending: behind the end of another procedure; */
  struct starts called, jumped; /* those that calls name, and that branches back across several procedures lead to */
  struct starts prologues;      /* those of `found` that look like a beginning */
  struct starts unaligned;      /* what looks like one behind an end, but is not aligned as most are; ascending */
  struct starts hidden;         /* placed as beginnings are, but behind a jump through a table; ascending */
  struct starts tables;         /* of each of these, where that jump is */
  uint64_t table;               /* where the last such jump is */
  struct starts named;          /* unaligned addresses that instructions name, as those of main and of callbacks */
  uint64_t far_inside;          /* the same for branches longer than NEAR */
  uint64_t inside;              /* branches show that the code up to this offset is the same procedure */
  int32_t depth, deepest;       /* of the stack in bytes, counted by pushes and subtractions */
  int left, called_last; /* whether the last instruction, ignoring padding, goes elsewhere; whether it is a call */
  int switches, padded;  /* whether there was a jump through a table; whether padding followed since */
  struct {
    uint64_t from, to;
  } jumps[JUMPS];
  uint32_t jump_count;
  unsigned char targets[FAR / 8]; /* a bit for each of the next FAR bytes: whether a branch leads there; bit at % FAR is
                                     of `at` */
  uint64_t certain;               /* offset of the last start that no branch may disprove */
  struct entrance *entrances;     /* ascending by `to`, once sorted */
  uint32_t entrance_count, entrance_room;
  int sorted;
};

void qzi_procedure_bounds_close(struct qzi_procedure_bounds *bounds) {
  if (!bounds) return;
  free(bounds->found.all);
  free(bounds->called.all);
  free(bounds->jumped.all);
  free(bounds->prologues.all);
  free(bounds->unaligned.all);
  free(bounds->named.all);
  free(bounds->hidden.all);
  free(bounds->tables.all);
  free(bounds->entrances);
  free(bounds);
}

#ifdef QZI_DECODES

static void add(struct starts *starts, uint64_t offset) {
  if (offset > UINT32_MAX || qzi_grow((void **)&starts->all, &starts->room, starts->count + 1, sizeof *starts->all))
    return;
  starts->all[starts->count++] = (uint32_t)offset;
}

struct qzi_procedure_bounds *qzi_procedure_bounds_open(uint64_t low, uint64_t high) {
  struct qzi_procedure_bounds *bounds = calloc(1, sizeof *bounds);
  if (!bounds) return NULL;
  bounds->low = low;
  bounds->high = high;
  bounds->left = 1;
  return bounds;
}

/* Whether the code looks like a procedure's beginning. */
static int is_prologue(const unsigned char *code, size_t left, const struct instruction *its) {
  static const unsigned char marks[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
  if (left >= sizeof marks && !memcmp(code, marks, sizeof marks)) return 1;
  if (its->op >= 0x50 && its->op <= 0x57) return 1;
  return (its->op == 0x81 || its->op == 0x83) && its->kind == 5 && its->rm == RSP;
}

static void begin_one(struct qzi_procedure_bounds *bounds, int certain, int prologue) {
  add(&bounds->found, bounds->at);
  if (prologue) add(&bounds->prologues, bounds->at);
  if (certain) bounds->certain = bounds->at;
  bounds->depth = bounds->deepest = 0;
  bounds->switches = 0;
}

/* Removes starts after `from` up to the current instruction, because a branch connects that code, as far back as one
 * that is certain. */
static void drop_behind(struct qzi_procedure_bounds *bounds, uint64_t from) {
  struct starts *found = &bounds->found;
  if (bounds->certain > from) from = bounds->certain;
  while (found->count > 1 && found->all[found->count - 1] > from) found->count--;
  while (bounds->hidden.count && bounds->hidden.all[bounds->hidden.count - 1] > from) bounds->hidden.count--;
  if (bounds->tables.count > bounds->hidden.count) bounds->tables.count = bounds->hidden.count;
}

/* A loop entered by an earlier jump into its middle does not begin a procedure, although that jump ends the code before
 * it. */
static int entered_from_before(const struct qzi_procedure_bounds *bounds, uint64_t loop) {
  for (uint32_t k = 0; k < JUMPS && k < bounds->jump_count; k++)
    if (bounds->jumps[k].from < loop && bounds->jumps[k].to > loop && bounds->jumps[k].to <= bounds->at) return 1;
  return 0;
}

/* Where a jump of the same supposed procedure leads to begins none (unless it is aligned, behind padding: then it is a
 * tail call). */
static int jumped_to(const struct qzi_procedure_bounds *bounds) {
  uint64_t start = bounds->found.count ? bounds->found.all[bounds->found.count - 1] : 0;
  for (uint32_t k = 0; k < JUMPS && k < bounds->jump_count; k++)
    if (bounds->jumps[k].to == bounds->at && bounds->jumps[k].from >= start) return 1;
  return 0;
}

/* How many of them, which ascend, lie up to the offset. */
static uint32_t up_to(const struct starts *starts, uint64_t offset) {
  uint32_t low = 0, high = starts->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (starts->all[middle] <= offset)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static int is_start(const struct starts *found, uint64_t offset) {
  uint32_t count = up_to(found, offset);
  return count && found->all[count - 1] == offset;
}

/* Whether a branch before it leads to the current instruction. Instructions up to the next one are forgotten. */
static int is_target(struct qzi_procedure_bounds *bounds, uint32_t length) {
  int is = bounds->targets[bounds->at % FAR / 8] >> bounds->at % 8 & 1;
  for (uint64_t k = bounds->at; k < bounds->at + length; k++)
    bounds->targets[k % FAR / 8] &= (unsigned char)~(1u << k % 8);
  return is;
}

static void leads_to(struct qzi_procedure_bounds *bounds, uint64_t to) {
  if (to > bounds->at && to - bounds->at < FAR) bounds->targets[to % FAR / 8] |= (unsigned char)(1u << to % 8);
}

static void enter(struct qzi_procedure_bounds *bounds, uint64_t to) {
  if (to >= bounds->high - bounds->low || bounds->at > UINT32_MAX || to > UINT32_MAX ||
      qzi_grow((void **)&bounds->entrances, &bounds->entrance_room, bounds->entrance_count + 1,
               sizeof *bounds->entrances))
    return;
  bounds->entrances[bounds->entrance_count++] = (struct entrance){(uint32_t)to, (uint32_t)bounds->at};
}

static void branch(struct qzi_procedure_bounds *bounds, uint64_t to) {
  const struct starts *before = &bounds->found;
  if (to > bounds->at ? to - bounds->at >= NEAR : before->count && to < before->all[before->count - 1])
    enter(bounds, to);
  if (to > bounds->at) {
    uint64_t *inside = to - bounds->at < NEAR ? &bounds->inside : &bounds->far_inside;
    if (to + 1 > *inside && to - bounds->at < FAR && to < bounds->high - bounds->low) *inside = to + 1;
    return;
  }
  uint32_t count = bounds->found.count;
  /* A jump back across several procedures, or to the beginning of one, is a tail call. */
  if (count > ACROSS && to < bounds->found.all[count - ACROSS]) {
    if (!((bounds->low + to) & 15)) add(&bounds->jumped, to);
    return;
  }
  if (count && to < bounds->found.all[count - 1] && is_start(&bounds->found, to)) return;
  drop_behind(bounds, to);
  count = bounds->found.count;
  if (count > 1 && bounds->found.all[count - 1] == to && entered_from_before(bounds, to)) bounds->found.count--;
}

static void jump(struct qzi_procedure_bounds *bounds, uint64_t to) {
  const struct starts *found = &bounds->found;
  if (to > bounds->at && to < bounds->high - bounds->low) {
    bounds->jumps[bounds->jump_count % JUMPS].from = bounds->at;
    bounds->jumps[bounds->jump_count++ % JUMPS].to = to;
  } else if (found->count > 1 && to < found->all[found->count - 1] && to > found->all[found->count - 2]) {
    drop_behind(bounds, to); /* a separate part after its procedure jumps back into it */
  }
}

static void track(struct qzi_procedure_bounds *bounds, const struct instruction *its) {
  int group = (its->op == 0x81 || its->op == 0x83) && its->rm == RSP;
  if (its->op >= 0x50 && its->op <= 0x57) bounds->depth += 8;
  if (its->op >= 0x58 && its->op <= 0x5f) bounds->depth -= 8;
  if (its->op == 0xc9) bounds->depth = 0;
  if (group && its->kind == 5 && its->number > 0 && its->number < 1 << 24) bounds->depth += (int32_t)its->number;
  if (group && its->kind == 0 && its->number > 0 && its->number < 1 << 24) bounds->depth -= (int32_t)its->number;
  if (bounds->depth < 0) bounds->depth = 0;
  if (bounds->depth > bounds->deepest) bounds->deepest = bounds->depth;
}

static int is_aligned(const struct qzi_procedure_bounds *bounds, uint64_t offset) {
  return !((bounds->low + offset) & 15);
}

/* The address of a procedure, which may be called through it; relative, or in programs at fixed addresses a number. */
static void name(struct qzi_procedure_bounds *bounds, const struct instruction *its, uint64_t next) {
  uint64_t size = bounds->high - bounds->low, named = size;
  int relative = its->op == 0x8d && its->at.base == RIP;
  if (relative) named = next + (uint64_t)its->at.disp;
  if ((its->op >= 0xb8 && its->op <= 0xbf) || (its->op == 0xc7 && its->kind == 0))
    named = (uint64_t)its->number - bounds->low;
  if (named >= size) return;
  if (relative && is_aligned(bounds, named))
    add(&bounds->called, named);
  else
    add(&bounds->named, named);
}

static void look_at(struct qzi_procedure_bounds *bounds, const unsigned char *code, size_t left,
                    const struct instruction *its) {
  uint64_t next = bounds->at + its->length, to = next + (uint64_t)its->number, size = bounds->high - bounds->low;
  int padding = *code == 0xcc || (left > 1 && !code[0] && !code[1]) || /* between sections */
                *code == 0x90 || its->op == 0x11f || (*code == 0x66 && (its->op & 0xff) == 0x90);
  int target = is_target(bounds, its->length);
  if ((bounds->left || bounds->called_last) && padding) {
    bounds->padded = 1;
    return;
  }
  int aligned = is_aligned(bounds, bounds->at), begins = is_prologue(code, left, its), prologue = aligned && begins;
  if (begins && !aligned && !target && (bounds->left || bounds->called_last)) add(&bounds->unaligned, bounds->at);
  /* A call may end a procedure if it never returns. */
  int may_end =
    (bounds->left && (!bounds->switches || prologue)) || (bounds->called_last && bounds->padded && prologue);
  /* What looks like a beginning, and has no branch or instruction before it that leads there, is one, even where
   * branches seem to show that it is inside a procedure: these come from separate parts that are placed before theirs.
   */
  int certain = bounds->left && bounds->padded && prologue && !target && !bounds->switches;
  int placed = aligned && bounds->padded; /* as compilers place procedures */
  int apart = prologue || (placed && !target && !bounds->switches);
  if (certain || (may_end && bounds->at >= bounds->inside &&
                  (apart || (bounds->at >= bounds->far_inside && !(target && !placed && jumped_to(bounds))))))
    begin_one(bounds, certain, prologue);
  else if (bounds->left) {
    bounds->depth = bounds->deepest;
    if (placed && !target && bounds->switches && bounds->at >= bounds->inside) {
      add(&bounds->hidden, bounds->at);
      add(&bounds->tables, bounds->table);
    }
  }
  bounds->left = bounds->padded = 0;
  track(bounds, its);
  if (its->goes == QZI_GOES_CALL && its->op == 0xe8 && to < size) add(&bounds->called, to);
  name(bounds, its, next);
  if (qzi_has_target(its->goes)) leads_to(bounds, to);
  if (its->goes == QZI_GOES_IF) branch(bounds, to);
  if (its->goes == QZI_GOES_TO) jump(bounds, to);
  bounds->called_last = its->goes == QZI_GOES_CALL;
  bounds->left = !qzi_goes_on(its->goes);
  /* A jump with the frame gone is a tail call. */
  if (its->goes == QZI_GOES_ANYWHERE && (bounds->depth > 0 || (!bounds->deepest && bounds->inside > bounds->at))) {
    bounds->switches = 1;
    bounds->table = bounds->at;
  }
}

void qzi_procedure_bounds_feed(struct qzi_procedure_bounds *bounds, const unsigned char *code, size_t length,
                               uint32_t instructions) {
  size_t at = 0;
  uint64_t size = bounds->high - bounds->low;
  for (; at < length && bounds->at < size && instructions; instructions--) {
    struct instruction its;
    if (qzi_decode(code + at, length - at, &its)) {
      look_at(bounds, code + at, length - at, &its);
    } else {
      /* the next bytes have the rest of the instruction */
      if (length - at < 15 && bounds->at + (length - at) < size && at) return;
      its.length = 1;
      bounds->left = 1;
    }
    at += its.length;
    bounds->at += its.length;
  }
}

static int by_offset(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

static int by_place(const void *a, const void *b) {
  const struct entrance *x = a, *y = b;
  return x->to != y->to ? (x->to < y->to ? -1 : 1) : x->from < y->from ? -1 : x->from > y->from;
}

static void sort(struct qzi_procedure_bounds *bounds) {
  struct starts *found = &bounds->found, *called = &bounds->called;
  if (bounds->sorted) return;
  for (uint32_t k = 0; k < bounds->named.count; k++)
    if (is_start(&bounds->unaligned, bounds->named.all[k])) add(called, bounds->named.all[k]);
  if (called->count) qsort(called->all, called->count, sizeof *called->all, by_offset);
  for (uint32_t k = 0; k < called->count; k++) add(found, called->all[k]);
  /* A procedure that calls name, behind the jump through a table, ends what that jump may lead to. */
  for (uint32_t k = 0; k < bounds->hidden.count && k < bounds->tables.count; k++)
    if (up_to(called, bounds->hidden.all[k]) > up_to(called, bounds->tables.all[k])) add(found, bounds->hidden.all[k]);
  for (uint32_t k = 0; k < bounds->jumped.count; k++) add(found, bounds->jumped.all[k]);
  if (found->count) qsort(found->all, found->count, sizeof *found->all, by_offset);
  if (bounds->entrance_count) qsort(bounds->entrances, bounds->entrance_count, sizeof *bounds->entrances, by_place);
  bounds->sorted = 1;
}

void qzi_procedure_bounds_at(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end) {
  struct starts *found = &bounds->found;
  sort(bounds);
  uint32_t low = up_to(found, address - bounds->low);
  *start = bounds->low + (low ? found->all[low - 1] : 0);
  *end = low < found->count ? bounds->low + found->all[low] : bounds->high;
}

/* Whether a procedure begins there, and not a separate part of one. */
static int is_whole(const struct qzi_procedure_bounds *bounds, uint64_t start) {
  return is_start(&bounds->called, start - bounds->low) || is_start(&bounds->prologues, start - bounds->low);
}

/* Whether the entrance leads from a procedure into the extent of another one. */
static int is_entrance(struct qzi_procedure_bounds *bounds, const struct entrance *its, uint64_t start, uint64_t end) {
  uint64_t from = bounds->low + its->from, to = bounds->low + its->to, low, high;
  if (to < start || to >= end || (from >= start && from < end)) return 0;
  qzi_procedure_bounds_at(bounds, from, &low, &high);
  return is_whole(bounds, low);
}

int qzi_procedure_bounds_part(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end,
                              uint64_t *from) {
  const struct entrance *all = bounds->entrances;
  uint64_t low, high, its_low, its_high;
  qzi_procedure_bounds_at(bounds, address, &low, &high);
  if (is_whole(bounds, low)) return 0;
  uint32_t at = 0, to = bounds->entrance_count, offset = (uint32_t)(address - bounds->low);
  while (at < to) { /* the last one that leads to the address or before it */
    uint32_t middle = at + (to - at) / 2;
    if (all[middle].to <= offset)
      at = middle + 1;
    else
      to = middle;
  }
  while (at && all[at - 1].to >= low - bounds->low && !is_entrance(bounds, &all[at - 1], low, high)) at--;
  if (!at || !is_entrance(bounds, &all[at - 1], low, high)) return 0;
  *from = bounds->low + all[at - 1].from;
  qzi_procedure_bounds_at(bounds, *from, &its_low, &its_high);
  /* Parts of several procedures may follow each other without a gap. */
  *start = low;
  *end = high;
  for (uint32_t k = at; k < bounds->entrance_count && *end == high && all[k].to < high - bounds->low; k++) {
    uint64_t by = bounds->low + all[k].from;
    if (is_entrance(bounds, &all[k], low, high) && (by < its_low || by >= its_high)) *end = bounds->low + all[k].to;
  }
  for (uint32_t k = at; k-- > 0 && all[k].to >= low - bounds->low;) {
    uint64_t by = bounds->low + all[k].from;
    if (!is_entrance(bounds, &all[k], low, high)) continue;
    if (by < its_low || by >= its_high) break;
    *start = bounds->low + all[k].to;
  }
  return 1;
}

#else

struct qzi_procedure_bounds *qzi_procedure_bounds_open(uint64_t low, uint64_t high) {
  return NULL;
}
void qzi_procedure_bounds_feed(struct qzi_procedure_bounds *bounds, const unsigned char *code, size_t length,
                               uint32_t instructions) {}
void qzi_procedure_bounds_at(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end) {}
int qzi_procedure_bounds_part(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end,
                              uint64_t *from) {
  return 0;
}

#endif

uint64_t qzi_procedure_bounds_next(const struct qzi_procedure_bounds *bounds) { return bounds->low + bounds->at; }
