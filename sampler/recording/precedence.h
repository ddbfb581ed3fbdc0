/* Gives the sampling thread precedence over threads of the program that have a real-time class: these do not let it
 * have a CPU before they sleep, so that no snapshots would be taken just while the program works.
 *
 * Owns:    a thread that looks at the class of the program's threads. It has the highest class of all if the user may
 *          set that, because the sampling thread itself cannot look while it has no CPU.
 * Writer:  that thread; begin and end: the sampling thread.
 */
#ifndef QZI_PRECEDENCE_H
#define QZI_PRECEDENCE_H

#include <pthread.h>
#include <sys/types.h>
#include "abi/session_read.h"

struct qzi_precedence {
  pthread_t thread;
  int begun;
  const struct qz_session_view *view;
  pid_t pid, sampling; /* the program; the kernel's number of the sampling thread */
  uint32_t cursor;     /* record of the thread at which the next look begins */
  _Atomic uint32_t ready, stop;
  _Atomic uint32_t priority, outranked; /* as in struct qz_cpu_limits: realtime and outranked */
  _Atomic uint64_t cpu_ns;              /* CPU time that the looks took */
};

/* To be called by the sampling thread, before the program goes on. If no thread can be created, nobody looks. */
void qzi_precedence_begin(struct qzi_precedence *precedence, const struct qz_session_view *view, pid_t pid);
void qzi_precedence_end(struct qzi_precedence *precedence);

#endif
