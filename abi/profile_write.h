/* Writing a checked copy of a profile as a file of its own: what a live screen saves of a recording that goes on.
 *
 * Owns:    nothing.
 * Writer:  qz_profile_store makes the file; it is complete or not there.
 * Must not: be used for the recording itself (the sampler's file grows in place).
 */
#ifndef QZ_ABI_PROFILE_WRITE_H
#define QZ_ABI_PROFILE_WRITE_H

#include "profile_read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the copy without gaps; one of a recording that goes on becomes QZ_PROFILE_CUT, ended by QZ_END_INTERRUPTED.
 * An old file of that name is replaced when the new one is whole. 0, or -1 and errno. One thread at a time for each
 * copy; not for signal handlers. */
int qz_profile_store(const struct qz_profile_copy *copy, const char *path);

#ifdef __cplusplus
}
#endif
#endif
