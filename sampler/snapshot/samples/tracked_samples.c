/* What tracked threads execute, from the kernel's samples. See tracked.h. */
#include "tracked.h"

#include <stdlib.h>
#include "sampler/util/clock.h"
#include "sample_account.h"
#include "thread_tracker.h"

/* if no thread without hooks ran for this time, no samples are taken until one does */
#define UNUSED_NS UINT64_C(1000000000)

/* Whether the thread tried the same lock several times since its last sample: its record keeps the number when it does
 * something else that the layer does not see. */
static int has_tried(struct qzi_tracked *known, uint64_t tries) {
  uint32_t before = tries >> 32 == known->tries >> 32 ? (uint32_t)known->tries : 0;
  known->tries = tries;
  return (uint32_t)tries > before + 1;
}

static int only_waits(const struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, uint64_t word,
                      uint64_t polls) {
  const struct qz_thread *thread = qz_session_thread(tracker->sampler->view, index);
  int tries = has_tried(known, QZ_LOAD(&thread->tries)),
      says = QZ_STATE_OF(QZ_LOAD(&thread->state)) == QZ_STATE_SPINNING;
  return says || tries || polls || known->stalled.loop || qzi_pause_detector_at(&known->pausing, word);
}

/* Chooses the sample that a thread with that record shows. Returns 1 if it is another one than that of its last
 * path. */
static int show(const struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t record) {
  uint64_t before = known->ran_number;
  known->shown = qzi_sample_queue_at(&known->samples, record, qzi_tracked_stands_ns(tracker));
  known->polls = known->shown ? known->shown->polls : 0;
  known->ran_number = known->shown ? known->shown->number : 0;
  return known->ran_number != before;
}

static void set_kernel(struct qzi_tracker *tracker, struct qzi_sampled *sampled) {
  struct qz_profile *head = tracker->sampler->file->head;
  if (!tracker->sample.user) {
    sampled->kernel = qzi_kernel_work(&tracker->call_sites, head->pid, tracker->sample.at.pc,
                                      tracker->sample.general[1], &tracker->sample.copy, tracker->sample.at.sp);
    head->paths |= QZ_PATHS_KERNEL;
  } else if (qzi_lock_code(&tracker->lock_code, tracker->paths, &sampled->walk)) {
    sampled->kernel = QZ_KERNEL_LOCK;
  }
}

static void take_sample(struct qzi_tracker *tracker, uint32_t index, uint64_t now_ns) {
  struct qzi_tracked *known = &tracker->all[index];
  const struct qzi_sampler *sampler = tracker->sampler;
  uint64_t word = QZ_LOAD(&qz_session_thread(sampler->view, index)->word);
  uint32_t pid = sampler->file->head->pid;
  qzi_switch_time_sampled(&tracker->switches, &known->switches, tracker->sample.stands);
  if (known->hooked)
    qzi_sample_queue_close(&known->samples); /* its paths come from hooks; the last sample shows whether it only
                                                waits */
  qzi_no_progress_look(&known->stalled, pid, word, &tracker->sample);
  /* Without time for a walk the innermost procedure: else its time would be charged to the path of an older sample. */
  int may = qzi_paths_may(tracker->paths);
  struct qzi_sampled *sampled = may || !known->hooked ? qzi_sampled_make() : NULL;
  if (sampled &&
      (may ? qzi_paths_walk(tracker->paths, index, &tracker->sample.at, &tracker->sample.copy, &sampled->walk)
           : qzi_paths_walk_innermost(tracker->paths, index, &tracker->sample.at, &sampled->walk))) {
    free(sampled);
    sampled = NULL;
  }
  const struct qzi_walk *walk = sampled && may ? &sampled->walk : NULL;
  if (walk && qzi_copied_stack_walked(&tracker->copied, qzi_paths_beyond(tracker->paths))) tracker->reopens = 1;
  uint64_t polls = qzi_poll_detector_look(&tracker->polling, tracker->paths, pid, &tracker->sample, walk);
  uint64_t repeats =
    qzi_repeating_loop_look(&known->repeating, &tracker->stateless, tracker->paths, pid, &tracker->sample, walk);
  if (!polls) polls = repeats;
  if (walk && walk->in_lock) polls = known->stalled.loop = 0; /* the layer says when that waits */
  /* Everything that MPI does in such a call until a message arrives is waiting. */
  if (walk && walk->mpi == QZI_MPI_WAITS) polls = walk->called;
  if (walk && (walk->whole || walk->own || walk->mpi != QZI_MPI_NONE))
    known->mpi = (struct qzi_tracked_call){
      .site = walk->site, .called = walk->called, .site_module = walk->site_module, .mpi = walk->mpi};
  qzi_pause_detector_look(&known->pausing, &tracker->pauses, pid, word, &tracker->sample, tracker->paths, walk);
  if (!polls && !known->hooked) polls = qzi_pause_detector_at(&known->pausing, word);
  qzi_cpu_use_add(&tracker->cpu_use, &tracker->sampler->in, tracker->sampler->runnable, tracker->paths,
                  only_waits(tracker, known, index, word, polls), tracker->sample.at.pc, walk);
  if (!polls && walk) qzi_shared_lines_look(&tracker->shared_lines, &tracker->sample, walk, index, now_ns);
  known->shown = NULL;
  known->looped = 0;
  if (known->hooked) known->polls = polls;
  if (!sampled) return;
  if (walk) qzi_track_start(tracker, sampler->in.memos[index].entity, walk);
  sampled->polls = polls;
  set_kernel(tracker, sampled);
  sampled->round = sampler->round;
  sampled->number = sampler->file->head->samples;
  qzi_sample_queue_add(&known->samples, sampled, tracker->sample.stands * tracker->interval_ns);
  if (!known->hooked) return;
  known->shown = sampled;
  if (!polls && tracker->hooked) qzi_hooked_add(tracker->hooked, index, walk);
}

