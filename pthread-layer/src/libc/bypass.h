/* Included before every source that the layer shares with the thread package: its own locks and kernel threads go past
 * the layer.
 *
 * Owns:    nothing. Writer, reader: none.
 */
#ifndef QZL_BYPASS_H
#define QZL_BYPASS_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "real.h"
#define pthread_create(...)          qzl_real.pthread_create(__VA_ARGS__)
#define pthread_setname_np(...)      qzl_real.pthread_setname_np(__VA_ARGS__)
#define pthread_mutex_lock(mutex)    qzl_real.pthread_mutex_lock(mutex)
#define pthread_mutex_trylock(mutex) qzl_real.pthread_mutex_trylock(mutex)
#define pthread_mutex_unlock(mutex)  qzl_real.pthread_mutex_unlock(mutex)

/* Hooks of a thread package behind the layer; NULL: there is none (start.c). */
extern void (*qzl_next_enter)(void *, void *) __attribute__((visibility("hidden")));
extern void (*qzl_next_exit)(void *, void *) __attribute__((visibility("hidden")));
extern void (*qzl_next_module)(long, int) __attribute__((visibility("hidden")));
#endif
