/* Paths of threads without hooks. See thread_tracker.h. */
#include "thread_tracker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sampler/callpath/creations.h"
#include "sampler/callpath/sample_queue.h"
#include "sampler/waits/kernel_work.h"
#include "sampler/waits/external_waits.h"
#include "sampler/waits/lock_code.h"
#include "sampler/waits/cpu_use.h"
#include "sampler/waits/pause_detector.h"
#include "sampler/waits/poll_detector.h"
#include "sampler/waits/repeating_loop.h"
#include "sampler/linux/perf_samples.h"
#include "switch_time.h"
#include "sampler/outside/objects.h"
#include "sampler/waits/no_progress.h"
#include "sampler/util/clock.h"

#define INTERVAL_NS UINT64_C(2000000)    /* of processor time between samples, at least */
#define COST        100u                 /* samples take at most one part in so many of the program's processor time */
#define UNUSED_NS   UINT64_C(1000000000) /* no thread without hooks ran for so long: no samples until one does */
#define AGAIN_NS    UINT64_C(20000000)   /* until a wait is walked again whose scopes were not read yet: this, */
#define AGAIN_MOST  8u                   /* and so often twice as long as before */
#define SLOTS       65536u               /* threads by their number in the system */

/* What is known of a thread record. */
struct known {
  uint64_t serial;
  uint64_t word, state;   /* of the record, when `node` was made */
  uint64_t sp, pc;        /* where the kernel said that it sleeps, then */
  uint64_t futex;         /* on which address */
  uint32_t from, node;    /* node of the record alone; with frames */
  uint32_t object;        /* index of the futex, */
  uint64_t waits;         /* or, of one of the session (outside/objects.h), its key; 0: it is none */
  uint32_t plain;         /* a node that hooks have not made */
  uint32_t ran_from, ran; /* the same as from and node, of the last sample */
  uint32_t run_record;    /* node of the record alone, when it was last seen running */
  uint64_t ran_word;      /* of the record, at the last snapshot that saw it running */
  struct qzi_sample_queue samples;
  struct qzi_sampled *shown; /* the sample that the path of this snapshot shows, of those; NULL: none */
  uint64_t ran_number;       /* of the sample that `ran` shows; 0: none */
  struct qzi_walk *slept;    /* of the last sleep that only the kernel knows of */
  uint64_t again_ns;         /* when the wait is walked again, for inlined procedures and lines; 0: not at all */
  uint8_t walks;             /* of that wait */
  struct qzi_switch_time switches;
  uint32_t left;       /* node of the path on which it last gave up its CPU; 0: it was not seen to */
  uint8_t left_kernel; /* what the kernel did for it then: enum qz_kernel */
  uint32_t tid;        /* whose samples it has; 0: none, or not known yet */
  uint8_t hooked;
  uint32_t
    inside; /* what the wait is reported as that the record publishes (waits_inside); 0: as what the record says */
  struct qzi_stalled stalled;
  struct qzi_pausing pausing;
  struct qzi_repeating repeating;
  uint64_t polls;  /* of the sample shown; with hooks, of the last one */
  uint32_t looped; /* with hooks: node of the record from which it is in that loop; 0: not looked at since the sample */
};

struct qzi_tracker {
  struct qzi_sampler *sampler;
  struct qzi_paths *paths; /* NULL: no unwinding */
  struct qzi_creations *creations;
  struct known *all;
  size_t all_bytes;
  struct qzi_running *running; /* NULL: no samples */
  uint64_t interval_ns;        /* of processor time between a thread's samples */
  struct qzi_switch_times switches;
  uint64_t used_ns; /* when samples were last of use */
  uint32_t *slots;  /* index + 1 of the thread with some id, in one of the slots from there on */
  struct qzi_walk walk;
  struct qzi_sample sample;
  struct qzi_polling polling;
  struct qzi_stateless_known stateless;
  struct qzi_call_sites call_sites;
  struct qzi_lock_code lock_code;
  struct qzi_cpu_use cpu_use;
};

