/* Paths of OpenMP's threads: the work of a team belongs to who began its region, whichever threads the library uses.
 *
 * A thread of the library's has only the library's procedures around what it executes. The thread that began the region
 * executes the same code, or waits for its end, below its own callers; what leads there is kept, by that thread and
 * code, and is the path of the others, too. Who began the region is who created the thread: GCC's library has a pool
 * for each thread that begins regions; where LLVM's gave the thread to another one, the code alone decides. A task
 * belongs to the region whose team executes it.
 *
 * Source: logical call paths of Tallent & Mellor-Crummey 2009, section 4. See path_steps.h.
 */
#include "path_steps.h"
#include "unwinder.h"

#include <string.h>
#include "sampler/profile/interned_stacks.h"
#include "sampler/util/hash_index.h"

/* Whether the library's procedure begins parallel regions. */
static int begins_region(struct qzi_paths *paths, uint64_t entry) {
  struct qzi_fork *slot = &paths->forks[qzi_hash(entry, 11) % QZI_PATH_FORKS];
  if (slot->entry == entry) return slot->begins;
  const char *name = qzi_unwind_symbol(paths->unwinder, entry);
  *slot = (struct qzi_fork){entry, !strncmp(name, "GOMP_parallel", strlen("GOMP_parallel")) ||
                                     !strncmp(name, "__kmpc_fork_call", strlen("__kmpc_fork_call"))};
  return slot->begins;
}

/* Whether what is executed there is a region's body: the library calls it from where the thread, or the region, begins;
 * from elsewhere it calls tasks. */
static int is_body(struct qzi_paths *paths, const struct qzi_walk *walk, uint32_t at, int inside) {
  if (at == (inside == QZI_REGIONS_POOL ? 0 : walk->fork[walk->forks - 1].at)) return 1;
  return !strcmp(qzi_unwind_symbol(paths->unwinder, walk->entries[at - 1]), "__kmp_invoke_microtask");
}

static int is_outside(int inside) { return inside == QZI_REGIONS_NONE || inside == QZI_REGIONS_OWN; }

/* The library's outermost procedure after code of the program's. GCC's that begins a region calls what waits for the
 * region's end as its last act, and is not among the frames then; the layer's is. */
static int add_outermost(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t at,
                         int inside) {
  int begins = begins_region(paths, frame->entry);
  if (!begins && inside != QZI_REGIONS_BEGINS)
    return at == 0 && walk->thread == QZI_NO_THREAD ? QZI_REGIONS_POOL : QZI_REGIONS_WAIT;
  if (walk->forks == QZI_REGIONS) return QZI_REGIONS_WAIT;
  walk->fork[walk->forks].body = 0;
  walk->fork[walk->forks].task = 0;
  walk->fork[walk->forks++].at = at + (begins != 0);
  return QZI_REGIONS_FORK;
}

void qzi_regions_add(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t at,
                     int *inside) {
  enum qzi_code code = qzi_code_of_frame(paths, frame);
  if (code == QZI_CODE_LAYER) {
    if (is_outside(*inside) && begins_region(paths, frame->entry)) *inside = QZI_REGIONS_BEGINS;
  } else if (qzi_code_executes_regions(paths, frame->module)) {
    if (is_outside(*inside) || *inside == QZI_REGIONS_BEGINS) *inside = add_outermost(paths, walk, frame, at, *inside);
  } else if (code == QZI_CODE_OWN || code == QZI_CODE_LIBRARY) {
    if (*inside == QZI_REGIONS_POOL) {
      walk->team_work = at + 1;
      walk->team_task = !is_body(paths, walk, at, *inside);
    }
    if (*inside == QZI_REGIONS_FORK && !walk->fork[walk->forks - 1].body) {
      walk->fork[walk->forks - 1].body = at + 1;
      walk->fork[walk->forks - 1].task = !is_body(paths, walk, at, *inside);
    }
    *inside = QZI_REGIONS_OWN;
  }
}

static struct qzi_team_path *slot_of(struct qzi_paths *paths, uint32_t thread, uint64_t entry) {
  return &paths->teams[qzi_hash(entry, 13 + (uint64_t)thread) % QZI_PATH_TEAMS];
}

void qzi_team_path_keep(struct qzi_paths *paths, uint32_t thread, uint64_t entry, const uint64_t *keys,
                        uint32_t count) {
  uint64_t own[QZI_PATH_MOST], prints[QZI_PATH_MOST];
  uint32_t depth = 0;
  for (uint32_t k = 0; k < count; k++)
    if (!(keys[k] & QZ_KEY_OBJECT)) own[depth++] = keys[k]; /* the team's other threads do not hold its locks */
  if (depth > QZI_PATH_KEYS) return;
  qzi_prints(paths->in, own, prints, 0, depth);
  uint32_t node = qzi_intern_stack(paths->in, own, prints, depth);
  if (thread != QZI_NO_THREAD) *slot_of(paths, thread + 1, entry) = (struct qzi_team_path){entry, thread + 1, node};
  if (entry > QZI_TEAM_END) *slot_of(paths, 0, entry) = (struct qzi_team_path){entry, 0, node};
}

static uint32_t kept(struct qzi_paths *paths, uint32_t thread, uint64_t entry) {
  const struct qzi_team_path *slot = slot_of(paths, thread, entry);
  return slot->thread == thread && slot->entry == entry ? slot->node : 0;
}

void qzi_team_path_over(struct qzi_paths *paths, uint32_t thread) {
  struct qzi_team_path *slot = slot_of(paths, thread + 1, QZI_TEAM_END);
  if (thread != QZI_NO_THREAD && slot->thread == thread + 1 && slot->entry == QZI_TEAM_END) slot->node = 0;
}

#define SERVED (QZI_TEAM_END + 1) /* the region that the thread was created for */
void qzi_paths_serves_region(struct qzi_paths *paths, uint32_t index, uint32_t node) {
  *slot_of(paths, index + 1, SERVED) = (struct qzi_team_path){SERVED, index + 1, node};
}

uint32_t qzi_team_path(struct qzi_paths *paths, const struct qzi_walk *walk) {
  uint64_t entry = walk->entries[walk->team_work - 1];
  int known = walk->thread != QZI_NO_THREAD;
  uint32_t by = known ? QZ_LOAD(&qz_session_thread(paths->in->view, walk->thread)->creator) : 0, node = 0;
  if (by) node = kept(paths, by, entry);
  if (!node) node = kept(paths, 0, entry);
  if (!node && known) node = kept(paths, walk->thread + 1, SERVED);
  return node || !by ? node : kept(paths, by, walk->team_task ? QZI_TEAM_REGION : QZI_TEAM_END);
}
