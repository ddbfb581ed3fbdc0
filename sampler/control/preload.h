/* The pthread layer: its path, and how it is preloaded into a program.
 *
 * Owns:    nothing.
 * Writer: a child before exec, of its environment. Reader: whoever starts programs (record.c).
 */
#ifndef QZI_PRELOAD_H
#define QZI_PRELOAD_H

#include <stddef.h>
#include "abi/program.h"

/* Why a program of that kind cannot be recorded with the layer, a clause; NULL if it can. */
const char *qzi_layer_reason(enum qz_program kind);
/* The path of libquartz-pthread.so for LD_PRELOAD: $QUARTZ_LAYER, or its location relative to this program, in the
 * build or installed. Returns 0, or -1. If the path contains a blank or a colon, which LD_PRELOAD does not allow, a
 * name that is valid while this process lives. */
int qzi_layer_path(char *path, size_t bytes);
/* In a child before exec: puts the layer first into LD_PRELOAD, followed by the MPI layer if the process has a rank.
 * Returns 0, or -1 with errno. */
int qzi_layer_preload(const char *path);

#endif
