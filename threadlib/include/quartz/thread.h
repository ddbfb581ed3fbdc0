/* Threads, fork-join, parallel loops, blocking regions. Functions that return int return 0 or an error number, and leave errno alone.
 * For any thread of the package; not for signal handlers. docs/threads.md says more. */
#ifndef QUARTZ_THREAD_H
#define QUARTZ_THREAD_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct timespec; /* strict C99 hides it */

#ifdef __cplusplus
extern "C" {
#endif

/* Start-up options; zero means default. QUARTZ_* environment variables win over these. */
typedef struct qz_options {
  unsigned processors;    /* QUARTZ_PROCESSORS */
  size_t stack_bytes;     /* QUARTZ_STACK, of a new thread, default 64 KiB */
  int pin;                /* QUARTZ_PIN: 0 default (pin where there are enough CPUs), 1 pin, -1 don't */
  unsigned spin_ns;       /* QUARTZ_SPIN_NS: how long adaptive waits and idle processors spin before they block */
  size_t max_threads;     /* QUARTZ_MAX_THREADS */
} qz_options;

/* Optional. 0; EBUSY after threads have been created; EINVAL. */
int qz_init(const qz_options *options);
unsigned qz_processors(void);
/* Index of the processor that runs the caller, 0 .. P-1; may change at every call into the package. */
unsigned qz_processor_self(void);

typedef struct { struct qzi_thread *thread; uint64_t serial; } qz_thread_t;
typedef struct qz_thread_attr {
  const char *name;       /* symbolic name shown in reports */
  size_t stack_bytes;     /* 0: default */
  int detached;
} qz_thread_attr;

/* 0, EAGAIN (too many threads), ENOMEM, EINVAL. */
int qz_thread_create(qz_thread_t *thread, const qz_thread_attr *attr, void *(*start)(void *), void *argument);
/* Short form: default attributes and a name. */
int qz_create(qz_thread_t *thread, const char *name, void *(*start)(void *), void *argument);
/* 0, EDEADLK (itself, or a circle of two), EINVAL (detached, or somebody else joins), ESRCH (ended and joined before). */
int qz_join(qz_thread_t thread, void **result);
int qz_tryjoin(qz_thread_t thread, void **result);                                   /* EBUSY: still runs */
int qz_timedjoin(qz_thread_t thread, void **result, const struct timespec *realtime); /* ETIMEDOUT */
int qz_detach(qz_thread_t thread);                    /* EINVAL (detached, or somebody joins), ESRCH */
qz_thread_t qz_self(void);
int qz_equal(qz_thread_t a, qz_thread_t b);
int qz_set_name(qz_thread_t thread, const char *name); /* ESRCH */
void qz_yield(void); /* other ready threads of the processor first */
__attribute__((noreturn)) void qz_exit(void *result); /* ends the calling thread */
/* The processor runs other threads meanwhile. */
void qz_sleep_ns(uint64_t nanoseconds);

/* Fork-join. A scope lies in the frame of the function that spawns; it must be synced before that returns.
 * spawn never fails: where no thread can be made, the call is made at once. */
typedef struct qz_scope { uint64_t opaque[8]; } qz_scope;
#define QZ_SCOPE_INIT { { 0 } }
void qz_spawn(qz_scope *scope, void (*function)(void *), void *argument);
void qz_spawn_named(qz_scope *scope, const char *name, void (*function)(void *), void *argument);
void qz_sync(qz_scope *scope);

/* Calls body(begin, end, argument) for parts of [begin, end), in parallel; grain 0: chosen. Returns when all ended. */
void qz_parallel_for(int64_t begin, int64_t end, int64_t grain,
                     void (*body)(int64_t begin, int64_t end, void *argument), void *argument);

/* A blocking region: between the two calls the thread may block in the kernel; its processor runs other threads.
 * No other function of the package may be called in between. They nest. */
void qz_blocking_begin(const char *name);
void qz_blocking_end(void);

#ifdef __cplusplus
}
#endif
#endif
