/* Which procedure a call calls, read from the program's own code: known even where that procedure continued by a jump
 * and left no frame.
 *
 * Owns:    nothing. x86-64; elsewhere unknown.
 */
#ifndef QZI_CALL_TARGET_H
#define QZI_CALL_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* Do these bytes end with a call? */
int qzi_ends_with_call(const unsigned char *code, size_t count);

/* Entry of what the call that returns to `site` calls, through the linker's stubs; 0: unknown. */
uint64_t qzi_call_target(uint32_t pid, uint64_t site);

/* The same of a procedure that may be a stub: where it jumps on to, else the procedure itself. */
uint64_t qzi_jump_target(uint32_t pid, uint64_t entry);

#endif
