/* Threads, fork-join, parallel loops, blocking regions. What holds for all functions is said in quartz.h;
 * docs/reference/threads.md says how threads are scheduled. docs/reference/library.md is made from these comments
 * (scripts/library-page.js). */
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
 * Nothing has to be called: `main` is the package's first thread, on as many processors as QUARTZ_PROCESSORS says,
 * else one for each CPU that the process may use (one less, for the sampler, from 4 CPUs on). */

/* Options of qz_init. A field that is 0 means its default; the environment variable named beside it wins over it. */
typedef struct qz_options {
  unsigned processors; /* QUARTZ_PROCESSORS: kernel threads that run threads, 1 to 4095 */
  size_t stack_bytes;  /* QUARTZ_STACK: bytes of a new thread's stack, at least 16384; 65536 */
  int pin;             /* QUARTZ_PIN: 1 each processor keeps to one CPU, -1 not, 0 where there are enough CPUs */
  unsigned spin_ns;    /* QUARTZ_SPIN_NS: ns that adaptive waits and idle processors spin before they block; 50000 */
  size_t max_threads;  /* QUARTZ_MAX_THREADS: threads alive at once; 2000000 */
} qz_options;

/* Changes the defaults; `options` NULL changes nothing. For main, before it creates the first thread.
 * Errors: EBUSY: threads have been created; EINVAL: a value out of range, nothing is changed. */
int qz_init(const qz_options *options);

/* The number of processors, P. Any kernel thread may ask. */
unsigned qz_processors(void);

/* Index of the processor that runs the caller, 0 to P - 1; it may be another after every call of the package. */
unsigned qz_processor_self(void);

/* # Threads */

/* A thread. A value, to be copied freely; compare two with qz_equal. It stays that thread's after its end: functions
 * answer ESRCH then, even where its memory belongs to a new thread. */
typedef struct {
  struct qzi_thread *thread;
  uint64_t serial;
} qz_thread_t;

/* Attributes of qz_thread_create; all 0 is the default. */
typedef struct qz_thread_attr {
  const char *name;   /* shown in reports; copied; NULL: the name of the start routine */
  size_t stack_bytes; /* bytes of its stack, at least 8192; 0: the default */
  int detached;       /* not 0: nobody joins it, its memory is given back when it ends */
} qz_thread_attr;

/* Creates a thread that calls `start(argument)`; what that returns is the thread's result. It begins when a
 * processor gets round to it, at the latest when it is joined. qz_create is the short form: a name, else default
 * attributes. `thread` (where the handle goes), `attr` and `name` may be NULL.
 * Errors: EAGAIN: as many threads as may be alive at once; ENOMEM: no memory for a stack; EINVAL: `start` is NULL,
 * or the stack too small. */
int qz_thread_create(qz_thread_t *thread, const qz_thread_attr *attr, void *(*start)(void *), void *argument);
int qz_create(qz_thread_t *thread, const char *name, void *(*start)(void *), void *argument);

/* Waits until the thread has ended, and stores its result in `*result` (unless `result` is NULL). One thread joins
 * it, once. tryjoin does not wait; timedjoin waits until `realtime`, an absolute time of CLOCK_REALTIME. A thread
 * that has not begun yet may be called on the joiner's stack.
 * Errors: EDEADLK: it is the caller, or waits for the caller; EINVAL: it is detached, or somebody else joins it;
 * ESRCH: it has ended, and was joined. tryjoin EBUSY: it has not ended. timedjoin ETIMEDOUT; EINVAL: no such time. */
int qz_join(qz_thread_t thread, void **result);
int qz_tryjoin(qz_thread_t thread, void **result);
int qz_timedjoin(qz_thread_t thread, void **result, const struct timespec *realtime);

/* Nobody will join the thread: what it holds is given back when it ends.
 * Errors: EINVAL: it is detached, or somebody joins it; ESRCH: it has ended, and was joined. */
int qz_detach(qz_thread_t thread);

/* The calling thread. */
qz_thread_t qz_self(void);

/* Returns 1 if both are the same thread, else 0. Any kernel thread may ask, in a signal handler too. */
int qz_equal(qz_thread_t a, qz_thread_t b);

/* Names a thread for reports; NULL: the name of its start routine again.
 * Errors: ESRCH: it has ended. */
int qz_set_name(qz_thread_t thread, const char *name);

/* Lets other threads run that are ready on this processor. */
void qz_yield(void);

/* The caller sleeps for so many nanoseconds at least; its processor runs other threads meanwhile. */
void qz_sleep_ns(uint64_t nanoseconds);

/* Ends the calling thread, with that result. Runs no C++ destructors. When main ends so, the process goes on until
 * its last thread has ended, and exits with status 0. */
__attribute__((noreturn)) void qz_exit(void *result);

/* # Fork-join
 *
 * Spawned calls may run at the same time as their caller; qz_sync waits for all of them. They are as cheap as a few
 * calls, so a recursive procedure can spawn itself. */

/* A set of spawned calls: a variable of the function that spawns, initialized by QZ_SCOPE_INIT, which only the
 * thread that made it uses. The function must call qz_sync before it returns. Afterwards the scope can be used
 * again. */
typedef struct qz_scope {
  uint64_t opaque[6];
} qz_scope;
/* clang-format off */
#define QZ_SCOPE_INIT {{0}}
/* clang-format on */

/* Calls `function(argument)`, at the latest in qz_sync. Never fails: where no thread can be made, the call is made
 * at once. `argument` must live until qz_sync. `name` is that of the threads in reports; spawn without one: the
 * function's. A call has half a default stack at least (32 KiB). */
void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument);
void qz_spawn_named(qz_scope *scope, const char *name, void (*function)(void *), void *argument);

/* Waits until all calls that were spawned in the scope have returned, and runs those that nobody has taken. */
void qz_sync(qz_scope *scope);

/* Calls `body(from, to, argument)` for parts of [begin, end), in parallel and in any order, and returns when all
 * have returned. Parts have at most `grain` elements; grain 0: 8 to 16 parts for each processor. Where begin >= end
 * nothing is called. */
void qz_parallel_for(int64_t begin, int64_t end, int64_t grain, void (*body)(int64_t from, int64_t to, void *argument),
                     void *argument);

/* # Blocking regions */

/* Between the two calls the thread may block in the kernel (read, poll, waitpid, a library's lock): its processor
 * runs other threads meanwhile. No other function of the package may be called in between, but for a pair inside.
 * `name` is what reports call the region; it is copied. */
void qz_blocking_begin(const char *name);
void qz_blocking_end(void);

#ifdef __cplusplus
}
#endif
#endif
