/* See creations.h. */
#include "creations.h"
#include "sampler/profile/interned_stacks.h"

#include <string.h>

#define RETRY_NS  UINT64_C(20000000)   /* ns until an incomplete creation is tried again, */
#define GIVEUP_NS UINT64_C(5000000000) /* and until it is given up */

struct unfinished {
  uint64_t since_ns, again_ns;
  struct qz_creation at;
};

struct qzi_creations {
  struct qzi_interner *in;
  struct qzi_paths *paths;
  qzi_first_wait *first_wait;
  uint64_t seen; /* number of creations read so far */
  uint32_t count;
  struct unfinished *unfinished; /* `count` of at most QZ_CREATIONS */
  struct qz_creation now;
  struct qzi_walk walk;
  uint64_t *keys, *prints; /* scratch memory for the path of a record */
};

struct qzi_creations *qzi_creations_open(struct qzi_interner *in, struct qzi_paths *paths, qzi_first_wait *first_wait) {
  if (!paths || !in->view->creation_table.capacity || !in->bases) return NULL;
  struct qzi_creations *creations = calloc(1, sizeof *creations);
  if (!creations) return NULL;
  creations->in = in;
  creations->paths = paths;
  creations->first_wait = first_wait;
  creations->unfinished = calloc(QZ_CREATIONS, sizeof *creations->unfinished);
  creations->keys = calloc(in->view->stack_limit, 2 * sizeof *creations->keys);
  creations->prints = creations->keys + in->view->stack_limit;
  if (creations->unfinished && creations->keys) return creations;
  qzi_creations_close(creations);
  return NULL;
}

void qzi_creations_close(struct qzi_creations *creations) {
  if (!creations) return;
  free(creations->unfinished);
  free(creations->keys);
  free(creations);
}

/* Removes the procedures that call pthread_create for the program (those of C++'s and Rust's own libraries). Returns 1
 * if the caller is the program's own code. */
static int is_own(struct qzi_paths *paths, struct qzi_walk *walk) {
  for (; walk->count; walk->count--) {
    uint64_t entry = walk->entries[walk->count - 1];
    if (entry & (QZI_KEY_INLINED | QZI_KEY_GENERATED)) return 1;
    if (qzi_paths_library(paths, entry) == QZI_LIBRARY) return 0;
    if (!qzi_paths_serves(paths, entry)) return 1;
  }
  return walk->own; /* the start routine itself called it */
}

/* Walks the copied stack. Returns 0, or -1 if nothing was found. */
static int walk_from(struct qzi_creations *creations, const struct qz_creation *at) {
  struct qzi_registers from = {.pc = at->from.pc, .sp = at->from.sp, .fp = at->from.fp, .fp_known = 1};
  struct qzi_stack_copy stack = {.address = at->from.sp, .bytes = at->bytes, .data = (const unsigned char *)at->stack};
  return qzi_paths_walk(creations->paths, at->creator, &from, &stack, &creations->walk);
}

static void take_futex(struct qzi_creations *creations, const struct qz_creation *at) {
  struct qzi_interner *in = creations->in;
  if (at->child >= qz_session_object_high(in->view) || walk_from(creations, at)) return;
  uint32_t thread = qzi_intern_thread(in, at->creator, at->creator_serial);
  if (thread) creations->first_wait(in, at->child, thread, &creations->walk);
}

/* Of a thread that OpenMP's library creates: the path that leads to the region. In a region which is inside another one
 * the thread serves that region alone. */
static void take_region(struct qzi_creations *creations, const struct qz_creation *at, uint32_t record) {
  struct qzi_walk *walk = &creations->walk;
  if (!walk->forks) return;
  walk->count = walk->fork[walk->forks - 1].at;
  uint32_t node = qzi_paths_node(creations->paths, record, walk, 0, 1); /* and it is kept */
  qzi_paths_serves_region(creations->paths, at->child, walk->forks > 1 || walk->team_work ? node : 0);
}

