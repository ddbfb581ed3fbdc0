/* A recording that goes on in one file after another (--rotate): each holds some time, so many are kept.
 *
 * Owns:    the names of the files, which hold the time at which each began; when the next one is due.
 * Writer and reader: the control thread.
 * Must not: remove a file that is not named as one of these, or that a living recording writes.
 *
 * The program goes on publishing. What it does between the last snapshot of one file and the first of the next,
 * some milliseconds, is in neither.
 */
#ifndef QZI_ROTATION_H
#define QZI_ROTATION_H

#include <stddef.h>
#include "options.h"

/* Puts the time of day before the extension of a name. 0, or -1: too long. */
int qzi_rotation_name(char *name, size_t bytes, const char *base);
/* Recording is about to begin; `base`: the name that those of the files are made of. Nothing without --rotate. */
void qzi_rotation_begin(const struct qzi_options *options, const char *base);
/* Goes on in another file with the recording of `pid` where it is time, or the file has no room for more. */
void qzi_rotation_look(pid_t pid);
/* 1: a name, without its directory, is one of those made of `base`, without its own. */
int qzi_rotation_is_one(const char *name, const char *base);

#endif
