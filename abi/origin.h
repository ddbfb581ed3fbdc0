/* Origin of code, and what a library's call waits for: the only definition, for all code that names procedures.
 *
 * Owns:    lists of names of run-time libraries and of their waiting calls. Pure functions of strings, for any thread.
 * Writer:  the sampler stores the results in the profile (struct qz_entity) when it resolves names; the addon calls
 *          these functions for names that an unfinished profile does not contain yet.
 */
#ifndef QZ_ABI_ORIGIN_H
#define QZ_ABI_ORIGIN_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum qz_origin {
  QZ_ORIGIN_UNKNOWN = 0, /* not decided yet; treated as the program's own */
  QZ_ORIGIN_OWN = 1,     /* the program, or a library that the system did not install */
  QZ_ORIGIN_RUNTIME = 2, /* run-time library of C, C++ or Fortran: its time belongs to its caller */
  QZ_ORIGIN_OPENMP = 3,  /* library that divides work among threads (OpenMP, TBB): likewise */
  QZ_ORIGIN_STANDARD =
    4, /* code of a library that is compiled into the program: of C++'s or Rust's own, or from headers of another one */
  QZ_ORIGIN_INSTALLED = 5 /* another library that the system installed */
};

/* Returns the origin of a procedure, by its demangled name, the path of its module and the file that defines it ("":
 * unknown). */
enum qz_origin qz_origin_of(const char *name, const char *path, const char *file);
/* The same for a procedure of generated code, which is in no module, by its name and file ("": unknown): RUNTIME for
 * what belongs to the run-time system (libraries of Java, .NET and Node.js; stubs and interpreters), else OWN. */
enum qz_origin qz_origin_of_generated(const char *name, const char *file);
/* Returns whether it is the path of a library that the system installed. */
bool qz_is_installed(const char *path);
/* Returns whether it is the name of one of the crates that Rust's library consists of, or that make locks for it. */
bool qz_is_rust_crate(const char *name, size_t length);
/* Returns whether the file belongs to a library whose code is compiled into programs: a header that the system
 * installed, or source of Rust's own library. */
bool qz_is_library_source(const char *file);
/* Returns the origin of all code in the module of that path: RUNTIME, OPENMP, INSTALLED or OWN. */
enum qz_origin qz_origin_of_module(const char *path);

/* State that all threads share, and for which a public procedure of the C library takes a lock of its own in each call.
 */
enum qz_library_lock {
  QZ_LIBRARY_LOCK_NONE = 0,
  QZ_LIBRARY_LOCK_RANDOM = 1, /* the state of the random numbers */
  QZ_LIBRARY_LOCK_STREAM = 2, /* an output or input stream */
  QZ_LIBRARY_LOCK_TIME = 3,   /* the time zone */
  QZ_LIBRARY_LOCK_LOADER = 4  /* the list of loaded libraries */
};
enum qz_library_lock qz_library_lock_of(const char *called);

/* What is unknown about a procedure. */
enum qz_missing {
  QZ_MISSING_NOTHING = 0,
  QZ_MISSING_NAME = 1,
  QZ_MISSING_STRIPPED = 2, /* the name, because the binary has no symbol table */
  QZ_MISSING_PLACE = 3,    /* file and line */
  QZ_MISSING_SYSTEM = 4    /* file and line of a system library, which are not looked up */
};

/* What a thread waits for inside a library, derived from the procedure that the program called there. */
enum qz_library_wait {
  QZ_LIBRARY_WAIT_UNKNOWN = 0,
  QZ_LIBRARY_WAIT_LOCK = 1,
  QZ_LIBRARY_WAIT_BARRIER = 2,    /* no thread continues before all have arrived */
  QZ_LIBRARY_WAIT_REGION_END = 3, /* the barrier at the end of a parallel region */
  QZ_LIBRARY_WAIT_DATA = 4,       /* data or a signal from another thread: channels, conditions, semaphores */
  QZ_LIBRARY_WAIT_MESSAGE = 5,    /* MPI: waits for one other process */
  QZ_LIBRARY_WAIT_COLLECTIVE = 6, /* MPI: waits for several other processes */
  QZ_LIBRARY_WAIT_PROCESSES = 7,  /* MPI: waits until all processes have started, or ended */
  QZ_LIBRARY_WAIT_TASKS = 8       /* ends of tasks that threads of a team execute */
};
/* Classifies a call by the demangled name of the called procedure. */
enum qz_library_wait qz_library_wait_of(const char *called);

#ifdef __cplusplus
}
#endif
#endif
