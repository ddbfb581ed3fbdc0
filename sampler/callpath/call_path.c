/* Frames into paths. See call_path.h. */
#include "call_path.h"

#include <errno.h>
#include <string.h>
#include "abi/mpi_call.h"
#include "sampler/machine_code/call_target.h"
#include "sampler/util/array.h"
#include "inline_frames.h"
#include "sampler/profile/modules.h"
#include "sampler/util/clock.h"
#include "sampler/linux/process_memory.h"

/* Of a whole path: its own entries, what stands between them, and all loops. */
#define PATH_MOST (2 * KEYS_MOST + QZI_WALK_MOST * (2 + QZI_LOOPS_MOST) + QZI_LOOPS_MOST + 2)
#define KEYS_MOST 512u               /* entries of a path made by hooks and objects; deeper ones are left out */
#define TAKERS    8u                 /* further ones are not distinguished from wrappers */
#define SITES     8u                 /* of a lock; frames are not compared with further ones */
#define WRAPPERS  64u                /* a table by hash: a later one may take the slot of an earlier one */
#define SHARE     50u                /* 1/SHARE of the time may go into walks */
#define MPI_CALLS 64u                /* likewise */
#define PLACES    256u               /* calls for locks that are remembered; further ones are not */
#define LONG_NS   UINT64_C(50000)    /* of a walk: most take 2 to 3 us */
#define HEADSTART UINT64_C(20000000) /* ns, for the first walks, each through code that was not seen before */

/* LIBRARY: another that the system installed; MPI: one of an MPI implementation's */
enum code { CODE_OWN = 0, CODE_LIBRARY, CODE_MPI, CODE_LAYER, CODE_C, CODE_CXX };

/* Procedures that take a lock, and where in them. */
struct takers {
  uint64_t key;
  uint32_t count, sites_count;
  uint64_t entries[TAKERS];
  struct {
    uint64_t entry, site;
  } sites[SITES]; /* site: return address of the call for the lock */
};

/* The place of an object that was made in a library, and the program's. */
struct place {
  uint32_t entity;
  uint64_t library, own;
};

struct qzi_paths {
  struct qzi_interner *in;
  struct qzi_unwinder *unwinder;
  struct qzi_inlining *inlining; /* NULL: inlined procedures are not distinguished */
  uint64_t first_ns, spent_ns;
  uint64_t cpu_ns; /* processor time of the calling thread when the snapshot began, or the last long walk ended */
  uint8_t *codes;  /* by module: enum code + 1, 0: not looked at */
  uint32_t codes_count;
  struct qzi_table taker_table; /* by key of the object */
  struct takers *takers;
  uint32_t takers_count, takers_room;
  struct place places[PLACES];
  uint32_t places_count;
  uint64_t wrappers[WRAPPERS]; /* entries of procedures that take locks for their callers */
  struct mpi_call {
    uint64_t entry;
    enum qz_mpi_call call;
  } mpi_calls[MPI_CALLS];
  struct mpi_site {
    uint64_t site, called;
  } mpi_sites[MPI_CALLS];
  uint32_t mpi_readings; /* of the map, when they were found */
  int mpi;               /* 1: there is a library of MPI's */
  struct qzi_frame frames[QZI_FRAMES_MOST];
};

