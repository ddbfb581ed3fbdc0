/* Procedures that a "what if" is about (publisher/what_if.h), as hooks see them: when the running thread goes into one,
 * and when it has left it.
 *
 * Owns:    the marker above such a procedure's entry on the profile stack.
 * Writer:  the running thread. Reader: the sampler, which leaves the marker out.
 * Must not: cost the hooks of other procedures anything.
 *
 * Entry: no slot of the call table where hooks look has a call of such a procedure (ASKED_SLOTS further on), so each of
 * its entries takes the slow path, and no other one does. Exit: on top of its entry lies a second one, the marker, with
 * a mark that no frame can have, one below its own. So the hook of its exit does not find its own mark on top, and
 * takes the slow path, where the marker is dropped as stale.
 */
#ifndef QZI_PUBLISH_ASKED_H
#define QZI_PUBLISH_ASKED_H

#include "instrument.h"
#include "publisher/what_if.h"

#define ASKED_SLOTS 8 /* more than the hooks look at after the first one */

static inline bool asked(uint64_t key) { return __builtin_expect(qzi_what_if_calls, 0) && qzi_what_if_called(key); }
/* Where the search for a slot of the call begins. */
static inline uint32_t asked_slot(uint32_t first, uint64_t key) {
  return asked(key) ? (first + ASKED_SLOTS) & (QZI_CALL_SLOTS - 1) : first;
}

#pragma GCC visibility push(hidden)
/* The procedure is on top of the stack, and has just been pushed. */
void qzi_asked_entered(struct qz_thread *record, uint64_t key);
/* Stale entries have been dropped, and something is about to be pushed. */
void qzi_asked_mark(struct qz_thread *record);
/* Something has been dropped. */
void qzi_asked_left(struct qz_thread *record);
#pragma GCC visibility pop

#endif
