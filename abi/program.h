/* What kind of program a file holds: whether the pthread layer can be put into it.
 *
 * Owns:    nothing. Reader of the program's file, trusting nothing in it.
 * Reader:  the sampler before it starts a program; the pthread layer before the program it is in starts another.
 * Must not: allocate: the layer asks between vfork and exec.
 */
#ifndef QZ_ABI_PROGRAM_H
#define QZ_ABI_PROGRAM_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

enum qz_program {
  QZ_PROGRAM_PLAIN,      /* dynamically linked to the GNU C library, without the thread package: the layer fits */
  QZ_PROGRAM_PACKAGE,    /* has the thread package, which publishes by itself */
  QZ_PROGRAM_STATIC,     /* statically linked: nothing can be put into it */
  QZ_PROGRAM_OTHER_LIBC, /* another C library, which has no use for the layer */
  QZ_PROGRAM_PRIVILEGED, /* setuid, setgid or with capabilities: the dynamic linker ignores LD_PRELOAD */
  QZ_PROGRAM_SANITIZER,  /* has a sanitizer's run-time library, which must come first */
  QZ_PROGRAM_FOREIGN,    /* 32-bit, or for another machine */
  QZ_PROGRAM_UNKNOWN     /* not there, not readable, or damaged */
};

/* Of the file at `path`; a script counts as its interpreter, and one that does not name any as the shell. */
enum qz_program qz_program_at(const char *path);
/* The same of what execvp(name) would run. */
enum qz_program qz_program_named(const char *name);

#pragma GCC visibility pop
#endif
