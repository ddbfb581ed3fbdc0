/* What tracked threads wait for, and where. See tracked.h. */
#include "tracked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "sampler/waits/external_waits.h"
#include "sampler/outside/objects.h"

#define AGAIN_NS   UINT64_C(20000000) /* until a wait is walked again whose scopes were not read yet: this, */
#define AGAIN_MOST 8u                 /* and so often twice as long as before */

static int is_plain(uint64_t entry) { return !(entry & (QZI_KEY_INLINED | QZI_KEY_GENERATED)); }

/* The C library's code that starts a thread, or main, where it is linked statically. */
static int starts_thread(struct qzi_tracker *tracker, uint64_t entry) {
  static const char *const names[] = {"_start", "__libc_start", "start_thread", "clone"};
  int library;
  const char *name = qzi_paths_symbol(tracker->paths, entry, &library);
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
    if (strstr(name, names[k])) return !library;
  return 0;
}

/* From outside nobody says what a thread began with: that is the outermost procedure of its path. */
void qzi_track_start(struct qzi_tracker *tracker, uint32_t entity, const struct qzi_walk *walk) {
  struct qzi_interner *in = &tracker->sampler->in;
  uint32_t at = 0;
  if (!tracker->sampler->outside || !entity || !walk->whole || in->file->entities[entity].address) return;
  while (at < walk->count && is_plain(walk->entries[at]) && starts_thread(tracker, walk->entries[at])) at++;
  if (at == walk->count || !is_plain(walk->entries[at])) return;
  struct qz_entity *thread = &in->file->entities[entity];
  thread->module = qzi_intern_module(in, walk->entries[at]);
  thread->address = walk->entries[at];
}

/* Conditions of a library that the system installed are no help: libomp has one for each thread, for barriers, ends of
 * regions and locks alike. Nor do its loops of sched_yield, and those of C++'s own library. What the program called
 * there says what the thread waits for, as with libraries that call the kernel's futex themselves (its object,
 * external_waits.h). 0: the object is no such one. */
static uint32_t waits_inside(struct qzi_tracker *tracker, uint32_t kind, uint32_t object, const struct qzi_walk *walk) {
  struct qzi_interner *in = &tracker->sampler->in;
  uint32_t entity = object && (kind == QZ_KIND_CONDITION || kind == QZ_KIND_LOOP) ? in->object_entities[object] : 0;
  uint64_t place = entity ? tracker->sampler->file->entities[entity].address : 0;
  if (!place || !walk->site) return 0;
  int library = kind == QZ_KIND_LOOP ? qzi_paths_serves(tracker->paths, place - 1)
                                     : qzi_paths_library(tracker->paths, place) == QZI_LIBRARY;
  return library ? qzi_futex(in, 0, walk) : 0;
}

/* The wait at `from` is the one that has been walked. Not so where now more may be known of the code that it is in. */
static int is_walked(const struct qzi_tracker *tracker, const struct qzi_tracked *known, uint64_t now_ns) {
  return !known->again_ns || now_ns < known->again_ns || !qzi_paths_may(tracker->paths, now_ns);
}

static void walked_now(const struct qzi_tracker *tracker, struct qzi_tracked *known, int first, uint64_t now_ns) {
  known->walks = first ? 1 : (uint8_t)(known->walks + 1);
  known->again_ns =
    known->walks > AGAIN_MOST || qzi_paths_complete(tracker->paths) ? 0 : now_ns + (AGAIN_NS << (known->walks - 1));
}

