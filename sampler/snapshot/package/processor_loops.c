/* See processor_loops.h. */
#include "processor_loops.h"

#include <stdlib.h>
#include "sampler/snapshot/samples/counters.h"
#include "sampler/snapshot/samples/sample_account.h"
#include "sampler/snapshot/samples/shared_lines.h"
#include "sampler/snapshot/samples/thread_tracker.h"
#include "sampler/callpath/hooked_paths.h"
#include "sampler/waits/external_waits.h"
#include "sampler/waits/no_progress.h"
#include "sampler/waits/pause_detector.h"
#include "sampler/waits/poll_detector.h"
#include "sampler/waits/repeating_loop.h"
#include "sampler/util/lazy_memory.h"

#define UNUSED_NS UINT64_C(1000000000) /* if no processor was busy for this time, no samples are taken until one is */

/* What is known about a processor. */
struct known {
  uint64_t now;   /* its word at the last snapshot; if unchanged, the same thread has run there since */
  uint64_t polls; /* address of the loop of the last sample, if that only polls; else 0 */
  uint32_t node;  /* path on which the thread has been in that loop; 0: not determined since the sample */
  struct qzi_no_progress stalled;
  struct qzi_pause_detector pausing;
  struct qzi_repeating_loop repeating;
  struct qzi_walk *walk; /* walk of the last sample */
};

struct qzi_processor_loops {
  struct qzi_sampler *sampler;
  struct qzi_paths *paths;     /* NULL: calls in loops are not followed */
  struct qzi_hooked *hooked;   /* NULL: paths are not refined */
  struct qzi_running *running; /* NULL: no samples are taken */
  struct qzi_sample_pace pace; /* which part of them is used */
  uint64_t used_ns;
  uint32_t count;
  int started;
  struct qzi_sample sample;
  struct qzi_walk other; /* walk of a sample of another thread than the one seen */
  struct qzi_new_code new_code;
  struct qzi_poll_detector polling;
  struct qzi_shared_lines shared_lines;
  struct qzi_counters counters;
  struct qzi_stateless_known stateless;
  struct qzi_pause_known pauses;
  struct known known[]; /* by processor */
};

struct qzi_processor_loops *qzi_processor_loops_open(struct qzi_sampler *sampler) {
  uint32_t count = sampler->view->processor_table.capacity;
  size_t bytes = sizeof(struct qzi_processor_loops) + count * sizeof(struct known);
  struct qzi_processor_loops *loops = qzi_lazy_memory(bytes);
  if (!loops) return NULL;
  loops->sampler = sampler;
  loops->count = count;
  loops->paths = qzi_paths_open(&sampler->in);
  loops->polling.new_code = loops->stateless.new_code = &loops->new_code;
  qzi_shared_lines_open(&loops->shared_lines, &sampler->in,
                        &loops->new_code); /* if there is no memory, no lines are found */
  loops->hooked = loops->paths ? qzi_hooked_open(loops->paths) : NULL;
  return loops;
}

void qzi_processor_loops_prepare(struct qzi_processor_loops *loops) {
  if (loops->paths) qzi_paths_prepare(loops->paths);
}

void qzi_processor_loops_close(struct qzi_processor_loops *loops) {
  if (!loops) return;
  for (uint32_t p = 0; p < loops->count; p++) free(loops->known[p].walk);
  qzi_running_close(loops->running);
  qzi_hooked_close(loops->hooked);
  qzi_shared_lines_close(&loops->shared_lines);
  qzi_counters_close(&loops->counters);
  if (loops->paths) qzi_paths_close(loops->paths);
  qzi_lazy_free(loops, sizeof *loops + loops->count * sizeof *loops->known);
}

void qzi_processor_loops_start(struct qzi_processor_loops *loops) {
  if (loops->started++) return;
  loops->running = qzi_tracker_samples(loops->sampler->file->head, QZI_RUNNING_STACK);
  qzi_counters_open(&loops->counters, loops->sampler->file);
}

static uint32_t processor_of(const struct qzi_processor_loops *loops, uint32_t tid) {
  const struct qz_session_view *view = loops->sampler->view;
  for (uint32_t p = 0; p < view->processors && p < loops->count; p++)
    if (QZ_LOAD(&qz_session_processor(view, p)->os_tid) == tid) return p;
  return UINT32_MAX;
}

static void take_sample(struct qzi_processor_loops *loops, uint32_t p, uint64_t now_ns) {
  const struct qzi_visit *visit = &loops->sampler->visits[p];
  struct known *known = &loops->known[p];
  uint32_t pid = loops->sampler->file->head->pid;
  if (visit->state != QZ_STATE_USEFUL || !visit->serial || known->now != visit->now) {
    if (loops->hooked && qzi_paths_may(loops->paths) &&
        !qzi_paths_walk(loops->paths, QZI_NO_THREAD, &loops->sample.at, &loops->sample.copy, &loops->other))
      qzi_hooked_add(loops->hooked, QZI_NO_THREAD, &loops->other);
    return;
  }
  qzi_no_progress_look(&known->stalled, pid, visit->word, &loops->sample);
  int walked = 0;
  if (loops->paths && qzi_paths_may(loops->paths)) {
    if (!known->walk) known->walk = calloc(1, sizeof *known->walk);
    walked =
      known->walk && !qzi_paths_walk(loops->paths, visit->thread, &loops->sample.at, &loops->sample.copy, known->walk);
  }
  known->polls =
    qzi_poll_detector_look(&loops->polling, loops->paths, pid, &loops->sample, walked ? known->walk : NULL);
  uint64_t repeats = qzi_repeating_loop_look(&known->repeating, &loops->stateless, loops->paths, pid, &loops->sample,
                                             walked ? known->walk : NULL);
  if (!known->polls) known->polls = repeats;
  if (walked && !known->polls && loops->hooked) qzi_hooked_add(loops->hooked, visit->thread, known->walk);
  if (walked && !known->polls)
    qzi_shared_lines_look(&loops->shared_lines, &loops->sample, known->walk, visit->thread, now_ns);
  known->node = 0;
  if (loops->paths)
    qzi_pause_detector_look(&known->pausing, &loops->pauses, pid, visit->word, &loops->sample, loops->paths,
                            walked ? known->walk : NULL);
}

