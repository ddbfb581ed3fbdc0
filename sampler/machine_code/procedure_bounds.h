/* Where procedures begin in code that has neither symbols nor unwind information.
 *
 * Owns:    what was found so far. A function of bytes, which are given piece by piece, ascending; one thread at a time;
 * not for signal handlers. x86-64; elsewhere nothing is found.
 *
 * A procedure begins behind a return or a jump that goes away, unless a branch around that place says that it is in the
 * middle of one, and wherever a call in the same code leads to (Tallent, Mellor-Crummey, Fagan, PLDI 2009, 2.1).
 */
#ifndef QZI_PROCEDURE_BOUNDS_H
#define QZI_PROCEDURE_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

struct qzi_procedure_bounds;

/* Of the code from `low` up to `high`; `low` is taken to be a start. NULL: no memory. */
struct qzi_procedure_bounds *qzi_procedure_bounds_open(uint64_t low, uint64_t high);
void qzi_procedure_bounds_close(struct qzi_procedure_bounds *bounds);
/* Address from which it wants bytes next; `high`: it has all. */
uint64_t qzi_procedure_bounds_next(const struct qzi_procedure_bounds *bounds);
/* Those bytes, `length` of them; about so many instructions are looked at. What it leaves it will want again. */
void qzi_procedure_bounds_feed(struct qzi_procedure_bounds *bounds, const unsigned char *code, size_t length,
                               uint32_t instructions);
/* The procedure that has the address, once all was given. */
void qzi_procedure_bounds_at(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end);

#endif
