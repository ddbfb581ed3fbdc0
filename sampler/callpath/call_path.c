/* Makes call paths from frames. See call_path.h. */
#include "call_path.h"
#include "path_steps.h"

#include <errno.h>
#include <string.h>
#include "sampler/profile/modules.h"
#include "sampler/profile/object_places.h"
#include "sampler/profile/unwinding.h"
#include "sampler/util/clock.h"
#include "sampler/linux/process_memory.h"

#define SHARE     50u             /* walks may take 1/SHARE of the elapsed time, */
#define SPARE     10u             /* and 1/SPARE while the program leaves a CPU idle */
#define LONG_NS   UINT64_C(50000) /* a walk is long from here on; most take 2 to 3 us */
/* ns allowed in addition, for the first walks, which meet only code that was not seen before */
#define HEADSTART UINT64_C(20000000)
/* ns that are kept at most: who was at rest for an hour is not to have CPU time for all its walks taken at once */
#define KEPT      UINT64_C(200000000)

struct qzi_paths *qzi_paths_open(struct qzi_interner *in) {
  struct qzi_paths *paths = calloc(1, sizeof *paths);
  if (!paths) return NULL;
  paths->in = in;
  paths->unwinder = qzi_unwinder_open(in);
  paths->inlining = paths->unwinder ? qzi_inlining_open(in) : NULL;
  if (paths->unwinder) return paths;
  free(paths);
  return NULL;
}

void qzi_paths_close(struct qzi_paths *paths) {
  if (!paths) return;
  qzi_inlining_close(paths->inlining);
  qzi_unwinder_close(paths->unwinder);
  free(paths->codes);
  free(paths->takers);
  qzi_table_free(&paths->taker_table);
  free(paths);
}

void qzi_paths_prepare(struct qzi_paths *paths) { qzi_unwinder_prepare(paths->unwinder); }

uint64_t qzi_paths_begin(struct qzi_paths *paths, uint64_t now_ns, int spare) {
  paths->cpu_ns = qzi_thread_cpu_ns();
  if (!paths->begun_ns) paths->allowed_ns = HEADSTART;
  if (paths->begun_ns && now_ns > paths->begun_ns)
    paths->allowed_ns += (now_ns - paths->begun_ns) / (spare ? SPARE : SHARE);
  if (paths->allowed_ns > paths->spent_ns + KEPT) paths->allowed_ns = paths->spent_ns + KEPT;
  paths->begun_ns = now_ns;
  return qzi_inlining_take(paths->inlining);
}

int qzi_paths_may(const struct qzi_paths *paths) { return paths->spent_ns < paths->allowed_ns; }

int qzi_paths_complete(const struct qzi_paths *paths) { return qzi_inlining_answered(paths->inlining); }

uint64_t qzi_paths_spent_ns(const struct qzi_paths *paths) { return paths->spent_ns; }

/* ---- walks ---- */

/* Removes the frames that start the thread: everything outside its start routine, which the thread's record
 * contains. */
static uint32_t trim(struct qzi_paths *paths, uint32_t index, uint32_t count, int complete) {
  uint64_t start = qzi_paths_start(paths, index);
  for (uint32_t k = count; start && k-- > 0;)
    if (paths->frames[k].entry == start) return k;
  /* In some versions of the C library, the code that starts threads has no unwind information. */
  if (!complete && (!count || qzi_code_of_frame(paths, &paths->frames[count - 1]) != QZI_CODE_C)) return count;
  if (count && !qzi_code_starts_threads(qzi_code_of_frame(paths, &paths->frames[count - 1]))) count--; /* _start */
  while (count && qzi_code_starts_threads(qzi_code_of_frame(paths, &paths->frames[count - 1]))) count--;
  return count;
}

/* Finds the place where the program made the call that the thread is in: its innermost code that is neither in a
 * library nor comes from a library compiled into it (C++'s, Rust's). If there is none, the place where a library calls
 * the C library. */
static void find_site(struct qzi_paths *paths, uint32_t all, uint32_t first, struct qzi_walk *walk) {
  uint32_t own = all, other = all;
  for (uint32_t k = first; k < all && (own == all || paths->frames[own].standard); k++) {
    const struct qzi_frame *frame = &paths->frames[k];
    enum qzi_code code = qzi_code_of_frame(paths, frame);
    if (!frame->module || qzi_code_starts_threads(code)) continue;
    if (qzi_code_is_library(code) && other == all) other = k;
    if (code == QZI_CODE_OWN) own = k;
  }
  uint32_t at = own < all && (!paths->frames[own].standard || other == all) ? own : other;
  walk->site = at < all ? paths->frames[at].pc : 0;
  walk->site_module = at < all ? paths->frames[at].module : 0;
  walk->own = at == own && at < all && !paths->frames[at].standard;
  walk->caller_entry = walk->own ? paths->frames[at].entry : 0;
  uint32_t inner = at > first ? at - 1 : at;
  if (inner > first && qzi_code_passes_on(paths, inner, all)) inner--;
  walk->called = walk->own && inner < at ? paths->frames[inner].entry : 0;
}

