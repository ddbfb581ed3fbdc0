/* System calls by number. Notices that the program limits its own ones (seccomp): from then on the layer makes none but
 * those that the C library makes for the same function, for any other may kill the program. And children (fork.c).
 *
 * Owns:    nothing. Writer: the thread that limits; qzi_no_system_calls is set before it does. Reader: channel.c and
 *          session.c.
 * Must not: see limits that were there when the program began: those are found out before (qzi_pub_forbidden).
 */
#include "pthread-layer/src/state/threads.h"
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "publisher/private.h"

/* Six arguments at most are there to be passed on; those that the caller did not give have no meaning, and are read all
 * the same: AddressSanitizer must not look. */
#define READS_MORE __attribute__((no_sanitize("address")))
#define PASS_ON(count)                                         \
  long a[count];                                               \
  va_list list;                                                \
  va_start(list, first);                                       \
  for (int k = 0; k < (count); k++) a[k] = va_arg(list, long); \
  va_end(list)

static bool is_fork(long number) {
#ifdef SYS_fork
  if (number == SYS_fork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

QZL_EXPORT READS_MORE long syscall(long first, ...) {
  static long (*real)(long, ...);
  PASS_ON(6);
  if (first == SYS_seccomp || (first == SYS_prctl && a[0] == PR_SET_SECCOMP)) atomic_store(&qzi_no_system_calls, true);
  if (__builtin_expect(!real, 0)) real = (long (*)(long, ...))qzl_next("syscall", NULL);
  long result = real(first, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (!result && is_fork(first)) qzi_pub_perhaps_forked();
  return result;
}

QZL_EXPORT READS_MORE int prctl(int first, ...) {
  static int (*real)(int, ...);
  PASS_ON(4);
  if (first == PR_SET_SECCOMP) atomic_store(&qzi_no_system_calls, true);
  if (__builtin_expect(!real, 0)) real = (int (*)(int, ...))qzl_next("prctl", NULL);
  int result = real(first, a[0], a[1], a[2], a[3]);
  if (first == PR_SET_NAME && !result) { /* the kernel keeps 15 bytes */
    char name[16] = "";
    strncpy(name, (const char *)(uintptr_t)a[0], sizeof name - 1);
    qzl_named(pthread_self(), name);
  }
  return result;
}