struct qzi_tracker *qzi_tracker_open(struct qzi_sampler *sampler) {
  struct qzi_tracker *tracker = calloc(1, sizeof *tracker);
  if (!tracker) return NULL;
  tracker->sampler = sampler;
  tracker->all_bytes = (size_t)sampler->view->thread_table.capacity * sizeof *tracker->all;
  tracker->all = qzi_lazy_memory(tracker->all_bytes);
  tracker->slots = qzi_lazy_memory(SLOTS * sizeof *tracker->slots);
  if (!tracker->all || !tracker->slots) {
    qzi_lazy_free(tracker->all, tracker->all_bytes);
    qzi_lazy_free(tracker->slots, SLOTS * sizeof *tracker->slots);
    free(tracker);
    return NULL;
  }
  tracker->paths = qzi_paths_open(&sampler->in);
  tracker->creations = qzi_creations_open(&sampler->in, tracker->paths);
  return tracker;
}

/* ---- whose samples ---- */

#define PROBES 8u /* slots looked at for one thread */

static void meet(struct qzi_tracker *tracker, struct known *known, uint32_t index, uint32_t tid) {
  uint32_t *slot = &tracker->slots[tid % SLOTS];
  for (uint32_t k = 0; k < PROBES; k++) {
    uint32_t *other = &tracker->slots[(tid + k) % SLOTS];
    if (*other && tracker->all[*other - 1].tid && tracker->all[*other - 1].tid != tid) continue;
    slot = other;
    break;
  }
  *slot = index + 1;
  known->tid = tid;
  if (tracker->running && qzi_running_begin(tracker->running, tid) && errno != ESRCH)
    tracker->sampler->file->head->paths |= QZ_PATHS_FEW_SAMPLES;
}

static uint32_t index_of(const struct qzi_tracker *tracker, uint32_t tid) {
  for (uint32_t k = 0; k < PROBES; k++) {
    uint32_t index = tracker->slots[(tid + k) % SLOTS];
    if (index && tracker->all[index - 1].tid == tid) return index;
  }
  return 0;
}

void qzi_tracker_gone(struct qzi_tracker *tracker, uint32_t index) {
  struct known *known = &tracker->all[index];
  if (!known->serial) return;
  if (tracker->running && known->tid) qzi_running_end(tracker->running, known->tid);
  qzi_sample_queue_close(&known->samples);
  free(known->slept);
  memset(known, 0, sizeof *known);
}

void qzi_tracker_close(struct qzi_tracker *tracker) {
  if (!tracker) return;
  for (uint32_t k = 0; k < qz_session_thread_high(tracker->sampler->view); k++) qzi_tracker_gone(tracker, k);
  qzi_running_close(tracker->running);
  qzi_creations_close(tracker->creations);
  qzi_paths_close(tracker->paths);
  qzi_lazy_free(tracker->all, tracker->all_bytes);
  qzi_lazy_free(tracker->slots, SLOTS * sizeof *tracker->slots);
  free(tracker);
}

void qzi_tracker_prepare(struct qzi_tracker *tracker) {
  if (tracker->paths) qzi_paths_prepare(tracker->paths);
}

struct qzi_running *qzi_tracker_samples(struct qz_profile *head) {
  uint64_t cost_ns = qzi_running_cost_ns(),
           interval_ns = UINT64_C(500000000000) / head->rate_mhz; /* two for a snapshot */
  if (interval_ns < INTERVAL_NS) interval_ns = INTERVAL_NS;
  if (interval_ns < COST * cost_ns) interval_ns = COST * cost_ns;
  /* Not where child processes are recorded, too: each recording would have timers of its own, which interrupt all of
   * them. */
  struct qzi_running *running = qzi_running_open(head->pid, interval_ns, QZI_RUNNING_CPUS, !head->children_apart);
  if (!running) head->paths |= QZ_PATHS_NO_SAMPLES;
  head->sample_ns = cost_ns;
  return running;
}

void qzi_tracker_start(struct qzi_tracker *tracker) {
  if (!tracker->paths) return;
  tracker->running = qzi_tracker_samples(tracker->sampler->file->head);
  tracker->interval_ns = tracker->switches.interval_ns = qzi_running_interval_ns(tracker->running);
  tracker->used_ns = qzi_clock_ns();
}

static const struct qzi_walk *walk_of(const struct known *known) { return known->shown ? &known->shown->walk : NULL; }