/* Takes a sample of a thread that has begun and ended since the last snapshot. */
static void take_left(struct qzi_tracker *tracker) {
  struct qzi_sampled *sampled = tracker->paths && qzi_paths_may(tracker->paths) ? qzi_sampled_make() : NULL;
  if (!sampled) return;
  if (qzi_paths_walk(tracker->paths, QZI_NO_THREAD, &tracker->sample.at, &tracker->sample.copy, &sampled->walk)) {
    free(sampled);
    return;
  }
  set_kernel(tracker, sampled);
  qzi_left_samples_add(&tracker->left, sampled, tracker->sample.stands * tracker->interval_ns);
}

/* Checks that samples arrive as they should; opens events again that never fire. paused: 1: no samples are due. */
static void watch_samples(struct qzi_tracker *tracker, uint64_t run_ns, int paused) {
  struct qz_profile *head = tracker->sampler->file->head;
  if (paused) {
    qzi_samples_due_begin(&tracker->due, run_ns, head->samples);
    return;
  }
  uint64_t switches_ns = tracker->switches.switches * tracker->switches.most_ns;
  switch (qzi_samples_due(&tracker->due, run_ns, head->samples, switches_ns, tracker->interval_ns)) {
  case QZI_SAMPLES_NONE: qzi_tracker_reopen(tracker); break;
  case QZI_SAMPLES_RARE: head->paths |= QZ_PATHS_RARE; break;
  case QZI_SAMPLES_COME: break;
  }
}

/* Node of its record without objects, if it was never seen running. */
static uint32_t start_of(const struct qzi_tracker *tracker, const struct qzi_tracked *known) {
  uint32_t node = known->plain;
  while (node && tracker->sampler->in.node_keys[node] & QZ_KEY_OBJECT)
    node = tracker->sampler->file->stacks[node].parent;
  return node;
}

/* Path to which a counter's sample belongs. With hooks: that of the last snapshot. */
static uint32_t counted_node(void *context, const struct qzi_sample *sample) {
  struct qzi_tracker *tracker = context;
  uint32_t index = qzi_tracker_index(tracker, sample->tid);
  if (!index || !tracker->paths) return 0;
  const struct qzi_tracked *known = &tracker->all[index - 1];
  if (known->hooked) return known->node;
  uint32_t from = known->run_record ? known->run_record : start_of(tracker, known);
  return qzi_paths_may(tracker->paths) &&
             !qzi_paths_walk(tracker->paths, index - 1, &sample->at, &sample->copy, &tracker->walk)
           ? qzi_paths_ran(tracker->paths, from, &tracker->walk, 0)
           : from;
}

static struct qzi_sample_time sample_time(const struct qzi_tracker *tracker) {
  return qzi_sample_time(tracker->paths ? qzi_paths_spent_ns(tracker->paths) : 0, tracker->new_code.spent_ns);
}

