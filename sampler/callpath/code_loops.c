/* See code_loops.h. */
#include "code_loops.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/loops/loop_nest.h"
#include "sampler/util/array.h"
#include "sampler/util/hash_index.h"

#define CODE_MOST  (1u << 20) /* maximum size of a procedure in bytes */
#define CODE_QUICK (1u << 11) /* maximum size of a procedure that is analysed within a snapshot (about 0.1 ms) */
#define UNSIZED    (1u << 14) /* bytes read if the end of the procedure is unknown */
#define NESTS_MOST 16384u
#define JUMPS_MOST 64u /* maximum number of jumps out of one part of a procedure that are followed */
#define CHAIN_MOST 16u

/* Source position of a loop. */
struct source {
  int known;
  uint32_t depth;          /* number of inlined procedures that enclose it, chain[0 .. depth-1]; 0: none */
  struct qz_symbol *chain; /* NULL if depth is 0 */
  uint32_t tested;         /* number of these that enclose the test at its top, too */
  struct qz_symbol place;  /* file and line only */
};
struct nest {
  uint64_t start; /* of the procedure, or of a separate part whose procedure is unknown */
  struct qzi_loop_nest loops;
  struct source *sources; /* one for each loop; NULL until the first one is needed */
};

struct qzi_code_loops {
  struct qzi_table table; /* nests by start */
  struct nest *nests;
  uint32_t count, room;
};

struct qzi_code_loops *qzi_code_loops_open(void) {
  return calloc(1, sizeof(struct qzi_code_loops));
}

void qzi_code_loops_close(struct qzi_code_loops *loops) {
  if (!loops) return;
  for (uint32_t k = 0; k < loops->count; k++) {
    struct nest *nest = &loops->nests[k];
    for (uint32_t j = 0; nest->sources && j < nest->loops.loop_count; j++) free(nest->sources[j].chain);
    free(nest->sources);
    qzi_loop_nest_free(&nest->loops);
  }
  qzi_table_free(&loops->table);
  free(loops->nests);
  free(loops);
}

/* ---- the procedure ---- */

struct extent {
  uint64_t start;
  size_t length;
  int sized;
};

/* Finds the extent of the symbol that contains the address. Returns 0 if there is none. */
static int symbol_of(qz_symbols *symbols, uint64_t address, struct extent *extent) {
  uint64_t start, end;
  if (!qz_symbols_extent(symbols, address, &start, &end) || end <= address) return 0;
  *extent = (struct extent){start, end - start > CODE_MOST ? 0 : (size_t)(end - start), 1};
  return 1;
}

/* The code whose loops are analysed together: the procedure; if the instruction is in a separate part (.cold) of
 * another procedure, that part. */
static struct extent extent_of(qz_symbols *symbols, uint64_t pc, uint64_t entry) {
  struct extent its, whole;
  if (symbol_of(symbols, pc, &its))
    return entry && its.start != entry && symbol_of(symbols, entry, &whole) && whole.start == entry ? whole : its;
  if (!entry || pc < entry || pc - entry >= UNSIZED) return (struct extent){0, 0, 0};
  return (struct extent){entry, UNSIZED, 0};
}

static struct nest *known_nest(const struct qzi_code_loops *loops, uint64_t start) {
  uint32_t hash = qzi_hash(start, 13);
  QZI_TABLE_EACH(&loops->table, hash, at)
  if (loops->nests[at - 1].start == start) return &loops->nests[at - 1];
  return NULL;
}

/* Reads the code and returns the number of bytes read, which is smaller than `length` at the end of a mapping. */
static size_t read_code(uint32_t pid, uint64_t start, unsigned char *code, size_t length) {
  while (length && qzi_program_read(pid, start, code, length)) length /= 2;
  return length;
}

/* Returns -1 if there is no memory. */
static int read_piece(uint32_t pid, const struct extent *extent, struct qzi_code_piece *piece) {
  unsigned char *bytes = malloc(extent->length ? extent->length : 1);
  if (!bytes) return -1;
  *piece = (struct qzi_code_piece){.bytes = bytes, .start = extent->start};
  piece->length = read_code(pid, extent->start, bytes, extent->length);
  return 0;
}

/* Adds the separate parts of the procedure from pieces[1] on: those that the procedure, or a part found before, jumps
 * to. Returns the number of all pieces. */
