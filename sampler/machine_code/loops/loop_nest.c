/* See loop_nest.h. */
#include "loop_nest.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/util/array.h"

#define BLOCKS_MOST 65536u

struct qzi_nest_block {
  uint64_t start, last; /* addresses of its first and last instruction */
  uint64_t jump;        /* target of its last instruction, if that is a jump within the code; 0: none */
  uint8_t on;           /* 1: control can continue from it into the next block */
  uint8_t anywhere;     /* 1: it ends with a jump through a register or memory */
  uint8_t reached;      /* 1: a jump leads to it, or control continues into it from the block before */
  uint8_t visited, header, several;
  uint8_t led;       /* 1: it leads only to the header after it, and jumps to it count as jumps back; so its own way
                        into the header does not count */
  uint32_t inner;    /* header (index + 1) of the innermost loop around it, other than a loop that it heads; 0: none */
  uint32_t position; /* position on the current path of the depth-first walk, from 1; 0: not on it */
  uint32_t loop;     /* index + 1 of the loop, if the block is a header */
  uint32_t depth;    /* number of steps by `inner` until there is none, from 1; 0: not known yet */
};

/* ---- blocks ---- */

/* leaders: one bit for each byte of a piece, set if an instruction begins there that begins a block. Each instruction
 * is decoded once, because that takes most of the analysis' time; its step is kept. */
struct part {
  struct qzi_code_piece code;
  unsigned char *leaders;
  struct qzi_code_step *steps;
  uint32_t step_count, step_room;
};
struct parts {
  enum qzi_machine machine;
  uint32_t count;
  struct part all[QZI_CODE_PIECES]; /* ascending by address */
};

static void mark(const struct parts *parts, uint64_t address) {
  for (uint32_t k = 0; k < parts->count; k++) {
    uint64_t at = address - parts->all[k].code.start;
    if (at < parts->all[k].code.length) parts->all[k].leaders[at / 8] |= (unsigned char)(1u << at % 8);
  }
}
static int marked(const struct part *part, size_t at) { return part->leaders[at / 8] >> at % 8 & 1; }

static int keep(struct part *part, const struct qzi_code_step *step) {
  if (qzi_grow((void **)&part->steps, &part->step_room, part->step_count + 1, sizeof *step)) return -1;
  part->steps[part->step_count++] = *step;
  return 0;
}

/* Decodes the part; marks the targets of its jumps and the instructions after jumps as leaders; cuts it where the
 * procedure ends. Returns -1 if there is no memory. */
static int find_leaders(const struct parts *parts, struct part *part, int sized) {
  const struct qzi_code_piece *code = &part->code;
  struct qzi_code_step step;
  uint64_t furthest = code->start;
  size_t at = 0;
  while (at < code->length && qzi_code_step(parts->machine, code->bytes + at, code->length - at, &step)) {
    if (keep(part, &step)) return -1;
    uint64_t to = code->start + at + (uint64_t)step.target;
    if (qzi_has_target(step.goes)) mark(parts, to);
    if (qzi_has_target(step.goes) && to > furthest && to < code->start + code->length) furthest = to;
    at += step.length;
    if (qzi_has_target(step.goes) || !qzi_goes_on(step.goes)) mark(parts, code->start + at);
    if (!qzi_goes_on(step.goes) && !sized && code->start + at > furthest) break;
  }
  part->code.length = at;
  return 0;
}

static int inside(const struct qzi_loop_nest *nest, uint64_t address) {
  for (uint32_t k = 0; k < nest->pieces; k++)
    if (address >= nest->piece[k].start && address < nest->piece[k].end) return 1;
  return 0;
}

static int make_blocks(struct qzi_loop_nest *nest, const struct part *part, uint32_t *room) {
  uint32_t count = nest->block_count, first = count;
  size_t at = 0;
  for (const struct qzi_code_step *step = part->steps; step < part->steps + part->step_count; at += step++->length) {
    if (marked(part, at) || !at) {
      if (count == BLOCKS_MOST) break;
      if (qzi_grow((void **)&nest->blocks, room, count + 1, sizeof *nest->blocks)) return -1;
      nest->blocks[count++] = (struct qzi_nest_block){.start = part->code.start + at};
    }
    struct qzi_nest_block *block = &nest->blocks[count - 1];
    uint64_t to = part->code.start + at + (uint64_t)step->target;
    block->last = part->code.start + at;
    block->jump = qzi_has_target(step->goes) && inside(nest, to) ? to : 0;
    block->on = (uint8_t)qzi_goes_on(step->goes);
    block->anywhere = step->goes == QZI_GOES_ANYWHERE;
  }
  if (count > first) nest->blocks[count - 1].on = 0; /* the code after it is in another piece */
  nest->block_count = count;
  return 0;
}

