/* What a snapshot of kernel threads says about chains: of each thread what it did, for the time path and the span. See
 * kernel_view.h. */
#include "kernel_view.h"

/* Whether it waits, asleep or in a loop, for something that nobody reports. */
static int waits_outside(const struct qzi_seen *seen) {
  if (seen->polls == QZI_POLLS_LOOP) return 1;
  if (!seen->outside || seen->outside == QZI_BY_LAYER || seen->woken) return 0;
  return seen->state == QZ_STATE_SPINNING || (seen->instead ? seen->instead : seen->state) == QZ_STATE_BLOCKED;
}

/* The thread assumed to work for all such waiting threads in a snapshot: one of the running ones, or, if none runs, one
 * that waits for a CPU; each in turn. */
static const struct qzi_seen *works_instead(const struct qzi_kernel *kernel, uint32_t count, uint64_t turn) {
  uint32_t running = 0, ready = 0;
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    if (seen->state != QZ_STATE_USEFUL) continue;
    running += seen->executes != 0;
    ready += !seen->executes && qzi_is_runnable(seen);
  }
  if (!running && !ready) return NULL;
  turn %= running ? running : ready;
  for (uint32_t k = 0; k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    if (seen->state == QZ_STATE_USEFUL && (running ? seen->executes : qzi_is_runnable(seen)) && !turn--) return seen;
  }
  return NULL;
}

/* For the span: a thread whose path comes from samples executes what its newest sample shows. It did so for
 * the whole snapshot, if that sample is of this one; else it is not known whether it executed at all. */
static void note_strand(struct qzi_sampler *sampler, const struct qzi_seen *seen, const struct qzi_seen *instead,
                        int more) {
  struct qzi_path *path = &sampler->path;
  uint32_t node;
  switch (path->span.on ? qzi_tracker_newest(sampler->kernel->tracker, seen->index, &node) : QZI_NEWEST_NONE) {
  case QZI_NEWEST_NOW:
    if (!more) qzi_path_strand_seen(path, seen->index, node, seen->look.entity, QZ_STATE_USEFUL, 0);
    break;
  case QZI_NEWEST_OLD:
    if (!more) qzi_path_strand_seen(path, seen->index, node, seen->look.entity, QZ_STATE_READY, 0);
    break;
  case QZI_NEWEST_NONE:
    qzi_path_strand_seen(path, seen->index, seen->node, seen->look.entity,
                         seen->instead ? seen->instead : qzi_shown_state(seen), instead != NULL);
    break;
  }
}

void qzi_note_path(struct qzi_sampler *sampler, uint32_t count, int more) {
  struct qzi_kernel *kernel = sampler->kernel;
  struct qzi_path *path = &sampler->path;
  const struct qzi_seen *worker = NULL;
  int sought = 0; /* the worker, at the first thread that needs one: looking for it is a pass over all */
  qzi_path_begin(path, sampler->file->head->elapsed_ns);
  for (uint32_t k = 0; path->page && k < count; k++) {
    const struct qzi_seen *seen = &kernel->seen[k];
    if (seen->index == QZI_NOBODY) continue;
    unsigned state = seen->instead ? seen->instead : qzi_shown_state(seen);
    int outside = waits_outside(seen);
    if (outside && !sought) {
      worker = works_instead(kernel, count, sampler->round);
      sought = 1;
    }
    const struct qzi_seen *instead = outside ? worker : NULL;
    if (instead)
      qzi_path_seen(path, seen->index, instead->node, instead->look.entity,
                    instead->executes ? instead->state : QZ_STATE_READY, 1);
    else
      qzi_path_seen(path, seen->index, seen->node, seen->look.entity, state, 0);
    note_strand(sampler, seen, instead, more);
  }
}
