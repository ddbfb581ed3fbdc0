/* Which procedures are inlined around an address of a procedure, by the scopes (inlined procedures, blocks) that its
 * debug information nests.
 *
 * Owns:    an index of a procedure's scopes by address, made when it has been asked for several times: the main
 *          procedure of an interpreter has some thousand scopes, and is asked for at each of its instructions.
 * Reader:  inlined.c.
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>
#include "internal.h"

#define DEEPEST    512
#define ASKED_MOST 8u /* until then a procedure's scopes are looked through, since most are asked for a few times */

struct scope {
  Dwarf_Die die;
  uint32_t outer; /* index + 1 of the scope around it; 0: the procedure */
  bool inlined;   /* it is an inlined procedure, not a block */
};
struct qzi_scopes {
  struct scope *all; /* those around others before these */
  size_t count, capacity;
  struct qzi_ranges ranges; /* index: into `all` */
  uint32_t *around;         /* by range: index + 1 of the innermost one that contains its start */
};

void qzi_scopes_free(struct qzi_scopes *scopes) {
  if (!scopes) return;
  free(scopes->all);
  free(scopes->ranges.items);
  free(scopes->around);
  free(scopes);
}

static bool is_scope(Dwarf_Die *die) {
  int tag = dwarf_tag(die);
  return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block;
}

/* Without an index. (dwarf_getscopes finds none of them where the innermost is declared in another place than it is
 * written, as Rust's are.) */
static int look_through(Dwarf_Die *parent, uint64_t address, Dwarf_Die *found, int count, int most, int depth) {
  Dwarf_Die die;
  if (depth > DEEPEST || dwarf_child(parent, &die) != 0) return count;
  do {
    if (!is_scope(&die) || dwarf_haspc(&die, address) <= 0) continue;
    if (dwarf_tag(&die) == DW_TAG_inlined_subroutine && count < most) found[count++] = die;
    return look_through(&die, address, found, count, most, depth + 1);
  } while (dwarf_siblingof(&die, &die) == 0);
  return count;
}

/* false: no memory. */
static bool add_scopes(struct qzi_scopes *scopes, Dwarf_Die *parent, uint32_t outer, int depth) {
  Dwarf_Die die;
  if (depth > DEEPEST || dwarf_child(parent, &die) != 0) return true;
  do {
    if (!is_scope(&die)) continue;
    if (!qzi_symbols_grow((void **)&scopes->all, &scopes->capacity, scopes->count, sizeof *scopes->all)) return false;
    qzi_ranges_add(&scopes->ranges, &die, scopes->count);
    scopes->all[scopes->count++] = (struct scope){die, outer, dwarf_tag(&die) == DW_TAG_inlined_subroutine};
    if (!add_scopes(scopes, &die, (uint32_t)scopes->count, depth + 1)) return false;
  } while (dwarf_siblingof(&die, &die) == 0);
  return true;
}

static struct qzi_scopes *index_of(Dwarf_Die *procedure) {
  struct qzi_scopes *scopes = calloc(1, sizeof *scopes);
  if (!scopes || !add_scopes(scopes, procedure, 0, 0)) {
    qzi_scopes_free(scopes);
    return NULL;
  }
  qzi_ranges_sort(&scopes->ranges);
  const struct qzi_range *items = scopes->ranges.items;
  scopes->around = malloc((scopes->ranges.count + 1) * sizeof *scopes->around);
  if (!scopes->around) {
    qzi_scopes_free(scopes);
    return NULL;
  }
  for (size_t k = 0; k < scopes->ranges.count; k++) {
    uint32_t at = (uint32_t)k; /* the range before it */
    while (at && items[at - 1].end <= items[k].start) at = scopes->around[at - 1];
    scopes->around[k] = at;
  }
  return scopes;
}

static int look_up(const struct qzi_scopes *scopes, uint64_t address, Dwarf_Die *found, int most) {
  const struct qzi_range *items = scopes->ranges.items;
  size_t at = 0, high = scopes->ranges.count;
  while (at < high) {
    size_t middle = at + (high - at) / 2;
    if (items[middle].start <= address)
      at = middle + 1;
    else
      high = middle;
  }
  while (at && items[at - 1].end <= address) at = scopes->around[at - 1];
  if (!at) return 0;
  uint32_t innermost = (uint32_t)items[at - 1].index + 1;
  int count = 0, left;
  for (uint32_t one = innermost; one; one = scopes->all[one - 1].outer) count += scopes->all[one - 1].inlined;
  left = count;
  for (uint32_t one = innermost; one; one = scopes->all[one - 1].outer)
    if (scopes->all[one - 1].inlined && --left < most) found[left] = scopes->all[one - 1].die;
  return count < most ? count : most;
}

int qzi_scopes_inlined(struct qzi_function *function, Dwarf_Die *die, uint64_t address, Dwarf_Die *found, int most) {
  if (!function->scopes && function->asked <= ASKED_MOST && function->asked++ == ASKED_MOST)
    function->scopes = index_of(die);
  return function->scopes ? look_up(function->scopes, address, found, most)
                          : look_through(die, address, found, 0, most, 0);
}