static uint32_t block_at(const struct qzi_loop_nest *nest, uint64_t address) {
  uint32_t low = 0, high = nest->block_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (nest->blocks[middle].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low; /* index + 1; 0: before all blocks */
}

/* Index + 1 of the block that begins at the address; 0: there is none. */
static uint32_t block_from(const struct qzi_loop_nest *nest, uint64_t address) {
  uint32_t at = address ? block_at(nest, address) : 0;
  return at && nest->blocks[at - 1].start == address ? at : 0;
}

/* ---- nesting ---- */

/* A block on the path of the walk, and its next successor. */
struct step {
  uint32_t block;
  uint32_t next; /* 0: the following block, 1: the target of its jump, from 2 on: blocks that nothing else leads to */
};
struct walk {
  struct qzi_nest_block *blocks;
  uint32_t count;
  struct step *steps;
  uint32_t depth;
};

/* Records that block `b` is in the loop with header `h` (indices + 1). */
static void put_into(struct walk *walk, uint32_t b, uint32_t h) {
  struct qzi_nest_block *blocks = walk->blocks;
  if (b == h || !h) return;
  while (blocks[b - 1].inner) {
    uint32_t inner = blocks[b - 1].inner;
    if (inner == h) return;
    if (blocks[inner - 1].position < blocks[h - 1].position) {
      blocks[b - 1].inner = h;
      b = h;
      h = inner;
    } else {
      b = inner;
    }
  }
  if (b != h) blocks[b - 1].inner = h;
}

static void enter(struct walk *walk, uint32_t block) {
  walk->blocks[block - 1].visited = 1;
  walk->steps[walk->depth++] = (struct step){.block = block};
  walk->blocks[block - 1].position = walk->depth;
}

/* Handles the edge from `b` to `to`, which was visited before. */
static void look_at(struct walk *walk, uint32_t b, uint32_t to) {
  struct qzi_nest_block *blocks = walk->blocks;
  if (blocks[to - 1].position) {
    blocks[to - 1].header = 1;
    put_into(walk, b, to);
    return;
  }
  uint32_t h = blocks[to - 1].inner;
  if (!h) return;
  if (blocks[h - 1].position) {
    put_into(walk, b, h);
    return;
  }
  blocks[h - 1].several = 1; /* the edge leads into the middle of a loop that the walk has left */
  while ((h = blocks[h - 1].inner)) {
    if (blocks[h - 1].position) {
      put_into(walk, b, h);
      return;
    }
    blocks[h - 1].several = 1;
  }
}

/* Index + 1 of the block's next successor; 0: there are no more. */
static uint32_t successor(const struct qzi_loop_nest *nest, struct step *step) {
  const struct qzi_nest_block *block = &nest->blocks[step->block - 1];
  while (step->next < 2) {
    uint32_t to = step->next++ == 0 ? (block->on && step->block < nest->block_count ? step->block + 1 : 0)
                                    : block_from(nest, block->jump);
    if (to) return to;
  }
  if (!block->anywhere) return 0;
  uint32_t at = step->next == 2 ? step->block : step->next - 2;
  while (at < nest->block_count && nest->blocks[at].reached) at++;
  step->next = at + 3;
  return at < nest->block_count ? at + 1 : 0;
}

static void follow(const struct qzi_loop_nest *nest, struct walk *walk, uint32_t from) {
  enter(walk, from);
  while (walk->depth) {
    struct step *step = &walk->steps[walk->depth - 1];
    uint32_t b = step->block, to = successor(nest, step);
    if (to && !nest->blocks[to - 1].visited) {
      enter(walk, to);
    } else if (to) {
      look_at(walk, b, to);
    } else {
      nest->blocks[b - 1].position = 0;
      walk->depth--;
      uint32_t inner = nest->blocks[b - 1].inner;
      if (walk->depth) put_into(walk, walk->steps[walk->depth - 1].block, inner);
    }
  }
}

/* entry: index + 1 of the block at the procedure's entry. */
static int nest_blocks(struct qzi_loop_nest *nest, uint32_t entry) {
  struct walk walk = {.blocks = nest->blocks, .count = nest->block_count};
  walk.steps = malloc(((size_t)nest->block_count + 1) * sizeof *walk.steps);
  if (!walk.steps) return -1;
  for (uint32_t k = 0; k < nest->block_count; k++) {
    uint32_t to = block_from(nest, nest->blocks[k].jump);
    if (to) nest->blocks[to - 1].reached = 1;
    if (nest->blocks[k].on && k + 1 < nest->block_count) nest->blocks[k + 1].reached = 1;
  }
  follow(nest, &walk, entry);
  for (uint32_t b = 1; b <= nest->block_count; b++) /* exception handlers, to which no jump leads */
    if (!nest->blocks[b - 1].visited) follow(nest, &walk, b);
  free(walk.steps);
  return 0;
}

/* ---- loops ---- */

static void add_source(struct qzi_code_loop *loop, uint64_t source) {
  if (loop->count < QZI_LOOP_SOURCES)
    loop->sources[loop->count] = source;
  else
    loop->sources[QZI_LOOP_SOURCES - 1] = source;
  loop->count++;
}

/* Whether block `b` is in the loop with the header `h` (indices + 1). */
static int within(const struct qzi_loop_nest *nest, uint32_t b, uint32_t h) {
  for (; b; b = nest->blocks[b - 1].inner)
    if (b == h) return 1;
  return 0;
}

/* Records the edge from the end of block `b` to `to`. It is a jump back if `to` is the header of a loop that contains
 * both. Returns 1 if so. */
static int add_edge(struct qzi_loop_nest *nest, uint32_t b, uint32_t to) {
  if (!to || !nest->blocks[to - 1].header || !within(nest, b, to)) return 0;
  struct qzi_code_loop *loop = &nest->loops[nest->blocks[to - 1].loop - 1];
  add_source(loop, nest->blocks[b - 1].last);
  loop->conditional += nest->blocks[b - 1].jump && nest->blocks[b - 1].on;
  return 1;
}

static uint32_t depth_of(const struct qzi_loop_nest *nest, uint32_t b) { return b ? nest->blocks[b - 1].depth : 0; }

static void set_depths(struct qzi_loop_nest *nest) {
  for (uint32_t k = 0; k < nest->block_count; k++) {
    uint32_t more = 0, b = k + 1;
    for (; b && !nest->blocks[b - 1].depth; b = nest->blocks[b - 1].inner) more++;
    more += depth_of(nest, b);
    for (b = k + 1; b && !nest->blocks[b - 1].depth; b = nest->blocks[b - 1].inner) nest->blocks[b - 1].depth = more--;
  }
}

/* Depth of the innermost loop that contains both blocks; 0: none. An interpreter has hundreds of loops, one in another,
 * so that asking each of them would take long. */
static uint32_t common_depth(const struct qzi_loop_nest *nest, uint32_t b, uint32_t other) {
  while (b != other) {
    uint32_t one = depth_of(nest, b), two = depth_of(nest, other);
    if (one >= two) b = nest->blocks[b - 1].inner;
    if (two >= one) other = nest->blocks[other - 1].inner;
  }
  return depth_of(nest, b);
}

/* Records the jump at the end of block `b` as an exit of each loop that it may leave. */
static void add_exits(struct qzi_loop_nest *nest, uint32_t b) {
  const struct qzi_nest_block *block = &nest->blocks[b - 1];
  uint32_t to = block_from(nest, block->jump);
  if (!to || !block->on || b == nest->block_count) return;
  uint32_t h = block->header ? b : block->inner, there = common_depth(nest, h, to), on = common_depth(nest, h, b + 1);
  for (; h; h = nest->blocks[h - 1].inner) {
    if ((depth_of(nest, h) > there) == (depth_of(nest, h) > on)) continue;
    struct qzi_code_loop *loop = &nest->loops[nest->blocks[h - 1].loop - 1];
    if (h == b) loop->test = block->last;
    if (loop->exit_count < QZI_LOOP_EXITS) loop->exits[loop->exit_count++] = block->last;
  }
}

/* Whether block `b` only leads into the header after it, executed before the header in each round except the first: it
 * has no jump of its own, so a jump to it is a jump back. */
static int leads_on(const struct qzi_loop_nest *nest, uint32_t b) {
  const struct qzi_nest_block *block = &nest->blocks[b - 1];
  return block->on && !block->jump && b < nest->block_count && nest->blocks[b].header && within(nest, b, b + 1);
}

static int make_loops(struct qzi_loop_nest *nest) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < nest->block_count; k++)
    if (nest->blocks[k].header) nest->blocks[k].loop = ++count;
  nest->loops = calloc(count ? count : 1, sizeof *nest->loops);
  if (!nest->loops) return -1;
  nest->loop_count = count;
  for (uint32_t k = 0; k < nest->block_count; k++) {
    const struct qzi_nest_block *block = &nest->blocks[k];
    if (!block->header) continue;
    struct qzi_code_loop *loop = &nest->loops[block->loop - 1];
    loop->header = block->start;
    loop->entries = block->several ? 2 : 1;
    loop->outer = block->inner ? nest->blocks[block->inner - 1].loop : 0;
  }
  set_depths(nest);
  for (uint32_t k = 0; k < nest->block_count; k++) {
    uint32_t to = block_from(nest, nest->blocks[k].jump);
    add_exits(nest, k + 1);
    add_edge(nest, k + 1, to);
    if (to && !nest->blocks[to - 1].header && leads_on(nest, to) && add_edge(nest, k + 1, to + 1))
      nest->blocks[to - 1].led = 1;
  }
  for (uint32_t k = 0; k + 1 < nest->block_count; k++)
    if (nest->blocks[k].on && !nest->blocks[k].led) add_edge(nest, k + 1, k + 2);
  return 0;
}