static uint32_t add_parts(qz_symbols *symbols, uint32_t pid, struct qzi_code_piece *pieces) {
  uint64_t targets[JUMPS_MOST];
  uint32_t count = 1;
  for (uint32_t p = 0; p < count; p++) {
    uint32_t jumps = qzi_loop_nest_jumps_out(QZI_THIS_MACHINE, &pieces[p], targets, JUMPS_MOST);
    for (uint32_t k = 0; k < jumps && count < QZI_CODE_PIECES; k++) {
      enum qz_symbol_origin origin;
      struct extent extent;
      if (!symbol_of(symbols, targets[k], &extent) || !extent.length ||
          qz_symbols_entry(symbols, targets[k], &origin) != pieces[0].start)
        continue;
      uint32_t known = 0;
      while (known < count && pieces[known].start != extent.start) known++;
      if (known == count && !read_piece(pid, &extent, &pieces[count])) count++;
    }
  }
  return count;
}

static struct nest *nest_of(struct qzi_code_loops *loops, qz_symbols *symbols, uint32_t pid,
                            const struct extent *extent) {
  struct nest *known = known_nest(loops, extent->start);
  if (known) return known;
  if (loops->count == NESTS_MOST ||
      qzi_grow((void **)&loops->nests, &loops->room, loops->count + 1, sizeof *loops->nests))
    return NULL;
  struct qzi_code_piece pieces[QZI_CODE_PIECES];
  if (read_piece(pid, extent, &pieces[0])) return NULL;
  int sized = extent->sized && pieces[0].length == extent->length;
  uint32_t count = sized ? add_parts(symbols, pid, pieces) : 1;
  struct nest *nest = &loops->nests[loops->count];
  *nest = (struct nest){.start = extent->start};
  int failed = qzi_loop_nest_of(&nest->loops, QZI_THIS_MACHINE, pieces, count, sized) ||
               qzi_table_add(&loops->table, qzi_hash(extent->start, 13), loops->count + 1);
  for (uint32_t k = 0; k < count; k++) free((void *)pieces[k].bytes);
  if (failed) return NULL;
  loops->count++;
  return nest;
}

int qzi_code_loops_ready(const struct qzi_code_loops *loops, qz_symbols *symbols, uint64_t pc, uint64_t entry) {
  struct extent extent = extent_of(symbols, pc, entry);
  return !extent.length || known_nest(loops, extent.start) || (extent.sized && extent.length <= CODE_QUICK);
}

/* ---- the source ---- */

