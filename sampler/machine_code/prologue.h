/* How a procedure begins whose extent is not known, as in generated code: what it does with the stack.
 *
 * Owns:    nothing. x86-64; on other machines nothing is recognized.
 */
#ifndef QZI_PROLOGUE_H
#define QZI_PROLOGUE_H

#include <stddef.h>
#include <stdint.h>

/* What a procedure does with the stack: QZI_PROLOGUE_POINTER, or the distance in bytes from the stack pointer to the
 * caller's (16 or more). */
#define QZI_PROLOGUE_NONE    0u /* no beginning was found */
#define QZI_PROLOGUE_POINTER 1u /* it sets the frame pointer */

/* The last beginning of a procedure in these bytes that is complete before `end`. Compilers of run-time systems write
 *   push %rbp; mov %rsp,%rbp                  frame pointer (V8; HotSpot with -XX:+PreserveFramePointer; Mono)
 *   push %rbp; sub $N,%rsp                    frame of N + 16 bytes (HotSpot)
 *   sub $N,%rsp; mov %rbp,M(%rsp)             frame of N + 8 bytes, M = N - 8 (HotSpot) */
uint32_t qzi_prologue_before(const unsigned char *code, size_t end);

/* Whether the procedure's frame is not there yet, or no more, at the instruction that these bytes begin with; then the
 * return address is *above bytes above the stack pointer. */
int qzi_prologue_without_frame(const unsigned char *code, size_t count, uint32_t *above);

/* Whether these bytes end with a jump through a table or a register, as interpreters end each instruction. */
int qzi_prologue_ends_with_dispatch(const unsigned char *code, size_t count);

#endif
