/* Completes profiles of programs that have ended while others are being recorded: reading symbols takes long, and must
 * not delay recordings that begin or end at the time.
 *
 * Owns:    the recordings that were handed over, and one thread that processes them in order.
 * Writer:  the control thread hands over; from then on a recording belongs to the finishing thread.
 */
#ifndef QZI_FINISHER_H
#define QZI_FINISHER_H

#include "target.h"

/* Queues the recording for qzi_finish, and frees `target` afterwards. */
void qzi_finish_later(struct qzi_target *target, uint32_t end_reason, int32_t exit_status);
/* Returns when all queued recordings are finished and the thread has ended. */
void qzi_finish_all(void);

#endif