static int by_start(const void *a, const void *b) {
  const struct part *x = a, *y = b;
  return x->code.start < y->code.start ? -1 : x->code.start > y->code.start;
}

int qzi_loop_nest_of(struct qzi_loop_nest *nest, enum qzi_machine machine, const struct qzi_code_piece *pieces,
                     uint32_t count, int sized) {
  struct parts parts = {.machine = machine};
  uint32_t room = 0;
  int failed = 0;
  *nest = (struct qzi_loop_nest){.pieces = 0};
  for (uint32_t k = 0; k < count && k < QZI_CODE_PIECES; k++) {
    struct part *part = &parts.all[parts.count++];
    *part = (struct part){.code = pieces[k], .leaders = calloc(pieces[k].length / 8 + 1, 1)};
    failed |= !part->leaders;
  }
  qsort(parts.all, parts.count, sizeof *parts.all, by_start);
  for (uint32_t k = 0; k < parts.count && !failed; k++) failed = find_leaders(&parts, &parts.all[k], sized);
  nest->pieces = parts.count;
  for (uint32_t k = 0; k < parts.count; k++) {
    nest->piece[k].start = parts.all[k].code.start;
    nest->piece[k].end = parts.all[k].code.start + parts.all[k].code.length;
  }
  for (uint32_t k = 0; k < parts.count && !failed; k++) failed = make_blocks(nest, &parts.all[k], &room);
  for (uint32_t k = 0; k < parts.count; k++) {
    free(parts.all[k].leaders);
    free(parts.all[k].steps);
  }
  uint32_t entry = failed || !count ? 0 : block_from(nest, pieces[0].start);
  if (entry) failed = nest_blocks(nest, entry) || make_loops(nest);
  if (failed) qzi_loop_nest_free(nest);
  return failed ? -1 : 0;
}

