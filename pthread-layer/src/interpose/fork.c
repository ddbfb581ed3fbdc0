/* Children with memory of their own that fork() does not make, so that no at-fork handler runs: _Fork, clone, syscall.
 * They stop publishing into their parent's session before anything else. Those that the program makes by an instruction
 * of its own stop where they next look at the flag of publishing (publisher/session.c).
 *
 * Owns:    nothing. Writer: the child. Reader: none.
 * Must not: change what is shared with the parent; do anything in a child that shares its parent's memory.
 */
#include "pthread-layer/src/layer.h"
#include "system_calls.h"
#include <sched.h>
#include <stdarg.h>
#include <unistd.h>

QZL_EXPORT pid_t _Fork(void);
pid_t _Fork(void) {
  static pid_t (*real)(void);
  if (!real) real = (pid_t(*)(void))qzl_next("_Fork", NULL);
  pid_t child = real();
  if (!child) qzi_pub_perhaps_forked();
  return child;
}

struct start {
  int (*function)(void *);
  void *argument;
};
/* On its copy of the parent's stack, or of what is there. */
static int begin(void *at) {
  const struct start *start = at;
  qzi_pub_perhaps_forked();
  return start->function(start->argument);
}

/* The three further arguments are passed on whether they were given or not: AddressSanitizer must not look. */
__attribute__((no_sanitize("address"))) QZL_EXPORT int clone(int (*function)(void *), void *stack, int flags,
                                                             void *argument, ...) {
  static int (*real)(int (*)(void *), void *, int, void *, ...);
  void *more[3];
  va_list list;
  va_start(list, argument);
  for (int k = 0; k < 3; k++) more[k] = va_arg(list, void *);
  va_end(list);
  if (!real) real = (int (*)(int (*)(void *), void *, int, void *, ...))qzl_next("clone", NULL);
  struct start start = {function, argument};
  qzl_clones((unsigned long)(unsigned)flags);
  bool copies = function && !(flags & CLONE_VM);
  return real(copies ? begin : function, stack, flags, copies ? &start : argument, more[0], more[1], more[2]);
}
