/* Addresses of a program to names, files and lines, from ELF and DWARF files through libdw.
 *
 * Owns:    what is known of the binaries (symbol tables, line tables), cached for the life of a `qz_symbols`.
 * Writer:  whoever made the qz_symbols. Reader: the sampler when recording ends, the addon for names that are
 *          still missing.
 * Must not: know sessions or profiles, print, look anything up over a network, or trust a file: a broken one
 *          gives module+offset and a reason, never a crash.
 *
 * One thread at a time for each qz_symbols; not for signal handlers. All strings are NUL-terminated UTF-8 or
 * raw bytes of the binary, never NULL, and live until qz_symbols_free.
 */
#ifndef QUARTZ_SYMBOLS_H
#define QUARTZ_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "symbol.h"

#ifdef __cplusplus
extern "C" {
#endif

/* NULL: out of memory. */
qz_symbols *qz_symbols_new(void);
void qz_symbols_free(qz_symbols *symbols);

/* Declares where a binary was mapped; `start`, `end` and `bias` as in struct qz_module (abi/profile_rows.h). Nothing is
 * opened until an address in it is asked for. `build_id` is hexadecimal, or "" when the recording did not have
 * one. Where ranges overlap the later one counts (a program may unload and load). Returns 0, ENOMEM, or EINVAL
 * (start >= end). */
int qz_symbols_add_module(qz_symbols *symbols, uint64_t start, uint64_t end, uint64_t bias, const char *path,
                          const char *build_id);

/* From now on what is asked for is of the module that was added as number `module`, from 1 (0: of the latest), where
 * that had the address; for addresses of a library that was unloaded. Such answers are not kept. */
void qz_symbols_within(qz_symbols *symbols, size_t module, uint64_t address);

/* The build id of an open ELF file, hexadecimal; "" where it has none, or is no such file. Reads the file, maps
 * nothing: it may be truncated while it is read. */
#define QZ_SYMBOLS_BUILD_ID (2 * 64 + 1)
void qz_symbols_build_id(int fd, char text[QZ_SYMBOLS_BUILD_ID]);

/* Fills all of *symbol. The second question for the same address and use costs one hash look-up. */
enum qz_symbol_status qz_symbols_find(qz_symbols *symbols, uint64_t address, enum qz_symbol_use use,
                                      struct qz_symbol *symbol);

/* The static variable at the address, after which an object there is named; false: there is none, or it is one of the
 * C++ library itself. */
bool qz_symbols_variable(qz_symbols *symbols, uint64_t address, struct qz_symbol *variable);

/* Run-time address at which the procedure starts that contains the instruction; 0: unknown. From symbol tables alone:
 * fast enough to ask while the program runs. */
uint64_t qz_symbols_entry(qz_symbols *symbols, uint64_t address, enum qz_symbol_origin *origin);

/* The procedures of the program that are inlined at the instruction, outermost first, `most` of them: name, file and
 * line of their definition. What headers of libraries define belongs to those that call it. Without debug information
 * there are none. */
size_t qz_symbols_inlined(qz_symbols *symbols, uint64_t address, struct qz_symbol *found, size_t most);
/* Whether that needs no more than a look at what has been read: of each unit of debug information something has been
 * asked before. */
int qz_symbols_inlined_ready(qz_symbols *symbols, uint64_t address);
/* Where the program's own code stands at the instruction in the scope of the first `depth` of those procedures (0: of
 * the procedure that has the code): its own line, or where more is inlined, that of the call. Sets file and line alone.
 * false: unknown. */
bool qz_symbols_scope_line(qz_symbols *symbols, uint64_t address, size_t depth, struct qz_symbol *found);
/* The run-time range of the symbol that has the instruction; one without a size has *end == *start. false: none does.
 */
bool qz_symbols_extent(qz_symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end);
/* Code as the binary has it, from that run-time address on: at most `most` bytes, as far as the file holds them there.
 * Returns their number; 0: *why is one clause that says why there are none. */
size_t qz_symbols_code(qz_symbols *symbols, uint64_t address, unsigned char *bytes, size_t most, const char **why);
/* The outermost library procedure that is inlined at the call which returns to `address`, in the program's innermost
 * code there
 * ("std::latch::wait"). false: none. */
int qz_symbols_inlined_call(qz_symbols *symbols, uint64_t address, struct qz_symbol *found);
/* Whether the call that returns to `site` is in code of a library that is compiled into the program: all code there is
 * of headers; without line information, its procedure is of C++'s or Rust's own library. */
bool qz_symbols_serves(qz_symbols *symbols, uint64_t site);
/* What the program called that waits in C++'s own library ("std::latch::wait"), where its full name says so: that of
 * the procedure, or of one that the library made for it. false: it does not. */
bool qz_symbols_waits_in(const char *full_name, char *out, size_t room);

/* The places of all procedures (data: variables) that are called so, as they are shown or as in the symbol table, in
 * the first module that has any: `most` of them, run-time addresses. */
struct qz_symbol_place {
  uint64_t low, high; /* high: behind it; a symbol without a size: low + 1 */
};
size_t qz_symbols_named(qz_symbols *symbols, const char *name, bool data, struct qz_symbol_place *found, size_t most);

/* Name in the symbol table of the procedure that contains the instruction; "": none. As fast. */
const char *qz_symbols_linkage(qz_symbols *symbols, uint64_t address);

/* A directory that holds build-id trees besides /usr/lib/debug/.build-id (DIR/ab/cdef....debug). 0 or ENOMEM. */
int qz_symbols_add_debug_dir(qz_symbols *symbols, const char *directory);

#ifdef __cplusplus
}
#endif
#endif
