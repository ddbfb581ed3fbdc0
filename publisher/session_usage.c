/* What the program and its child processes have used, by the kernel's counts, as it says of itself in its session.
 *
 * Owns:    the session's `usage_begin`, `usage_end` and `children_ns`.
 * Writer:  who switches publishing on or off; whoever ends the program.
 * Reader:  the sampler, once `ns` is set: after its end the program can no longer be asked.
 */
#include <sys/resource.h>
#include "private.h"

/* The thread of the channel may end publishing while the program ends: both write almost the same. */
static void set(uint64_t *field, uint64_t value) { __atomic_store_n(field, value, __ATOMIC_RELAXED); }
static uint64_t ns_of(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

void qzi_session_usage(struct qz_usage *usage) {
  struct rusage used;
  if (qzi_no_system_calls || getrusage(RUSAGE_SELF, &used)) return;
  set(&usage->user_ns, ns_of(used.ru_utime));
  set(&usage->system_ns, ns_of(used.ru_stime));
  set(&usage->voluntary, (uint64_t)used.ru_nvcsw);
  set(&usage->involuntary, (uint64_t)used.ru_nivcsw);
  set(&usage->minor_faults, (uint64_t)used.ru_minflt);
  set(&usage->major_faults, (uint64_t)used.ru_majflt);
  set(&usage->resident_bytes, (uint64_t)used.ru_maxrss * 1024u);
  __atomic_store_n(&usage->ns, qzi_pub_clock_ns(), __ATOMIC_RELEASE);
}

void qzi_session_usage_end(void) {
  struct qz_session *head = qzi_session.head;
  struct rusage used;
  if (!qzi_no_system_calls && !getrusage(RUSAGE_CHILDREN, &used))
    set(&head->children_ns, ns_of(used.ru_utime) + ns_of(used.ru_stime));
  qzi_session_usage(&head->usage_end);
}
