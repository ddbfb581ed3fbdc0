/* Where code comes from, and what a library's call waits for: the one definition, for whoever names things.
 *
 * Owns:    lists of names of run-time libraries, and of their calls that wait. Pure functions of strings; any thread.
 * Writer:  the sampler puts the answers into the profile (struct qz_entity), when it names what it saw; the addon asks
 * for what an unfinished profile does not name yet.
 */
#ifndef QZ_ABI_ORIGIN_H
#define QZ_ABI_ORIGIN_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum qz_origin {
  QZ_ORIGIN_UNKNOWN = 0,  /* not decided yet: counts as the program's own */
  QZ_ORIGIN_OWN = 1,      /* the program's, or that of a library which is not the system's */
  QZ_ORIGIN_RUNTIME = 2,  /* a run-time library of C, C++ or Fortran: what it does belongs to its caller */
  QZ_ORIGIN_OPENMP = 3,   /* one that divides work among threads (OpenMP, TBB), likewise */
  QZ_ORIGIN_STANDARD = 4, /* C++'s or Rust's own library, or TBB's, compiled into the program */
  QZ_ORIGIN_INSTALLED = 5 /* another library that the system installed */
};

/* Of a procedure by its demangled name (""; unknown) in the module of that path (""; in none). */
enum qz_origin qz_origin_of(const char *name, const char *path);
/* What is behind the last slash of a path. */
const char *qz_file_of_path(const char *path);
/* Is that the path of a library that the system installed? */
bool qz_is_installed(const char *path);
/* Of whatever lies in the module of that path: RUNTIME, OPENMP, INSTALLED or OWN. */
enum qz_origin qz_origin_of_module(const char *path);

/* What of a name is not known. */
enum qz_missing {
  QZ_MISSING_NOTHING = 0,
  QZ_MISSING_NAME = 1,
  QZ_MISSING_STRIPPED = 2, /* the name: the binary has no symbol table */
  QZ_MISSING_PLACE = 3,    /* file and line */
  QZ_MISSING_SYSTEM = 4    /* file and line, of a library of the system: they are not looked for */
};

/* What a thread waits for inside a library, recognized by what the program called there. */
enum qz_library_wait {
  QZ_LIBRARY_WAIT_UNKNOWN = 0,
  QZ_LIBRARY_WAIT_LOCK = 1,
  QZ_LIBRARY_WAIT_BARRIER = 2,    /* nobody goes on before all have come */
  QZ_LIBRARY_WAIT_REGION_END = 3, /* the barrier at the end of a parallel region */
  QZ_LIBRARY_WAIT_DATA = 4,       /* what another thread passes on: channels, conditions, semaphores */
  QZ_LIBRARY_WAIT_MESSAGE = 5,    /* MPI: until another process has done its part */
  QZ_LIBRARY_WAIT_COLLECTIVE = 6, /* MPI: until several other processes have come */
  QZ_LIBRARY_WAIT_PROCESSES = 7   /* MPI: until all processes have started, or ended */
};
/* By the demangled name of the procedure that was called. */
enum qz_library_wait qz_library_wait_of(const char *called);

#ifdef __cplusplus
}
#endif
#endif
