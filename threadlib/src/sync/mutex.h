/* The part of a mutex that condition variables use. Implemented in mutex.c. */
#ifndef QZI_SYNC_MUTEX_H
#define QZI_SYNC_MUTEX_H

#include "sync.h"

#pragma GCC visibility push(hidden)
bool qzi_mutex_holds(const qz_mutex *mutex, const struct qzi_thread *self);
/* Unlocks on behalf of the holder; cannot fail. Returns a thread that the caller must make ready soon, or NULL. */
struct qzi_thread *qzi_mutex_let_go(qz_mutex *mutex, struct qzi_thread *self);
/* Locks again, on behalf of the call at `place`; cannot fail. */
void qzi_mutex_retake(qz_mutex *mutex, struct qzi_thread *self, uint64_t place);
#pragma GCC visibility pop
#endif