int qzi_paths_library(struct qzi_paths *paths, uint64_t address) {
  enum qzi_code code = qzi_code_at(paths, qzi_intern_module(paths->in, address), address);
  return qzi_code_is_library(code) ? QZI_LIBRARY : qzi_code_starts_threads(code) ? QZI_LIBRARY_C : 0;
}

int qzi_paths_serves(struct qzi_paths *paths, uint64_t address) {
  return qzi_paths_library(paths, address) || qzi_unwind_standard(paths->unwinder, address);
}

/* Adds the procedures inlined at the frame, and its loops; also for libraries that the system installed, except those
 * of C, C++ and MPI. left: number of frames still to be added. */
static void add_inlined(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t left) {
  enum qzi_code code = qzi_code_of_frame(paths, frame);
  if (!frame->module || (code != QZI_CODE_OWN && code != QZI_CODE_LIBRARY)) return;
  uint64_t inside = frame == paths->frames ? frame->pc : frame->pc - 1, keys[QZI_INLINED_MOST];
  uint32_t count = qzi_inlining_at(paths->inlining, inside, frame->entry, keys);
  uint32_t lists = qzi_inlining_loops_at(paths->inlining, inside, frame->entry);
  *(walk->count ? &walk->loops[walk->count - 1] : &walk->start_loops) = lists;
  for (uint32_t k = 0; k < count && walk->count + left < QZI_WALK_MOST; k++) {
    walk->loops[walk->count] = lists ? lists + 1 + k : 0;
    walk->entries[walk->count++] = keys[k];
  }
}

static void add_frame(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t left) {
  /* Direct recursion appears once, with the procedures inlined in the innermost activation. */
  if (walk->count && walk->innermost == frame->entry)
    while (walk->entries[walk->count - 1] != frame->entry) walk->count--;
  else
    walk->entries[walk->count++] = walk->innermost = frame->entry;
  walk->loops[walk->count - 1] = 0;
  add_inlined(paths, walk, frame, left);
}

const char *qzi_paths_symbol(struct qzi_paths *paths, uint64_t address, int *library) {
  *library = qzi_code_at(paths, qzi_intern_module(paths->in, address), address) != QZI_CODE_OWN;
  return qzi_unwind_symbol(paths->unwinder, address);
}
int qzi_paths_vdso(struct qzi_paths *paths, uint64_t address) { return qzi_unwind_vdso(paths->unwinder, address); }
uint32_t qzi_paths_pid(const struct qzi_paths *paths) { return paths->in->file->head->pid; }

static void find_callers(struct qzi_paths *paths, uint32_t all, struct qzi_walk *walk) {
  walk->callers = 0;
  for (uint32_t k = 1; k < all && walk->callers < QZI_CALLERS; k++) {
    const struct qzi_frame *frame = &paths->frames[k];
    if (!frame->module || qzi_code_of_frame(paths, frame) != QZI_CODE_OWN) continue;
    walk->caller[walk->callers].pc = frame->pc;
    walk->caller[walk->callers++].framed = frame->framed;
  }
}

/* Processor time in ns of a walk that began at begun_ns. A long walk may have waited for a CPU most of that time; if
 * this were counted, walks would use up their share by waiting wherever other programs occupy the CPUs. */
static uint64_t spent_since(struct qzi_paths *paths, uint64_t begun_ns) {
  uint64_t ns = qzi_clock_ns() - begun_ns;
  if (ns < LONG_NS) return ns;
  uint64_t cpu_ns = qzi_thread_cpu_ns(), used_ns = cpu_ns - paths->cpu_ns;
  paths->cpu_ns = cpu_ns;
  return used_ns < ns ? used_ns : ns;
}

/* Counts for the report whether the walk reached the thread's beginning, and where it ended otherwise. */
static void count_walk(struct qzi_paths *paths, uint32_t all, enum qz_cut cut) {
  struct qz_unwinding *row = all ? qzi_unwinding_of(paths->in, paths->frames[all - 1].module) : NULL;
  if (!row) return;
  row->walks++;
  row->cut[cut]++;
}