uint32_t qzi_loop_nest_jumps_out(enum qzi_machine machine, const struct qzi_code_piece *piece, uint64_t *targets,
                                 uint32_t most) {
  struct qzi_code_step step;
  uint32_t count = 0;
  for (size_t at = 0; at < piece->length && qzi_code_step(machine, piece->bytes + at, piece->length - at, &step);
       at += step.length) {
    uint64_t to = piece->start + at + (uint64_t)step.target;
    if (!qzi_has_target(step.goes) || to - piece->start < piece->length) continue;
    uint32_t k = 0;
    while (k < count && targets[k] != to) k++;
    if (k == count && count < most) targets[count++] = to;
  }
  return count;
}

int qzi_loop_nest_has(const struct qzi_loop_nest *nest, uint64_t address) { return inside(nest, address); }

uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address) {
  uint32_t at = inside(nest, address) ? block_at(nest, address) : 0;
  if (!at || !nest->loop_count) return 0;
  if (!nest->blocks[at - 1].header) at = nest->blocks[at - 1].inner;
  return at ? nest->blocks[at - 1].loop : 0;
}

void qzi_loop_nest_free(struct qzi_loop_nest *nest) {
  free(nest->loops);
  free(nest->blocks);
  *nest = (struct qzi_loop_nest){.pieces = 0};
}