/* The record says what the thread waits for, and where it was when it began to. */
void qzi_track_wait(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    uint32_t *object, uint64_t now_ns) {
  const struct qz_thread *thread = qz_session_thread(tracker->sampler->view, index);
  uint64_t word = tracker->sampler->in.memos[index].word;
  /* The same wait: every push and pop changes the word. */
  int same = known->from == look->node && known->word == word && known->state == look->state;
  if (same && is_walked(tracker, known, now_ns)) {
    look->node = known->node;
    if (known->inside) *object = known->inside;
    return;
  }
  known->from = known->inside = 0;
  known->node = look->node;
  if (look->torn || !qzi_paths_may(tracker->paths, now_ns) ||
      qzi_paths_walk_wait(tracker->paths, index, &tracker->walk))
    return;
  /* Frames are those of the wait only where that still goes on. */
  if (QZ_LOAD(&thread->word) != word || QZ_LOAD(&thread->state) != look->state) return;
  uint64_t waiting = qzi_waits_at_top(tracker->sampler, look->node, QZ_STATE_OBJECT(look->state))
                       ? tracker->sampler->in.node_keys[look->node]
                       : 0;
  walked_now(tracker, known, !same, now_ns);
  if (waiting && tracker->walk.innermost) qzi_paths_taken(tracker->paths, waiting, tracker->walk.innermost);
  if (waiting) qzi_paths_settle_place(tracker->paths, waiting, &tracker->walk);
  known->from = look->node;
  known->word = word;
  known->state = look->state;
  uint32_t node = look->node;
  known->inside = waiting ? waits_inside(tracker, QZ_KEY_KIND(waiting), QZ_KEY_INDEX(waiting), &tracker->walk) : 0;
  if (known->inside) {
    *object = known->inside;
    node = tracker->sampler->file->stacks[node].parent; /* without the condition */
    waiting = QZ_KEY(QZ_KIND_FUTEX, known->inside);
  }
  known->node = look->node = qzi_paths_node(tracker->paths, node, &tracker->walk, waiting, 1);
  tracker->sampler->file->head->paths |= QZ_PATHS_WAITS;
}

#define WITHIN                                                                                           \
  3u /* procedures: of a C library that is linked statically those that others of its own call show, too \
      */

/* What the C library's procedure in which the thread sleeps waits for, as a key: an object of the session. 0: it is
 * none that is known. */
static uint64_t waits_for(struct qzi_tracker *tracker, uint64_t futex, const struct qzi_walk *walk, uint64_t now_ns) {
  int library = 0;
  uint32_t kind = 0, object = 0;
  if (!tracker->sampler->outside) return 0;
  if (!walk->innermost) object = qzi_outside_known(tracker->sampler->outside, futex, &kind); /* no time to walk */
  for (uint32_t k = 0; k < WITHIN && k < walk->count && !object && !library; k++) {
    uint64_t entry = walk->entries[walk->count - 1 - k];
    if (!is_plain(entry)) break;
    const char *called = qzi_paths_symbol(tracker->paths, entry, &library);
    object = qzi_outside_object(tracker->sampler->outside, called, futex, walk->site, now_ns, &kind);
    if (!strstr(called, "lll_lock") && !strstr(called, "futex")) break;
  }
  /* It may have gone on by a jump, to one that has no name where the library's symbols are stripped (sem_wait). */
  uint64_t target = object ? 0 : qzi_called_at(&tracker->sampler->in, walk->site, walk->called);
  if (target)
    object = qzi_outside_object(tracker->sampler->outside, qzi_paths_symbol(tracker->paths, target, &library), futex,
                                walk->site, now_ns, &kind);
  uint64_t key = object ? QZ_KEY(kind, object) : 0;
  /* Frames of an owner are of another moment than the look at the lock: only those of procedures that take it stand
   * behind it. Of a lock that is kept for long it is not known which do. */
  if (key && qz_kind_is_lock(kind) && walk->own && qzi_outside_is_brief(tracker->sampler->outside, object))
    qzi_paths_taken_at(tracker->paths, key, walk->site);
  return key;
}

/* A walk may end inside MPI, where the frame pointer of a thread that sleeps would have to be known: then it sleeps in
 * the call in which its last sample found it. */
static void complete_mpi(const struct qzi_tracked *known, struct qzi_walk *walk) {
  if (walk->whole || walk->own || walk->mpi != QZI_MPI_NONE || known->mpi.mpi == QZI_MPI_NONE) return;
  qzi_tracked_in_call(&known->mpi, walk);
  walk->count = 1;
  walk->entries[0] = walk->innermost = walk->called;
  walk->loops[0] = walk->start_loops = 0;
}

