/* Finds the beginnings of procedures in code that has neither symbols nor unwind information.
 *
 * Owns:    what was found so far. A function of bytes, which are passed piece by piece in ascending order; one thread
 * at a time; not for signal handlers. x86-64; on other machines nothing is found.
 *
 * A procedure begins after a return or an unconditional jump, unless a branch around that place shows that it is in the
 * middle of a procedure, and wherever a call in the same code leads to (Tallent, Mellor-Crummey, Fagan, PLDI 2009,
 * 2.1).
 */
#ifndef QZI_PROCEDURE_BOUNDS_H
#define QZI_PROCEDURE_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

struct qzi_procedure_bounds;

/* For the code from `low` up to `high`; a procedure is assumed to begin at `low`. Returns NULL if there is no
 * memory. */
struct qzi_procedure_bounds *qzi_procedure_bounds_open(uint64_t low, uint64_t high);
void qzi_procedure_bounds_close(struct qzi_procedure_bounds *bounds);
/* Address of the bytes to pass next; `high`: it has all. */
uint64_t qzi_procedure_bounds_next(const struct qzi_procedure_bounds *bounds);
/* Analyses `length` bytes from that address on, about `instructions` instructions at most. Bytes that it did not use
 * must be passed again. */
void qzi_procedure_bounds_feed(struct qzi_procedure_bounds *bounds, const unsigned char *code, size_t length,
                               uint32_t instructions);
/* The procedure that contains the address. Requires that all bytes were passed. */
void qzi_procedure_bounds_at(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end);
/* Where a separate part of a procedure is entered that contains the address: parts which compilers place away from
 * their procedure are entered by its branches alone. Returns 1, and the part's extent and the address of such a branch;
 * 0: it is in no such part. Requires the same. */
int qzi_procedure_bounds_part(struct qzi_procedure_bounds *bounds, uint64_t address, uint64_t *start, uint64_t *end,
                              uint64_t *from);

#endif
