/* Reading a profile file, trusting nothing.
 *
 * Owns:    a checked copy of a profile in memory.
 * Writer:  qz_profile_load. Reader: reports, the live screen, tests.
 * Must not: map the file (truncation of a mapped file would kill the reader), compute a metric, or return an index that
 * is out of range.
 *
 * After qz_profile_load has returned 0: every entity, stack node, string and module index in the copy is inside its
 * section; a node's parent has a lower index (parent < node); every string ends in NUL; states and kinds are known
 * values; all arrays are aligned. A qz_profile_copy must be used by one thread at a time; not async-signal-safe.
 */
#ifndef QZ_ABI_PROFILE_READ_H
#define QZ_ABI_PROFILE_READ_H

#include <stddef.h>
#include <stdint.h>
#include "profile_copy.h"
#include "profile_fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads and checks the file. In a finished one every byte is checked, by checksums; in an unfinished one (`status`
 * is then QZ_PROFILE_RECORDING) only consistency. A file that is being recorded is read again, several times if
 * necessary, until the copy lies between two snapshots. Returns QZ_FAULT_NONE, 0; or what is wrong, with a
 * clause in `why` that says so (errno is then the system's error, or 0). */
enum qz_profile_fault qz_profile_load(struct qz_profile_copy *profile, const char *path, char *why, size_t why_bytes);
/* The same for a file in memory (which is copied). The sampler is assumed to have ended. */
enum qz_profile_fault qz_profile_load_memory(struct qz_profile_copy *profile, const void *bytes, size_t size, char *why,
                                             size_t why_bytes);
/* Writes everything that is wrong with a file to `clauses`, one clause per line; the first is that of
 * qz_profile_load, whose result is returned. */
enum qz_profile_fault qz_profile_damage(const char *path, char *clauses, size_t bytes);
void qz_profile_unload(struct qz_profile_copy *profile);

#ifdef __cplusplus
}
#endif
#endif
