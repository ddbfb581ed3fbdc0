/* Waits by the kernel's futex that a program makes through syscall() (SYS_futex, SYS_futex_waitv): what C++'s headers
 * (std::atomic::wait, std::barrier, ...), Rust's library, parking_lot, Abseil and others make of it. A word on which
 * threads wait is an object; who wakes them leaves its chain of the time path there.
 *
 * Owns:    nothing. Writer: the calling thread. Reader: the sampler.
 * Must not: return, or leave in errno, anything but what the real call did; take a lock that the calling thread may
 *          have, for it may be in a signal handler; have anything on the stack while others are woken, so that the
 *          sampler finds the number of the system call at the caller (sampler/waits/kernel_work.c).
 */
#include "waiting.h"
#include "system_calls.h"
#include "pthread-layer/src/state/creation.h"
#include "pthread-layer/src/state/waits.h"
#include "pthread-layer/src/state/yield_places.h"
#include "publisher/private.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

enum role { NEITHER = 0, WAITS = 1, WAKES = 2, WAKES_BOTH = 3, MOVES = 4 }; /* MOVES: and wakes */
static const uint8_t roles[] = {[FUTEX_WAIT] = WAITS,           [FUTEX_WAKE] = WAKES,
                                [FUTEX_REQUEUE] = MOVES,        [FUTEX_CMP_REQUEUE] = MOVES,
                                [FUTEX_WAKE_OP] = WAKES_BOTH,   [FUTEX_LOCK_PI] = WAITS,
                                [FUTEX_UNLOCK_PI] = WAKES,      [FUTEX_WAIT_BITSET] = WAITS,
                                [FUTEX_WAKE_BITSET] = WAKES,    [FUTEX_WAIT_REQUEUE_PI] = WAITS,
                                [FUTEX_CMP_REQUEUE_PI] = MOVES, [FUTEX_LOCK_PI2] = WAITS};

struct sleep {
  struct qzl_wait wait;
  bool asked, slept;
  bool several;  /* it waits for several words, of which it is shown at the first; */
  uint32_t then; /* another one, at which it was woken */
};
/* Also when the thread is cancelled in its wait. */
static void wait_over(struct sleep *its) {
  int error = errno;
  struct qzl_thread *me = its->wait.me;
  uint32_t index = its->wait.index;
  its->wait.then = its->several ? its->then : qzl_path_moved_to(index);
  qzl_wait_end(&its->wait, its->slept);
  if (its->asked) qzi_pub_acquired_shared(index);
  qzl_pop(me, QZ_KEY_MARKER);
  errno = error;
}

/* The sampler notices by the marker that this is another wait than the one before. */
__attribute__((noinline)) static long wait_for(struct qzl_thread *me, uint64_t site, const uint32_t *word,
                                               int operation, unsigned long value, unsigned long other,
                                               const uint32_t *second, unsigned long third) {
  uint32_t known = qzl_known_word(word), index = known ? known : qzl_word(word, site);
  if (!index) return qzl_real_syscall(SYS_futex, word, operation, value, other, second, third);
  uint64_t since = me->yields.site ? qzl_yields_before(me, word) : 0; /* else it never yields */
  qzi_pub_push(&me->pub, &me->thread, QZ_KEY_MARKER);
  __attribute__((cleanup(wait_over))) struct sleep its = {.slept = false};
  qzl_wait_begin(&its.wait, me, index, QZ_STATE_BLOCKED);
  if (since) its.wait.begin = since;
  its.wait.own = true;
  if (!known) qzl_creation_futex(me, index, &its.wait.frame);
  /* The number as a constant: the sampler finds it there while the kernel works for the call (kernel_work.c). */
  long result = qzl_real_syscall(SYS_futex, word, operation, value, other, second, third);
  /* EAGAIN: the word had another value, so that it need not wait. */
  its.slept = result >= 0 || errno == ETIMEDOUT || errno == EINTR;
  its.asked = its.slept || errno == EAGAIN;
  its.wait.own = result < 0; /* its time is over, or a signal came */
  return result;
}

/* Waits for the first of several words that is woken. Who wakes one of the others leaves its chain there, as where
 * waiters were moved. */
