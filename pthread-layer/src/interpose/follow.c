/* Wrappers: programs that do nothing but start what does the work (timeout, env, a shell, make, mpiexec). What such a
 * process starts is recorded as well.
 *
 * A process is taken for one as long as it has used little processor time, and starts few programs: whatever it is, a
 * program that works, or that starts another one every few milliseconds, is not slowed by recording those.
 *
 * A child that is forked and goes on as the same program (a server's worker, multiprocessing) does a part of the
 * program's work, whatever its parent has done before. What it will do is not known when it is forked: where some of
 * them became other programs (a shell's), no more are recorded.
 *
 * Owns:    how many programs were followed. Writer: whoever starts one, the process or a child of it.
 * Must not: allocate, take a lock; ask the kernel anything where the program limits its system calls.
 */
#include "pthread-layer/src/layer.h"
#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "publisher/private.h"

#define WORKS_NS \
  UINT64_C(250000000) /* of processor time: a program that works. Interpreters take some 50 ms to begin */
#define SHELLS    4u  /* forked children that became another program: more of them add no information */
#define AT_ONCE   32u /* programs followed, */
#define SECOND_NS UINT64_C(1000000000)
#define EACH_NS   (2 * SECOND_NS) /* and one more in each of these: 20 ms for its start, at worst, are 1 % */

static _Atomic(bool) follows; /* what is started may be followed */
static struct shared {
  _Atomic(unsigned) count;    /* of programs that were followed */
  _Atomic(unsigned) left;     /* of those, forked children that became another program after all */
} * shared;                   /* in memory that the process shares with its children */
static bool joined;           /* the process is a forked child that is followed */
static _Atomic(int) harmless; /* 1: the calls below may be made; -1: they may not; 0: not known yet */
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
  void *page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  shared = page;
  begun_ns = qzi_pub_clock_ns();
  follows = true;
}

/* Once it has worked, or may not be asked, that is so for ever, in its children as well. */
static bool has_worked(void) {
  if (qzi_no_system_calls) return true;
  if (follows && (!may_ask() || used_ns(CLOCK_PROCESS_CPUTIME_ID) > WORKS_NS)) follows = false;
  return !follows;
}

static bool has_room(void) {
  if (__atomic_load_n(&qzi_path_clock->crowded, __ATOMIC_RELAXED)) return false; /* the sampler would refuse it */
  return shared->count < AT_ONCE + (qzi_pub_clock_ns() - begun_ns) / EACH_NS;
}

/* What a process has done before is known to its children. */
void qzl_follow_fork(void) {
  int error = errno;
  if (follows) has_worked();
  errno = error;
}

void qzl_follow_count(void) { shared->count++; }

bool qzl_follow_forked(void) {
  if (!shared || qzi_no_system_calls || shared->left >= SHELLS || !has_room()) return false;
  shared->count++;
  return joined = true;
}

bool qzl_follows(bool by_exec) {
  if (by_exec && joined) shared->left++;
  if (has_worked()) return false;
  if (by_exec && used_by_parent_ns() > WORKS_NS) {
    follows = false;
    return false;
  }
  return has_room();
}
