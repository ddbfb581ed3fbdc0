/* Scopes of the program's code within a procedure: those that its compiler has put into it (inlined), and loops
 * (code_loops.h); which of them an instruction belongs to.
 *
 * Owns:    what was found for each instruction; a thread that reads the debug information for it, with symbols of its
 * own. A unit of that is read as a whole, which may take long, and snapshots don't wait; what then is looked up in it
 * takes microseconds. Writer and reader: the aggregating thread, which looks up what has been read, asks for the rest,
 * and takes the answers. Must not: hold up a snapshot: until the answer is there, an instruction belongs to its
 * procedure alone; take more than 2 % of a CPU in the long run.
 */
#ifndef QZI_INLINE_FRAMES_H
#define QZI_INLINE_FRAMES_H

#include "sampler/profile/interner.h"

#define QZI_INLINED_MOST 16u /* at one instruction */

struct qzi_inlining;

/* Called by a thread whose CPUs and priority the reading thread may have. NULL: no memory, or built without libdw. */
struct qzi_inlining *qzi_inlining_open(struct qzi_interner *in);
void qzi_inlining_close(struct qzi_inlining *inlining);
/* Takes the answers that have come, and says how much processor time they took. */
uint64_t qzi_inlining_take(struct qzi_inlining *inlining);
/* Keys (QZI_KEY_INLINED) of the procedures that are inlined at the instruction into the one that begins at `entry`,
 * outermost first; as many as there are, at most QZI_INLINED_MOST. 0 also where the answer is not there yet. */
uint32_t qzi_inlining_at(struct qzi_inlining *inlining, uint64_t pc, uint64_t entry, uint64_t *keys);
/* 1: nothing that was asked for waits for its answer. */
int qzi_inlining_answered(const struct qzi_inlining *inlining);
/* The loops around the instruction of the procedure that begins at `entry` are lists: that which stands before what is
 * inlined there, then one behind each of those procedures. Each ends with the source line at which the path is in that
 * scope, or goes on from it. The number of the first list, the others follow; 0: neither is known, or the answer is not
 * there yet. */
uint32_t qzi_inlining_loops_at(const struct qzi_inlining *inlining, uint64_t pc, uint64_t entry);
/* Keys (QZI_KEY_INLINED) of the loops in that list, outermost first, and of the line: at most QZI_LOOPS_MOST + 1. Their
 * number. Lines are left out where the profile has very many paths. */
#define QZI_LOOPS_MOST 12u
uint32_t qzi_inlining_loops(const struct qzi_inlining *inlining, uint32_t list, uint64_t *keys);

#endif