#define WORDS 128u        /* as many as the kernel takes */
struct futex_waitv_word { /* struct futex_waitv, which older headers do not have */
  uint64_t value, address;
  uint32_t flags, reserved;
};
/* The kernel refuses what cannot be read; so must not be read here. */
static bool are_read(struct futex_waitv_word *to, const void *words, unsigned count) {
  struct iovec own = {to, count * sizeof *to}, its = {(void *)(uintptr_t)words, count * sizeof *to};
  int error = errno;
  bool done = !qzi_no_system_calls && process_vm_readv(getpid(), &own, 1, &its, 1, 0) == (ssize_t)own.iov_len;
  errno = error;
  return done;
}
__attribute__((noinline)) static long wait_for_any(struct qzl_thread *me, uint64_t site, const void *words,
                                                   unsigned count, unsigned flags, const void *until, int clock) {
  struct futex_waitv_word read[WORDS];
  uint32_t indices[WORDS] = {0};
  const bool known = are_read(read, words, count);
  for (unsigned k = 0; known && k < count; k++) {
    const void *word = (const void *)(uintptr_t)read[k].address;
    uint32_t index = qzl_known_word(word);
    indices[k] = index ? index : qzl_word(word, site);
    if (k && indices[0] && indices[k]) qzl_path_moves(indices[0], indices[k]);
  }
  if (!indices[0]) return qzl_real_syscall(QZL_FUTEX_WAITV, words, count, flags, until, clock);
  qzi_pub_push(&me->pub, &me->thread, QZ_KEY_MARKER);
  __attribute__((cleanup(wait_over))) struct sleep its = {.several = true};
  qzl_wait_begin(&its.wait, me, indices[0], QZ_STATE_BLOCKED);
  its.wait.own = true;
  long result = qzl_real_syscall(QZL_FUTEX_WAITV, words, count, flags, until, clock);
  its.slept = result >= 0 || errno == ETIMEDOUT || errno == EINTR;
  its.asked = its.slept || errno == EAGAIN;
  its.wait.own = result < 0;
  its.then = result > 0 && (unsigned long)result < count ? indices[result] : 0;
  return result;
}

__attribute__((used)) long qzl_futex_waitv(long number, const struct futex_waitv *words, unsigned count, unsigned flags,
                                           const void *until, int clock) {
  if (__builtin_expect(!qzl_real_syscall, 0)) qzl_find_syscall();
  struct qzl_thread *me = qzi_publishing() ? qzl_self : NULL;
  if (!me || !words || !count || count > WORDS || atomic_load_explicit(&qzl_shared_tls, memory_order_relaxed))
    return qzl_real_syscall(number, words, count, flags, until, clock);
  return wait_for_any(me, QZL_SITE(), words, count, flags, until, clock);
}

/* Who is woken has changed the word, or others have, before this; that it waits was published before the kernel looked
 * at the word. */
static void lets_go(struct qzl_thread *me, const uint32_t *word) {
  uint32_t index = qzl_known_word(word);
  if (!index) return;
  atomic_thread_fence(memory_order_seq_cst);
  qzl_path_lets_go(me, index);
}

static void moves(struct qzl_thread *me, const uint32_t *from, const uint32_t *to, uint64_t site) {
  uint32_t index = qzl_known_word(from);
  if (!index) return;
  atomic_thread_fence(memory_order_seq_cst);
  if (!qzl_path_is_awaited(index)) return;
  qzl_path_moves(index, qzl_word(to, site));
  qzl_path_lets_go(me, index);
}

static void wakes(struct qzl_thread *me, enum role role, const uint32_t *word, const uint32_t *second, uint64_t site) {
  if (role == MOVES)
    moves(me, word, second, site);
  else
    lets_go(me, word);
  if (role == WAKES_BOTH) lets_go(me, second);
}

/* Apart, so that where nothing is published no register is saved. */
__attribute__((noinline)) static long published(long number, const uint32_t *word, int operation, unsigned long value,
                                                unsigned long other, const uint32_t *second, unsigned long third) {
  struct qzl_thread *me = qzl_self;
  unsigned command = (unsigned)operation & FUTEX_CMD_MASK;
  enum role role = command < sizeof roles ? roles[command] : NEITHER;
  if (role == WAITS) return wait_for(me, QZL_SITE(), word, operation, value, other, second, third);
  if (role != NEITHER) wakes(me, role, word, second, QZL_SITE());
  return qzl_real_syscall(number, word, operation, value, other, second, third);
}

__attribute__((used)) long qzl_futex(long number, const uint32_t *word, int operation, unsigned long value,
                                     unsigned long other, const uint32_t *second, unsigned long third) {
  if (__builtin_expect(!qzl_real_syscall, 0)) qzl_find_syscall();
  if (!qzi_publishing() || !qzl_self || atomic_load_explicit(&qzl_shared_tls, memory_order_relaxed))
    return qzl_real_syscall(number, word, operation, value, other, second, third);
  return published(number, word, operation, value, other, second, third);
}
