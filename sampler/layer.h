/* Whether the pthread layer is put into a program, and how.
 *
 * Owns:    nothing. Reader of the program's file, trusting nothing in it.
 */
#ifndef QZI_LAYER_H
#define QZI_LAYER_H

#include <stddef.h>

enum qzi_layer {
  QZI_LAYER_WANTED,    /* dynamically linked, without the thread package */
  QZI_LAYER_PACKAGE,   /* has the thread package, which publishes by itself */
  QZI_LAYER_STATIC,    /* statically linked: nothing can be put into it */
  QZI_LAYER_PRIVILEGED,/* setuid, setgid or with capabilities: the dynamic linker ignores LD_PRELOAD */
  QZI_LAYER_SANITIZER, /* has a sanitizer's run-time library, which must come first */
  QZI_LAYER_FOREIGN    /* no ELF file for this machine, or not readable */
};

/* Looks at the program that execvp(name) would run; a script counts as its interpreter. */
enum qzi_layer qzi_layer_for(const char *name);
/* Why a program of that kind can't be recorded by the layer, one clause; NULL: it can. */
const char *qzi_layer_reason(enum qzi_layer kind);
/* Path of libquartz-pthread.so: QUARTZ_LAYER, or where it lies beside this program, built or installed. 0, or -1. */
int qzi_layer_path(char *path, size_t bytes);
/* In a child, before exec: the layer comes first in LD_PRELOAD. 0, or -1 and errno. */
int qzi_layer_preload(const char *path);

#endif
