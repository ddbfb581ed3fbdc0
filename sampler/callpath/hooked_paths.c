/* See hooked_paths.h. */
#include "hooked_paths.h"

#include <stdlib.h>
#include <string.h>
#include "path_steps.h"
#include "abi/hash.h"
#include "sampler/util/array.h"
#include "sampler/profile/interned_stacks.h"
#include "sampler/util/lazy_memory.h"

#define DEEPEST       64u   /* procedures of one path; deeper paths are ignored */
#define PATHS_MOST    2048u /* one more, and all are forgotten; those seen again are added again */
#define SAMPLES_EACH  8u    /* most recent samples kept for each path */
#define MEMOS         4096u /* nodes whose paths are cached, by hash */
#define LATEST        1024u /* threads whose last path is cached, by index */
#define START_ROUTINE UINT16_MAX

/* Procedures that hooks push, by the numbers that this file gives them, innermost first. */
struct chain {
  uint32_t count;
  uint32_t ids[DEEPEST];
};

struct kept {
  uint32_t users;           /* number of paths that use it */
  uint16_t frames[DEEPEST]; /* for each procedure, innermost first: its index in the walk, or START_ROUTINE */
  struct qzi_walk walk;
};

struct path {
  uint64_t print; /* hash of its procedures */
  uint32_t count;
  uint32_t samples_count, next;
  struct {
    struct kept *kept;
    uint64_t ns;         /* time that has been attributed to it */
    uint32_t from, node; /* node: path `from` with the sample's loops and lines inserted after its procedures */
  } samples[SAMPLES_EACH];
};

struct qzi_hooked {
  struct qzi_paths *paths;
  uint64_t *entries; /* of procedures that occur on paths of hooks; a procedure's number is its index + 1 */
  uint32_t entries_count, entries_room;
  struct qzi_table entry_table, path_table;
  struct path *all; /* PATHS_MOST elements */
  uint32_t count;
  struct memo {
    uint64_t start;
    uint32_t node, base, path; /* path: index + 1 */
  } memos[MEMOS];
  struct {
    uint32_t node, index, path; /* path: index + 1 */
  } latest[LATEST];
};

struct qzi_hooked *qzi_hooked_open(struct qzi_paths *paths) {
  struct qzi_hooked *hooked = calloc(1, sizeof *hooked);
  if (!hooked) return NULL;
  hooked->paths = paths;
  hooked->all = qzi_lazy_memory(PATHS_MOST * sizeof *hooked->all);
  if (hooked->all) return hooked;
  free(hooked);
  return NULL;
}

static void let_go(struct kept *kept) {
  if (!--kept->users) free(kept);
}

static void forget_paths(struct qzi_hooked *hooked) {
  for (uint32_t p = 0; p < hooked->count; p++)
    for (uint32_t k = 0; k < hooked->all[p].samples_count; k++) let_go(hooked->all[p].samples[k].kept);
  hooked->count = 0;
  memset(hooked->memos, 0, sizeof hooked->memos);
  memset(hooked->latest, 0, sizeof hooked->latest);
  qzi_table_free(&hooked->path_table);
}

void qzi_hooked_close(struct qzi_hooked *hooked) {
  if (!hooked) return;
  forget_paths(hooked);
  qzi_lazy_free(hooked->all, PATHS_MOST * sizeof *hooked->all);
  qzi_table_free(&hooked->entry_table);
  free(hooked->entries);
  free(hooked);
}

/* ---- procedures ---- */

/* Returns 0 if the procedure was not seen on a path of hooks. */
static uint32_t id_of(const struct qzi_hooked *hooked, uint64_t entry) {
  QZI_TABLE_EACH(&hooked->entry_table, qzi_hash(entry, 23), at)
  if (hooked->entries[at - 1] == entry) return at;
  return 0;
}

static uint32_t learn(struct qzi_hooked *hooked, uint64_t entry) {
  uint32_t id = id_of(hooked, entry);
  if (id ||
      qzi_grow((void **)&hooked->entries, &hooked->entries_room, hooked->entries_count + 1, sizeof *hooked->entries) ||
      qzi_table_add(&hooked->entry_table, qzi_hash(entry, 23), hooked->entries_count + 1))
    return id;
  hooked->entries[hooked->entries_count] = entry;
  return ++hooked->entries_count;
}

static uint64_t print_on(uint64_t print, uint32_t id) {
  print = (print ^ id) * QZ_HASH_FACTOR;
  return print ^ print >> 32;
}

/* Determines which keys of a thread's path are its own: threads with the same start routine and the same number of
 * creator's procedures are treated alike. */
