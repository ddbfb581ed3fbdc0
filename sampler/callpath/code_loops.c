/* See code_loops.h. */
#include "code_loops.h"

#include <stdlib.h>
#include <string.h>
#include "sampler/linux/process_memory.h"
#include "sampler/machine_code/loop_nest.h"
#include "sampler/util/hash_index.h"

#define CODE_MOST  (1u << 20) /* bytes of one procedure */
#define CODE_QUICK (1u << 13) /* so much is looked at within a snapshot's time */
#define UNSIZED    (1u << 14) /* read where the end of the procedure is not known */
#define NESTS_MOST 16384u
#define CHAIN_MOST 16u

/* Where a loop's source is. */
struct source {
  int known;
  uint32_t depth;          /* it is in the last of so many inlined procedures, chain[0 .. depth-1]; 0: in none */
  struct qz_symbol *chain; /* NULL: depth is 0 */
  struct qz_symbol place;  /* file and line alone */
};
struct nest {
  uint64_t start; /* of the procedure, or of a piece that lies apart */
  struct qzi_loop_nest loops;
  struct source *sources; /* of each loop; NULL: of none yet */
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

/* The piece of code that has the instruction: by its symbol, else from the procedure's entry on. */
static struct extent extent_of(qz_symbols *symbols, uint64_t pc, uint64_t entry) {
  uint64_t start, end;
  if (qz_symbols_extent(symbols, pc, &start, &end) && end > pc)
    return (struct extent){start, end - start > CODE_MOST ? 0 : (size_t)(end - start), 1};
  if (!entry || pc < entry || pc - entry >= UNSIZED) return (struct extent){0, 0, 0};
  return (struct extent){entry, UNSIZED, 0};
}

static struct nest *known_nest(const struct qzi_code_loops *loops, uint64_t start) {
  uint32_t hash = qzi_hash(start, 13);
  QZI_TABLE_EACH(&loops->table, hash, at)
  if (loops->nests[at - 1].start == start) return &loops->nests[at - 1];
  return NULL;
}

/* What of the code can be read: less than asked for at the end of a mapping. */
static size_t read_code(uint32_t pid, uint64_t start, unsigned char *code, size_t length) {
  while (length && qzi_program_read(pid, start, code, length)) length /= 2;
  return length;
}

static struct nest *nest_of(struct qzi_code_loops *loops, uint32_t pid, const struct extent *extent) {
  struct nest *known = known_nest(loops, extent->start);
  if (known) return known;
  if (loops->count == NESTS_MOST) return NULL;
  if (loops->count == loops->room) {
    uint32_t room = loops->room ? 2 * loops->room : 64;
    struct nest *grown = realloc(loops->nests, room * sizeof *grown);
    if (!grown) return NULL;
    loops->nests = grown;
    loops->room = room;
  }
  unsigned char *code = malloc(extent->length);
  if (!code) return NULL;
  struct nest *nest = &loops->nests[loops->count];
  *nest = (struct nest){.start = extent->start};
  size_t length = read_code(pid, extent->start, code, extent->length);
  int failed = qzi_loop_nest_of(&nest->loops, code, length, extent->start, extent->sized && length == extent->length) ||
               qzi_table_add(&loops->table, qzi_hash(extent->start, 13), loops->count + 1);
  free(code);
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

/* How many of the two lists begin alike. */
static uint32_t common(const struct qz_symbol *a, uint32_t a_count, const struct qz_symbol *b, uint32_t b_count) {
  uint32_t k = 0;
  while (k < a_count && k < b_count && same_procedure(&a[k], &b[k])) k++;
  return k;
}

static const struct source *source_of(struct nest *nest, qz_symbols *symbols, uint32_t index) {
  const struct qzi_code_loop *loop = &nest->loops.loops[index];
  if (!nest->sources) nest->sources = calloc(nest->loops.loop_count, sizeof *nest->sources);
  struct source *source = nest->sources ? &nest->sources[index] : NULL;
  if (!source || source->known) return source;
  struct qz_symbol chain[CHAIN_MOST], other[CHAIN_MOST], place;
  uint32_t kept = loop->count < QZI_LOOP_SOURCES ? loop->count : QZI_LOOP_SOURCES, depth = 0;
  for (uint32_t k = 0; k < kept; k++) {
    uint32_t count = (uint32_t)qz_symbols_inlined(symbols, loop->sources[k], k ? other : chain, CHAIN_MOST);
    depth = k ? common(chain, depth, other, count) : count;
  }
  for (uint32_t k = 0; k < kept; k++) {
    if (!qz_symbols_scope_line(symbols, loop->sources[k], depth, &place)) continue;
    if (!source->place.line || (place.line < source->place.line && !strcmp(place.file, source->place.file)))
      source->place = place;
  }
  source->known = 1;
  source->chain = depth ? malloc(depth * sizeof *chain) : NULL;
  if (!source->chain) return source;
  memcpy(source->chain, chain, depth * sizeof *chain);
  source->depth = depth;
  return source;
}

uint32_t qzi_code_loops_at(struct qzi_code_loops *loops, qz_symbols *symbols, uint32_t pid, uint64_t pc, uint64_t entry,
                           const struct qz_symbol *inlined, uint32_t inlined_count, struct qzi_found_loop *found) {
  struct extent extent = extent_of(symbols, pc, entry);
  struct nest *nest = extent.length ? nest_of(loops, pid, &extent) : NULL;
  if (!nest) return 0;
  uint32_t chain[64], depth = 0, count = 0, after = 0;
  for (uint32_t at = qzi_loop_nest_at(&nest->loops, pc); at && depth < 64; at = nest->loops.loops[at - 1].outer)
    chain[depth++] = at - 1;
  while (depth-- > 0 && count < QZI_CODE_LOOPS_MOST) {
    const struct source *source = source_of(nest, symbols, chain[depth]);
    if (!source) return count;
    uint32_t stands = common(source->chain, source->depth, inlined, inlined_count);
    if (stands > after) after = stands;
    struct qzi_found_loop *one = &found[count++];
    *one = (struct qzi_found_loop){.address = nest->loops.loops[chain[depth]].header,
                                   .after = after,
                                   .inlined = source->depth > 0,
                                   .file = source->place.line ? source->place.file : "",
                                   .line = source->place.line};
    if (source->depth) one->scope = source->chain[source->depth - 1];
  }
  return count;
}