static int same_procedure(const struct qz_symbol *a, const struct qz_symbol *b) {
  return a->line == b->line && !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

/* Length of the common beginning of the two lists. */
static uint32_t common(const struct qz_symbol *a, uint32_t a_count, const struct qz_symbol *b, uint32_t b_count) {
  uint32_t k = 0;
  while (k < a_count && k < b_count && same_procedure(&a[k], &b[k])) k++;
  return k;
}

static void take_line(qz_symbols *symbols, uint64_t address, uint32_t depth, struct qz_symbol *least) {
  struct qz_symbol place;
  if (!qz_symbols_scope_line(symbols, address, depth, &place)) return;
  if (!least->line || (place.line < least->line && !strcmp(place.file, least->file))) *least = place;
}

/* The smallest line of the loop's backward jumps and of the test at its top (if that is in the scope, too), in the
 * scope of the outermost `depth` inlined procedures around them. */
static struct qz_symbol place_in(qz_symbols *symbols, const struct qzi_code_loop *loop, uint32_t depth, int tested) {
  struct qz_symbol least = {.line = 0};
  for (uint32_t k = 0; k < loop->count && k < QZI_LOOP_SOURCES; k++)
    take_line(symbols, loop->sources[k], depth, &least);
  if (tested) take_line(symbols, loop->test, depth, &least);
  return least;
}

static int same_place(const struct source *a, const struct source *b) {
  return a->place.line && a->place.line == b->place.line && a->depth == b->depth &&
         !strcmp(a->place.file, b->place.file);
}

static const struct source *source_of(struct nest *nest, qz_symbols *symbols, uint32_t index);

/* If the compiler lets a loop's last part continue at the test of the loop within it, both have the line of that test.
 * Then the loop around has the smallest line at which it is left. */
static void line_around_inner(struct nest *nest, qz_symbols *symbols, uint32_t index) {
  const struct qzi_code_loop *loop = &nest->loops.loops[index];
  struct source *source = &nest->sources[index];
  uint32_t same = 0;
  for (uint32_t k = 0; k < nest->loops.loop_count && !same; k++)
    same =
      nest->loops.loops[k].outer == index + 1 && same_place(source, source_of(nest, symbols, k)); /* there is memory */
  for (uint32_t k = 0; same && k < loop->exit_count; k++) {
    struct qz_symbol other[CHAIN_MOST];
    uint32_t count = (uint32_t)qz_symbols_inlined(symbols, loop->exits[k], other, CHAIN_MOST);
    if (common(source->chain, source->depth, other, count) == source->depth)
      take_line(symbols, loop->exits[k], source->depth, &source->place);
  }
}

/* NULL: there is no memory. */
static const struct source *source_of(struct nest *nest, qz_symbols *symbols, uint32_t index) {
  const struct qzi_code_loop *loop = &nest->loops.loops[index];
  if (!nest->sources) nest->sources = calloc(nest->loops.loop_count, sizeof *nest->sources);
  struct source *source = nest->sources ? &nest->sources[index] : NULL;
  if (!source || source->known) return source;
  struct qz_symbol chain[CHAIN_MOST], other[CHAIN_MOST];
  uint32_t kept = loop->count < QZI_LOOP_SOURCES ? loop->count : QZI_LOOP_SOURCES, depth = 0;
  for (uint32_t k = 0; k < kept; k++) {
    uint32_t count = (uint32_t)qz_symbols_inlined(symbols, loop->sources[k], k ? other : chain, CHAIN_MOST);
    depth = k ? common(chain, depth, other, count) : count;
  }
  uint32_t stands = 0;
  if (loop->test)
    stands = common(chain, depth, other, (uint32_t)qz_symbols_inlined(symbols, loop->test, other, CHAIN_MOST));
  /* Backward jumps without a condition may be in what is inlined at the loop's end: the test decides. */
  if (loop->test && !loop->conditional) depth = stands;
  source->tested = stands;
  source->place = place_in(symbols, loop, depth, loop->test && stands >= depth);
  source->known = 1;
  source->chain = depth ? malloc(depth * sizeof *chain) : NULL;
  source->depth = source->chain ? depth : 0;
  if (source->chain) memcpy(source->chain, chain, depth * sizeof *chain);
  line_around_inner(nest, symbols, index);
  return source;
}

uint32_t qzi_code_loops_at(struct qzi_code_loops *loops, qz_symbols *symbols, uint32_t pid, uint64_t pc, uint64_t entry,
                           const struct qz_symbol *inlined, uint32_t inlined_count, struct qzi_found_loop *found) {
  struct extent extent = extent_of(symbols, pc, entry);
  struct nest *nest = extent.length ? nest_of(loops, symbols, pid, &extent) : NULL;
  if (nest && !qzi_loop_nest_has(&nest->loops, pc) && symbol_of(symbols, pc, &extent) && extent.length)
    nest = nest_of(loops, symbols, pid, &extent); /* a separate part to which no jump of its procedure was found */
  if (!nest) return 0;
  uint32_t chain[64], depth = 0, count = 0, after = 0;
  for (uint32_t at = qzi_loop_nest_at(&nest->loops, pc); at && depth < 64; at = nest->loops.loops[at - 1].outer)
    chain[depth++] = at - 1;
  while (depth-- > 0 && count < QZI_CODE_LOOPS_MOST) {
    const struct qzi_code_loop *loop = &nest->loops.loops[chain[depth]];
    const struct source *source = source_of(nest, symbols, chain[depth]);
    if (!source) return count;
    uint32_t stands = common(source->chain, source->depth, inlined, inlined_count);
    if (stands > after) after = stands;
    /* If the instruction is outside the loop's innermost scope, the loop is attributed to the enclosing scope that both
     * share. */
    struct qz_symbol place =
      stands == source->depth ? source->place : place_in(symbols, loop, stands, loop->test && source->tested >= stands);
    struct qzi_found_loop *one = &found[count++];
    *one = (struct qzi_found_loop){.address = loop->header,
                                   .after = after,
                                   .inlined = stands > 0,
                                   .file = place.line ? place.file : "",
                                   .line = place.line};
    if (stands) one->scope = source->chain[stands - 1];
  }
  return count;
}
