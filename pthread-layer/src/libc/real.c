/* Finding the real functions. See real.h. */
#define _GNU_SOURCE
#include "real.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

static const struct link_map *library_of(const void *function) {
  Dl_info its;
  void *map = NULL;
  return dladdr1(function, &its, &map, RTLD_DL_LINKMAP) ? map : NULL;
}

/* Whether the library of `first` comes before that of `second`. */
static bool precedes(const void *first, const void *second) {
  const struct link_map *end = library_of(second), *at = library_of(first);
  if (!at || !end || at == end) return false;
  while ((at = at->l_next) != NULL)
    if (at == end) return true;
  return false;
}

/* An interposer behind the layer (a sanitizer's library, a tracer) may define the function without a version, and is
 * then passed over where one is asked for. In one library the version decides. */
void *qzl_next(const char *name, const char *version) {
  void *any = dlsym(RTLD_NEXT, name), *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
  return !found || precedes(any, found) ? any : found;
}

/* A C library that lacks a function is not called for it. */
static int missing(void) { return ENOSYS; }

static void resolve(void) {
#define X(result, name, version, parameters, arguments) \
  void *found_##name = qzl_next(#name, version);        \
  __atomic_store_n((void **)&qzl_real.name, found_##name ? found_##name : (void *)missing, __ATOMIC_RELEASE);
  QZL_REALS(X)
#undef X
}

#define X(result, name, version, parameters, arguments) \
  static result first_##name parameters {               \
    resolve();                                          \
    return qzl_real.name arguments;                     \
  }
QZL_REALS(X)
#undef X

struct qzl_real qzl_real = {
#define X(result, name, version, parameters, arguments) .name = first_##name,
  QZL_REALS(X)
#undef X
};
