/* Profiles of programs that have ended, made complete while others are being recorded: reading symbols takes long, and
 * recordings that begin or end during that time shall not wait for it.
 *
 * Owns:    the recordings that were handed over, one thread that works through them in turn.
 * Writer:  the control thread hands over; from then on a recording is the finishing thread's.
 */
#ifndef QZI_FINISHER_H
#define QZI_FINISHER_H

#include "target.h"

/* Does what qzi_finish does, in turn with others, and frees `target` when it is done. */
void qzi_finish_later(struct qzi_target *target, uint32_t end_reason, int32_t exit_status);
/* Returns when all is done, and the thread has ended. */
void qzi_finish_all(void);

#endif
