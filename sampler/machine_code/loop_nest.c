/* See loop_nest.h. */
#include "loop_nest.h"

#include <stdlib.h>
#include <string.h>
#include "x86_decode.h"

#define BLOCKS_MOST 65536u

struct qzi_nest_block {
  uint64_t start, last; /* addresses of its first and last instruction */
  uint64_t jump;        /* where its last instruction jumps to within the code; 0: nowhere */
  uint8_t on;           /* it goes on into the next block */
  uint8_t anywhere;     /* it ends with a jump through a register or memory */
  uint8_t reached;      /* by a jump, or from the block before */
  uint8_t visited, header, several;
  uint32_t inner;    /* the header (index + 1) of the innermost loop around it, its own aside; 0: none */
  uint32_t position; /* on the path of the walk, from 1; 0: not on it */
  uint32_t loop;     /* of a header: index + 1 */
};

#ifdef QZI_DECODES

/* ---- blocks ---- */

/* One bit for each byte of the code: an instruction begins there that begins a block. */
struct leaders {
  unsigned char *bits;
  size_t length;
};
static void mark(struct leaders *leaders, size_t at) {
  if (at < leaders->length) leaders->bits[at / 8] |= (unsigned char)(1u << at % 8);
}
static int marked(const struct leaders *leaders, size_t at) { return leaders->bits[at / 8] >> at % 8 & 1; }

/* Offset that the instruction at `at` jumps to; `length` where that is outside. */
static size_t target(const struct instruction *its, size_t at, size_t length) {
  uint64_t to = (uint64_t)at + its->length + (uint64_t)its->number;
  return (its->flow == FLOW_IF || its->flow == FLOW_JUMP) && qzi_is_jump(its) && to < length ? (size_t)to : length;
}

/* Marks what begins blocks. The number of bytes that are the procedure's. */
static size_t find_leaders(struct leaders *leaders, const unsigned char *code, size_t length, int sized) {
  struct instruction its;
  size_t furthest = 0, at = 0;
  mark(leaders, 0);
  while (at < length && qzi_decode(code + at, length - at, &its)) {
    size_t to = target(&its, at, length), next = at + its.length;
    if (to < length) {
      mark(leaders, to);
      if (to > furthest) furthest = to;
    }
    int leaves = its.flow == FLOW_JUMP || its.flow == FLOW_ELSEWHERE;
    if (leaves || its.flow == FLOW_IF) mark(leaders, next);
    at = next;
    if (leaves && !sized && next > furthest) break;
  }
  return at;
}

static int is_indirect_jump(const struct instruction *its) {
  return its->flow == FLOW_ELSEWHERE && its->op == 0xff && (its->kind == 4 || its->kind == 5);
}

static int make_blocks(struct qzi_loop_nest *nest, const struct leaders *leaders, const unsigned char *code,
                       size_t length) {
  uint32_t count = 0, room = 0;
  struct instruction its;
  for (size_t at = 0; at < length && qzi_decode(code + at, length - at, &its); at += its.length) {
    if (marked(leaders, at)) {
      if (count == BLOCKS_MOST) break;
      if (count == room) {
        room = room ? 2 * room : 64;
        void *grown = realloc(nest->blocks, room * sizeof *nest->blocks);
        if (!grown) return -1;
        nest->blocks = grown;
      }
      nest->blocks[count++] = (struct qzi_nest_block){.start = nest->start + at};
    }
    struct qzi_nest_block *block = &nest->blocks[count - 1];
    size_t to = target(&its, at, length);
    block->last = nest->start + at;
    block->jump = to < length ? nest->start + to : 0;
    block->on = its.flow != FLOW_JUMP && its.flow != FLOW_ELSEWHERE;
    block->anywhere = (uint8_t)is_indirect_jump(&its);
  }
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
  return low; /* index + 1; 0: before all */
}

/* Index + 1 of the block that begins at the address; 0: there is none. */
static uint32_t block_from(const struct qzi_loop_nest *nest, uint64_t address) {
  uint32_t at = address ? block_at(nest, address) : 0;
  return at && nest->blocks[at - 1].start == address ? at : 0;
}

/* ---- nesting ---- */

