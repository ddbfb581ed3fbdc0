/* Call paths of threads without hooks. See thread_tracker.h; the steps are in tracked.h. */
#include "thread_tracker.h"
#include "tracked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "abi/launcher.h"
#include "sampler/linux/signal_samples.h"
#include "sampler/waits/external_waits.h"
#include "sampler/util/clock.h"
#include "sampler/util/lazy_memory.h"

#define INTERVAL_NS UINT64_C(2000000) /* minimum processor time between samples */
#define COST        100u              /* samples use at most 1/COST of the program's processor time */
#define RANKS_MOST  4                 /* on this machine, for events of CPUs; fewer are not worth the start of others */
#define SLOTS       65536u            /* hash table of threads by kernel thread id */

struct qzi_tracker *qzi_tracker_open(struct qzi_sampler *sampler) {
  struct qzi_tracker *tracker = calloc(1, sizeof *tracker);
  if (!tracker) return NULL;
  tracker->sampler = sampler;
  tracker->search_pause = 1;
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
  tracker->creations = qzi_creations_open(&sampler->in, tracker->paths, qzi_futex_first);
  tracker->polling.new_code = tracker->stateless.new_code = &tracker->new_code;
  qzi_shared_lines_open(&tracker->shared_lines, &sampler->in,
                        &tracker->new_code); /* if there is no memory, no lines are found */
  tracker->hooked = tracker->paths ? qzi_hooked_open(tracker->paths) : NULL;
  return tracker;
}

/* ---- finding the thread of a sample ---- */

#define PROBES 8u /* maximum number of slots examined for one thread */

static void meet(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, uint32_t tid) {
  uint32_t *slot = &tracker->slots[tid % SLOTS];
  for (uint32_t k = 0; k < PROBES; k++) {
    uint32_t *other = &tracker->slots[(tid + k) % SLOTS];
    if (*other && tracker->all[*other - 1].tid && tracker->all[*other - 1].tid != tid) continue;
    slot = other;
    break;
  }
  *slot = index + 1;
  known->tid = tid;
  known->start = QZ_LOAD(&qz_session_thread(tracker->sampler->view, index)->start);
  if (tracker->running && qzi_running_begin(tracker->running, tid) && errno != ESRCH)
    tracker->sampler->file->head->paths |= QZ_PATHS_FEW_SAMPLES;
  qzi_counters_begin(&tracker->counters, tid);
}

uint32_t qzi_tracker_index(const struct qzi_tracker *tracker, uint32_t tid) {
  for (uint32_t k = 0; k < PROBES; k++) {
    uint32_t index = tracker->slots[(tid + k) % SLOTS];
    if (index && tracker->all[index - 1].tid == tid) return index;
  }
  return 0;
}

void qzi_tracker_gone(struct qzi_tracker *tracker, uint32_t index) {
  struct qzi_tracked *known = &tracker->all[index];
  if (!known->serial) return;
  if (tracker->running && known->tid) qzi_running_end(tracker->running, known->tid);
  qzi_counters_end(&tracker->counters, known->tid);
  if (!known->hooked) qzi_left_samples_keep(&tracker->left, known->start, &known->samples);
  qzi_sample_queue_close(&known->samples);
  free(known->slept);
  memset(known, 0, sizeof *known);
}

/* Returns the tracked state, cleared if the record now belongs to another thread. */
static struct qzi_tracked *known_of(struct qzi_tracker *tracker, uint32_t index, uint64_t serial) {
  struct qzi_tracked *known = &tracker->all[index];
  if (known->serial != serial) qzi_tracker_gone(tracker, index);
  known->serial = serial;
  return known;
}

/* ---- threads that no snapshot has visited yet ---- */

#define SEARCH_PAUSE 64u   /* at most this number of snapshots between searches that find nobody; */
#define SEARCH_AMONG 1024u /* and between all, one for so many records of threads */

/* Meets the threads that have begun since the last snapshot. Returns their number. */
static uint32_t meet_new(struct qzi_tracker *tracker) {
  const struct qzi_sampler *sampler = tracker->sampler;
  uint32_t met = 0;
  for (uint32_t k = 0; k < qz_session_thread_high(sampler->view); k++) {
    const struct qz_thread *thread = qz_session_thread(sampler->view, k);
    uint64_t serial = QZ_LOAD_ACQUIRE(&thread->serial), ended = tracker->all[k].serial;
    uint32_t tid = QZ_LOAD(&thread->os_tid);
    if (!serial || serial == ended || !tid) continue;
    struct qzi_executed its = {0};
    if (ended) its = qzi_tracker_ended(tracker, k, ended, tracker->interval_ns);
    struct qzi_tracked *known = known_of(tracker, k, serial);
    known->ended_serial = ended;
    known->ended = its;
    meet(tracker, known, k, tid);
    met++;
  }
  return met;
}