/* Reads the samples since the last snapshot. */
static void read_samples(struct qzi_tracker *tracker, uint64_t now_ns, int spare) {
  struct qzi_sampler *sampler = tracker->sampler;
  struct qzi_sample_time from = sample_time(tracker), to;
  uint32_t taken = 0;
  for (; qzi_running_next(tracker->running, &tracker->sample); taken++) {
    uint32_t index = qzi_tracker_sampled(tracker, tracker->sample.tid);
    sampler->file->head->samples++;
    qzi_used_cpus_note(&sampler->used_cpus, tracker->sample.cpu, now_ns);
    if (index)
      take_sample(tracker, index - 1, now_ns);
    else
      take_left(tracker);
  }
  to = sample_time(tracker);
  qzi_sample_account(sampler, tracker->running, &tracker->pace, &from, &to, taken, now_ns, spare);
}

void qzi_tracker_begin(struct qzi_tracker *tracker, uint64_t now_ns, uint64_t run_ns) {
  int spare = tracker->sampler->runnable < tracker->sampler->file->head->processors;
  if (tracker->paths) tracker->sampler->others_cpu_ns += qzi_paths_begin(tracker->paths, now_ns, spare);
  qzi_new_code_begin(&tracker->new_code, now_ns, spare);
  if (tracker->creations) qzi_creations_read(tracker->creations, now_ns);
  qzi_counters_read(&tracker->counters, counted_node, tracker);
  if (!tracker->running && tracker->paths) qzi_tracker_look_for_signals(tracker);
  if (!tracker->running) return;
  tracker->switches.most_ns = tracker->sampler->sleep_ns;
  if (qzi_running_any(tracker->running)) read_samples(tracker, now_ns, spare);
  tracker->sampler->file->head->processes_started += qzi_running_forked(tracker->running);
  int unused = now_ns > tracker->used_ns && now_ns - tracker->used_ns > UNUSED_NS;
  qzi_running_pause(tracker->running, unused);
  watch_samples(tracker, run_ns, unused);
  if (tracker->reopens) qzi_tracker_reopen(tracker);
  tracker->reopens = 0;
}

void qzi_track_running(struct qzi_tracker *tracker, struct qzi_tracked *known, uint32_t index, struct qzi_look *look,
                       const struct qzi_asleep *asleep, uint32_t *object, uint64_t now_ns) {
  uint64_t round = tracker->sampler->round;
  uint32_t record = look->node;
  tracker->used_ns = now_ns;
  known->from = 0;
  known->node = record;
  uint64_t word = tracker->sampler->in.memos[index].word; /* the same as at the last snapshot: it took no lock since */
  int settled = known->ran_word == word && !tracker->sampler->outside;
  qzi_sample_queue_label(&known->samples, round, record, settled);
  int other = show(tracker, known, record), prompt = known->shown && known->shown->round == round;
  /* It was woken but got no CPU yet: it is still where it slept. */
  if (!prompt && asleep->rested && known->slept) {
    known->ran_from = 0;
    known->node = look->node = qzi_paths_node(tracker->paths, record, known->slept, known->waits, 1);
    if (known->waits) *object = QZ_KEY_INDEX(known->waits);
    return;
  }
  static const struct qzi_walk none; /* There is no sample yet, or none is taken, and none of threads like it: use only
                                        the procedures that took the locks that it holds. */
  const struct qzi_walk *walk = qzi_tracked_walk(known);
  if (!walk) {
    const struct qzi_sampled *like = qzi_left_samples_any(&tracker->left, known->start, round + index);
    if (like) walk = &like->walk;
  }
  if (walk) tracker->sampler->file->head->paths |= QZ_PATHS_RUNNING;
  if (other || known->ran_from != record) {
    known->ran_from = record;
    known->ran = qzi_paths_node(tracker->paths, record, walk ? walk : &none, 0, prompt && settled);
  }
  known->run_record = record;
  known->ran_word = word;
  known->node = look->node = known->ran;
}

void qzi_tracker_on_cpu(struct qzi_tracker *tracker, uint32_t index, int has) {
  struct qzi_tracked *known = &tracker->all[index];
  if (!tracker->paths || known->hooked) return;
  if (has) {
    known->cpu_record = known->run_record;
  } else if (known->cpu_record) {
    known->run_record = known->cpu_record;
    qzi_sample_queue_label(&known->samples, tracker->sampler->round, known->run_record, 0);
  }
}

/* Node of the record to which a sample of the thread belongs. */
static uint32_t record_of(const struct qzi_tracker *tracker, const struct qzi_tracked *known,
                          const struct qzi_sampled *its) {
  return its->record ? its->record : known->run_record ? known->run_record : start_of(tracker, known);
}
/* Its path. */
static uint32_t path_of(struct qzi_tracker *tracker, struct qzi_sampled *its, uint32_t from) {
  if (its->node && its->from == from) return its->node;
  its->from = from;
  return its->node = qzi_paths_ran(tracker->paths, from, &its->walk, its->settled);
}

