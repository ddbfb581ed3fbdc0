/* See frame_code.h. */
#include "frame_code.h"

#include <stdlib.h>
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/procedure_bounds.h"
#include "sampler/util/array.h"
#include "sampler/util/hash_index.h"

#define STEP       4000u /* maximum number of instructions analysed in one walk: half a millisecond */
#define KNOWN_MOST 16384u
#define WINDOW     65536u /* bytes of code without symbols that are read at a time */

struct known {
  uint64_t start, end;
  struct qzi_frame_analysis *analysis; /* NULL: it can't be analysed */
  int ended;
};
struct stretch {
  uint64_t low;
  struct qzi_procedure_bounds *bounds; /* NULL: the code can't be read */
  int ended;
};

struct qzi_frame_code {
  uint32_t pid, left; /* left: number of instructions that this walk may still analyse */
  struct qzi_table table;
  struct known *known; /* indexed by start address */
  uint32_t count, room;
  struct stretch *stretches;
  uint32_t stretch_count, stretch_room;
  unsigned char window[WINDOW];
};

struct qzi_frame_code *qzi_frame_code_open(void) {
  return calloc(1, sizeof(struct qzi_frame_code));
}

void qzi_frame_code_close(struct qzi_frame_code *code) {
  if (!code) return;
  for (uint32_t k = 0; k < code->count; k++) qzi_frame_analysis_close(code->known[k].analysis);
  for (uint32_t k = 0; k < code->stretch_count; k++) qzi_procedure_bounds_close(code->stretches[k].bounds);
  qzi_table_free(&code->table);
  free(code->known);
  free(code->stretches);
  free(code);
}

void qzi_frame_code_begin(struct qzi_frame_code *code, uint32_t pid) {
  code->pid = pid;
  code->left = STEP;
}

static uint32_t spend(struct qzi_frame_code *code) {
  uint32_t most = code->left < 500 ? code->left : 500;
  code->left -= most;
  return most;
}

/* ---- where procedures begin ---- */

static struct stretch *stretch_from(struct qzi_frame_code *code, uint64_t low, uint64_t high) {
  for (uint32_t k = 0; k < code->stretch_count; k++)
    if (code->stretches[k].low == low) return &code->stretches[k];
  if (qzi_grow((void **)&code->stretches, &code->stretch_room, code->stretch_count + 1, sizeof *code->stretches))
    return NULL;
  struct stretch *stretch = &code->stretches[code->stretch_count++];
  *stretch = (struct stretch){.low = low, .bounds = qzi_procedure_bounds_open(low, high)};
  return stretch;
}

enum qzi_frame_answer qzi_frame_code_bounds(struct qzi_frame_code *code, uint64_t low, uint64_t high, uint64_t pc,
                                            struct qzi_code_extent *extent, struct qzi_code_extent *parent) {
  struct stretch *stretch = stretch_from(code, low, high);
  if (!stretch || !stretch->bounds) return QZI_FRAME_UNKNOWN;
  while (!stretch->ended && code->left) {
    uint64_t from = qzi_procedure_bounds_next(stretch->bounds);
    size_t length = high - from < WINDOW ? (size_t)(high - from) : WINDOW;
    stretch->ended = !length;
    if (!length) break;
    if (qzi_program_read(code->pid, from, code->window, length)) {
      qzi_procedure_bounds_close(stretch->bounds);
      stretch->bounds = NULL;
      return QZI_FRAME_UNKNOWN;
    }
    qzi_procedure_bounds_feed(stretch->bounds, code->window, length, spend(code));
  }
  if (!stretch->ended) return QZI_FRAME_LATER;
  uint64_t from;
  extent->sized = parent->sized = 1;
  parent->end = 0;
  if (qzi_procedure_bounds_part(stretch->bounds, pc, &extent->start, &extent->end, &from))
    qzi_procedure_bounds_at(stretch->bounds, from, &parent->start, &parent->end);
  else
    qzi_procedure_bounds_at(stretch->bounds, pc, &extent->start, &extent->end);
  return QZI_FRAME_KNOWN;
}

/* ---- rules ---- */

static struct qzi_frame_analysis *analyse(struct qzi_frame_code *code, const struct qzi_code_extent *extent,
                                          const struct qzi_frame_analysis *parent) {
  if (extent->end <= extent->start || extent->end - extent->start > QZI_FRAME_CODE_MOST) return NULL;
  size_t length = (size_t)(extent->end - extent->start), all = length;
  unsigned char *bytes = malloc(length);
  /* At the end of a mapping only a part of the code can be read. */
  while (bytes && length && qzi_program_read(code->pid, extent->start, bytes, length)) length /= 2;
  struct qzi_frame_analysis *analysis =
    bytes && length ? qzi_frame_analysis_open(bytes, length, extent->start, extent->sized && length == all, parent)
                    : NULL;
  free(bytes);
  return analysis;
}

/* The analysis of the procedure, continued as far as this walk's limit permits. Returns NULL if there is no memory, or
 * if there are too many procedures. */
static struct known *known_of(struct qzi_frame_code *code, const struct qzi_code_extent *extent,
                              const struct qzi_frame_analysis *parent) {
  struct known *known = NULL;
  uint32_t hash = qzi_hash(extent->start, 19);
  QZI_TABLE_EACH(&code->table, hash, at)
  if (code->known[at - 1].start == extent->start && code->known[at - 1].end == extent->end)
    known = &code->known[at - 1];
  if (!known) {
    if (code->count == KNOWN_MOST ||
        qzi_grow((void **)&code->known, &code->room, code->count + 1, sizeof *code->known) ||
        qzi_table_add(&code->table, hash, code->count + 1))
      return NULL;
    known = &code->known[code->count++];
    *known = (struct known){.start = extent->start, .end = extent->end, .analysis = analyse(code, extent, parent)};
    known->ended = !known->analysis;
  }
  while (!known->ended && code->left) {
    int state = qzi_frame_analysis_step(known->analysis, spend(code));
    if (!state) continue;
    known->ended = 1;
    if (state > 0) continue;
    qzi_frame_analysis_close(known->analysis);
    known->analysis = NULL;
  }
  return known;
}

enum qzi_frame_answer qzi_frame_code_rule(struct qzi_frame_code *code, const struct qzi_code_extent *extent,
                                          const struct qzi_code_extent *parent, uint64_t pc,
                                          struct qzi_frame_rule *rule) {
  const struct qzi_frame_analysis *whole = NULL;
  if (parent) {
    const struct known *its = known_of(code, parent, NULL);
    if (!its || !its->analysis) return QZI_FRAME_UNKNOWN;
    if (!its->ended) return QZI_FRAME_LATER;
    whole = its->analysis;
  }
  const struct known *known = known_of(code, extent, whole);
  if (!known || !known->analysis) return QZI_FRAME_UNKNOWN;
  if (!known->ended) return QZI_FRAME_LATER;
  const struct qzi_frame_rule *found = qzi_frame_rule_at(known->analysis, pc);
  if (!found || found->base == QZI_BASE_NONE) return QZI_FRAME_UNKNOWN;
  *rule = *found;
  return QZI_FRAME_KNOWN;
}

int qzi_frame_code_tail_calls(struct qzi_frame_code *code, const struct qzi_code_extent *extent) {
  const struct known *known = known_of(code, extent, NULL);
  return known && known->ended && known->analysis ? qzi_frame_tail_calls(known->analysis) : -1;
}
