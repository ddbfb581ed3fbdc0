/* Finding the real functions. See real.h. */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

void *qzl_next(const char *name, const char *version) {
  void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
  return found ? found : dlsym(RTLD_NEXT, name);
}

/* A C library that lacks a function is not called for it. */
static int missing(void) { return ENOSYS; }

static void resolve(void) {
#define X(result, name, version, parameters, arguments) \
  void *found_##name = qzl_next(#name, version); \
  __atomic_store_n((void **)&qzl_real.name, found_##name ? found_##name : (void *)missing, __ATOMIC_RELEASE);
  QZL_REALS(X)
#undef X
}

#define X(result, name, version, parameters, arguments) \
  static result first_##name parameters { \
    resolve(); \
    return qzl_real.name arguments; \
  }
QZL_REALS(X)
#undef X

struct qzl_real qzl_real = {
#define X(result, name, version, parameters, arguments) .name = first_##name,
    QZL_REALS(X)
#undef X
};