/* Of a thread that lives for a few snapshots, the samples before the first of these are a large part. */
uint32_t qzi_tracker_sampled(struct qzi_tracker *tracker, uint32_t tid) {
  uint32_t index = qzi_tracker_index(tracker, tid);
  uint64_t round = tracker->sampler->round;
  if (index || round < tracker->search_round + tracker->search_pause) return index;
  tracker->search_round = round;
  uint32_t *pause = &tracker->search_pause;
  uint32_t least = 1 + qz_session_thread_high(tracker->sampler->view) / SEARCH_AMONG;
  *pause = meet_new(tracker) ? least : *pause < SEARCH_PAUSE / 2 ? *pause * 2 : SEARCH_PAUSE;
  return qzi_tracker_index(tracker, tid);
}

void qzi_tracker_close(struct qzi_tracker *tracker) {
  if (!tracker) return;
  for (uint32_t k = 0; k < qz_session_thread_high(tracker->sampler->view); k++) qzi_tracker_gone(tracker, k);
  qzi_running_close(tracker->running);
  qzi_creations_close(tracker->creations);
  qzi_hooked_close(tracker->hooked);
  qzi_shared_lines_close(&tracker->shared_lines);
  qzi_counters_close(&tracker->counters);
  qzi_paths_close(tracker->paths);
  qzi_left_samples_close(&tracker->left);
  qzi_lazy_free(tracker->all, tracker->all_bytes);
  qzi_lazy_free(tracker->slots, SLOTS * sizeof *tracker->slots);
  free(tracker);
}

void qzi_tracker_prepare(struct qzi_tracker *tracker) {
  if (tracker->paths) qzi_paths_prepare(tracker->paths);
}

struct qzi_running *qzi_tracker_samples(struct qz_profile *head, uint32_t stack) {
  uint64_t cost_ns = qzi_running_cost_ns(),
           interval_ns = UINT64_C(500000000000) / head->rate_mhz; /* two for each snapshot */
  if (interval_ns < INTERVAL_NS) interval_ns = INTERVAL_NS;
  if (interval_ns < COST * cost_ns) interval_ns = COST * cost_ns;
  /* Not if child processes are recorded, too, or many ranks: each recording would have its own timers, which would
   * interrupt all of the processes. */
  int whole = !head->children_apart && qz_launcher_processes_here() <= RANKS_MOST;
  struct qzi_running *running = qzi_running_open(head->pid, head->cpus, interval_ns, QZI_RUNNING_CPUS, whole, stack);
  if (!running) head->paths |= QZ_PATHS_NO_SAMPLES;
  head->sample_ns = cost_ns;
  return running;
}

static void open_samples(struct qzi_tracker *tracker) {
  struct qzi_copied_stack *copied = &tracker->copied;
  tracker->running = qzi_tracker_samples(tracker->sampler->file->head, qzi_copied_stack_bytes(copied));
  if (!tracker->running && copied->bytes) {
    *copied = (struct qzi_copied_stack){.bytes = copied->bytes / 2, .refused = 1};
    tracker->running = qzi_tracker_samples(tracker->sampler->file->head, qzi_copied_stack_bytes(copied));
    if (tracker->running) tracker->sampler->file->head->paths &= ~QZ_PATHS_NO_SAMPLES;
  }
  tracker->interval_ns = tracker->switches.interval_ns = qzi_running_interval_ns(tracker->running);
  if (tracker->running) qzi_running_thin(tracker->running, tracker->pace.one_of);
}

void qzi_tracker_look_for_signals(struct qzi_tracker *tracker) {
  const struct qz_signal_ring *ring = tracker->sampler->signals;
  struct qz_profile *head = tracker->sampler->file->head;
  if (!ring || !(head->paths & QZ_PATHS_NO_SAMPLES)) return;
  tracker->running = qzi_running_by_signals(ring);
  if (!tracker->running) return;
  tracker->interval_ns = tracker->switches.interval_ns = ring->interval_ns;
  head->sample_ns = ring->cost_ns;
  head->paths = (head->paths & ~QZ_PATHS_NO_SAMPLES) | QZ_PATHS_SIGNALS;
}

void qzi_tracker_start(struct qzi_tracker *tracker) {
  if (!tracker->paths) return;
  open_samples(tracker);
  qzi_counters_open(&tracker->counters, tracker->sampler->file);
  tracker->used_ns = qzi_clock_ns();
}

void qzi_tracker_reopen(struct qzi_tracker *tracker) {
  if (tracker->sampler->file->head->paths & QZ_PATHS_SIGNALS) return;
  qzi_running_close(tracker->running);
  open_samples(tracker);
  for (uint32_t k = 0; tracker->running && k < qz_session_thread_high(tracker->sampler->view); k++)
    if (tracker->all[k].tid) qzi_running_begin(tracker->running, tracker->all[k].tid);
}

