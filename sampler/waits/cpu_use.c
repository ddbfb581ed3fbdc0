/* See cpu_use.h. */
#include "cpu_use.h"

#include <string.h>

static int has_spun(const struct qzi_cpu_use *use, uint64_t entry) {
  for (unsigned k = 0; k < QZI_SPINNERS; k++)
    if (use->spinners[k] == entry) return 1;
  return 0;
}

/* Whether the sample is in a call in which a procedure that first spins and then blocks waits for other threads or
 * wakes them. */
static int hands_on(const struct qzi_cpu_use *use, struct qzi_paths *paths, uint64_t pc, const struct qzi_walk *walk) {
  static const char *const calls[] = {"pthread_", "lll_", "futex", "sem_post", "sem_wait", "condition_variable"};
  int library;
  if (!has_spun(use, walk->caller_entry)) return 0;
  if (!walk->called) return qzi_paths_library(paths, pc) != 0; /* in the pthread layer, whose frames are not on walks */
  const char *name = qzi_paths_symbol(paths, walk->called, &library);
  for (unsigned k = 0; library && k < sizeof calls / sizeof *calls; k++)
    if (strstr(name, calls[k])) return 1;
  return 0;
}

void qzi_cpu_use_add(struct qzi_cpu_use *use, const struct qzi_interner *in, uint32_t runnable, struct qzi_paths *paths,
                     int spins, uint64_t pc, const struct qzi_walk *walk) {
  uint64_t procedure = walk ? walk->caller_entry : 0;
  int hands = !spins && procedure && hands_on(use, paths, pc, walk);
  if (spins && procedure && !has_spun(use, procedure)) use->spinners[use->spinner++ % QZI_SPINNERS] = procedure;
  for (unsigned k = 0; k < 2; k++) {
    if (k == 1 && runnable <= in->view->processors) return;
    struct qz_cpu_use *cpu_use = &in->file->head->cpu_use[k];
    cpu_use->samples++;
    cpu_use->spinning += (uint64_t)(spins != 0);
    cpu_use->handing += (uint64_t)(hands != 0);
  }
}
