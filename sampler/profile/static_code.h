/* Finds the C library's code in a statically linked program.
 *
 * Owns:    nothing. Any thread. Trusts nothing in the program's file.
 *
 * Linkers place the program's own files before those taken from archives, and the C library is the last archive. So its
 * code begins at the first procedure after the program's entry point whose name is reserved for the C library and of no
 * use to others (`__libc_start_main`, `__pthread_...`, `_IO_...`). Code that compilers separate (cold code, startup
 * code) is placed before that, and is not recognized. In a stripped program nothing is.
 */
#ifndef QZI_STATIC_CODE_H
#define QZI_STATIC_CODE_H

#include <stdint.h>
#include "interner.h"

/* Range in addresses of the process. Empty: the program is dynamically linked, has no symbol table, or may not be
 * read. */
struct qzi_range qzi_static_c_code(uint32_t pid);

#endif
