/* Libraries that the program unloads: what is loaded next may lie at the same addresses, with other code.
 *
 * Owns:    nothing. Writer: the calling thread (the count in the session's head). Reader: the sampler.
 * Must not: interpose dlopen, which goes by where it is called from (RUNPATH, namespaces).
 */
#include <dlfcn.h>
#include "pthread-layer/src/layer.h"
#include "publisher/private.h"

QZL_EXPORT int dlclose(void *library) {
  static int (*real)(void *);
  if (!real) real = (int (*)(void *))qzl_next("dlclose", NULL);
  int result = real(library);
  if (!result && qzi_publishing()) __atomic_fetch_add(&qzi_session.head->unloads, 1, __ATOMIC_RELAXED);
  return result;
}
