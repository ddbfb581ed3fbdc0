/* The programs that are being recorded.
 *
 * Owns:    their list; one qzi_target for each: its connection, its recording, when its map is read next.
 * Writer and reader: the control thread, until it hands over one that it has stopped (finisher.h).
 */
#ifndef QZI_TARGET_H
#define QZI_TARGET_H

#include <poll.h>
#include "sampler/recording/recording.h"

#define QZI_TARGETS_MAX 256

struct qzi_target {
  struct qzi_recording recording;
  pid_t pid;
  int pidfd, socket;   /* socket is -1 if it is closed */
  uint64_t map_ns;     /* time of the last reading of the map */
  uint64_t map_due_ns; /* time of the next one */
  uint32_t map_early;  /* number of early readings requested */
  uint64_t runs[2];    /* observed from outside: device and number of the executed file; 0, 0 if unknown */
  int left;            /* observed from outside: it has executed another program */
  int message_fd;      /* receives the profile's name as a line when it is created or changes; -1: none */
  char program[300];   /* the program's name without its directory */
  int ranked;          /* 1: a launcher such as mpiexec assigned it a rank */
  int forked;          /* 1: it is a forked child of a recorded program, and has not called exec */
  uint64_t
    launched_ns; /* followed: 1 + the processor time of the launched program when this recording began; 0: unknown */
  int numbered;  /* 1: its name contains the process number because the requested name was taken */
};

extern struct qzi_target *qzi_targets[QZI_TARGETS_MAX];
extern unsigned qzi_target_count;

/* Opens a recording of what `pid` publishes in `session` (stays the caller's) and begins it; `socket` and `clock`
 * become the recording's; the socket gets `answer` (QZ_WELCOME, with the clock page; or 0 for none). Its profile is
 * called `path`, unless that is another's: then its name is reported. NULL: the reason is on stderr, and the program
 * was notified. */
/* The clock page for the process, by which it learns what to publish. */
struct qzi_clock_page qzi_clock_page_for(pid_t pid, const struct qzi_recording_request *request);
struct qzi_target *qzi_admit(pid_t pid, int socket, int session, struct qzi_clock_page clock, uint32_t answer,
                             const char *path, const struct qzi_replaceable *may, int message_fd,
                             const struct qzi_recording_request *request);
/* Returns 1 if the recording is of no interest when the process executes another program (a shell, nice, env): it
 * had one thread, ran for less than a second, and was not compiled for Quartz. */
int qzi_target_brief(const struct qzi_target *target);
/* Ends publishing and sampling. Takes little time, because others may be waiting. */
void qzi_stop(struct qzi_target *target, uint32_t end_reason);
/* Ends sampling into this file because another one is about to begin; the program continues to publish. */
void qzi_pause(struct qzi_target *target);
/* Prints a summary of a stopped recording, unless it is quiet. */
void qzi_summarize(const struct qzi_target *target);
/* Completes and closes the file, reports failures, and frees the target. To be called by one thread, which may be
 * any. */
void qzi_finish(struct qzi_target *target, uint32_t end_reason, int32_t exit_status);
/* Removes the file instead of finishing it. */
void qzi_discard(struct qzi_target *target);

/* Three descriptors to poll for, and what to do when some are ready. `outcome` is set when the recording has to be
 * ended: the program has ended (not for our child: waitpid says that), has called exec, or recording failed. */
void qzi_target_poll(const struct qzi_target *target, struct pollfd polls[3]);
struct qzi_outcome {
  uint32_t reason;
  int32_t status;
};
int qzi_target_attend(struct qzi_target *target, const struct pollfd polls[3], int is_child,
                      struct qzi_outcome *outcome);
/* Reads the memory map and the CPU times if they are due. Returns the milliseconds until they are due again. */
int qzi_target_tend(struct qzi_target *target);

#endif