uint32_t qzi_tracker_loop(const struct qzi_tracker *tracker, uint32_t index) {
  const struct known *known = &tracker->all[index];
  struct qzi_interner *in = &tracker->sampler->in;
  uint64_t loop = known->polls && (known->ran_from || known->looped)
                    ? known->polls
                    : known->stalled.loop; /* as its path, from the last sample */
  if (!loop) loop = qzi_pausing_at(&known->pausing, in->memos[index].word);
  return loop ? qzi_loop(in, loop, tracker->paths && qzi_paths_serves(tracker->paths, loop) ? walk_of(known) : NULL)
              : 0;
}
uint64_t qzi_tracker_walks_ns(const struct qzi_tracker *tracker) {
  return tracker->paths ? qzi_paths_spent_ns(tracker->paths) : 0;
}
uint32_t qzi_tracker_node(const struct qzi_tracker *tracker, uint32_t index) { return tracker->all[index].node; }

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
static void note_start(struct qzi_tracker *tracker, uint32_t entity, const struct qzi_walk *walk) {
  struct qzi_interner *in = &tracker->sampler->in;
  uint32_t at = 0;
  if (!tracker->sampler->outside || !entity || !walk->whole || in->file->entities[entity].address) return;
  while (at < walk->count && is_plain(walk->entries[at]) && starts_thread(tracker, walk->entries[at])) at++;
  if (at == walk->count || !is_plain(walk->entries[at])) return;
  struct qz_entity *thread = &in->file->entities[entity];
  thread->module = qzi_intern_module(in, walk->entries[at]);
  thread->address = walk->entries[at];
}

/* ---- waits ---- */

