/* What the kernel counted of the recorded program while it was recorded: processor time in user and system mode, page
 * faults, switches (docs/reference/metrics.md, section 6).
 *
 * Owns:    the values at the begin, and the last ones.
 * Writer:  the control thread. Reader: the first sampling thread, which writes them into the profile.
 *
 * The program itself says what it had used when recording began, and when it ends (getrusage, struct qz_session); in
 * between the kernel reports all but the switches (/proc/PID/stat). Of a child of ours that has ended it reports
 * everything, its work after the program's last instruction included (memory that is given back), but counts children
 * of its own in.
 */
#ifndef QZI_PROCESS_USAGE_H
#define QZI_PROCESS_USAGE_H

#include <pthread.h>
#include <sys/types.h>
#include "abi/session_read.h"

struct qzi_process_usage {
  pthread_mutex_t lock;
  struct qz_usage begin, now; /* `now` since the program was made, as `begin` */
  uint64_t known;             /* QZ_USAGE_... of `now` */
  int later; /* 1: it began after the program said what it had used: its switches since then are not known */
};

/* What the kernel says of it from outside, switches excepted. 0, or -1: it is gone. */
int qzi_process_usage_now(pid_t pid, struct qz_usage *usage);
/* The session is open. */
void qzi_process_usage_begin(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid);
/* Instead of what the program said: what another one, which ends here, knows. */
void qzi_process_usage_go_on(struct qzi_process_usage *usage, struct qzi_process_usage *from);
/* Reads what is known while it runs: one file, some microseconds. */
void qzi_process_usage_read(struct qzi_process_usage *usage, pid_t pid);
/* Publishing ends because recording does: the program says within some ms what it had used, if it is awake. */
void qzi_process_usage_await(const struct qz_session_view *view);
/* Recording ends. children: 1: the program has waited for child processes of its own. */
void qzi_process_usage_end(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid,
                           int children);
/* What the profile says: since the begin; *known: QZ_USAGE_... */
struct qz_usage qzi_process_usage_since(struct qzi_process_usage *usage, uint64_t *known);

#endif
