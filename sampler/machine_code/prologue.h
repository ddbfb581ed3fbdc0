/* How far the stack pointer lies below the frame pointer in a procedure that keeps its frame by the latter, read from
 * its first instructions: the way to the frame pointer of a sleeping thread, of which the kernel tells the stack
 * pointer alone.
 *
 * Owns:    nothing; a pure function of bytes. x86-64; elsewhere unknown.
 */
#ifndef QZI_FRAME_SIZE_H
#define QZI_FRAME_SIZE_H

#include <stddef.h>
#include <stdint.h>

/* Bytes, once the prologue is done and as long as nothing is allocated on the stack; -1: not such a procedure. */
int32_t qzi_frame_size(const unsigned char *code, size_t count);
/* Do these bytes end with a call? */
int qzi_ends_with_call(const unsigned char *code, size_t count);

#endif
