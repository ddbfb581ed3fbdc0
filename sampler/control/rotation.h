/* A recording in a sequence of files (--rotate), each of which covers a period of time; the newest ones are kept.
 *
 * Owns:    the names of the files, which contain the time at which each began; when the next one is due.
 * Writer and reader: the control thread.
 * Must not: remove a file with another form of name, or one that a recording is writing.
 *
 * The program continues to publish. Its activity between the last snapshot of one file and the first of the next, some
 * milliseconds, is in neither.
 */
#ifndef QZI_ROTATION_H
#define QZI_ROTATION_H

#include <stddef.h>
#include "options.h"

/* Inserts the time of day before the extension of a name. Returns 0, or -1 if it is too long. */
int qzi_rotation_name(char *name, size_t bytes, const char *base);
/* To be called when recording is about to begin. `base`: the base of the file names. No effect without --rotate. */
void qzi_rotation_begin(const struct qzi_options *options, const char *base);
/* Continues the recording of `pid` in another file if it is due, or if the current file is full. */
void qzi_rotation_look(pid_t pid);
/* Returns 1 if a file name is derived from `base` by adding a time. */
int qzi_rotation_is_one(const char *name, const char *base);

#endif
