/* Which instructions of the program's own code its threads executed.
 *
 * Owns:    the section INSTRUCTIONS and the table to find its elements.
 * Writer and reader: the aggregating thread of one recording.
 * Must not: look at code. Bounded: instructions for which the section has no room are only counted.
 */
#ifndef QZI_INSTRUCTIONS_H
#define QZI_INSTRUCTIONS_H

#include "interner.h"

struct qzi_instructions {
  struct qzi_interner *in;
  struct qzi_table index; /* by address */
};

/* Index + 1 of the instruction in the procedure that begins at `entry`, which is added if necessary; 0: no room. */
uint32_t qzi_instruction_find(struct qzi_instructions *instructions, uint64_t address, uint64_t entry);
/* Adds the time for which a thread executed the instruction, while `busy` threads worked; spins: the thread was
 * busy-waiting, and is not one of them. at 0: does nothing. */
static inline void qzi_instruction_add(struct qzi_instructions *instructions, uint32_t at, uint64_t ns, unsigned busy,
                                       int spins) {
  if (!at) return;
  struct qz_instruction *its = &instructions->in->file->instructions[at - 1];
  its->count++;
  if (spins) {
    its->spin_ns += ns;
    return;
  }
  its->ns += ns;
  its->npt_ps += ns * 1000 / (busy ? busy : 1);
}
void qzi_instructions_close(struct qzi_instructions *instructions);

#endif
