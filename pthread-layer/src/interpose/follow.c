/* Wrappers: programs that do nothing but start what does the work (timeout, env, a shell, make, mpiexec). What such a
 * process starts is recorded as well.
 *
 * A process is taken for one as long as it has used little processor time, and starts few programs: whatever it is, a
 * program that works, or that starts another one every few milliseconds, is not slowed by recording those.
 *
 * Owns:    how many programs were followed. Writer: whoever forks or starts one, in a child of vfork its parent's.
 * Must not: allocate, take a lock; ask the kernel anything where the program limits its system calls.
 */
#include "pthread-layer/src/layer.h"
#include <errno.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "publisher/private.h"

#define WORKS_NS \
  UINT64_C(250000000) /* of processor time: a program that works. Interpreters take some 50 ms to begin */
#define AT_ONCE   24u /* programs followed, */
#define SECOND_NS UINT64_C(1000000000)
#define EACH_NS   (SECOND_NS / 2) /* and one more in each of these: being recorded takes its start 2 ms, so 0.4 % */

static _Atomic(bool) follows;   /* what is started may be followed */
static _Atomic(unsigned) count; /* of programs that were followed, or processes by fork that may become one */
static _Atomic(int) promise;    /* to what fork is making, or has made: 1: it is counted; -1: it is too many; 0: none */
static _Atomic(int) harmless;   /* 1: the calls below may be made; -1: they may not; 0: not known yet */
static uint64_t begun_ns;

/* Processor time of a process; UINT64_MAX: not known. */
static uint64_t used_ns(clockid_t clock) {
  struct timespec used;
  return clock_gettime(clock, &used) ? UINT64_MAX : (uint64_t)used.tv_sec * SECOND_NS + (uint64_t)used.tv_nsec;
}
static uint64_t used_by_parent_ns(void) {
  clockid_t clock;
  pid_t parent = getppid();
  return parent <= 0 || clock_getcpuclockid(parent, &clock) ? UINT64_MAX : used_ns(clock);
}

static void rehearse(void) {
  uint64_t failed = used_ns(CLOCK_PROCESS_CPUTIME_ID) + used_by_parent_ns();
  __asm__ volatile("" : : "r"(failed)); /* nobody asks what became of them */
}
static bool may_ask(void) {
  if (!harmless) harmless = qz_sandbox_survives(rehearse) ? 1 : -1;
  return harmless > 0;
}

void qzl_follow_begin(void) {
  begun_ns = qzi_pub_clock_ns();
  follows = true;
}

/* Once it has worked, or may not be asked, that is so for ever, in its children as well. */
static bool has_worked(void) {
  if (qzi_no_system_calls) return true;
  if (follows && (!may_ask() || used_ns(CLOCK_PROCESS_CPUTIME_ID) > WORKS_NS)) follows = false;
  return !follows;
}

static bool has_room(void) { return count < AT_ONCE + (qzi_pub_clock_ns() - begun_ns) / EACH_NS; }

void qzl_follow_fork(void) {
  if (!follows) return;
  int error = errno;
  if (!has_worked()) {
    promise = has_room() ? 1 : -1;
    count += promise > 0;
  }
  errno = error;
}
void qzl_follow_forked(void) { promise = 0; }

void qzl_follow_count(void) {
  if (!promise) count++;
  promise = 0;
}

bool qzl_follows(bool by_exec) {
  if (has_worked()) return false;
  if (by_exec && used_by_parent_ns() > WORKS_NS) {
    follows = false;
    return false;
  }
  return promise ? promise > 0 : has_room();
}
