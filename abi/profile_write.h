/* Writing a finished profile: without gaps, with its end mark and checksums.
 *
 * Owns:    nothing.
 * Writer:  the sampler, when a recording ends; the live screen, which saves a checked copy of one that goes on.
 * Must not: be used for a recording that goes on (the sampler's file grows in place).
 */
#ifndef QZ_ABI_PROFILE_WRITE_H
#define QZ_ABI_PROFILE_WRITE_H

#include "profile_read.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a finished profile into an empty file: `head`, whose sections give count and stride, with its status and end,
 * and their elements at `data`. 0, or -1 and errno. */
int qz_profile_write(int fd, const struct qz_profile *head, const void *const data[QZ_SECTION_COUNT]);
/* Finishes a file where it lies: its extents are full and `head` says what they are. The end mark, for which the file
 * has room, is written behind the last extent, at `end`; checksums and head follow. 0, or -1 and errno. */
int qz_profile_seal(int fd, struct qz_profile *head, uint64_t end);

/* Writes the copy as a finished profile; one of a recording that goes on becomes QZ_PROFILE_CUT, ended by
 * QZ_END_INTERRUPTED. An old file of that name is replaced when the new one is whole. 0, or -1 and errno. One thread at
 * a time for each copy; not for signal handlers. */
int qz_profile_store(const struct qz_profile_copy *copy, const char *path);

#ifdef __cplusplus
}
#endif
#endif
