/* Resource usage of the program while it was recorded, as counted by the kernel: processor time in user and system
 * mode, page faults, context switches (docs/reference/metrics.md, section 6).
 *
 * Owns:    the values at the beginning, and the latest ones.
 * Writer:  the control thread. Reader: the first sampling thread, which writes them into the profile.
 *
 * The program itself reports its usage when recording begins, and when the program ends (getrusage, struct qz_session);
 * in between the kernel reports everything except switches (/proc/PID/stat). For a child of ours that has ended it
 * reports everything, including its work after the program's last instruction (such as freeing memory), but it includes
 * the child's own children.
 */
#ifndef QZI_PROCESS_USAGE_H
#define QZI_PROCESS_USAGE_H

#include <pthread.h>
#include <sys/types.h>
#include "abi/session_read.h"

struct qzi_process_usage {
  pthread_mutex_t lock;
  struct qz_usage begin, now; /* both count from the creation of the process */
  uint64_t known;             /* QZ_USAGE_...: which values of `now` are known */
  int later; /* 1: recording began after the program reported its usage, so its switches since then are unknown */
};

/* Gets what the kernel reports to other processes: everything except switches. Returns 0, or -1 if the process is
 * gone. */
int qzi_process_usage_now(pid_t pid, struct qz_usage *usage);
/* To be called when the session is open. */
void qzi_process_usage_begin(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid);
/* Replaces the program's report by the last values of another recording of the same process, which ends here. */
void qzi_process_usage_go_on(struct qzi_process_usage *usage, struct qzi_process_usage *from);
/* Reads the current values: one file, some microseconds. */
void qzi_process_usage_read(struct qzi_process_usage *usage, pid_t pid);
/* To be called when recording ends before the program: waits up to 20 ms until the program has reported its usage,
 * which it does if one of its threads runs. */
void qzi_process_usage_await(const struct qz_session_view *view);
/* To be called when recording ends. children: 1: the program has waited for child processes of its own. */
void qzi_process_usage_end(struct qzi_process_usage *usage, const struct qz_session_view *view, pid_t pid,
                           int children);
/* Usage since the beginning of the recording, for the profile; *known: QZ_USAGE_... */
struct qz_usage qzi_process_usage_since(struct qzi_process_usage *usage, uint64_t *known);

#endif
