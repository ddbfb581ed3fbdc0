/* Samples that the program's threads take of themselves (abi/signal_samples.h), read from the program's ring.
 *
 * Owns:    where it reads. Writer and reader: the aggregating thread; open and close: the control thread.
 * Must not: trust the ring: it is mapped only if it cannot shrink, and what is read is bounded.
 */
#ifndef QZI_SIGNAL_SAMPLES_H
#define QZI_SIGNAL_SAMPLES_H

#include "abi/signal_samples.h"
#include "thread_sample.h"

/* Maps the ring; the descriptor stays the caller's. Returns NULL if it is none. */
const struct qz_signal_ring *qzi_signal_ring_map(int fd);
void qzi_signal_ring_unmap(const struct qz_signal_ring *ring);

/* Gets sample *next, or the oldest one that is left, and advances *next. Returns 0 if there is none yet. */
int qzi_signal_samples_next(const struct qz_signal_ring *ring, uint64_t *next, struct qzi_sample *sample);

#endif
