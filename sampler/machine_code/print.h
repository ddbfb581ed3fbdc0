/* Instructions as text.
 *
 * Owns:    nothing; a function of bytes. Where nothing is decoded (x86_decode.h), there is no text.
 */
#ifndef QZI_MACHINE_CODE_PRINT_H
#define QZI_MACHINE_CODE_PRINT_H

#include <stddef.h>
#include <stdint.h>

/* 1: this build can print instructions of this machine. */
int qzi_prints(void);
/* The instruction at `address`, of which at most `left` bytes are given, in Intel's syntax, cut to `room` with its NUL.
 * Its length in bytes; 0: it is none, or there is not all of it. */
size_t qzi_print(const unsigned char *bytes, size_t left, uint64_t address, char *text, size_t room);

#endif
