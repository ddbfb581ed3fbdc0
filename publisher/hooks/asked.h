/* Procedures that a "what if" query names (publisher/what_if.h): detection of when the running thread enters and leaves
 * them.
 *
 * Owns:    the marker above the entry of such a procedure on the profile stack.
 * Writer:  the running thread. Reader: the sampler, which omits the marker.
 * Must not: add any cost to the hooks of other procedures.
 *
 * Entry: calls of such a procedure are counted in slots that the hooks do not search (ASKED_SLOTS further on). So every
 * entry of such a procedure takes the slow path, and no other one does. Exit: on top of the procedure's entry lies a
 * second one, the marker, whose mark is one less than that of the entry and cannot be the mark of a frame. So the hook
 * at the procedure's exit does not find its own mark on top and takes the slow path, which drops the marker as stale.
 */
#ifndef QZI_PUBLISH_ASKED_H
#define QZI_PUBLISH_ASKED_H

#include "profile_stack.h"
#include "publisher/what_if.h"

#define ASKED_SLOTS 8 /* more slots than the hooks search after the first one */

static inline bool asked(uint64_t key) { return __builtin_expect(qzi_what_if_calls, 0) && qzi_what_if_called(key); }
/* Returns where the search for a slot of the call begins. */
static inline uint32_t asked_slot(uint32_t first, uint64_t key) {
  return asked(key) ? (first + ASKED_SLOTS) & (QZI_CALL_SLOTS - 1) : first;
}

#pragma GCC visibility push(hidden)
/* To be called when the procedure is on top of the stack and has just been pushed. */
void qzi_asked_entered(struct qz_thread *record, uint64_t key);
/* To be called after entries were dropped. */
void qzi_asked_left(struct qz_thread *record);
#pragma GCC visibility pop

#endif
