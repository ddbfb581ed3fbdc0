/* Nodes of paths: frames with the locks between them. See call_path.h and path_steps.h. */
#include "call_path.h"
#include "path_steps.h"

#include <string.h>
#include "sampler/util/array.h"
#include "sampler/profile/interned_stacks.h"

#define PATH_MOST QZI_PATH_MOST
#define KEYS_MOST QZI_PATH_KEYS

uint32_t qzi_path_keys(const struct qzi_interner *in, uint32_t node, uint64_t *keys) {
  uint32_t depth = 0;
  for (uint32_t at = node; at && depth < KEYS_MOST; at = in->file->stacks[at].parent) depth++;
  for (uint32_t k = depth; k-- > 0; node = in->file->stacks[node].parent) keys[k] = in->node_keys[node];
  return depth;
}

uint32_t qzi_paths_base(const struct qzi_interner *in, uint32_t index) {
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  const struct qzi_base *its = in->bases ? &in->bases[index] : NULL;
  int known = its && its->node && its->serial == QZ_LOAD(&thread->serial);
  return known ? its->depth : QZ_LOAD(&thread->base);
}

int qzi_paths_hooked(const struct qzi_interner *in, uint32_t index, uint64_t serial, uint32_t node) {
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  const struct qzi_base *its = in->bases ? &in->bases[index] : NULL;
  /* The thread may have ended since its record was copied, and another one may have the record. */
  int known = its && its->node && its->serial == serial;
  uint32_t procedures = 0, most = (known ? its->depth : QZ_LOAD(&thread->base)) + (QZ_LOAD(&thread->start) != 0);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (!known && QZ_LOAD(&thread->serial) != serial) return -1;
  for (uint32_t at = node; at; at = in->file->stacks[at].parent) procedures += !(in->node_keys[at] & QZ_KEY_OBJECT);
  return procedures > most;
}

int qzi_paths_within(struct qzi_paths *paths, uint32_t node, uint64_t address) {
  const struct qzi_interner *in = paths->in;
  uint64_t entry = qzi_unwind_entry(paths->unwinder, address);
  for (uint32_t at = node; at && entry; at = in->file->stacks[at].parent)
    if (in->node_keys[at] == entry) return 1;
  return 0;
}

/* Whether the procedure is known to return while it holds a lock; teach: remember that it does. */
static int is_wrapper(struct qzi_paths *paths, uint64_t entry, int teach) {
  uint64_t *slot = &paths->wrappers[qzi_hash(entry, 3) % QZI_PATH_WRAPPERS];
  if (teach) *slot = entry;
  return *slot == entry;
}

static struct qzi_takers *takers_of(struct qzi_paths *paths, uint64_t key) {
  uint32_t hash = qzi_hash(key, 5);
  QZI_TABLE_EACH(&paths->taker_table, hash, at)
  if (paths->takers[at - 1].key == key) return &paths->takers[at - 1];
  return NULL;
}

static struct qzi_takers *add_takers(struct qzi_paths *paths, uint64_t key) {
  struct qzi_takers *takers = takers_of(paths, key);
  if (takers) return takers;
  if (qzi_grow((void **)&paths->takers, &paths->takers_room, paths->takers_count + 1, sizeof *paths->takers))
    return NULL;
  if (qzi_table_add(&paths->taker_table, qzi_hash(key, 5), paths->takers_count + 1)) return NULL;
  takers = &paths->takers[paths->takers_count++];
  *takers = (struct qzi_takers){.key = key};
  return takers;
}

void qzi_paths_taken(struct qzi_paths *paths, uint64_t key, uint64_t entry) {
  struct qzi_takers *takers = add_takers(paths, key);
  if (!takers) return;
  for (uint32_t k = 0; k < takers->count; k++)
    if (takers->entries[k] == entry) return;
  if (entry && takers->count < QZI_PATH_TAKERS) takers->entries[takers->count++] = entry;
}

