/* Finds the functions of run-time libraries. See runtime_function.h. */
#include "runtime_function.h"
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include "abi/hash.h"

/* libgomp is not always a library that everything sees (an extension of Python brings its own): then it is among those
 * that the caller's library depends on. */
static void *found_by(const char *name, uint64_t caller) {
  Dl_info its;
  struct link_map *map = NULL;
  if (!dladdr1((void *)(uintptr_t)caller, &its, (void **)&map, RTLD_DL_LINKMAP) || !map) return NULL;
  void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return NULL;
  void *found = dlsym(library, name);
  dlclose(library);
  return found;
}

static void note(struct qzl_runtime_function *f, const void *real) {
  Dl_info its;
  if (!real || !dladdr(real, &its) || !its.dli_fname) return;
  const char *slash = strrchr(its.dli_fname, '/'), *name = slash ? slash + 1 : its.dli_fname;
  if (!strncmp(name, "libomp.so", 9) || !strncmp(name, "libiomp5.so", 11)) atomic_store(&f->llvm, true);
}

/* As `found_by`, looked up once for each caller. */
static void *reached_from(struct qzl_runtime_function *f, uint64_t caller) {
  void *real;
  unsigned at = caller * QZ_HASH_FACTOR >> 58;
  if (__atomic_load_n(&f->by[at].caller, __ATOMIC_ACQUIRE) == caller) {
    real = f->by[at].real;
    if (__atomic_load_n(&f->by[at].caller, __ATOMIC_ACQUIRE) == caller) return real;
  }
  real = found_by(f->name, caller);
  if (real == f->own) real = NULL;
  note(f, real);
  qzl_lock_words(&f->lock);
  __atomic_store_n(&f->by[at].caller, 0, __ATOMIC_RELEASE);
  f->by[at].real = real;
  __atomic_store_n(&f->by[at].caller, caller, __ATOMIC_RELEASE);
  qzl_unlock_words(&f->lock);
  return real;
}

_Thread_local uint64_t qzl_runtime_user __attribute__((tls_model("initial-exec")));

void *qzl_runtime_real_slow(struct qzl_runtime_function *f, uint64_t caller) {
  void *real = qzl_next(f->name, NULL);
  note(f, real);
  if (real) {
    __atomic_store_n(&f->real, real, __ATOMIC_RELEASE);
    return real;
  }
  if ((real = reached_from(f, caller))) {
    qzl_runtime_user = caller;
    return real;
  }
  /* The call is the last thing that its procedure does (a jump): it comes from what called that procedure, which is
   * the layer itself for the body of a region, or a library that does not use them. */
  return qzl_runtime_user ? reached_from(f, qzl_runtime_user) : NULL;
}