/* Only the kernel knows that it sleeps. */
void qzi_track_sleep(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                     int hooked, const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  int futex = asleep->call == SYS_futex;
  uint64_t word = tracker->sampler->in.memos[index].word;
  int same = known->from == look->node && known->word == word && known->state == look->state &&
             known->sp == asleep->sp && known->pc == asleep->pc && known->futex == (futex ? asleep->first : 0);
  /* Two waits may look the same from here, so each is walked, as long as there is time for it. */
  struct qzi_walk *walk = &tracker->walk;
  *walk = (struct qzi_walk){.count = 0};
  int walked = 0, serves = tracker->paths && qzi_paths_mpi_thread(tracker->paths, index, walk);
  if (same && asleep->rested && is_walked(tracker, known, now_ns) && (!serves || known->object)) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (!serves && tracker->paths && asleep->sp && qzi_paths_may(tracker->paths, now_ns)) {
    struct qzi_registers from = {.pc = asleep->pc, .sp = asleep->sp};
    walked = !qzi_paths_walk(tracker->paths, index, &from, NULL, walk);
    if (walked) complete_mpi(known, walk);
  }
  if (!walked && !serves && same) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (walked) walked_now(tracker, known, !same || !asleep->rested, now_ns);
  if (walked) qzi_track_start(tracker, look->entity, walk);
  if (hooked) walk->count = walk->start_loops = 0;
  if (walked && !known->slept) known->slept = malloc(sizeof *known->slept);
  if (walked && known->slept) *known->slept = *walk;
  int of_mpi = serves || (walked && (walk->mpi == QZI_MPI_WAITS || walk->mpi == QZI_MPI_STARTS));
  known->waits = futex && !of_mpi ? waits_for(tracker, asleep->first, walk, now_ns) : 0;
  if (known->waits && !(same && asleep->rested))
    qzi_outside_begun(tracker->sampler->outside, QZ_KEY_INDEX(known->waits));
  uint32_t found =
    (futex && !known->waits) || of_mpi ? qzi_futex(&tracker->sampler->in, of_mpi ? 0 : asleep->first, walk) : 0;
  known->from = look->node;
  known->word = word;
  known->state = look->state;
  known->sp = asleep->sp;
  known->pc = asleep->pc;
  known->futex = futex ? asleep->first : 0;
  known->object = *object = known->waits ? QZ_KEY_INDEX(known->waits) : found;
  if (walked && !hooked) tracker->sampler->file->head->paths |= QZ_PATHS_WAITS;
  uint64_t waiting = known->waits ? known->waits : found ? QZ_KEY(QZ_KIND_FUTEX, found) : 0;
  if (walk->count || waiting) look->node = qzi_paths_node(tracker->paths, look->node, walk, waiting, 1);
  known->node = look->node;
}

/* It was found spinning on the object, for which the record has no state. As for a wait; but its last sample may be
 * older. */
int qzi_track_spinning(struct qzi_tracker *tracker, const struct qzi_tracked *known, struct qzi_look *look,
                       uint32_t *object) {
  struct qzi_sampler *sampler = tracker->sampler;
  const struct qz_object *record =
    *object < qz_session_object_high(sampler->view) ? qz_session_object(sampler->view, *object) : NULL;
  const struct qzi_walk *walk = qzi_tracked_walk(known);
  if (!record || !walk) return 0;
  uint64_t served = walk->called ? walk->called : walk->own ? 0 : walk->site;
  uint32_t entity = sampler->in.object_entities[*object];
  if (!served || !entity || qzi_intern_module(&sampler->in, served) != sampler->file->entities[entity].module) return 0;
  uint32_t inside = waits_inside(tracker, QZ_LOAD(&record->kind), *object, walk);
  if (!inside) return 0;
  *object = inside;
  look->node = qzi_intern_child(&sampler->in, look->node, QZ_KEY(QZ_KIND_FUTEX, inside));
  return 1;
}
