/* Scopes of the program's code within a procedure, and to which of them an instruction belongs: procedures that the
 * compiler has inlined, and loops (code_loops.h).
 *
 * Owns:    the scopes found for each instruction; a thread that reads the debug information for them, with its own
 * symbols. A compilation unit is read as a whole, which may take long, and snapshots must not wait for it; looking up
 * an instruction in a unit that is read takes microseconds.
 * Writer and reader: the aggregating thread, which looks up what has been read, asks for the rest, and takes the
 * answers.
 * Must not: delay a snapshot: until the answer is there, an instruction belongs to its procedure only; use more than 2
 * % of a CPU in the long run.
 */
#ifndef QZI_INLINE_FRAMES_H
#define QZI_INLINE_FRAMES_H

#include "sampler/profile/interner.h"

#define QZI_INLINED_MOST 16u /* maximum number of procedures inlined at one instruction */

struct qzi_inlining;

/* The reading thread inherits the CPUs and the priority of the calling thread. Returns NULL if there is no memory, or
 * if the sampler was built without libdw. */
struct qzi_inlining *qzi_inlining_open(struct qzi_interner *in);
void qzi_inlining_close(struct qzi_inlining *inlining);
/* Takes the answers that have arrived; returns the processor time in ns that they took. */
uint64_t qzi_inlining_take(struct qzi_inlining *inlining);
/* Writes the keys (QZI_KEY_INLINED) of the procedures inlined at the instruction into the one that begins at `entry`,
 * outermost first. Returns their number, at most QZI_INLINED_MOST; 0 also if the answer is not there yet. */
uint32_t qzi_inlining_at(struct qzi_inlining *inlining, uint64_t pc, uint64_t entry, uint64_t *keys);
/* 1: all questions are answered. */
int qzi_inlining_answered(const struct qzi_inlining *inlining);
/* The loops around the instruction are kept in lists: the first one contains the loops of the procedure that begins at
 * `entry`, and there is one more for each procedure inlined at the instruction. Each list ends with the source line at
 * which the path is in that scope, or leaves it for the next one. Returns the number of the first list, after which the
 * others are numbered; 0: there are no loops and lines, or the answer is not there yet. */
uint32_t qzi_inlining_loops_at(const struct qzi_inlining *inlining, uint64_t pc, uint64_t entry);
/* Writes the keys (QZI_KEY_INLINED) of the loops in that list, outermost first, and of the line. Returns their number,
 * at most QZI_LOOPS_MOST + 1. Lines are left out if the profile has very many paths. */
#define QZI_LOOPS_MOST 12u
uint32_t qzi_inlining_loops(const struct qzi_inlining *inlining, uint32_t list, uint64_t *keys);

#endif