struct qzi_paths *qzi_paths_open(struct qzi_interner *in) {
  struct qzi_paths *paths = calloc(1, sizeof *paths);
  if (!paths) return NULL;
  paths->in = in;
  paths->unwinder = qzi_unwinder_open(in);
  paths->inlining = paths->unwinder ? qzi_inlining_open(in) : NULL;
  paths->first_ns = qzi_clock_ns();
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

void qzi_paths_without_inlined(struct qzi_paths *paths) {
  qzi_inlining_close(paths->inlining);
  paths->inlining = NULL;
}

void qzi_paths_prepare(struct qzi_paths *paths) {
  qzi_unwinder_prepare(paths->unwinder);
  paths->first_ns = qzi_clock_ns();
}

uint64_t qzi_paths_begin(struct qzi_paths *paths) {
  paths->cpu_ns = qzi_thread_cpu_ns();
  return qzi_inlining_take(paths->inlining);
}

int qzi_paths_may(struct qzi_paths *paths, uint64_t now_ns) {
  return paths->spent_ns * SHARE < now_ns - paths->first_ns + HEADSTART * SHARE;
}

int qzi_paths_complete(const struct qzi_paths *paths) { return qzi_inlining_answered(paths->inlining); }

uint64_t qzi_paths_spent_ns(const struct qzi_paths *paths) { return paths->spent_ns; }

/* ---- which code a frame is in ---- */

static int begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

/* module: index + 1 */
static enum code code_of(struct qzi_paths *paths, uint32_t module) {
  const struct qzi_file *file = paths->in->file;
  uint32_t count = (uint32_t)qzi_file_count(file, QZ_SECTION_MODULES);
  if (!module || module > count) return CODE_OWN;
  if (count > paths->codes_count) {
    uint8_t *codes = realloc(paths->codes, count);
    if (!codes) return CODE_OWN;
    memset(codes + paths->codes_count, 0, count - paths->codes_count);
    paths->codes = codes;
    paths->codes_count = count;
  }
  uint8_t *code = &paths->codes[module - 1];
  if (!*code) {
    const char *path = file->strings + file->modules[module - 1].path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int c = begins(name, "libc.so") || begins(name, "libc-2") || begins(name, "libpthread") ||
            begins(name, "ld-linux") || begins(name, "ld-2");
    *code = 1 + (begins(name, "libquartz-pthread.so")                        ? CODE_LAYER
                 : c                                                         ? CODE_C
                 : begins(name, "libstdc++.so") || begins(name, "libc++.so") ? CODE_CXX
                 : qz_mpi_is_library(path)                                   ? CODE_MPI
                 : qz_is_installed(path)                                     ? CODE_LIBRARY
                                                                             : CODE_OWN);
  }
  return (enum code)(*code - 1);
}

/* ---- walks ---- */

static int is_library(enum code code) { return code == CODE_LIBRARY || code == CODE_MPI; }
static int starts_threads(enum code code) { return code == CODE_C || code == CODE_CXX || code == CODE_LAYER; }

/* Leaves out what starts the thread: everything outside its start routine, which the record names. */
static uint32_t trim(struct qzi_paths *paths, uint32_t index, uint32_t count, int complete) {
  uint64_t start = QZ_LOAD(&qz_session_thread(paths->in->view, index)->start);
  for (uint32_t k = count; start && k-- > 0;)
    if (paths->frames[k].entry == start) return k;
  /* The C library's code that starts threads has no unwind information in some versions. */
  if (!complete && (!count || code_of(paths, paths->frames[count - 1].module) != CODE_C)) return count;
  if (count && !starts_threads(code_of(paths, paths->frames[count - 1].module))) count--; /* _start */
  while (count && starts_threads(code_of(paths, paths->frames[count - 1].module))) count--;
  return count;
}

/* Where the program calls for what the thread is doing: its innermost code that is neither a library's, nor of a
 * library that was compiled into it (C++'s, Rust's). Without any, where a library calls the C library. */
static void find_site(struct qzi_paths *paths, uint32_t all, uint32_t first, struct qzi_walk *walk) {
  uint32_t own = all, other = all;
  for (uint32_t k = first; k < all && (own == all || paths->frames[own].standard); k++) {
    const struct qzi_frame *frame = &paths->frames[k];
    enum code code = code_of(paths, frame->module);
    if (!frame->module || starts_threads(code)) continue;
    if (is_library(code) && other == all) other = k;
    if (code == CODE_OWN) own = k;
  }
  uint32_t at = own < all && (!paths->frames[own].standard || other == all) ? own : other;
  walk->site = at < all ? paths->frames[at].pc : 0;
  walk->site_module = at < all ? paths->frames[at].module : 0;
  walk->own = at == own && at < all && !paths->frames[at].standard;
  walk->caller_entry = walk->own ? paths->frames[at].entry : 0;
  walk->called = walk->own && at > first ? paths->frames[at - 1].entry : 0;
}

int qzi_paths_library(struct qzi_paths *paths, uint64_t address) {
  enum code code = code_of(paths, qzi_intern_module(paths->in, address));
  return is_library(code) ? QZI_LIBRARY : starts_threads(code) ? QZI_LIBRARY_C : 0;
}

int qzi_paths_serves(struct qzi_paths *paths, uint64_t address) {
  return qzi_paths_library(paths, address) || qzi_unwind_standard(paths->unwinder, address);
}

/* ---- MPI ---- */

/* The program has a library of MPI's. What was found is forgotten when other code may lie there. */
static int has_mpi(struct qzi_paths *paths) {
  if (paths->mpi_readings == paths->in->map_readings) return paths->mpi;
  memset(paths->mpi_calls, 0, sizeof paths->mpi_calls);
  memset(paths->mpi_sites, 0, sizeof paths->mpi_sites);
  paths->mpi_readings = paths->in->map_readings;
  paths->mpi = 0;
  for (uint32_t k = 1; k <= qzi_file_count(paths->in->file, QZ_SECTION_MODULES); k++)
    paths->mpi |= code_of(paths, k) == CODE_MPI;
  return paths->mpi;
}

/* Of a procedure, by its entry. */
static enum qz_mpi_call mpi_call(struct qzi_paths *paths, uint64_t entry) {
  struct mpi_call *slot = &paths->mpi_calls[qzi_hash(entry, 7) % MPI_CALLS];
  if (slot->entry != entry)
    *slot = (struct mpi_call){.entry = entry, .call = qz_mpi_call_of(qzi_unwind_symbol(paths->unwinder, entry))};
  return slot->call;
}

/* What is called at a place, where that is a procedure of MPI's; 0: it is not. It may have gone on by a jump, and so be
 * on no stack. */
static uint64_t mpi_called_at(struct qzi_paths *paths, uint64_t site) {
  struct mpi_site *slot = &paths->mpi_sites[qzi_hash(site, 7) % MPI_CALLS];
  if (slot->site != site) {
    uint64_t target = qzi_call_target(qzi_paths_pid(paths), site);
    int its = target && code_of(paths, qzi_intern_module(paths->in, target)) == CODE_MPI;
    *slot = (struct mpi_site){.site = site, .called = its && mpi_call(paths, target) != QZ_MPI_NONE ? target : 0};
  }
  return slot->called;
}

/* Where the thread stands with MPI, of frames *first .. count. *first: what is further inside is left out. */
static enum qzi_mpi mpi_of(struct qzi_paths *paths, uint32_t count, uint32_t all, uint32_t *first) {
  if (!has_mpi(paths)) return QZI_MPI_NONE;
  uint32_t k = count; /* the frame that calls */
  while (k > *first && code_of(paths, paths->frames[k - 1].module) != CODE_MPI) k--;
  if (k == *first) /* frames may be missing where the frame pointer of a sleeping thread is not known */
    while (k < all && starts_threads(code_of(paths, paths->frames[k].module))) k++;
  if (k == *first) return QZI_MPI_NONE;
  struct qzi_frame *outermost = &paths->frames[k - 1];
  uint64_t called = outermost->entry;
  if (code_of(paths, outermost->module) != CODE_MPI || mpi_call(paths, called) == QZ_MPI_NONE)
    called = k < all ? mpi_called_at(paths, outermost[1].pc) : 0;
  if (!called) return QZI_MPI_NONE;
  outermost->entry = called;
  outermost->module = qzi_intern_module(paths->in, called);
  *first = k - 1;
  switch (mpi_call(paths, called)) {
  case QZ_MPI_OTHER: return QZI_MPI_CALL;
  case QZ_MPI_START: return QZI_MPI_STARTS;
  default: return QZI_MPI_WAITS;
  }
}

int qzi_paths_mpi_thread(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk) {
  uint64_t start = has_mpi(paths) ? QZ_LOAD(&qz_session_thread(paths->in->view, index)->start) : 0;
  uint32_t module = start ? qzi_intern_module(paths->in, start) : 0;
  if (!module || code_of(paths, module) != CODE_MPI) return 0;
  *walk = (struct qzi_walk){.site = start, .site_module = module};
  return 1;
}

/* Where it is called: by the program's code, or by a library that has MPI called for the program (Python's). */
static void find_mpi_site(const struct qzi_paths *paths, uint32_t all, uint32_t first, struct qzi_walk *walk) {
  if (walk->mpi == QZI_MPI_NONE || walk->own || first + 1 >= all) return;
  walk->site = paths->frames[first + 1].pc;
  walk->site_module = paths->frames[first + 1].module;
  walk->own = walk->site_module != 0;
  walk->caller_entry = paths->frames[first + 1].entry;
  walk->called = paths->frames[first].entry;
}

/* What is inlined at the frame. left: frames that are still to come. */
static void add_inlined(struct qzi_paths *paths, struct qzi_walk *walk, const struct qzi_frame *frame, uint32_t left) {
  if (code_of(paths, frame->module) != CODE_OWN || !frame->module) return;
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
  /* Direct recursion shows once, with what is inlined at its innermost. */
  if (walk->count && walk->innermost == frame->entry)
    while (walk->entries[walk->count - 1] != frame->entry) walk->count--;
  else
    walk->entries[walk->count++] = walk->innermost = frame->entry;
  walk->loops[walk->count - 1] = 0;
  add_inlined(paths, walk, frame, left);
}

const char *qzi_paths_symbol(struct qzi_paths *paths, uint64_t address, int *library) {
  *library = code_of(paths, qzi_intern_module(paths->in, address)) != CODE_OWN;
  return qzi_unwind_symbol(paths->unwinder, address);
}
int qzi_paths_vdso(struct qzi_paths *paths, uint64_t address) { return qzi_unwind_vdso(paths->unwinder, address); }
uint32_t qzi_paths_pid(const struct qzi_paths *paths) { return paths->in->file->head->pid; }

static void find_callers(struct qzi_paths *paths, uint32_t all, struct qzi_walk *walk) {
  walk->callers = 0;
  for (uint32_t k = 1; k < all && walk->callers < QZI_CALLERS; k++) {
    const struct qzi_frame *frame = &paths->frames[k];
    if (!frame->module || code_of(paths, frame->module) != CODE_OWN) continue;
    walk->caller[walk->callers].pc = frame->pc;
    walk->caller[walk->callers++].framed = frame->framed;
  }
}

/* Processor time of what began then. One that took long may have been without a CPU most of that time: where other
 * programs have the CPUs, walks would else soon have had their share by doing nothing. */
static uint64_t spent_since(struct qzi_paths *paths, uint64_t begun_ns) {
  uint64_t ns = qzi_clock_ns() - begun_ns;
  if (ns < LONG_NS) return ns;
  uint64_t cpu_ns = qzi_thread_cpu_ns(), used_ns = cpu_ns - paths->cpu_ns;
  paths->cpu_ns = cpu_ns;
  return used_ns < ns ? used_ns : ns;
}

int qzi_paths_walk(struct qzi_paths *paths, uint32_t index, const struct qzi_registers *from,
                   const struct qzi_stack_copy *copy, struct qzi_walk *walk) {
  uint64_t begun_ns = qzi_clock_ns();
  int complete;
  uint32_t all = qzi_unwind(paths->unwinder, from, copy, paths->frames, QZI_FRAMES_MOST, &complete);
  uint32_t count = trim(paths, index, all, complete), first = 0;
  for (uint32_t k = 0; k < count; k++)
    if (code_of(paths, paths->frames[k].module) == CODE_LAYER) first = k + 1;
  walk->count = walk->start_loops = 0;
  walk->whole = complete || count < all;
  walk->in_layer = first > 0;
  walk->innermost = 0;
  walk->mpi = mpi_of(paths, count, all, &first);
  find_site(paths, all, first, walk);
  find_mpi_site(paths, all, first, walk);
  find_callers(paths, all, walk);
  uint64_t start = QZ_LOAD(&qz_session_thread(paths->in->view, index)->start);
  if (start && count < all && paths->frames[count].entry == start)
    add_inlined(paths, walk, &paths->frames[count], count);
  for (uint32_t k = count; k-- > first;) {
    const struct qzi_frame *frame = &paths->frames[k];
    int inner = k + 1 < count && code_of(paths, frame->module) == CODE_C && code_of(paths, frame[1].module) == CODE_C;
    if (!frame->entry || inner) continue;
    add_frame(paths, walk, frame, k - first);
  }
  paths->spent_ns += spent_since(paths, begun_ns);
  return all ? 0 : -1;
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

static void put_place(struct qzi_paths *paths, uint32_t entity, uint64_t site) {
  struct qz_entity *its = &paths->in->file->entities[entity];
  its->address = site;
  its->module = qzi_intern_module(paths->in, site);
}

void qzi_paths_settle_place(struct qzi_paths *paths, uint64_t key, const struct qzi_walk *walk) {
  uint32_t index = QZ_KEY_INDEX(key), entity = paths->in->object_entities[index], k = 0;
  if (!walk->own || !entity) return;
  const struct qz_entity *its = &paths->in->file->entities[entity];
  while (k < paths->places_count && paths->places[k].entity != entity) k++;
  if (k < paths->places_count) {
    struct place *place = &paths->places[k];
    if (its->kind == QZ_KIND_JOIN && place->own != walk->site && its->address == place->own)
      put_place(paths, entity, place->library);
    return;
  }
  if (k == PLACES || !its->address || its->address == walk->site) return;
  if (qzi_paths_library(paths, its->address) != QZI_LIBRARY_C &&
      !qzi_unwind_standard(paths->unwinder, its->address - 1))
    return;
  paths->places[paths->places_count++] = (struct place){.entity = entity, .library = its->address, .own = walk->site};
  put_place(paths, entity, walk->site);
}

/* ---- nodes ---- */

/* Keys of a node, outermost first. */
static uint32_t keys_of(const struct qzi_interner *in, uint32_t node, uint64_t *keys) {
  uint32_t depth = 0;
  for (uint32_t at = node; at && depth < KEYS_MOST; at = in->file->stacks[at].parent) depth++;
  for (uint32_t k = depth; k-- > 0; node = in->file->stacks[node].parent) keys[k] = in->node_keys[node];
  return depth;
}

int qzi_paths_hooked(const struct qzi_interner *in, uint32_t index, uint32_t node) {
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  const struct qzi_base *its = in->bases ? &in->bases[index] : NULL;
  int known = its && its->node && its->serial == QZ_LOAD(&thread->serial);
  uint32_t base = known ? its->depth : QZ_LOAD(&thread->base);
  uint32_t procedures = 0, most = base + (QZ_LOAD(&thread->start) != 0);
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

/* Whether the procedure is known to return with a lock in hand; teach: it does. */
static int is_wrapper(struct qzi_paths *paths, uint64_t entry, int teach) {
  uint64_t *slot = &paths->wrappers[qzi_hash(entry, 3) % WRAPPERS];
  if (teach) *slot = entry;
  return *slot == entry;
}

static struct takers *takers_of(struct qzi_paths *paths, uint64_t key) {
  uint32_t hash = qzi_hash(key, 5);
  QZI_TABLE_EACH(&paths->taker_table, hash, at)
  if (paths->takers[at - 1].key == key) return &paths->takers[at - 1];
  return NULL;
}

static struct takers *add_takers(struct qzi_paths *paths, uint64_t key) {
  struct takers *takers = takers_of(paths, key);
  if (takers) return takers;
  if (qzi_grow((void **)&paths->takers, &paths->takers_room, paths->takers_count + 1, sizeof *paths->takers))
    return NULL;
  if (qzi_table_add(&paths->taker_table, qzi_hash(key, 5), paths->takers_count + 1)) return NULL;
  takers = &paths->takers[paths->takers_count++];
  *takers = (struct takers){.key = key};
  return takers;
}

void qzi_paths_taken(struct qzi_paths *paths, uint64_t key, uint64_t entry) {
  struct takers *takers = add_takers(paths, key);
  if (!takers) return;
  for (uint32_t k = 0; k < takers->count; k++)
    if (takers->entries[k] == entry) return;
  if (entry && takers->count < TAKERS) takers->entries[takers->count++] = entry;
}

void qzi_paths_taken_at(struct qzi_paths *paths, uint64_t key, uint64_t site) {
  uint64_t entry = qzi_unwind_entry(paths->unwinder, site - 1);
  qzi_paths_taken(paths, key, entry);
  struct takers *takers = takers_of(paths, key);
  if (!takers || !entry) return;
  for (uint32_t k = 0; k < takers->sites_count; k++)
    if (takers->sites[k].site == site) return;
  if (takers->sites_count == SITES) return;
  takers->sites[takers->sites_count].entry = entry;
  takers->sites[takers->sites_count++].site = site;
}

static int took(const struct takers *takers, uint64_t entry) {
  for (uint32_t k = 0; k < takers->count; k++)
    if (takers->entries[k] == entry) return 1;
  return 0;
}

/* Where a lock stands among the frames. */
struct standing {
  uint32_t before;  /* so many of the frames stand before it */
  int older;        /* the frames are older than the lock: none of them stands behind it, */
  uint32_t inlined; /* but these stand before it, too, behind those frames: nobody else takes it */
  uint64_t keys[QZI_INLINED_MOST];
};

/* What is inlined where the lock is taken, without what takes locks for its callers. Their number. */
static uint32_t inlined_at(struct qzi_paths *paths, uint64_t site, uint64_t entry, uint64_t *keys) {
  uint32_t count = qzi_inlining_at(paths->inlining, site - 1, entry, keys);
  while (count && is_wrapper(paths, keys[count - 1], 0)) count--;
  return count;
}

/* The procedure `entry`, behind which the frames from number `at` on stand, takes the lock. It may do so in code that
 * is inlined into it: then that must stand behind it, unless it takes the lock for a caller, or the frames are older.
 */
static void place_inlined(struct qzi_paths *paths, const struct takers *takers, const struct qzi_walk *walk,
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
      if (!count) return; /* its own code takes the lock, too: all of it may have it */
      sites = SITES + 1;
    } else if (sites <= SITES) {
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

/* Of the first `frames` frames. */
static void place_among(struct qzi_paths *paths, const struct takers *takers, const struct qzi_walk *walk,
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
  if (walk->count && !walk->whole) return; /* taken further out */
  its->older = 1;
  for (uint32_t k = 0; k < takers->count; k++)
    if (is_wrapper(paths, takers->entries[k], settled && takers->count == 1)) its->older = 0;
}

/* Puts an entry of the walk on the path, and the loops behind it. */
static uint32_t put_entry(struct qzi_paths *paths, const struct qzi_walk *walk, uint32_t at, uint64_t *keys) {
  keys[0] = walk->entries[at];
  return 1 + qzi_inlining_loops(paths->inlining, walk->loops[at], keys + 1);
}

static uint32_t node_of(struct qzi_paths *paths, uint32_t node, const struct qzi_walk *walk, uint64_t waiting,
                        int settled, int sampled) {
  struct qzi_interner *in = paths->in;
  uint64_t old[KEYS_MOST], keys[PATH_MOST], prints[PATH_MOST];
  uint32_t depth = keys_of(paths->in, node, old), count = 0, k = 0, frame = 0, frames = walk->count;
  while (k < depth && !(old[k] & QZ_KEY_OBJECT)) keys[count++] = old[k++];
  if (depth > k && old[depth - 1] == waiting) depth--;
  uint64_t start = count ? keys[count - 1] : 0;
  count += qzi_inlining_loops(paths->inlining, walk->start_loops, keys + count);
  for (; k < depth; k++) {
    const struct takers *takers = takers_of(paths, old[k]);
    struct standing its;
    place_among(paths, takers, walk, frames, start, settled, &its);
    if (its.older && sampled) continue;
    if (its.older) {
      if (!its.before && !took(takers, start) && takers->count == 1 &&
          (!count || keys[count - 1] != takers->entries[0]))
        keys[count++] = takers->entries[0];
      frames = its.before > frame ? its.before : frame;
    }
    while (frame < its.before) count += put_entry(paths, walk, frame++, keys + count);
    for (uint32_t j = 0; its.older && j < its.inlined && count < 2 * KEYS_MOST - 2 * depth; j++)
      keys[count++] = its.keys[j];
    keys[count++] = old[k];
  }
  while (frame < frames) count += put_entry(paths, walk, frame++, keys + count);
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