enum qzi_newest qzi_tracker_newest(struct qzi_tracker *tracker, uint32_t index, uint32_t *node) {
  struct qzi_tracked *known = &tracker->all[index];
  struct qzi_sampled *its = tracker->paths && !known->hooked ? qzi_sample_queue_newest(&known->samples) : NULL;
  if (!its) return QZI_NEWEST_NONE;
  *node = path_of(tracker, its, record_of(tracker, known, its));
  return its->round == tracker->sampler->round && !its->polls ? QZI_NEWEST_NOW : QZI_NEWEST_OLD;
}

/* Path made by its hooks, with the code of a sample on that path; 0: there is no such sample. */
static uint32_t executed_with_hooks(struct qzi_tracker *tracker, uint32_t index, uint64_t ns, uint32_t *instruction) {
  uint64_t pc, entry;
  uint32_t node =
    tracker->hooked ? qzi_hooked_executed(tracker->hooked, index, tracker->all[index].node, ns, &pc, &entry) : 0;
  if (node && pc) *instruction = qzi_instruction_find(&tracker->sampler->instructions, pc, entry);
  return node;
}

uint32_t qzi_tracker_unseen(struct qzi_tracker *tracker, const struct qzi_executed *like, uint64_t ns, uint8_t *kernel,
                            uint32_t *instruction) {
  const struct qzi_sampled *its =
    tracker->paths && like->base ? qzi_left_samples_spend(&tracker->left, like->start, ns) : NULL;
  if (!its) return 0;
  *kernel = its->kernel;
  if (its->walk.pc)
    *instruction = qzi_instruction_find(&tracker->sampler->instructions, its->walk.pc, its->walk.pc_entry);
  return qzi_paths_ran(tracker->paths, like->base, &its->walk, 0);
}

uint32_t qzi_tracker_executed(struct qzi_tracker *tracker, uint32_t index, uint64_t ns, int spins, uint8_t *kernel,
                              uint32_t *instruction) {
  struct qzi_tracked *known = &tracker->all[index];
  *kernel = QZ_KERNEL_NONE;
  *instruction = 0;
  if (!tracker->paths) return 0;
  if (known->hooked) return spins ? 0 : executed_with_hooks(tracker, index, ns, instruction);
  if (!spins && known->left && qzi_switch_time_take(&tracker->switches, &known->switches, ns)) {
    if (tracker->sampler->file->head->paths & QZ_PATHS_KERNEL) *kernel = known->left_kernel;
    return known->left;
  }
  uint32_t record = known->run_record;
  struct qzi_sampled *its = spins ? qzi_sample_queue_at(&known->samples, record, qzi_tracked_stands_ns(tracker))
                                  : qzi_sample_queue_worked(&known->samples, record, qzi_tracked_stands_ns(tracker));
  if (!its) {
    struct qzi_executed like = {.base = record ? record : start_of(tracker, known), .start = known->start};
    return spins ? 0 : qzi_tracker_unseen(tracker, &like, ns, kernel, instruction);
  }
  uint32_t node = spins ? 0 : path_of(tracker, its, record_of(tracker, known, its));
  *kernel = its->kernel;
  if (its->walk.pc)
    *instruction = qzi_instruction_find(&tracker->sampler->instructions, its->walk.pc, its->walk.pc_entry);
  known->shown = NULL; /* the sample may have been freed */
  qzi_sample_queue_spend(&known->samples, its, ns);
  return node;
}

int qzi_tracker_has_worked(const struct qzi_tracker *tracker, uint32_t index) {
  const struct qzi_tracked *known = &tracker->all[index];
  const struct qzi_sampled *its =
    tracker->paths ? qzi_sample_queue_at(&known->samples, known->run_record, qzi_tracked_stands_ns(tracker)) : NULL;
  return !its || (!its->polls && its->kernel != QZ_KERNEL_YIELD && its->kernel != QZ_KERNEL_LOCK);
}

struct qzi_executed qzi_tracker_ended(struct qzi_tracker *tracker, uint32_t index, uint64_t serial, uint64_t ns) {
  const struct qzi_tracked *known = &tracker->all[index];
  if (known->serial != serial) return known->ended_serial == serial ? known->ended : (struct qzi_executed){0};
  uint32_t instruction;
  uint8_t kernel;
  struct qzi_executed ended = {.start = known->start,
                               .base = known->run_record ? known->run_record : start_of(tracker, known)};
  ended.node = qzi_tracker_executed(tracker, index, ns, 0, &kernel, &instruction);
  return ended;
}