/* A successor that the walk has yet to look at. */
struct step {
  uint32_t block;
  uint32_t next; /* 0: what it goes on into, 1: what it jumps to, from 2 on: blocks that nothing else leads to */
};
struct walk {
  struct qzi_nest_block *blocks;
  uint32_t count;
  struct step *steps;
  uint32_t depth;
};

/* Block `b` lies in the loop with the header `h` (indices + 1). */
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

/* The edge from `b` to `to`, which was visited before. */
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
  blocks[h - 1].several = 1; /* into the middle of a loop that has been left */
  while ((h = blocks[h - 1].inner)) {
    if (blocks[h - 1].position) {
      put_into(walk, b, h);
      return;
    }
    blocks[h - 1].several = 1;
  }
}

/* The next successor of the block, index + 1; 0: there are no more. */
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

static int nest_blocks(struct qzi_loop_nest *nest) {
  struct walk walk = {.blocks = nest->blocks, .count = nest->block_count};
  walk.steps = malloc(((size_t)nest->block_count + 1) * sizeof *walk.steps);
  if (!walk.steps) return -1;
  for (uint32_t k = 0; k < nest->block_count; k++) {
    uint32_t to = block_from(nest, nest->blocks[k].jump);
    if (to) nest->blocks[to - 1].reached = 1;
    if (nest->blocks[k].on && k + 1 < nest->block_count) nest->blocks[k + 1].reached = 1;
  }
  enter(&walk, 1);
  while (walk.depth) {
    struct step *step = &walk.steps[walk.depth - 1];
    uint32_t b = step->block, to = successor(nest, step);
    if (to && !nest->blocks[to - 1].visited) {
      enter(&walk, to);
    } else if (to) {
      look_at(&walk, b, to);
    } else {
      nest->blocks[b - 1].position = 0;
      walk.depth--;
      uint32_t inner = nest->blocks[b - 1].inner;
      if (walk.depth) put_into(&walk, walk.steps[walk.depth - 1].block, inner);
    }
  }
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
  for (uint32_t k = 0; k < nest->block_count; k++) {
    const struct qzi_nest_block *block = &nest->blocks[k];
    uint32_t to = block_from(nest, block->jump), next = block->on && k + 1 < nest->block_count ? k + 2 : 0;
    if (to && nest->blocks[to - 1].header && within(nest, k + 1, to))
      add_source(&nest->loops[nest->blocks[to - 1].loop - 1], block->last);
    if (next && nest->blocks[next - 1].header && within(nest, k + 1, next))
      add_source(&nest->loops[nest->blocks[next - 1].loop - 1], block->last);
  }
  return 0;
}

int qzi_loop_nest_of(struct qzi_loop_nest *nest, const unsigned char *code, size_t length, uint64_t start, int sized) {
  *nest = (struct qzi_loop_nest){.start = start, .end = start};
  if (!length) return 0;
  struct leaders leaders = {.bits = calloc(length / 8 + 1, 1), .length = length};
  if (!leaders.bits) return -1;
  length = find_leaders(&leaders, code, length, sized);
  nest->end = start + length;
  int failed = make_blocks(nest, &leaders, code, length);
  free(leaders.bits);
  if (!failed && nest->block_count) failed = nest_blocks(nest) || make_loops(nest);
  if (failed) qzi_loop_nest_free(nest);
  return failed ? -1 : 0;
}

uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address) {
  uint32_t at = address >= nest->start && address < nest->end ? block_at(nest, address) : 0;
  if (!at || !nest->loop_count) return 0;
  if (!nest->blocks[at - 1].header) at = nest->blocks[at - 1].inner;
  return at ? nest->blocks[at - 1].loop : 0;
}

#else

int qzi_loop_nest_of(struct qzi_loop_nest *nest, const unsigned char *code, size_t length, uint64_t start, int sized) {
  *nest = (struct qzi_loop_nest){.start = start, .end = start};
  return 0;
}
uint32_t qzi_loop_nest_at(const struct qzi_loop_nest *nest, uint64_t address) { return 0; }

#endif

void qzi_loop_nest_free(struct qzi_loop_nest *nest) {
  free(nest->loops);
  free(nest->blocks);
  *nest = (struct qzi_loop_nest){.start = 0};
}