/* Conditions of a library that the system installed tell nothing: libomp has one for each thread, for barriers, ends of
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
static int is_walked(const struct qzi_tracker *tracker, const struct known *known, uint64_t now_ns) {
  return !known->again_ns || now_ns < known->again_ns || !qzi_paths_may(tracker->paths, now_ns);
}

static void walked_now(const struct qzi_tracker *tracker, struct known *known, int first, uint64_t now_ns) {
  known->walks = first ? 1 : (uint8_t)(known->walks + 1);
  known->again_ns =
    known->walks > AGAIN_MOST || qzi_paths_complete(tracker->paths) ? 0 : now_ns + (AGAIN_NS << (known->walks - 1));
}

/* The record says what the thread waits for, and where it was when it began to. */
static void track_wait(struct qzi_tracker *tracker, struct known *known, uint32_t index, struct qzi_look *look,
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

#define WITHIN 3u /* procedures: of a C library that is linked statically those that others of its own call show, too \
                   */

/* What the C library's procedure in which the thread sleeps waits for, as a key: an object of the session. 0: it is
 * none that is known. */
static uint64_t waits_for(struct qzi_tracker *tracker, uint64_t futex, const struct qzi_walk *walk, uint64_t now_ns) {
  int library = 0;
  uint32_t kind = 0, object = 0;
  if (!tracker->sampler->outside) return 0;
  for (uint32_t k = 0; k < WITHIN && k < walk->count && !object && !library; k++) {
    uint64_t entry = walk->entries[walk->count - 1 - k];
    if (!is_plain(entry)) break;
    const char *called = qzi_paths_symbol(tracker->paths, entry, &library);
    object = qzi_outside_object(tracker->sampler->outside, called, futex, walk->site, now_ns, &kind);
    if (!strstr(called, "lll_lock") && !strstr(called, "futex")) break;
  }
  uint64_t key = object ? QZ_KEY(kind, object) : 0;
  /* Frames of an owner are of another moment than the look at the lock: only those of procedures that take it stand
   * behind it. Of a lock that is kept for long it is not known which do. */
  if (key && qz_kind_is_lock(kind) && walk->own && qzi_outside_is_brief(tracker->sampler->outside, object))
    qzi_paths_taken_at(tracker->paths, key, walk->site);
  return key;
}

/* Only the kernel knows that it sleeps. */
static void track_sleep(struct qzi_tracker *tracker, struct known *known, uint32_t index, struct qzi_look *look,
                        int hooked, const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  int futex = asleep->call == SYS_futex;
  uint64_t word = tracker->sampler->in.memos[index].word;
  int same = known->from == look->node && known->word == word && known->state == look->state &&
             known->sp == asleep->sp && known->pc == asleep->pc && known->futex == (futex ? asleep->first : 0);
  /* Two waits may look the same from here, so each is walked, as long as there is time for it. */
  struct qzi_walk *walk = &tracker->walk;
  *walk = (struct qzi_walk){.count = 0};
  int walked = 0;
  if (same && asleep->rested && is_walked(tracker, known, now_ns)) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (tracker->paths && asleep->sp && qzi_paths_may(tracker->paths, now_ns)) {
    struct qzi_registers from = {.pc = asleep->pc, .sp = asleep->sp};
    walked = !qzi_paths_walk(tracker->paths, index, &from, NULL, walk);
  }
  if (!walked && same) {
    look->node = known->node;
    *object = known->object;
    return;
  }
  if (walked) walked_now(tracker, known, !same || !asleep->rested, now_ns);
  if (walked) note_start(tracker, look->entity, walk);
  if (hooked) walk->count = walk->start_loops = 0;
  if (walked && !known->slept) known->slept = malloc(sizeof *known->slept);
  if (walked && known->slept) *known->slept = *walk;
  known->waits = futex && walked ? waits_for(tracker, asleep->first, walk, now_ns) : 0;
  uint32_t found = futex && !known->waits ? qzi_futex(&tracker->sampler->in, asleep->first, walk) : 0;
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

/* ---- running ---- */

static int only_waits(const struct qzi_tracker *tracker, const struct known *known, uint32_t index, uint64_t word,
                      uint64_t polls) {
  const struct qz_thread *thread = qz_session_thread(tracker->sampler->view, index);
  int tries = (uint32_t)QZ_LOAD(&thread->tries) > 1, says = QZ_STATE_OF(QZ_LOAD(&thread->state)) == QZ_STATE_SPINNING;
  return says || tries || polls || known->stalled.loop || qzi_pausing_at(&known->pausing, word);
}

/* Which sample a thread with that record shows. 1: another one than that of its last path. */
static int show(const struct qzi_tracker *tracker, struct known *known, uint32_t record) {
  uint64_t before = known->ran_number;
  known->shown = qzi_sample_queue_at(&known->samples, record, tracker->interval_ns);
  known->polls = known->shown ? known->shown->polls : 0;
  known->ran_number = known->shown ? known->shown->number : 0;
  return known->ran_number != before;
}

static void take_sample(struct qzi_tracker *tracker, uint32_t index, uint64_t now_ns) {
  struct known *known = &tracker->all[index];
  const struct qzi_sampler *sampler = tracker->sampler;
  uint64_t word = QZ_LOAD(&qz_session_thread(sampler->view, index)->word);
  uint32_t pid = sampler->file->head->pid;
  qzi_switch_time_sampled(&tracker->switches, &known->switches);
  if (known->hooked)
    qzi_sample_queue_close(&known->samples); /* its paths are those of hooks: the last one says whether it only waits */
  qzi_stalled_look(&known->stalled, pid, word, &tracker->sample);
  struct qzi_sampled *sampled = qzi_paths_may(tracker->paths, now_ns) ? calloc(1, sizeof *sampled) : NULL;
  if (sampled && qzi_paths_walk(tracker->paths, index, &tracker->sample.at, &tracker->sample.copy, &sampled->walk)) {
    free(sampled);
    sampled = NULL;
  }
  const struct qzi_walk *walk = sampled ? &sampled->walk : NULL;
  uint64_t polls = qzi_polling_look(&tracker->polling, tracker->paths, pid, &tracker->sample, walk);
  uint64_t repeats =
    qzi_repeating_look(&known->repeating, &tracker->stateless, tracker->paths, pid, &tracker->sample, walk);
  if (!polls) polls = repeats;
  qzi_pausing_look(&known->pausing, pid, word, &tracker->sample, tracker->paths, walk);
  qzi_cpu_use_add(&tracker->cpu_use, &tracker->sampler->in, tracker->sampler->runnable, tracker->paths,
                  only_waits(tracker, known, index, word, polls), tracker->sample.at.pc, walk);
  known->shown = NULL;
  known->looped = 0;
  if (known->hooked) known->polls = polls;
  if (!sampled) return; /* no time to walk */
  note_start(tracker, sampler->in.memos[index].entity, walk);
  sampled->polls = polls;
  if (!tracker->sample.user) {
    sampled->kernel = qzi_kernel_work(&tracker->call_sites, pid, tracker->sample.at.pc, tracker->sample.general[1]);
    sampler->file->head->paths |= QZ_PATHS_KERNEL;
  } else if (qzi_lock_code(&tracker->lock_code, tracker->paths, &sampled->walk)) {
    sampled->kernel = QZ_KERNEL_LOCK;
  }
  sampled->round = sampler->round;
  sampled->number = sampler->file->head->samples;
  qzi_sample_queue_add(&known->samples, sampled, tracker->interval_ns);
  if (known->hooked) known->shown = sampled;
}

void qzi_tracker_begin(struct qzi_tracker *tracker, uint64_t now_ns) {
  if (tracker->paths) tracker->sampler->others_cpu_ns += qzi_paths_begin(tracker->paths);
  if (tracker->creations) qzi_creations_read(tracker->creations, now_ns);
  if (!tracker->running) return;
  tracker->switches.most_ns = tracker->sampler->sleep_ns;
  while (qzi_running_next(tracker->running, &tracker->sample)) {
    uint32_t index = index_of(tracker, tracker->sample.tid);
    tracker->sampler->file->head->samples++;
    tracker->sampler->timed_samples += !qzi_running_whole(tracker->running);
    if (index) take_sample(tracker, index - 1, now_ns);
  }
  qzi_running_pause(tracker->running, now_ns > tracker->used_ns && now_ns - tracker->used_ns > UNUSED_NS);
}

static void track_running(struct qzi_tracker *tracker, struct known *known, uint32_t index, struct qzi_look *look,
                          const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  uint64_t round = tracker->sampler->round;
  uint32_t record = look->node;
  tracker->used_ns = now_ns;
  known->from = 0;
  known->node = record;
  uint64_t word = tracker->sampler->in.memos[index].word; /* the same as at the snapshot before: no lock taken since */
  int settled = known->ran_word == word && !tracker->sampler->outside;
  qzi_sample_queue_label(&known->samples, round, record, settled);
  int other = show(tracker, known, record), prompt = known->shown && known->shown->round == round;
  /* Woken, but not yet given a CPU: it is where it slept. */
  if (!prompt && asleep->rested && known->slept) {
    known->ran_from = 0;
    known->node = look->node = qzi_paths_node(tracker->paths, record, known->slept, known->waits, 1);
    if (known->waits) *object = QZ_KEY_INDEX(known->waits);
    return;
  }
  static const struct qzi_walk none; /* no sample yet, or none to be had: at least, who took the locks that it holds */
  const struct qzi_walk *walk = walk_of(known);
  if (walk) tracker->sampler->file->head->paths |= QZ_PATHS_RUNNING;
  if (other || known->ran_from != record) {
    known->ran_from = record;
    known->ran = qzi_paths_node(tracker->paths, record, walk ? walk : &none, 0, prompt && settled);
  }
  known->run_record = record;
  known->ran_word = word;
  known->node = look->node = known->ran;
}

/* Node of its record without objects, where it was never seen running. */
static uint32_t start_of(const struct qzi_tracker *tracker, const struct known *known) {
  uint32_t node = known->plain;
  while (node && tracker->sampler->in.node_keys[node] & QZ_KEY_OBJECT)
    node = tracker->sampler->file->stacks[node].parent;
  return node;
}

uint32_t qzi_tracker_executed(struct qzi_tracker *tracker, uint32_t index, uint64_t ns, int spins, uint8_t *kernel) {
  struct known *known = &tracker->all[index];
  *kernel = QZ_KERNEL_NONE;
  if (!tracker->paths || known->hooked) return 0;
  if (!spins && known->left && qzi_switch_time_take(&tracker->switches, &known->switches, ns)) {
    if (tracker->sampler->file->head->paths & QZ_PATHS_KERNEL) *kernel = known->left_kernel;
    return known->left;
  }
  uint32_t record = known->run_record;
  struct qzi_sampled *its = spins ? qzi_sample_queue_at(&known->samples, record, tracker->interval_ns)
                                  : qzi_sample_queue_worked(&known->samples, record, tracker->interval_ns);
  if (!its) return 0;
  uint32_t from = its->record ? its->record : record ? record : start_of(tracker, known), node = 0;
  if (!spins && (!its->node || its->from != from)) {
    its->from = from;
    its->node = qzi_paths_ran(tracker->paths, from, &its->walk, its->settled);
  }
  if (!spins) node = its->node;
  *kernel = its->kernel;
  known->shown = NULL; /* it may be gone */
  qzi_sample_queue_spend(&known->samples, its, ns);
  return node;
}

/* Paths come from hooks, which see no loops; samples say whether it only waits. The loop goes on as long as the hooks
 * do not show that its procedure has been left. */
static void track_hooked(struct qzi_tracker *tracker, struct known *known, const struct qzi_look *look, unsigned state,
                         uint64_t now_ns) {
  known->from = known->ran_from = 0;
  known->node = look->node;
  if (state != QZ_STATE_USEFUL && state != QZ_STATE_SPINNING)
    known->polls = 0;
  else
    tracker->used_ns = now_ns;
  if (!known->polls || known->looped == look->node) return;
  if (!known->looped || qzi_paths_within(tracker->paths, look->node, known->polls))
    known->looped = look->node;
  else
    known->polls = known->looped = 0;
}

void qzi_tracker_taken(struct qzi_tracker *tracker, uint64_t key, uint64_t site) {
  if (tracker->paths) qzi_paths_taken_at(tracker->paths, key, site);
}

/* It was found spinning on the object, for which the record has no state. As track_wait; but its last sample may be
 * older. */
static int spins_inside(struct qzi_tracker *tracker, const struct known *known, struct qzi_look *look,
                        uint32_t *object) {
  struct qzi_sampler *sampler = tracker->sampler;
  const struct qz_object *record =
    *object < qz_session_object_high(sampler->view) ? qz_session_object(sampler->view, *object) : NULL;
  const struct qzi_walk *walk = walk_of(known);
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

/* ---- switches ---- */

/* The record is another thread's than it was. */
static struct known *known_of(struct qzi_tracker *tracker, uint32_t index, uint64_t serial) {
  struct known *known = &tracker->all[index];
  if (known->serial != serial) qzi_tracker_gone(tracker, index);
  known->serial = serial;
  return known;
}

void qzi_tracker_counted(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t run_ns,
                         uint64_t dispatches, int aside) {
  qzi_switch_time_read(&tracker->switches, &known_of(tracker, index, serial)->switches, run_ns, dispatches, aside);
}

/* It sleeps: what it waits for stands on top of its path, but is not what gives up the CPU. */
static void note_left(const struct qzi_tracker *tracker, struct known *known, uint32_t node, uint32_t object,
                      uint8_t kernel) {
  known->left = qzi_waits_at_top(tracker->sampler, node, object) ? tracker->sampler->file->stacks[node].parent : node;
  known->left_kernel = kernel;
}

/* ---- both ---- */

void qzi_tracker_fetch(const struct qzi_tracker *tracker, uint32_t index) {
  const char *known = (const char *)&tracker->all[index];
  for (size_t at = 0; at < sizeof *tracker->all; at += 64) __builtin_prefetch(known + at);
}

int qzi_tracker(struct qzi_tracker *tracker, uint32_t index, struct qzi_look *look, unsigned state, int published,
                const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  struct known *known = known_of(tracker, index, look->serial);
  uint32_t tid = QZ_LOAD(&qz_session_thread(tracker->sampler->view, index)->os_tid);
  if (tid && known->tid != tid) meet(tracker, known, index, tid);
  if (state != QZ_STATE_USEFUL) {
    known->stalled.loop = 0;
    known->repeating.rounds = 0;
    known->pausing = (struct qzi_pausing){0};
  }
  int hooked = known->plain != look->node && qzi_paths_hooked(&tracker->sampler->in, index, look->node);
  known->hooked = hooked != 0;
  if (hooked)
    tracker->sampler->file->head->paths |= QZ_PATHS_HOOKS;
  else
    known->plain = look->node;
  if (hooked) track_hooked(tracker, known, look, state, now_ns);
  if (!published && (state == QZ_STATE_IO || state == QZ_STATE_BLOCKED)) {
    if (asleep->known) track_sleep(tracker, known, index, look, hooked, asleep, object, now_ns);
    note_left(tracker, known, look->node, *object, qzi_kernel_of_call(asleep->known ? asleep->call : 0));
    return state == QZ_STATE_BLOCKED && !(asleep->known && known->waits);
  } else if (!hooked && tracker->paths) {
    if (published && (state == QZ_STATE_BLOCKED || state == QZ_STATE_SPINNING)) {
      track_wait(tracker, known, index, look, object, now_ns);
      if (state == QZ_STATE_BLOCKED) note_left(tracker, known, look->node, *object, QZ_KERNEL_FUTEX);
      return known->from && known->inside;
    }
    if (state == QZ_STATE_USEFUL || state == QZ_STATE_SPINNING)
      track_running(tracker, known, index, look, asleep, object, now_ns);
    if (state == QZ_STATE_SPINNING) return spins_inside(tracker, known, look, object);
  } else if (!hooked) {
    known->polls = 0;
    known->from = 0;
    known->node = look->node;
  } else if (state == QZ_STATE_SPINNING && !published && tracker->paths) {
    return spins_inside(tracker, known, look, object);
  }
  return 0;
}
