/* Disassembly.
 *
 * Owns:    nothing; a function of bytes. If nothing is decoded (x86_decode.h), there is no text.
 */
#ifndef QZI_MACHINE_CODE_PRINT_H
#define QZI_MACHINE_CODE_PRINT_H

#include <stddef.h>
#include <stdint.h>

/* 1: this build can disassemble this machine's instructions. */
int qzi_prints(void);
/* Writes the instruction at `address`, of which at most `left` bytes are given, in Intel's syntax, cut to `room` bytes
 * including the NUL. Returns its length in bytes; 0 if it is invalid or incomplete. */
size_t qzi_print(const unsigned char *bytes, size_t left, uint64_t address, char *text, size_t room);

#endif
