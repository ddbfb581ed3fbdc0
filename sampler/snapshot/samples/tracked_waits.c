/* What tracked threads wait for, and where. See tracked.h. */
#include "tracked.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "sampler/waits/external_waits.h"
#include "sampler/outside/objects.h"
#include "sampler/profile/external_objects.h"
#include "sampler/profile/interned_stacks.h"

/* ns until a wait is walked again if the debug information of its code was not read yet: first this, */
#define AGAIN_NS   UINT64_C(20000000)
#define AGAIN_MOST 8u /* then twice as long each time, this many times */

static int is_plain(uint64_t entry) { return !(entry & (QZI_KEY_INLINED | QZI_KEY_GENERATED)); }

/* Whether it is the C library's code that starts a thread, or main, in a statically linked program. */
static int starts_thread(struct qzi_tracker *tracker, uint64_t entry) {
  static const char *const names[] = {"_start", "__libc_start", "start_thread", "clone"};
  int library;
  const char *name = qzi_paths_symbol(tracker->paths, entry, &library);
  for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
    if (strstr(name, names[k])) return !library;
  return 0;
}

/* In a program observed from outside, nothing reports a thread's start routine; it is set to the outermost procedure of
 * the path. */
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

/* A condition variable inside a library that the system installed does not identify the wait: libomp has one for each
 * thread, for barriers, ends of regions and locks alike. Neither does a loop of sched_yield in such a library or in
 * C++'s own one. The procedure that the program called there does, as for libraries that use the kernel's futex
 * directly. Returns that object (external_waits.h); 0: the object is not of that sort. */
static uint32_t waits_inside(struct qzi_tracker *tracker, uint32_t kind, uint32_t object, const struct qzi_walk *walk) {
  struct qzi_interner *in = &tracker->sampler->in;
  uint32_t entity = object && (kind == QZ_KIND_CONDITION || kind == QZ_KIND_LOOP) ? in->object_entities[object] : 0;
  uint64_t place = entity ? tracker->sampler->file->entities[entity].address : 0;
  if (!place || !walk->site) return 0;
  int library = kind == QZ_KIND_LOOP ? qzi_paths_serves(tracker->paths, place - 1)
                                     : qzi_paths_library(tracker->paths, place) == QZI_LIBRARY;
  return library ? qzi_futex(in, 0, walk) : 0;
}

/* Whether the wait at `from` has been walked, and a new walk would find nothing more about its code. */
static int is_walked(const struct qzi_tracker *tracker, const struct qzi_tracked *known, uint64_t now_ns) {
  return !known->again_ns || now_ns < known->again_ns || !qzi_paths_may(tracker->paths);
}

static void walked_now(const struct qzi_tracker *tracker, struct qzi_tracked *known, int first, uint64_t now_ns) {
  known->walks = first ? 1 : (uint8_t)(known->walks + 1);
  known->again_ns =
    known->walks > AGAIN_MOST || qzi_paths_complete(tracker->paths) ? 0 : now_ns + (AGAIN_NS << (known->walks - 1));
}

int qzi_track_futex(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    int hooked, uint32_t *object, uint64_t now_ns) {
  struct qzi_interner *in = &tracker->sampler->in;
  const uint32_t record = QZ_STATE_OBJECT(look->state);
  if (!record || record >= qz_session_object_high(in->view) ||
      QZ_LOAD_ACQUIRE(&qz_session_object(in->view, record)->kind) != QZ_KIND_FUTEX)
    return 0;
  const struct qz_thread *thread = qz_session_thread(in->view, index);
  struct qzi_walk *walk = &tracker->walk;
  uint64_t word = in->memos[index].word;
  int same = known->from == look->node && known->word == word && known->state == look->state;
  if (same && known->inside && is_walked(tracker, known, now_ns)) {
    look->node = known->node;
    *object = known->inside;
    return 1;
  }
  int walked = tracker->paths && !look->torn && qzi_paths_may(tracker->paths) &&
               !qzi_paths_walk_wait(tracker->paths, index, walk) && QZ_LOAD(&thread->word) == word &&
               QZ_LOAD(&thread->state) == look->state;
  if (walked) walked_now(tracker, known, !same, now_ns);
  /* A yield stands at another place than the wait of which it is part. */
  const int yields = (look->state & QZ_STATE_YIELDS) != 0, is_known = in->futex_records[record].external != 0;
  *object = !walked || (yields && is_known) ? qzi_external_of_futex(in, record)
            : yields ? qzi_futex(in, QZ_LOAD(&qz_session_object(in->view, record)->address), walk)
                     : qzi_futex_reported(in, record, look->entity, walk);
  known->from = walked ? look->node : 0;
  known->word = word;
  known->state = look->state;
  known->inside = *object;
  uint64_t waiting = *object ? QZ_KEY(QZ_KIND_FUTEX, *object) : 0;
  if (walked && !hooked) {
    look->node = qzi_paths_node(tracker->paths, look->node, walk, waiting, 1);
    tracker->sampler->file->head->paths |= QZ_PATHS_WAITS;
  } else if (waiting) {
    look->node = qzi_intern_child(in, look->node, waiting);
  }
  known->node = look->node;
  return 1;
}

