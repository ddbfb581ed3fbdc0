/* Finds the procedure that a call instruction calls, from the program's code: this works even if that procedure has
 * continued by a jump (tail call), and left no frame.
 *
 * Owns:    nothing. x86-64; on other machines the result is unknown.
 */
#ifndef QZI_CALL_TARGET_H
#define QZI_CALL_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Whether these bytes end with a call instruction. */
int qzi_ends_with_call(const unsigned char *code, size_t count);

/* Entry of the procedure called by the call that returns to `site`, followed through the linker's stubs; 0: unknown. */
uint64_t qzi_call_target(uint32_t pid, uint64_t site);

/* If `entry` is a stub, the procedure to which it jumps; else `entry`. */
uint64_t qzi_jump_target(uint32_t pid, uint64_t entry);

#endif
