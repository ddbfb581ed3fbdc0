/* Which code of a statically linked program is the C library's.
 *
 * Owns:    nothing. Any thread. Trusts nothing in the program's file.
 *
 * Linkers put what the program's own files have before what they take from archives, and the C library comes last: so
 * its code begins with the first procedure, behind the one that the program starts at, whose name is reserved for the C
 * library and that is of no use to anybody else (`__libc_start_main`, `__pthread_...`, `_IO_...`). Code that compilers
 * put aside (cold, executed at the start) lies before that, and is not recognized. Nor is that of a stripped program.
 */
#ifndef QZI_STATIC_CODE_H
#define QZI_STATIC_CODE_H

#include <stdint.h>
#include "interner.h"

/* In addresses of the process. Empty: it is dynamically linked, has no symbol table, or may not be read. */
struct qzi_range qzi_static_c_code(uint32_t pid);
/* The same of the file at `path`, as the linker placed it; *entry: where it starts. */
struct qzi_range qzi_static_c_code_of(const char *path, uint64_t *entry);

#endif
