/* See lock_code.h. */
#include "lock_code.h"

#include <string.h>

/* Parts of names of procedures in the C library. */
static const char *const calls[] = {"pthread_mutex_", "pthread_spin_", "pthread_rwlock_", "pthread_cond_",
                                    "lll_",           "futex",         "sem_post",        "sem_wait"};

/* Parts of linkage names of procedures in run-time libraries' own locks, in the program or in a library: Go's, Rust's
 * (standard library and parking_lot), HotSpot's, Abseil's and OpenMP's. */
static const char *const locks[] = {
  "sync.(*Mutex).",       "sync.(*RWMutex).",  "runtime.lock2",  "runtime.unlock2",    "runtime.procyield",
  "runtime.semacq",       "runtime.semrel",    "runtime_doSpin", "runtime_Semacquire", "runtime_Semrel",
  "runtime.(*semaRoot",   "14lock_contended",  "9lock_slow",     "11unlock_slow",      "13ObjectMonitor",
  "17ObjectSynchronizer", "4absl5Mutex",       "GOMP_critical_", "GOMP_atomic_",       "__kmpc_critical",
  "__kmpc_end_critical",  "omp_set_lock",      "omp_unset_lock", "omp_test_lock",      "omp_set_nest_lock",
  "omp_unset_nest_lock",  "omp_test_nest_lock"};

static int is_one(const char *name, const char *const *parts, unsigned count) {
  for (unsigned k = 0; k < count; k++)
    if (strstr(name, parts[k])) return 1;
  return 0;
}

static int is_lock_code(struct qzi_paths *paths, uint64_t entry) {
  int library;
  const char *name = qzi_paths_symbol(paths, entry, &library);
  if (qzi_paths_library(paths, entry) == QZI_LIBRARY_C) return is_one(name, calls, sizeof calls / sizeof *calls);
  return is_one(name, locks, sizeof locks / sizeof *locks);
}

int qzi_lock_code(struct qzi_lock_code *code, struct qzi_paths *paths, const struct qzi_walk *walk) {
  if (walk->in_layer) return 1;
  uint64_t entry = walk->innermost;
  if (!entry) return 0;
  unsigned at = (unsigned)((entry >> 4) % (sizeof code->known / sizeof *code->known));
  if (code->known[at].entry != entry) {
    code->known[at].entry = entry;
    code->known[at].is = is_lock_code(paths, entry);
  }
  return code->known[at].is;
}
