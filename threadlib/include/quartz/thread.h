/* Threads, fork-join, parallel loops and blocking regions. quartz.h says what holds for all functions;
 * docs/reference/threads.md describes how threads are scheduled. docs/reference/library.md is generated from these
 * comments (scripts/library-page.js). */
#ifndef QUARTZ_THREAD_H
#define QUARTZ_THREAD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct timespec; /* strict C99 hides it */

#ifdef __cplusplus
extern "C" {
#endif

/* # Start-up
 *
 * The program need not call anything: `main` is the package's first thread. The number of processors is
 * QUARTZ_PROCESSORS or, if that is not set, the number of CPUs that the process may use (from 4 CPUs on one less,
 * which is left to the sampler). */

/* Options of qz_init. A field that is 0 selects the default, which the comment gives last. The environment variable
 * that the comment names takes precedence over the field. */
typedef struct qz_options {
  unsigned processors; /* QUARTZ_PROCESSORS: number of kernel threads that run threads, 1 to 4095 */
  size_t stack_bytes;  /* QUARTZ_STACK: size of a new thread's stack in bytes, at least 16384; 65536 */
  int pin;             /* QUARTZ_PIN: 1 pins each processor to a CPU, -1 does not; 0: 1 if there are enough CPUs */
  unsigned spin_ns;    /* QUARTZ_SPIN_NS: ns that adaptive waits and idle processors spin before they block; 50000 */
  size_t max_threads;  /* QUARTZ_MAX_THREADS: maximum number of threads alive at the same time; 2000000 */
} qz_options;

/* Changes the defaults; `options` NULL changes nothing. To be called by main before it creates the first thread.
 * Errors: EBUSY: threads have been created already. EINVAL: a value is out of range; nothing is changed. */
int qz_init(const qz_options *options);

/* Returns the number of processors, P. Any kernel thread may call it. */
unsigned qz_processors(void);

/* Returns the index of the processor that runs the caller, 0 to P - 1. The thread may run on another processor after
 * any call of the package. */
unsigned qz_processor_self(void);

/* # Threads */

/* Handle of a thread. It is a value and may be copied freely; compare two handles with qz_equal. A handle never
 * refers to another thread: when its thread is gone, functions return ESRCH, even if the thread's memory has been
 * reused for a new thread. */
typedef struct {
  struct qzi_thread *thread;
  uint64_t serial;
} qz_thread_t;

/* Attributes for qz_thread_create; all fields 0 select the defaults. */
typedef struct qz_thread_attr {
  const char *name;   /* name shown in reports; copied. NULL: the name of the start routine */
  size_t stack_bytes; /* size of the stack in bytes, at least 8192; 0: the default */
  int detached;       /* not 0: the thread cannot be joined, and its memory is freed when it ends */
} qz_thread_attr;

/* Creates a thread that calls `start(argument)`; the return value of `start` is the thread's result. The thread
 * starts when a processor becomes available to it, at the latest when it is joined. qz_create is the short form: a
 * name and otherwise default attributes. `thread` (where the handle is stored), `attr` and `name` may be NULL.
 * Errors: EAGAIN: the maximum number of threads is alive. ENOMEM: there is no memory for a stack. EINVAL: `start` is
 * NULL, or the stack size is too small. */
int qz_thread_create(qz_thread_t *thread, const qz_thread_attr *attr, void *(*start)(void *), void *argument);
int qz_create(qz_thread_t *thread, const char *name, void *(*start)(void *), void *argument);

/* Waits until the thread has ended, and stores its result in `*result` (unless `result` is NULL). A thread can be
 * joined only once, by one thread. tryjoin does not wait; timedjoin waits until `realtime`, an absolute time of
 * CLOCK_REALTIME. A thread that has not started yet may be run on the joiner's stack.
 * Errors: EDEADLK: the thread is the caller, or waits for the caller. EINVAL: the thread is detached, or another
 * thread joins it. ESRCH: the thread has ended and was joined or detached. tryjoin: EBUSY: the thread has not ended.
 * timedjoin: ETIMEDOUT; EINVAL: `realtime` is not a valid time. */
int qz_join(qz_thread_t thread, void **result);
int qz_tryjoin(qz_thread_t thread, void **result);
int qz_timedjoin(qz_thread_t thread, void **result, const struct timespec *realtime);

/* Declares that no thread will join the thread: its memory is freed when it ends.
 * Errors: EINVAL: the thread is detached already, or another thread joins it. ESRCH: the thread has ended and was
 * joined or detached. */
int qz_detach(qz_thread_t thread);

/* Returns the handle of the calling thread. */
qz_thread_t qz_self(void);

/* Returns 1 if both handles refer to the same thread, else 0. Any kernel thread may call it, also in a signal
 * handler. */
int qz_equal(qz_thread_t a, qz_thread_t b);

/* Sets the name that reports show for the thread; NULL restores the default, the name of its start routine.
 * Errors: ESRCH: the thread has ended and was joined or detached. */
int qz_set_name(qz_thread_t thread, const char *name);

/* Yields the processor to other threads that are ready on it. */
void qz_yield(void);

/* Suspends the caller for at least that time; its processor runs other threads in that time. */
void qz_sleep_ns(uint64_t nanoseconds);

/* Ends the calling thread with that result. C++ destructors are not run. If main calls it, the process continues
 * until its last thread has ended, and then exits with status 0. */
__attribute__((noreturn)) void qz_exit(void *result);

/* # Fork-join
 *
 * Spawned calls may run in parallel with their caller; qz_sync waits for all of them. A spawn and its sync cost
 * about as much as a few calls, so a recursive procedure can spawn itself. */

/* A set of spawned calls. It is a variable of the function that spawns, initialized with QZ_SCOPE_INIT, and only the
 * thread that created it may use it. The function must call qz_sync before it returns. After qz_sync the scope can
 * be used again. */
typedef struct qz_scope {
  uint64_t opaque[6];
} qz_scope;
/* clang-format off */
#define QZ_SCOPE_INIT {{0}}
/* clang-format on */

/* Spawns the call `function(argument)`, which is made in qz_sync at the latest. It never fails: if no thread can be
 * created, the call is made immediately. `argument` must remain valid until qz_sync returns. `name` is the name of
 * the spawned threads in reports; qz_spawn uses the name of the function. A spawned call has at least half of a
 * default stack (32 KiB). */
void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument);
void qz_spawn_named(qz_scope *scope, const char *name, void (*function)(void *), void *argument);

/* Waits until all calls that were spawned in the scope have returned; the caller itself runs those that no other
 * processor has taken. */
void qz_sync(qz_scope *scope);

/* Calls `body(from, to, argument)` for disjoint parts of [begin, end), in parallel and in any order, and returns
 * when all calls have returned. A part has at most `grain` elements, and parts may wait for each other. With grain 0
 * the parts are of different sizes, so that all processors end together although some elements take longer; elements
 * may wait for each other only if there are fewer than 16 per processor. If begin >= end, nothing is called. */
void qz_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t from, int64_t to, void *argument),
                     void *argument);

/* # Blocking regions */

/* Between the two calls the thread may block in the kernel (read, poll, waitpid, a lock of a library): its processor
 * runs other threads. In between, the thread must not call any function of the package, except for a nested pair of
 * these two. `name` is the name of the region in reports; it is copied. */
void qz_blocking_begin(const char *name);
void qz_blocking_end(void);

#ifdef __cplusplus
}
#endif
#endif
