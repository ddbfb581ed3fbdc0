/* Threads of the program: their beginning and end, and their names.
 *
 * Owns:    nothing; threads.c says what it does. Reader: every file of the layer.
 */
#ifndef QZL_THREADS_H
#define QZL_THREADS_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* The calling thread where something is published and it has a place; else NULL, and the real function does it all. */
struct qzl_thread *qzl_adopt(void);
static inline struct qzl_thread *qzl_here(void) {
  struct qzl_thread *me = qzl_self;
  return __builtin_expect(me != NULL, 1) ? me : qzl_adopt();
}

/* Once, before any other call: what threads need to end. 0, or an error number. */
int qzl_threads_make(void);
/* The calling thread, which has just begun, has this place from now on. */
void qzl_thread_begin(struct qzl_thread *me);
/* The thread has this name from now on. */
void qzl_named(pthread_t id, const char *name);
/* Address of what a thread runs that begins with `start`: the start routine, or what it calls (std_thread.c). */
uint64_t qzl_callable(void *(*start)(void *), void *argument);
/* The place from which the C++ library was called, where `site` is in it; else `site`. frame_end: CFA of the function
 * that returns to `site`. */
uint64_t qzl_site_beyond(uint64_t site, const void *frame_end);

#pragma GCC visibility pop
#endif
