/* Which calls of MPI are written down: the program's own, in a process that is recorded; and the lock of what is.
 *
 * Owns:    whether the process is recorded, each thread's depth of calls, and the lock.
 * Writer and reader: threads of the program, within MPI's calls.
 * Must not: be left out on any way through a call: qzm_leave() comes after each qzm_enter() that returned true.
 */
#ifndef QZM_ENTRY_H
#define QZM_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum qzm_state { QZM_UNDECIDED, QZM_ACTIVE, QZM_PASSIVE };
extern enum qzm_state qzm_state;
/* MPI says that the program calls it from one thread at a time: nothing needs the lock. */
extern bool qzm_alone;
extern int qzm_locked;
extern __thread unsigned qzm_depth; /* MPI calls its own procedures by their public names */

/* The first call decides. site: where the program called. */
bool qzm_enter_first(uint64_t site);
void qzm_lock_always(void);

#pragma GCC visibility pop

/* Whether this call, made at `site`, is the program's own, of a program that is recorded. */
static inline bool qzm_enter(uint64_t site) {
  if (qzm_depth) return false;
  enum qzm_state now = __atomic_load_n(&qzm_state, __ATOMIC_ACQUIRE);
  if (__builtin_expect(now != QZM_ACTIVE, false)) return now == QZM_UNDECIDED && qzm_enter_first(site);
  qzm_depth = 1;
  return true;
}
static inline void qzm_leave(void) { qzm_depth = 0; }

static inline void qzm_lock(void) {
  if (__builtin_expect(!qzm_alone, false)) qzm_lock_always();
}
static inline void qzm_unlock(void) { __atomic_store_n(&qzm_locked, 0, __ATOMIC_RELEASE); }

#endif