/* Node of the path that leads to the creation; 0: unknown. */
static uint32_t path_to(struct qzi_creations *creations, const struct qz_creation *at) {
  struct qzi_interner *in = creations->in;
  const struct qz_session_view *view = in->view;
  const struct qz_thread *child = qz_session_thread(view, at->child), *creator = qz_session_thread(view, at->creator);
  struct qz_stack_copy copy;
  uint64_t *keys = creations->keys, *prints = creations->prints;
  if (!qz_session_copy_stack(view, child, keys, 0, &copy)) return 0;
  uint32_t base = QZ_LOAD(&child->base);
  if (base > copy.depth || QZ_LOAD_ACQUIRE(&child->serial) != at->child_serial) return 0;
  base = qzi_intern_based(in, at->creator, at->creator_serial, keys, base);
  if (walk_from(creations, at)) return 0;
  if (QZ_LOAD_ACQUIRE(&creator->serial) != at->creator_serial) return 0;
  qzi_prints(in, keys, prints, 0, base);
  uint32_t record = qzi_intern_stack(in, keys, prints, base);
  take_region(creations, at, record);
  if (!is_own(creations->paths, &creations->walk)) return 0;
  return qzi_paths_node(creations->paths, record, &creations->walk, 0, 1);
}

/* Returns 1 if the creation is done: nothing more will become known about it. */
static int take(struct qzi_creations *creations, const struct qz_creation *at) {
  struct qzi_interner *in = creations->in;
  uint32_t capacity = in->view->thread_table.capacity;
  if (at->creator >= capacity || at->bytes > sizeof at->stack || at->bytes % 8) return 1;
  if (QZ_LOAD_ACQUIRE(&qz_session_thread(in->view, at->creator)->serial) != at->creator_serial) return 1;
  if (!at->child_serial) {
    take_futex(creations, at);
    return 1;
  }
  uint32_t node = path_to(creations, at);
  if (!node) return 1;
  qzi_intern_base(in, at->child, at->child_serial, node);
  return qzi_paths_complete(creations->paths);
}

/* Copies the creation with that number. Returns 1; 0 if it is still being written; -1 if it was overwritten by a later
 * one, or if the thread has ended. */
static int copy_of(const struct qz_session_view *view, uint64_t number, struct qz_creation *to) {
  const struct qz_creation *at = qz_session_creation(view, number);
  uint64_t sequence = QZ_LOAD_ACQUIRE(&at->sequence);
  if (sequence < 2 * number) return 0;
  if (sequence > 2 * number) return -1;
  uint32_t child = QZ_LOAD(&at->child);
  uint64_t serial = QZ_LOAD(&at->child_serial);
  if (serial && (child >= view->thread_table.capacity || QZ_LOAD(&qz_session_thread(view, child)->serial) != serial))
    return -1;
  for (size_t k = 0; k < sizeof *to / sizeof(uint64_t); k++)
    ((uint64_t *)(void *)to)[k] = QZ_LOAD((const uint64_t *)(const void *)at + k);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return QZ_LOAD(&at->sequence) == sequence ? 1 : -1;
}

static void retry(struct qzi_creations *creations, uint64_t now_ns) {
  for (uint32_t k = creations->count; k-- > 0;) {
    struct unfinished *its = &creations->unfinished[k];
    if (now_ns < its->again_ns || !qzi_paths_may(creations->paths)) continue;
    its->again_ns = now_ns + RETRY_NS;
    if (take(creations, &its->at) || now_ns - its->since_ns > GIVEUP_NS)
      *its = creations->unfinished[--creations->count];
  }
}

void qzi_creations_read(struct qzi_creations *creations, uint64_t now_ns) {
  const struct qz_session_view *view = creations->in->view;
  uint64_t all = QZ_LOAD_ACQUIRE(&qz_session_head(view)->creations), room = view->creation_table.capacity;
  if (all - creations->seen > room) creations->seen = all - room;
  retry(creations, now_ns);
  for (; creations->seen < all && qzi_paths_may(creations->paths); creations->seen++) {
    int got = copy_of(view, creations->seen + 1, &creations->now);
    if (!got && all - creations->seen < room / 2) return;
    if (got <= 0 || take(creations, &creations->now) || creations->count == QZ_CREATIONS) continue;
    creations->unfinished[creations->count++] =
      (struct unfinished){.since_ns = now_ns, .again_ns = now_ns + RETRY_NS, .at = creations->now};
  }
}
