/* Lists of names. See origin.h. */
#include "origin.h"
#include "mpi_call.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define EACH(list, k)      for (size_t k = 0; k < sizeof(list) / sizeof *(list); k++)
#define BEGINS(text, with) (!strncmp(text, with, strlen(with)))

/* Returns the length of a shared library's name without its version: "libc-2.31.so" and "libgomp.so.1.0.0" give libc
 * and libgomp. 0: it is not a shared library. */
static size_t library_name(const char *file) {
  const char *end = strstr(file, ".so");
  while (end && end[3] && end[3] != '.') end = strstr(end + 1, ".so");
  if (!end) return 0;
  const char *dash = end;
  while (dash > file && (isdigit((unsigned char)dash[-1]) || dash[-1] == '.')) dash--;
  return (size_t)((dash < end && dash > file && dash[-1] == '-' ? dash - 1 : end) - file);
}

const char *qz_file_of_path(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool qz_is_installed(const char *path) {
  static const char *const places[] = {"/lib", "/usr/lib", "/usr/local/lib"};
  if (!strstr(qz_file_of_path(path), ".so")) return false;
  EACH(places, k)
  if (BEGINS(path, places[k])) return true;
  return false;
}

enum qz_origin qz_origin_of_module(const char *path) {
  static const char *const runtime[] = {"libc",       "libm",      "libmvec",  "libgfortran", "libquadmath",
                                        "libpthread", "librt",     "libdl",    "libstdc++",   "libc++",
                                        "libc++abi",  "libunwind", "libgcc_s", "ld",          "libquartz-pthread"};
  static const char *const openmp[] = {"libgomp", "libomp", "libiomp5", "libtbb"};
  const char *file = qz_file_of_path(path);
  size_t length = library_name(file);
  if (!length) return QZ_ORIGIN_OWN;
  if (BEGINS(file, "ld-linux") || BEGINS(file, "ld-musl")) return QZ_ORIGIN_RUNTIME;
  EACH(runtime, k)
  if (strlen(runtime[k]) == length && !memcmp(file, runtime[k], length)) return QZ_ORIGIN_RUNTIME;
  EACH(openmp, k)
  if (strlen(openmp[k]) == length && !memcmp(file, openmp[k], length)) return QZ_ORIGIN_OPENMP;
  return qz_is_installed(path) ? QZ_ORIGIN_INSTALLED : QZ_ORIGIN_OWN;
}

/* A procedure of the C++ library that runs a thread of the program counts as that thread's own code. */
static bool runs_thread(const char *name) {
  static const char *const states[] = {"std::thread::_State_impl<", "std::__future_base::_Async_state_impl<"};
  size_t length = strlen(name);
  EACH(states, k)
  if (BEGINS(name, states[k])) return length > 8 && !strcmp(name + length - 8, "::_M_run");
  return false;
}

static bool is_standard(const char *name) {
  static const char *const scopes[] = {
    "std::", "core::", "alloc::", "__gnu_cxx::", "<std::", "<core::", "<alloc::", "tbb::detail::"};
  static const char *const traits[] = {" as std::", " as core::", " as alloc::"};
  EACH(scopes, k)
  if (BEGINS(name, scopes[k])) return !runs_thread(name);
  EACH(traits, k)
  if (name[0] == '<' && strstr(name, traits[k])) return true;
  return !strcmp(name, "__pthread_once_slow");
}

/* Go's run-time library is part of the program; its packages are recognized by their names, which contain a dot. */
static bool is_of_go(const char *name) {
  static const char *const packages[] = {"runtime.", "runtime/internal/", "internal/", "sync.", "sync/atomic.",
                                         "_cgo_",    "crosscall"};
  EACH(packages, k)
  if (BEGINS(name, packages[k])) return true;
  return false;
}

enum qz_origin qz_origin_of(const char *name, const char *path) {
  enum qz_origin origin = qz_origin_of_module(path);
  if (origin == QZ_ORIGIN_OWN && is_of_go(name)) return QZ_ORIGIN_RUNTIME;
  return (origin == QZ_ORIGIN_OWN || origin == QZ_ORIGIN_INSTALLED) && is_standard(name) ? QZ_ORIGIN_STANDARD : origin;
}

enum qz_origin qz_origin_of_generated(const char *name, const char *file) {
  static const char *const scopes[] = {"java.",   "javax.",     "jdk.",     "sun.",
                                       "System.", "Microsoft.", "Builtin:", "BytecodeHandler:"};
  static const char *const stubs[] = {"Interpreter", "StubRoutines",   "I2C/C2I adapters", "vtable",    "itable",
                                      "Runtime",     "Deoptimization", "Exception",        "Safepoint", "Signature"};
  EACH(scopes, k)
  if (BEGINS(name, scopes[k])) return QZ_ORIGIN_RUNTIME;
  EACH(stubs, k) /* HotSpot's, which have no class */
  if (BEGINS(name, stubs[k]) && !file[0] && !strpbrk(name, ".:")) return QZ_ORIGIN_RUNTIME;
  return BEGINS(file, "node:") ? QZ_ORIGIN_RUNTIME : QZ_ORIGIN_OWN;
}

/* Returns whether the text begins with the word, and the word ends there. */
static bool is_word(const char *text, const char *word) {
  size_t length = strlen(word);
  return !strncmp(text, word, length) && !isalnum((unsigned char)text[length]) && text[length] != '_';
}

#define ANY(text, list) contains_any(text, list, sizeof(list) / sizeof *(list))
static bool contains_any(const char *text, const char *const *list, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (strcasestr(text, list[k])) return true;
  return false;
}

/* Stream functions: the C library locks the stream in each call. */
static bool is_stream_call(const char *called) {
  static const char *const formatted[] = {"printf",  "fprintf",  "vprintf",  "vfprintf",
                                          "wprintf", "fwprintf", "vwprintf", "vfwprintf"};
  static const char *const others[] = {"puts",     "fputs",    "wputs",  "putc",    "fputc",    "putwc",  "fputwc",
                                       "putchar",  "putwchar", "getc",   "fgetc",   "getwc",    "fgetwc", "getchar",
                                       "getwchar", "fgets",    "fgetws", "getline", "getdelim", "fread",  "fwrite",
                                       "fflush",   "fseek",    "fseeko", "setvbuf", "perror"};
  while (*called == '_') called++;
  if (BEGINS(called, "IO_")) called += 3;
  EACH(formatted, k)
  if (is_word(called, formatted[k])) return true;
  EACH(others, k)
  if (is_word(called, others[k])) return true;
  return false;
}

static bool is_lock(const char *called) {
  static const char *const locks[] = {"mutex",         "rwlock",   "rw_lock",      "lock_contended",
                                      "lock_slow",     "critical", "atomic_start", "set_lock",
                                      "set_nest_lock", "spinlock", "spin_lock"};
  static const char *const allocation[] = {"malloc", "calloc", "realloc", "free", "operator new", "operator delete"};
  if (ANY(called, locks)) return true;
  EACH(allocation, k)
  if (is_word(called, allocation[k])) return true;
  return is_stream_call(called);
}

static bool passes_data(const char *called) {
  static const char *const words[] = {"condvar", "channel", "semaphore", "sem_wait", "cond_wait", "cond_timedwait"};
  static const char *const members[] = {"::recv", "::send"};
  if (ANY(called, words)) return true;
  EACH(members, k)
  for (const char *at = called; (at = strstr(at, members[k])); at++)
    if (is_word(at, members[k])) return true;
  const char *atomic = strstr(called, "std::atomic"), *wait = atomic ? strstr(atomic, "::wait") : NULL;
  return wait && !memchr(atomic, ' ', (size_t)(wait - atomic));
}

enum qz_library_wait qz_library_wait_of(const char *called) {
  switch (qz_mpi_call_of(called)) {
  case QZ_MPI_NONE: break;
  case QZ_MPI_OTHER: return QZ_LIBRARY_WAIT_UNKNOWN;
  case QZ_MPI_MESSAGE: return QZ_LIBRARY_WAIT_MESSAGE;
  case QZ_MPI_COLLECTIVE: return QZ_LIBRARY_WAIT_COLLECTIVE;
  case QZ_MPI_START: return QZ_LIBRARY_WAIT_PROCESSES;
  }
  if (BEGINS(called, "GOMP_parallel") || BEGINS(called, "__kmpc_fork_call")) return QZ_LIBRARY_WAIT_REGION_END;
  if (strcasestr(called, "barrier") || BEGINS(called, "std::latch::") || BEGINS(called, "GOMP_loop_end") ||
      BEGINS(called, "GOMP_sections_end"))
    return QZ_LIBRARY_WAIT_BARRIER;
  if (passes_data(called)) return QZ_LIBRARY_WAIT_DATA;
  return is_lock(called) ? QZ_LIBRARY_WAIT_LOCK : QZ_LIBRARY_WAIT_UNKNOWN;
}
