/* See lock_code.h. */
#include "lock_code.h"

#include <string.h>

/* Parts of names in the C library. */
static const char *const calls[] = {"pthread_mutex_", "pthread_spin_", "pthread_rwlock_", "pthread_cond_",
                                    "lll_",           "futex",         "sem_post",        "sem_wait"};

static int is_call(struct qzi_paths *paths, uint64_t entry) {
  int library;
  const char *name = qzi_paths_symbol(paths, entry, &library);
  for (unsigned k = 0; library && k < sizeof calls / sizeof *calls; k++)
    if (strstr(name, calls[k])) return 1;
  return 0;
}

int qzi_lock_code(struct qzi_lock_code *code, struct qzi_paths *paths, const struct qzi_walk *walk) {
  if (walk->in_layer) return 1;
  uint64_t entry = walk->innermost;
  if (!entry || qzi_paths_library(paths, entry) != QZI_LIBRARY_C) return 0;
  unsigned at = (unsigned)((entry >> 4) % (sizeof code->known / sizeof *code->known));
  if (code->known[at].entry != entry) {
    code->known[at].entry = entry;
    code->known[at].is = is_call(paths, entry);
  }
  return code->known[at].is;
}