static int walk_most(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                     const struct qzi_stack_copy *copy, uint32_t most, struct qzi_walk *walk) {
  uint64_t begun_ns = qzi_clock_ns();
  int complete;
  uint32_t all = qzi_unwind(paths->unwinder, from, copy, paths->frames, most, &complete);
  uint32_t count = most > 1 ? trim(paths, index, all, complete) : all, first = 0;
  int stands_in = 0;
  for (uint32_t k = 0; k < count; k++)
    if (qzi_code_of_frame(paths, &paths->frames[k]) == QZI_CODE_LAYER && !qzi_code_passes_on(paths, k, all))
      first = k + !(stands_in = qzi_code_stands_in(paths, &paths->frames[k]));
  walk->count = walk->start_loops = 0;
  walk->whole = complete || count < all;
  count_walk(paths, all, walk->whole ? QZ_CUT_NOT : most > 1 ? qzi_unwind_cut(paths->unwinder) : QZ_CUT_LATER);
  walk->in_layer = first > 0 && !stands_in;
  walk->in_lock = walk->in_layer && qzi_code_takes_lock(paths, &paths->frames[first - 1]);
  walk->mpi = qzi_mpi_of(paths, count, all, &first);
  walk->innermost = walk->pc = walk->pc_entry = 0;
  if (all && !first && paths->frames[0].entry && paths->frames[0].module) {
    enum qzi_code code = qzi_code_of_frame(paths, &paths->frames[0]);
    walk->pc_own = code == QZI_CODE_OWN;
    if (walk->pc_own || code == QZI_CODE_LIBRARY || code == QZI_CODE_CXX) {
      walk->pc = paths->frames[0].pc;
      walk->pc_entry = paths->frames[0].entry;
    }
  }
  find_site(paths, all, first, walk);
  qzi_mpi_site(paths, all, first, walk);
  find_callers(paths, all, walk);
  uint64_t start = qzi_paths_start(paths, index);
  walk->thread = index;
  walk->team_work = walk->forks = 0;
  walk->team_task = 0;
  int inside =
    count < all && qzi_code_executes_regions(paths, paths->frames[count].module) ? QZI_REGIONS_POOL : QZI_REGIONS_NONE;
  if (start && count < all && paths->frames[count].entry == start)
    add_inlined(paths, walk, &paths->frames[count], count);
  for (uint32_t k = count; k-- > first;) {
    const struct qzi_frame *frame = &paths->frames[k];
    int inner = k + 1 < count && qzi_code_of_frame(paths, frame) == QZI_CODE_C &&
                qzi_code_of_frame(paths, &frame[1]) == QZI_CODE_C;
    if (!frame->entry || inner) continue;
    uint32_t at = walk->count;
    int left_out = qzi_code_of_frame(paths, frame) == QZI_CODE_LAYER && !(stands_in && k == first);
    if (!left_out) add_frame(paths, walk, frame, k - first);
    if (left_out || walk->count > at) qzi_regions_add(paths, walk, frame, at, &inside);
  }
  paths->spent_ns += spent_since(paths, begun_ns);
  return all ? 0 : -1;
}

int qzi_paths_walk(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                   const struct qzi_stack_copy *copy, struct qzi_walk *walk) {
  return walk_most(paths, index, from, copy, QZI_FRAMES_MOST, walk);
}

int qzi_paths_beyond(const struct qzi_paths *paths) { return qzi_unwind_beyond(paths->unwinder); }

int qzi_paths_walk_innermost(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                             struct qzi_walk *walk) {
  return walk_most(paths, index, from, NULL, 1, walk);
}

int qzi_paths_walk_wait(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk) {
  const struct qz_thread *thread = qz_session_thread(paths->in->view, index);
  uint64_t at = QZ_LOAD(&thread->frame);
  struct qz_frame frame;
  if (!at) return -1;
  if (qzi_program_read(paths->in->file->head->pid, at, &frame, sizeof frame)) {
    if (errno == EPERM || errno == ENOSYS) paths->in->file->head->paths |= QZ_PATHS_NO_MEMORY;
    return -1;
  }
  struct qzi_registers from = {.pc = frame.pc, .sp = frame.sp, .fp = frame.fp, .fp_known = 1};
  return qzi_paths_walk(paths, index, &from, NULL, walk);
}

/* Adds the object with the calls in the program's own code that led to this wait. */
static struct qzi_object_place *add_place(struct qzi_paths *paths, uint32_t entity, const struct qzi_walk *walk) {
  struct qzi_object_place *place = qzi_object_place_add(paths->in, entity);
  for (; place && place->count < walk->callers && place->count < QZI_PLACE_CALLERS; place->count++)
    place->callers[place->count] = walk->caller[place->count].pc;
  return place;
}

void qzi_paths_settle_place(struct qzi_paths *paths, uint64_t key, const struct qzi_walk *walk) {
  uint32_t entity = paths->in->object_entities[QZ_KEY_INDEX(key)];
  if (!walk->own || !entity) return;
  const struct qz_entity *its = &paths->in->file->entities[entity];
  struct qzi_object_place *place = qzi_object_place(paths->in, entity);
  if (place) {
    if (its->kind == QZ_KIND_JOIN && place->own && place->own != walk->site && its->address == place->own)
      qzi_object_place_set(paths->in, entity, place->library);
    return;
  }
  if (!its->address || !(place = add_place(paths, entity, walk)) || its->address == walk->site) return;
  if (qzi_paths_library(paths, its->address) != QZI_LIBRARY_C &&
      !qzi_unwind_standard(paths->unwinder, its->address - 1))
    return;
  place->own = walk->site;
  qzi_object_place_set(paths->in, entity, walk->site);
}