void qzi_paths_taken_at(struct qzi_paths *paths, uint64_t key, uint64_t site) {
  uint64_t entry = qzi_unwind_entry(paths->unwinder, site - 1);
  qzi_paths_taken(paths, key, entry);
  struct qzi_takers *takers = takers_of(paths, key);
  if (!takers || !entry) return;
  for (uint32_t k = 0; k < takers->sites_count; k++)
    if (takers->sites[k].site == site) return;
  if (takers->sites_count == QZI_PATH_SITES) return;
  takers->sites[takers->sites_count].entry = entry;
  takers->sites[takers->sites_count++].site = site;
}

static int took(const struct qzi_takers *takers, uint64_t entry) {
  for (uint32_t k = 0; k < takers->count; k++)
    if (takers->entries[k] == entry) return 1;
  return 0;
}

/* Position of a lock among the frames. */
struct standing {
  uint32_t before;  /* number of frames that stand before it */
  int older;        /* 1: the frames are older than the lock, so no frame stands after it, */
  uint32_t inlined; /* but these inlined procedures stand before it, after those frames, since only they take it */
  uint64_t keys[QZI_INLINED_MOST];
};

/* Writes the procedures inlined where the lock is taken, except the innermost ones that take locks for their callers.
 * Returns their number. */
static uint32_t inlined_at(struct qzi_paths *paths, uint64_t site, uint64_t entry, uint64_t *keys) {
  uint32_t count = qzi_inlining_at(paths->inlining, site - 1, entry, keys);
  while (count && is_wrapper(paths, keys[count - 1], 0)) count--;
  return count;
}

/* Positions a lock that the procedure `entry` takes, whose callees are the frames from number `at` on. It may take the
 * lock in code inlined into it; the inlined procedures must then follow it, unless they take the lock for a caller, or
 * the frames are older than the lock. */
static void place_inlined(struct qzi_paths *paths, const struct qzi_takers *takers, const struct qzi_walk *walk,
                          uint64_t entry, uint32_t at, uint32_t frames, int settled, struct standing *its) {
  uint64_t keys[QZI_INLINED_MOST];
  uint32_t sites = 0;
  its->before = at;
  for (uint32_t k = 0; k < takers->sites_count; k++) {
    if (takers->sites[k].entry != entry) continue;
    uint32_t count = inlined_at(paths, takers->sites[k].site, entry, keys), same = 0;
    while (same < count && at + same < frames && walk->entries[at + same] == keys[same]) same++;
    if (same == count) {
      if (at + count > its->before) its->before = at + count;
      its->older = its->inlined = 0;
      if (!count) return; /* its own code takes the lock, too: the lock may belong to any of its code */
      sites = QZI_PATH_SITES + 1;
    } else if (sites <= QZI_PATH_SITES) {
      its->older = 1;
      its->inlined = sites++ || takers->sites_count > 1 ? 0 : count;
      memcpy(its->keys, keys, count * sizeof *keys);
    }
  }
  if (its->older && settled) {
    if (its->inlined) is_wrapper(paths, its->keys[its->inlined - 1], 1);
    its->older = 0;
  }
  if (!its->older) its->inlined = 0;
}

/* Positions a lock among the first `frames` frames. */
static void place_among(struct qzi_paths *paths, const struct qzi_takers *takers, const struct qzi_walk *walk,
                        uint32_t frames, uint64_t start, int settled, struct standing *its) {
  *its = (struct standing){.before = 0};
  if (!takers) return;
  for (uint32_t k = frames; k > 0; k--)
    if (took(takers, walk->entries[k - 1])) {
      place_inlined(paths, takers, walk, walk->entries[k - 1], k, frames, settled, its);
      return;
    }
  if (took(takers, start)) {
    place_inlined(paths, takers, walk, start, 0, frames, settled, its);
    return;
  }
  if (walk->count && !walk->whole) return; /* taken by a procedure further out */
  its->older = 1;
  for (uint32_t k = 0; k < takers->count; k++)
    if (is_wrapper(paths, takers->entries[k], settled && takers->count == 1)) its->older = 0;
}