struct beginning {
  uint64_t start; /* start routine */
  uint32_t base;  /* number of procedures that belong to its creator's path */
};

/* Index of the first key of a path that is the thread's own; those of its creator come before it. */
static uint32_t own_keys(struct beginning its, const uint64_t *keys, uint32_t depth) {
  uint32_t left = its.base, at = 0;
  while (at < depth && left && !(keys[at] & QZ_KEY_OBJECT)) at++, left--;
  uint64_t start = its.start;
  int creators = start && at && keys[at - 1] == start && (at == depth || keys[at] != start);
  return creators ? at - 1 : at; /* the creator was in the same procedure, which then is on the path only once */
}

/* Gets the procedures on the path of such a thread. Returns 0 if there are none, or too many. */
static uint32_t chain_of_node(struct qzi_hooked *hooked, struct beginning its, uint32_t node, struct chain *chain) {
  uint64_t keys[QZI_PATH_KEYS];
  uint32_t depth = qzi_path_keys(hooked->paths->in, node, keys), own = own_keys(its, keys, depth);
  chain->count = 0;
  for (uint32_t k = depth; k-- > own;) {
    if (keys[k] & QZ_KEY_OBJECT) continue;
    uint32_t id = learn(hooked, keys[k]);
    if (!id || chain->count == DEEPEST) return 0;
    chain->ids[chain->count++] = id;
  }
  return chain->count;
}

/* Gets the procedures of a sample that hooks push. Hooks do not push a procedure that is on top already. */
static void chain_of_walk(const struct qzi_hooked *hooked, uint32_t index, const struct qzi_walk *walk,
                          struct chain *chain, uint16_t *frames) {
  uint32_t count = 0, *ids = chain->ids;
  for (uint32_t at = walk->count; at-- > 0 && count < DEEPEST;) {
    uint32_t id = walk->entries[at] & QZI_KEY_INLINED ? 0 : id_of(hooked, walk->entries[at]);
    if (!id || (count && ids[count - 1] == id)) continue;
    frames[count] = (uint16_t)at;
    ids[count++] = id;
  }
  uint32_t start = walk->whole ? id_of(hooked, qzi_paths_start(hooked->paths, index)) : 0;
  if (start && count < DEEPEST && (!count || ids[count - 1] != start)) {
    frames[count] = START_ROUTINE;
    ids[count++] = start;
  }
  chain->count = count;
}

/* ---- paths ---- */

static struct path *path_with(const struct qzi_hooked *hooked, uint64_t print, uint32_t count) {
  QZI_TABLE_EACH(&hooked->path_table, (uint32_t)print, at) {
    struct path *path = &hooked->all[at - 1];
    if (path->print == print && path->count == count) return path;
  }
  return NULL;
}

/* Finds or creates the path of the node. Returns its index + 1; 0: it has none. */
static uint32_t path_anew(struct qzi_hooked *hooked, struct beginning its, uint32_t node) {
  struct memo *memo = &hooked->memos[(node + its.base * 31 + (uint32_t)(its.start >> 4)) % MEMOS];
  if (memo->node == node && memo->start == its.start && memo->base == its.base && memo->path) return memo->path;
  struct chain chain;
  if (!chain_of_node(hooked, its, node, &chain)) return 0;
  uint64_t print = 1;
  for (uint32_t k = 0; k < chain.count; k++) print = print_on(print, chain.ids[k]);
  struct path *path = path_with(hooked, print, chain.count);
  if (!path) {
    if (hooked->count == PATHS_MOST) forget_paths(hooked);
    if (qzi_table_add(&hooked->path_table, (uint32_t)print, hooked->count + 1)) return 0;
    path = &hooked->all[hooked->count++];
    *path = (struct path){.print = print, .count = chain.count};
  }
  uint32_t number = (uint32_t)(path - hooked->all) + 1;
  *memo = (struct memo){.start = its.start, .node = node, .base = its.base, .path = number};
  return number;
}

static struct path *path_of(struct qzi_hooked *hooked, uint32_t index, uint32_t node) {
  uint32_t at = index % LATEST, path = hooked->latest[at].path;
  if (!path || hooked->latest[at].node != node || hooked->latest[at].index != index) {
    struct beginning its = {qzi_paths_start(hooked->paths, index), qzi_paths_base(hooked->paths->in, index)};
    if (!(path = path_anew(hooked, its, node))) return NULL;
    hooked->latest[at].node = node;
    hooked->latest[at].index = index;
    hooked->latest[at].path = path;
  }
  return &hooked->all[path - 1];
}