uint32_t qzi_tracker_loop(const struct qzi_tracker *tracker, uint32_t index) {
  const struct qzi_tracked *known = &tracker->all[index];
  struct qzi_interner *in = &tracker->sampler->in;
  uint64_t loop = known->polls && (known->ran_from || known->looped)
                    ? known->polls
                    : known->stalled.loop; /* from the last sample, as its path is */
  /* For a sample shown as the thread's path, this was decided together with the path: if it were decided at two times,
   * the same waiting could be counted twice. */
  if (!loop && (known->hooked || !known->ran_number))
    loop = qzi_pause_detector_at(&known->pausing, in->memos[index].word);
  if (loop && known->mpi.mpi == QZI_MPI_WAITS) {
    struct qzi_walk at = {.count = 0};
    qzi_tracked_in_call(&known->mpi, &at);
    return qzi_futex(in, 0, &at);
  }
  return loop ? qzi_loop(in, loop,
                         tracker->paths && qzi_paths_serves(tracker->paths, loop) ? qzi_tracked_walk(known) : NULL)
              : 0;
}
uint64_t qzi_tracker_apart_ns(const struct qzi_tracker *tracker) {
  return tracker->new_code.spent_ns + (tracker->paths ? qzi_paths_spent_ns(tracker->paths) : 0);
}
uint32_t qzi_tracker_node(const struct qzi_tracker *tracker, uint32_t index) { return tracker->all[index].node; }

/* For a thread whose paths come from hooks, which see no loops: samples show whether it only waits. It is in the loop
 * until the hooks show that it has left the procedure. */
static void track_hooked(struct qzi_tracker *tracker, struct qzi_tracked *known, const struct qzi_look *look,
                         unsigned state, uint64_t now_ns) {
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

/* ---- switches ---- */

void qzi_tracker_counted(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t run_ns,
                         uint64_t dispatches, int aside) {
  qzi_switch_time_read(&tracker->switches, &known_of(tracker, index, serial)->switches, run_ns, dispatches, aside);
}

/* The thread sleeps: remembers its path without what it waits for, as the place where it gave up the CPU. */
static void note_left(const struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t node, uint32_t object,
                      uint8_t kernel) {
  known->left = qzi_waits_at_top(tracker->sampler, node, object) ? tracker->sampler->file->stacks[node].parent : node;
  known->left_kernel = kernel;
}

/* ---- all threads ---- */

void qzi_tracker_fetch(const struct qzi_tracker *tracker, uint32_t index) {
  const char *known = (const char *)&tracker->all[index];
  for (size_t at = 0; at < sizeof *tracker->all; at += 64) __builtin_prefetch(known + at);
}

int qzi_tracker(struct qzi_tracker *tracker, uint32_t index, struct qzi_look *look, unsigned state, int published,
                const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  struct qzi_tracked *known = known_of(tracker, index, look->serial);
  uint32_t tid = QZ_LOAD(&qz_session_thread(tracker->sampler->view, index)->os_tid);
  if (tid && known->tid != tid) meet(tracker, known, index, tid);
  if (state != QZ_STATE_USEFUL) {
    known->stalled.loop = 0;
    known->repeating.rounds = 0;
    known->pausing = (struct qzi_pause_detector){0};
  }
  /* A stack that changed while it was copied may contain an entry twice. */
  int hooked = look->torn                   ? -1
               : known->plain == look->node ? 0
                                            : qzi_paths_hooked(&tracker->sampler->in, index, look->serial, look->node);
  if (!hooked) known->plain = look->node;
  if (hooked < 0) hooked = known->hooked;
  known->hooked = hooked != 0;
  if (hooked) tracker->sampler->file->head->paths |= QZ_PATHS_HOOKS;
  if (hooked) track_hooked(tracker, known, look, state, now_ns);
  if (published && state == QZ_STATE_BLOCKED && qzi_track_futex(tracker, known, index, look, hooked, object, now_ns)) {
    note_left(tracker, known, look->node, *object, QZ_KERNEL_FUTEX);
    return QZI_BY_LAYER;
  }
  if (!published && (state == QZ_STATE_IO || state == QZ_STATE_BLOCKED)) {
    if (asleep->known) qzi_track_sleep(tracker, known, index, look, hooked, asleep, object, now_ns);
    note_left(tracker, known, look->node, *object, qzi_kernel_of_call(asleep->known ? asleep->call : 0));
    if (asleep->known && known->waits) return 0;
    return state == QZ_STATE_BLOCKED || (asleep->known && known->object);
  } else if (!hooked && tracker->paths) {
    if (published && (state == QZ_STATE_BLOCKED || state == QZ_STATE_SPINNING)) {
      qzi_track_wait(tracker, known, index, look, object, now_ns);
      if (state == QZ_STATE_BLOCKED) note_left(tracker, known, look->node, *object, QZ_KERNEL_FUTEX);
      return known->from && known->inside;
    }
    if (state == QZ_STATE_USEFUL || state == QZ_STATE_SPINNING)
      qzi_track_running(tracker, known, index, look, asleep, object, now_ns);
    if (state == QZ_STATE_SPINNING) return qzi_track_spinning(tracker, known, look, object);
  } else if (!hooked) {
    known->polls = 0;
    known->from = 0;
    known->node = look->node;
  } else if (state == QZ_STATE_SPINNING && !published && tracker->paths) {
    return qzi_track_spinning(tracker, known, look, object);
  }
  return 0;
}
