/* System calls by number. Notices that the program limits its own ones (seccomp): from then on the layer makes none but
 * those that the C library makes for the same function, for any other may kill the program. And children (fork.c).
 *
 * Owns:    nothing. Writer: the thread that limits; qzi_no_system_calls is set before it does. Reader: channel.c and
 *          session.c.
 * Must not: see limits that were there when the program began: those are found out before (qzi_pub_forbidden).
 */
#include "pthread-layer/src/state/signal_samples.h"
#include "pthread-layer/src/state/threads.h"
#include <linux/seccomp.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "publisher/private.h"
#include "system_calls.h"

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

/* All but those calls jump on: nothing of ours is on the stack, so that the sampler finds the number at the caller
 * (sampler/waits/kernel_work.c), and a child that returns to the caller on the same stack finds its frame as it was. */
long (*qzl_real_syscall)(long, ...);
__attribute__((visibility("hidden"), used)) long qzl_syscall(long first, ...);
#define TEXT(number)  TEXT_OF(number)
#define TEXT_OF(text) #text
#define BEGIN                                                                     \
  ".pushsection .text\n .p2align 4\n .globl syscall\n .type syscall, %function\n" \
  "syscall:\n .cfi_startproc\n"
#define END ".cfi_endproc\n .size syscall, . - syscall\n .popsection"
#define ALL                                       \
  TAKEN(TEXT(SYS_futex), "qzl_futex")             \
  TAKEN(TEXT(QZL_FUTEX_WAITV), "qzl_futex_waitv") \
  TAKEN(TEXT(SYS_seccomp), "qzl_syscall")         \
  TAKEN(TEXT(SYS_prctl), "qzl_syscall")           \
  FORK TAKEN(TEXT(SYS_clone), "qzl_syscall") TAKEN(TEXT(SYS_clone3), "qzl_syscall")
#if defined(__x86_64__)
#define TAKEN(number, by) "cmpq $" number ", %rdi\n je " by "\n"
#define FORK              TAKEN(TEXT(SYS_fork), "qzl_syscall")
__asm__(BEGIN ALL "movq qzl_real_syscall(%rip), %rax\n testq %rax, %rax\n je qzl_syscall\n jmpq *%rax\n" END);
#elif defined(__aarch64__)
#define TAKEN(number, by) "cmp x0, #" number "\n b.eq " by "\n"
#define FORK
__asm__(BEGIN "hint #34\n" ALL "adrp x16, qzl_real_syscall\n ldr x16, [x16, #:lo12:qzl_real_syscall]\n"
              "cbz x16, 1f\n br x16\n 1: b qzl_syscall\n" END);
#endif

/* Before the program limits its system calls. */
static void limited(void) {
  qzl_sampling_off();
  atomic_store(&qzi_no_system_calls, true);
}

long (*qzl_find_syscall(void))(long, ...) {
  if (!qzl_real_syscall) qzl_real_syscall = (long (*)(long, ...))qzl_next("syscall", NULL);
  return qzl_real_syscall;
}

_Atomic bool qzl_shared_tls;
static bool shares_tls(uint64_t flags) { return (flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS)) == CLONE_VM; }
void qzl_clones(unsigned long flags) {
  if (shares_tls(flags)) atomic_store(&qzl_shared_tls, true);
}
/* Its arguments may not be there: they are looked at when the kernel has read them. */
static void cloned3(bool before, long result, const uint64_t *arguments) {
  if (result < 0 || !shares_tls(*arguments)) atomic_store(&qzl_shared_tls, before);
}

READS_MORE long qzl_syscall(long first, ...) {
  PASS_ON(6);
  if (first == SYS_seccomp || (first == SYS_prctl && a[0] == PR_SET_SECCOMP)) limited();
  if (first == SYS_clone) qzl_clones((unsigned long)a[0]);
  bool before = first == SYS_clone3 && atomic_exchange(&qzl_shared_tls, true);
  long result = qzl_find_syscall()(first, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (first == SYS_clone3) cloned3(before, result, (const uint64_t *)(uintptr_t)a[0]); /* flags come first */
  if (!result && is_fork(first)) qzi_pub_perhaps_forked();
  return result;
}

QZL_EXPORT READS_MORE int prctl(int first, ...) {
  static int (*real)(int, ...);
  PASS_ON(4);
  if (first == PR_SET_SECCOMP) limited();
  if (__builtin_expect(!real, 0)) real = (int (*)(int, ...))qzl_next("prctl", NULL);
  int result = real(first, a[0], a[1], a[2], a[3]);
  if (first == PR_SET_NAME && !result) { /* the kernel keeps 15 bytes */
    char name[16] = "";
    strncpy(name, (const char *)(uintptr_t)a[0], sizeof name - 1);
    qzl_named(pthread_self(), name);
  }
  return result;
}
