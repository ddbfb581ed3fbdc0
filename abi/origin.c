/* Lists of names. See origin.h. */
#include "origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include "file_path.h"
#include "mpi_call.h"

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

bool qz_is_rust_crate(const char *name, size_t length) {
  static const char *const crates[] = {"std",       "core",        "alloc",    "std_detect",
                                       "hashbrown", "parking_lot", "lock_api", "parking_lot_core"};
  EACH(crates, k)
  if (strlen(crates[k]) == length && !memcmp(crates[k], name, length)) return true;
  return false;
}

/* The length of the crate or name space that a path begins with ("alloc::vec::Vec" gives 5); 0: it has none. */
static size_t outermost_scope(const char *path) {
  size_t length = 0;
  while (isalnum((unsigned char)path[length]) || path[length] == '_') length++;
  return BEGINS(path + length, "::") ? length : 0;
}

/* "<T as core::clone::Clone>::clone", of Rust: the library's, unless the type is the program's own. Of closures the
 * library makes such code itself. */
static bool is_of_trait(const char *name) {
  const char *trait = strstr(name, " as "), *type = name + 1;
  if (!trait || !qz_is_rust_crate(trait + 4, outermost_scope(trait + 4))) return false;
  type += strspn(type, "&[(");
  if (BEGINS(type, "mut ")) type += 4;
  size_t crate = outermost_scope(type);
  const char *closure = strstr(type, "closure");
  return !crate || qz_is_rust_crate(type, crate) || (closure && closure < trait);
}

/* C++ programs may have name spaces that are called as Rust's crates are ("core"). */
static bool may_be_rust(const char *file) {
  size_t length = strlen(file);
  return !length || (length > 3 && !strcmp(file + length - 3, ".rs"));
}

/* Whether it is of a package of Go's standard library: "reflect.Value.call", "encoding/json.Marshal". Compilers of C
 * call pieces of a function "sort.part.0", "hash.constprop.1" and so on. */
static bool is_of_go_library(const char *name) {
  static const char *const packages[] = {
    "archive", "bufio",   "bytes",    "cmp",     "compress", "container", "context", "crypto",  "database",
    "debug",   "embed",   "encoding", "errors",  "expvar",   "flag",      "fmt",     "go",      "hash",
    "html",    "image",   "index",    "io",      "iter",     "log",       "maps",    "math",    "mime",
    "net",     "os",      "path",     "reflect", "regexp",   "slices",    "sort",    "strconv", "strings",
    "syscall", "testing", "text",     "time",    "unicode",  "unique",    "vendor"};
  static const char *const pieces[] = {"part.", "constprop.", "isra.", "cold", "lto_priv.", "llvm.", "localalias"};
  size_t length = strcspn(name, "./(<: ");
  if (name[length] != '.' && name[length] != '/') return false;
  EACH(pieces, k)
  if (BEGINS(name + length + 1, pieces[k])) return false;
  EACH(packages, k)
  if (strlen(packages[k]) == length && !memcmp(packages[k], name, length)) return true;
  return false;
}

static bool is_standard(const char *name, const char *file) {
  if (is_of_go_library(name)) return true;
  if (BEGINS(name, "std::") || BEGINS(name, "__gnu_cxx::") || BEGINS(name, "tbb::detail::")) return !runs_thread(name);
  if (name[0] == '<' && is_of_trait(name)) return true;
  const char *path = name + (name[0] == '<');
  return (may_be_rust(file) && qz_is_rust_crate(path, outermost_scope(path))) || !strcmp(name, "__pthread_once_slow");
}

bool qz_is_library_source(const char *file) {
  static const char *const places[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/", "/rustc/"};
  if (strstr(file, "/include/") && strstr(file, "/c++/")) return true; /* GCC's, LLVM's */
  if (strstr(file, "/lib/rustlib/src/")) return true;
  EACH(places, k)
  if (BEGINS(file, places[k])) return true;
  return false;
}

/* Go's run-time library is part of the program; its packages are recognized by their names, which contain a dot. */
static bool is_of_go(const char *name) {
  static const char *const packages[] = {"runtime.", "runtime/internal/", "internal/", "sync.", "sync/atomic.",
                                         "_cgo_",    "crosscall"};
  EACH(packages, k)
  if (BEGINS(name, packages[k])) return true;
  return false;
}

enum qz_origin qz_origin_of(const char *name, const char *path, const char *file) {
  enum qz_origin origin = qz_origin_of_module(path);
  if (origin == QZ_ORIGIN_OWN && is_of_go(name)) return QZ_ORIGIN_RUNTIME;
  if (origin != QZ_ORIGIN_OWN && origin != QZ_ORIGIN_INSTALLED) return origin;
  bool compiled_in = is_standard(name, file) || (qz_is_library_source(file) && !runs_thread(name));
  return compiled_in ? QZ_ORIGIN_STANDARD : origin;
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

#define IS_ONE(called, list) is_one(called, list, sizeof(list) / sizeof *(list))
static bool is_one(const char *called, const char *const *list, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (is_word(called, list[k])) return true;
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
  return IS_ONE(called, formatted) || IS_ONE(called, others);
}

enum qz_library_lock qz_library_lock_of(const char *called) {
  static const char *const random[] = {"rand", "random", "srand", "srandom", "initstate", "setstate"};
  static const char *const time[] = {"localtime", "localtime_r", "gmtime", "gmtime_r", "mktime", "timelocal",
                                     "timegm",    "strftime",    "ctime",  "ctime_r",  "tzset",  "__tz_convert"};
  static const char *const loader[] = {"dl_iterate_phdr", "dladdr", "dlopen",           "dlsym",
                                       "dlclose",         "dlinfo", "_Unwind_Find_FDE", "__cxa_throw"};
  if (IS_ONE(called, random)) return QZ_LIBRARY_LOCK_RANDOM;
  if (IS_ONE(called, time)) return QZ_LIBRARY_LOCK_TIME;
  if (IS_ONE(called, loader)) return QZ_LIBRARY_LOCK_LOADER;
  return is_stream_call(called) ? QZ_LIBRARY_LOCK_STREAM : QZ_LIBRARY_LOCK_NONE;
}

static bool is_lock(const char *called) {
  static const char *const locks[] = {"mutex",         "rwlock",   "rw_lock",      "lock_contended",
                                      "lock_slow",     "critical", "atomic_start", "set_lock",
                                      "set_nest_lock", "spinlock", "spin_lock"};
  static const char *const allocation[] = {"malloc", "calloc", "realloc", "free", "operator new", "operator delete"};
  if (ANY(called, locks)) return true;
  return IS_ONE(called, allocation) || qz_library_lock_of(called) != QZ_LIBRARY_LOCK_NONE;
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

static bool waits_for_tasks(const char *called) {
  static const char *const names[] = {"GOMP_task", "__kmpc_omp_task", "__kmpc_taskloop", "__kmpc_end_taskgroup"};
  EACH(names, k)
  if (BEGINS(called, names[k])) return true;
  return false;
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
  if (waits_for_tasks(called)) return QZ_LIBRARY_WAIT_TASKS;
  if (passes_data(called)) return QZ_LIBRARY_WAIT_DATA;
  return is_lock(called) ? QZ_LIBRARY_WAIT_LOCK : QZ_LIBRARY_WAIT_UNKNOWN;
}