/* For a wait that the record publishes, with the frame in which it began. */
void qzi_track_wait(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                    uint32_t *object, uint64_t now_ns) {
  const struct qz_thread *thread = qz_session_thread(tracker->sampler->view, index);
  uint64_t word = tracker->sampler->in.memos[index].word;
  /* The wait is the same, because every push and pop changes the word. */
  int same = known->from == look->node && known->word == word && known->state == look->state;
  if (same && is_walked(tracker, known, now_ns)) {
    look->node = known->node;
    if (known->inside) *object = known->inside;
    return;
  }
  known->from = known->inside = 0;
  known->node = look->node;
  if (look->torn || !qzi_paths_may(tracker->paths) || qzi_paths_walk_wait(tracker->paths, index, &tracker->walk))
    return;
  /* The frames belong to the wait only if it still goes on. */
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

/* Maximum number of innermost procedures examined: in a statically linked C library, procedures that it calls itself
 * are visible, too. */
#define WITHIN 3u

/* Key of the object of the session for which the C library's procedure waits in which the thread sleeps; 0: unknown. */
static uint64_t waits_for(struct qzi_tracker *tracker, uint64_t futex, const struct qzi_walk *walk, uint64_t now_ns) {
  int library = 0;
  uint32_t kind = 0, object = 0;
  if (!tracker->sampler->outside) return 0;
  /* there was no time for a walk */
  if (!walk->innermost) object = qzi_outside_known(tracker->sampler->outside, futex, &kind);
  for (uint32_t k = 0; k < WITHIN && k < walk->count && !object && !library; k++) {
    uint64_t entry = walk->entries[walk->count - 1 - k];
    if (!is_plain(entry)) break;
    const char *called = qzi_paths_symbol(tracker->paths, entry, &library);
    object = qzi_outside_object(tracker->sampler->outside, called, futex, walk->site, now_ns, &kind);
    if (!strstr(called, "lll_lock") && !strstr(called, "futex")) break;
  }
  /* The procedure may have jumped to another one, which has no name if the library's symbols are stripped
   * (sem_wait). */
  uint64_t target = object ? 0 : qzi_called_at(&tracker->sampler->in, walk->site, walk->called);
  if (target)
    object = qzi_outside_object(tracker->sampler->outside, qzi_paths_symbol(tracker->paths, target, &library), futex,
                                walk->site, now_ns, &kind);
  uint64_t key = object ? QZ_KEY(kind, object) : 0;
  /* The owner's frames were seen at another time than the lock. So only frames of procedures that take the lock are
   * placed after it; for a lock that is held for long, these are unknown. */
  if (key && qz_kind_is_lock(kind) && walk->own && qzi_outside_is_brief(tracker->sampler->outside, object))
    qzi_paths_taken_at(tracker->paths, key, walk->site);
  return key;
}

/* A walk of a sleeping thread may end inside MPI because the frame pointer is unknown. Then the thread is assumed to
 * sleep in the call in which its last sample found it. */
static void complete_mpi(const struct qzi_tracked *known, struct qzi_walk *walk) {
  if (walk->whole || walk->own || walk->mpi != QZI_MPI_NONE || known->mpi.mpi == QZI_MPI_NONE) return;
  qzi_tracked_in_call(&known->mpi, walk);
  walk->count = 1;
  walk->entries[0] = walk->innermost = walk->called;
  walk->loops[0] = walk->start_loops = 0;
}

/* For a sleep that only the kernel knows. */
void qzi_track_sleep(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                     int hooked, const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  int futex = asleep->call == SYS_futex;
  uint64_t word = tracker->sampler->in.memos[index].word;
  int same = known->from == look->node && known->word == word && known->state == look->state &&
             known->sp == asleep->sp && known->pc == asleep->pc && known->first == asleep->first;
  /* Two sleeps may look the same from here, so each is walked as long as there is time. */
  struct qzi_walk *walk = &tracker->walk;
  *walk = (struct qzi_walk){.count = 0};
  int walked = 0, serves = tracker->paths && qzi_paths_mpi_thread(tracker->paths, index, walk);
  if (same && asleep->rested && is_walked(tracker, known, now_ns) && (!serves || known->object)) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  struct qzi_sampler *sampler = tracker->sampler;
  struct qzi_own_descriptor own;
  sampler->file->head->sockets |= qzi_read_descriptor(&tracker->descriptors, sampler->view->pid, asleep, now_ns, &own);
  if (!serves && tracker->paths && asleep->sp && qzi_paths_may(tracker->paths)) {
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
  uint32_t found = (futex && !known->waits) || of_mpi ? qzi_futex(&sampler->in, of_mpi ? 0 : asleep->first, walk)
                   : own.kind != QZI_NOT_OWN          ? qzi_own_wait(&sampler->in, own, (int)asleep->first, walk)
                                                      : 0;
  known->from = look->node;
  known->word = word;
  known->state = look->state;
  known->sp = asleep->sp;
  known->pc = asleep->pc;
  known->first = asleep->first;
  known->object = *object = known->waits ? QZ_KEY_INDEX(known->waits) : found;
  if (walked && !hooked) tracker->sampler->file->head->paths |= QZ_PATHS_WAITS;
  uint64_t waiting = known->waits ? known->waits : found ? QZ_KEY(QZ_KIND_FUTEX, found) : 0;
  if (walk->count || waiting) look->node = qzi_paths_node(tracker->paths, look->node, walk, waiting, 1);
  known->node = look->node;
}

/* For a thread found spinning on an object for which the record has no state. As for a wait, but its last sample may be
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