static void forget(struct known *known) {
  known->polls = known->node = 0;
  known->stalled = (struct qzi_no_progress){.loop = 0};
  known->pausing = (struct qzi_pause_detector){.pause = 0};
  known->repeating = (struct qzi_repeating_loop){.rounds = 0};
}

/* Path to which a counter's sample belongs: that of the last snapshot. */
static uint32_t counted_node(void *context, const struct qzi_sample *sample) {
  const struct qzi_processor_loops *loops = context;
  uint32_t p = processor_of(loops, sample->tid);
  return p == UINT32_MAX ? 0 : loops->sampler->visits[p].node;
}

static struct qzi_sample_time sample_time(const struct qzi_processor_loops *loops) {
  return qzi_sample_time(loops->paths ? qzi_paths_spent_ns(loops->paths) : 0, loops->new_code.spent_ns);
}

/* Reads the samples since the last snapshot. */
static void read_samples(struct qzi_processor_loops *loops, uint64_t now_ns, int spare) {
  struct qzi_sampler *sampler = loops->sampler;
  struct qzi_sample_time from = sample_time(loops), to;
  uint32_t taken = 0;
  for (; qzi_running_next(loops->running, &loops->sample); taken++) {
    uint32_t p = processor_of(loops, loops->sample.tid);
    sampler->file->head->samples++;
    if (p != UINT32_MAX) take_sample(loops, p, now_ns);
  }
  to = sample_time(loops);
  qzi_sample_account(sampler, loops->running, &loops->pace, &from, &to, taken, now_ns, spare);
}

int qzi_processor_loops_begin(struct qzi_processor_loops *loops, uint64_t now_ns) {
  struct qzi_sampler *sampler = loops->sampler;
  uint32_t processors = sampler->view->processors < loops->count ? sampler->view->processors : loops->count;
  qzi_counters_read(&loops->counters, counted_node, loops);
  if (!loops->running) return 0;
  int spare = sampler->runnable < processors;
  if (loops->paths) sampler->others_cpu_ns += qzi_paths_begin(loops->paths, now_ns, spare);
  qzi_new_code_begin(&loops->new_code, now_ns, spare);
  for (uint32_t p = 0; p < processors; p++)
    if (loops->known[p].now != sampler->visits[p].now &&
        (loops->known[p].polls || loops->known[p].stalled.count || loops->known[p].pausing.word ||
         loops->known[p].repeating.rounds))
      forget(&loops->known[p]);
  if (qzi_running_any(loops->running)) read_samples(loops, now_ns, spare);
  for (uint32_t p = 0; p < processors; p++) {
    loops->known[p].now = sampler->visits[p].now;
    if (sampler->visits[p].state != QZ_STATE_IDLE) loops->used_ns = now_ns;
  }
  qzi_running_pause(loops->running, now_ns > loops->used_ns && now_ns - loops->used_ns > UNUSED_NS);
  return 1;
}

uint32_t qzi_processor_loop(struct qzi_processor_loops *loops, uint32_t p) {
  const struct qzi_visit *visit = &loops->sampler->visits[p];
  struct known *known = &loops->known[p];
  if (!loops->running || p >= loops->count || visit->state != QZ_STATE_USEFUL || !visit->serial) return 0;
  if (known->polls &&
      known->node != visit->node) { /* the thread is in the loop until hooks show that it has left the procedure */
    if (!known->node || (loops->paths && qzi_paths_within(loops->paths, visit->node, known->polls)))
      known->node = visit->node;
    else
      known->polls = 0;
  }
  uint64_t loop = known->polls ? known->polls : known->stalled.loop;
  if (!loop) loop = qzi_pause_detector_at(&known->pausing, visit->word);
  return loop ? qzi_loop(&loops->sampler->in, loop,
                         loops->paths && qzi_paths_serves(loops->paths, loop) ? known->walk : NULL)
              : 0;
}

uint64_t qzi_processor_loops_apart_ns(const struct qzi_processor_loops *loops) {
  return loops->new_code.spent_ns + (loops->paths ? qzi_paths_spent_ns(loops->paths) : 0);
}

uint32_t qzi_processor_executed(struct qzi_processor_loops *loops, uint32_t p, uint64_t ns, uint32_t *instruction) {
  const struct qzi_visit *visit = &loops->sampler->visits[p];
  uint64_t pc, entry;
  *instruction = 0;
  if (!loops->hooked || !loops->running || !visit->serial) return visit->node;
  uint32_t node = qzi_hooked_executed(loops->hooked, visit->thread, visit->node, ns, &pc, &entry);
  if (node && pc) *instruction = qzi_instruction_find(&loops->sampler->instructions, pc, entry);
  return node ? node : visit->node;
}