static void keep(struct path *path, struct kept *kept) {
  uint64_t least = 0;
  for (uint32_t k = 0; k < path->samples_count; k++)
    if (!k || path->samples[k].ns < least) least = path->samples[k].ns;
  uint32_t at = path->next++ % SAMPLES_EACH;
  if (at < path->samples_count)
    let_go(path->samples[at].kept);
  else
    path->samples_count = at + 1;
  path->samples[at].kept = kept;
  path->samples[at].ns = least; /* it is used next, but not repeatedly until it has caught up with the others */
  path->samples[at].node = 0;
  kept->users++;
}

void qzi_hooked_add(struct qzi_hooked *hooked, uint32_t index, const struct qzi_walk *walk) {
  struct chain chain;
  uint16_t frames[DEEPEST];
  uint64_t print = 1;
  struct kept *kept = NULL;
  chain_of_walk(hooked, index, walk, &chain, frames);
  for (uint32_t k = 0; k < chain.count; k++) {
    print = print_on(print, chain.ids[k]);
    struct path *path = path_with(hooked, print, k + 1);
    if (!path) continue;
    if (!kept) {
      if (!(kept = calloc(1, sizeof *kept))) return;
      memcpy(kept->frames, frames, chain.count * sizeof *frames);
      kept->walk = *walk;
    }
    keep(path, kept);
  }
}

/* ---- the code ---- */

/* The same loop or line, attributed to the procedure that hooks know, because hooks do not see what is inlined into
 * it. */
static uint64_t in_procedure(struct qzi_interner *in, uint64_t key) {
  const struct qz_entity *entities = in->file->entities, its = entities[(uint32_t)key];
  uint32_t into = entities[its.record].record;
  if (!into) return key;
  uint32_t entity = its.kind == QZ_ENTITY_CODE_LOOP ? qzi_intern_code_loop(in, into, its.file, its.line, its.address)
                                                    : qzi_intern_code_line(in, into, its.file, its.line);
  return entity ? QZI_KEY_INLINED | entity : key;
}

/* Writes the keys of the loops and lines at a frame and of those in procedures inlined there; returns their number. */
static uint32_t put_code(const struct qzi_paths *paths, const struct qzi_walk *walk, uint16_t frame, uint64_t *keys) {
  uint32_t at = frame == START_ROUTINE ? 0 : frame + 1u;
  uint32_t count =
    qzi_inlining_loops(paths->inlining, frame == START_ROUTINE ? walk->start_loops : walk->loops[frame], keys);
  for (; at < walk->count && walk->entries[at] & QZI_KEY_INLINED; at++)
    count += qzi_inlining_loops(paths->inlining, walk->loops[at], keys + count);
  for (uint32_t k = 0; k < count; k++) keys[k] = in_procedure(paths->in, keys[k]);
  return count;
}

static uint32_t node_with_code(const struct qzi_hooked *hooked, uint32_t node, const struct path *path,
                               const struct kept *kept) {
  uint64_t old[QZI_PATH_KEYS], keys[QZI_PATH_MOST], prints[QZI_PATH_MOST];
  struct qzi_interner *in = hooked->paths->in;
  uint32_t depth = qzi_path_keys(in, node, old), left = 0, count = 0;
  for (uint32_t k = 0; k < depth; k++) left += !(old[k] & QZ_KEY_OBJECT);
  for (uint32_t k = 0; k < depth; k++) {
    keys[count++] = old[k];
    if (!(old[k] & QZ_KEY_OBJECT) && left-- <= path->count)
      count += put_code(hooked->paths, &kept->walk, kept->frames[left], keys + count);
  }
  qzi_prints(in, keys, prints, 0, count);
  return qzi_intern_stack(in, keys, prints, count);
}

uint32_t qzi_hooked_executed(struct qzi_hooked *hooked, uint32_t index, uint32_t node, uint64_t ns,
                             uint64_t *instruction, uint64_t *entry) {
  struct path *path = node ? path_of(hooked, index, node) : NULL;
  if (!path) return 0;
  if (!path->samples_count) return 0;
  uint32_t least = 0;
  for (uint32_t k = 1; k < path->samples_count; k++)
    if (path->samples[k].ns < path->samples[least].ns) least = k;
  const struct kept *kept = path->samples[least].kept;
  path->samples[least].ns += ns;
  if (!path->samples[least].node || path->samples[least].from != node) {
    path->samples[least].from = node;
    path->samples[least].node = node_with_code(hooked, node, path, kept);
  }
  *instruction = kept->walk.pc;
  *entry = kept->walk.pc_entry;
  return path->samples[least].node;
}
