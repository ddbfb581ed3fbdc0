/* Guards code of Quartz that calls cancellation points (poll, open, recvmsg, ...) in threads of the program. A
 * cancellation that is pending must wait for a cancellation point of the program's own: here it would leave locks of
 * Quartz taken, and end the thread where it does not end without Quartz. Not for signal handlers. */
#ifndef QZI_UNCANCELLED_H
#define QZI_UNCANCELLED_H

#include <pthread.h>

/* Returns what is to be passed to qzi_cancelled_again. */
static inline int qzi_uncancelled(void) {
  int state = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
  return state;
}
static inline void qzi_cancelled_again(int state) { pthread_setcancelstate(state, NULL); }

#endif