/* The path that leads to the thread's outermost parallel region. */
static void keep_region(struct qzi_paths *paths, const struct qzi_walk *walk, const uint64_t *keys, uint32_t count) {
  qzi_team_path_keep(paths, walk->thread, QZI_TEAM_REGION, keys, count);
  if (!walk->fork[0].body || walk->fork[0].task) qzi_team_path_keep(paths, walk->thread, QZI_TEAM_END, keys, count);
}

/* Writes an entry of the walk and the loops that follow it behind the `count` keys; returns how many keys these are. */
static uint32_t put_entry(struct qzi_paths *paths, const struct qzi_walk *walk, uint32_t at, uint64_t *keys,
                          uint32_t count) {
  for (uint32_t k = 0; k < walk->forks; k++)
    if (walk->fork[k].body == at + 1) qzi_team_path_keep(paths, walk->thread, walk->entries[at], keys, count);
  keys[count] = walk->entries[at];
  uint32_t put = 1 + qzi_inlining_loops(paths->inlining, walk->loops[at], keys + count + 1);
  if (walk->forks && walk->fork[0].at == at + 1) keep_region(paths, walk, keys, count + put);
  return put;
}

/* Whether a record of so many procedures has others than its creator's and the start routine: those of hooks. */
static int has_procedures(const struct qzi_interner *in, const struct qzi_walk *walk, uint32_t count) {
  uint32_t base = walk->thread == QZI_NO_THREAD ? 1 : qzi_paths_base(in, walk->thread);
  return count > base + 1;
}

static uint32_t node_of(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, uint64_t waiting,
                        int settled, int sampled) {
  struct qzi_interner *in = paths->in;
  uint64_t old[KEYS_MOST], keys[PATH_MOST], prints[PATH_MOST];
  uint32_t depth = qzi_path_keys(paths->in, node, old), count = 0, k = 0, frame = 0, frames = walk->count;
  while (k < depth && !(old[k] & QZ_KEY_OBJECT)) keys[count++] = old[k++];
  if (depth > k && old[depth - 1] == waiting) depth--;
  uint64_t start = count ? keys[count - 1] : 0;
  if (walk->whole) qzi_team_path_over(paths, walk->thread);
  uint32_t team = walk->team_work && !has_procedures(in, walk, count) ? qzi_team_path(paths, walk) : 0;
  if (team) {
    count = qzi_path_keys(in, team, keys);
    frame = walk->team_work - 1;
  } else {
    count += qzi_inlining_loops(paths->inlining, walk->start_loops, keys + count);
    if (walk->forks && !walk->fork[0].at) keep_region(paths, walk, keys, count);
  }
  for (; k < depth; k++) {
    const struct qzi_takers *takers = takers_of(paths, old[k]);
    struct standing its;
    place_among(paths, takers, walk, frames, start, settled, &its);
    if (its.older && sampled) continue;
    if (its.older) {
      if (!its.before && !took(takers, start) && takers->count == 1 &&
          (!count || keys[count - 1] != takers->entries[0]))
        keys[count++] = takers->entries[0];
      frames = its.before > frame ? its.before : frame;
    }
    while (frame < its.before) count += put_entry(paths, walk, frame++, keys, count);
    for (uint32_t j = 0; its.older && j < its.inlined && count < 2 * KEYS_MOST - 2 * depth; j++)
      keys[count++] = its.keys[j];
    keys[count++] = old[k];
  }
  while (frame < frames) count += put_entry(paths, walk, frame++, keys, count);
  if (waiting) keys[count++] = waiting;
  qzi_prints(in, keys, prints, 0, count);
  return qzi_intern_stack(in, keys, prints, count);
}

uint32_t qzi_paths_node(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, uint64_t waiting,
                        int settled) {
  return node_of(paths, node, walk, waiting, settled, 0);
}
uint32_t qzi_paths_ran(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, int settled) {
  return node_of(paths, node, walk, 0, settled, 1);
}
