/* Keeps the signal of samples (state/signal_samples.h) out of the program's sight: it finds the signal unused, cannot
 * reset it, block it or wait for it by accident. If it installs a handler for it, samples end.
 *
 * Owns:    nothing. May be called by any thread, before any constructor, and in signal handlers.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include "pthread-layer/src/state/signal_samples.h"

#define REAL(result, name, parameters) \
  static result(*real) parameters;     \
  if (__builtin_expect(!real, 0)) real = (result(*) parameters)qzl_next(#name, NULL)

#define MEANT 16 /* real-time signals in a set, of 31 */

static bool is_ours(int number) { return number && number == qzl_sampling_signal; }

/* Whether that disposition leaves the signal to us. */
static bool is_reset(void (*handler)(int)) { return handler == SIG_DFL || handler == SIG_IGN; }

QZL_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
  REAL(int, sigaction, (int, const struct sigaction *, struct sigaction *));
  if (is_ours(number) && (!action || is_reset(action->sa_handler))) {
    if (before) *before = (struct sigaction){.sa_handler = SIG_DFL};
    return 0;
  }
  if (is_ours(number)) qzl_sampling_give_up();
  return real(number, action, before);
}

QZL_EXPORT __sighandler_t signal(int number, __sighandler_t handler) {
  REAL(__sighandler_t, signal, (int, __sighandler_t));
  if (is_ours(number) && is_reset(handler)) return SIG_DFL;
  if (is_ours(number)) qzl_sampling_give_up();
  return real(number, handler);
}

/* Whether so few signals are in the set that each of them is meant, unlike in one of all signals. */
static bool are_meant(const sigset_t *set) {
  int count = 0;
  for (int k = SIGRTMIN; k <= SIGRTMAX; k++) count += sigismember(set, k) == 1;
  return count <= MEANT;
}

/* The set without our signal: itself, or *room. A program that waits for the signal, or blocks it in order to, gets it
 * for itself. */
static const sigset_t *without(const sigset_t *set, sigset_t *room) {
  int ours = qzl_sampling_signal;
  if (__builtin_expect(!ours, 1) || !set || sigismember(set, ours) != 1) return set;
  if (are_meant(set)) {
    qzl_sampling_give_up();
    return set;
  }
  *room = *set;
  sigdelset(room, ours);
  return room;
}

QZL_EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *before) {
  REAL(int, pthread_sigmask, (int, const sigset_t *, sigset_t *));
  sigset_t room;
  return real(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

QZL_EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
  REAL(int, sigprocmask, (int, const sigset_t *, sigset_t *));
  sigset_t room;
  return real(how, how == SIG_UNBLOCK ? set : without(set, &room), before);
}

QZL_EXPORT int sigwait(const sigset_t *set, int *number) {
  REAL(int, sigwait, (const sigset_t *, int *));
  sigset_t room;
  return real(without(set, &room), number);
}

QZL_EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info) {
  REAL(int, sigwaitinfo, (const sigset_t *, siginfo_t *));
  sigset_t room;
  return real(without(set, &room), info);
}

QZL_EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *most) {
  REAL(int, sigtimedwait, (const sigset_t *, siginfo_t *, const struct timespec *));
  sigset_t room;
  return real(without(set, &room), info, most);
}
