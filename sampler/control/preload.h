/* The pthread layer: where it is, and how it is put into a program.
 *
 * Owns:    nothing. Writer: a child before exec, of its environment. Reader: whoever starts programs (record.c).
 */
#ifndef QZI_PRELOAD_H
#define QZI_PRELOAD_H

#include <stddef.h>
#include "abi/program.h"

/* Why a program of that kind can't be recorded by the layer, one clause; NULL: it can. */
const char *qzi_layer_reason(enum qz_program kind);
/* Path of libquartz-pthread.so for LD_PRELOAD: QUARTZ_LAYER, or where it lies beside this program, built or installed.
 * 0, or -1. Where that has a blank or a colon, which LD_PRELOAD can't hold, a name that is good as long as this process
 * lives. */
int qzi_layer_path(char *path, size_t bytes);
/* In a child, before exec: the layer comes first in LD_PRELOAD, and behind it, where the process has a rank, the MPI
 * layer. 0, or -1 and errno. */
int qzi_layer_preload(const char *path);

#endif
