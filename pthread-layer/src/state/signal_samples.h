/* Samples of the program's threads by signals (abi/signal_samples.h), where the kernel gives the sampler none: without
 * them nothing would be known of what running threads execute. Every thread that the layer knows has a timer of its
 * own processor time, so that threads that wait are never interrupted. x86-64 alone.
 *
 * Owns:    the signal, its handler, the timers, and the ring.
 * Writer:  begin and off: the thread that serves the channel; a thread: its own timer; the handler: its own slot.
 * Reader:  interpose/signals.c (which signal it is), the sampler (the ring).
 * Must not: be noticed. Calls that the signal interrupts are continued (SA_RESTART; those that the kernel never
 *           restarts are begun again by the handler); the program does not see the signal in its handlers and masks
 *           (interpose/signals.c), and gets it for itself if it wants this one.
 */
#ifndef QZL_SIGNAL_SAMPLES_H
#define QZL_SIGNAL_SAMPLES_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* The signal; 0: there are no such samples. */
extern _Atomic(int) qzl_sampling_signal;

/* The calling thread, which has a place, begins or ends. */
void qzl_sampled_begin(struct qzl_thread *me);
void qzl_sampled_end(struct qzl_thread *me);
/* Deletes all timers; the sampler then knows only where threads wait. */
void qzl_sampling_off(void);
/* The same for good: the program wants the signal for itself. */
void qzl_sampling_give_up(void);
void qzl_sampling_forked(void); /* in a forked child, which has no timers */

#pragma GCC visibility pop
#endif
