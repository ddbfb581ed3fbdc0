/* The programs that are being recorded.
 *
 * Owns:    one qzi_target for each: its connection, its recording, when its map is read next.
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
  int pidfd, socket;   /* socket -1: closed */
  uint64_t map_ns;     /* when the map was read last */
  uint64_t map_due_ns; /* when it is due again */
  uint32_t map_early;  /* readings that were asked for */
  uint64_t runs[2];    /* from outside: device and number of the file that it runs; 0, 0: not known */
  int left;            /* from outside: it runs another one now (exec) */
  int message_fd;      /* gets the profile's name, in a line, when it is made and whenever it changes; -1: nobody */
  char program[300];   /* what it runs, without its directory */
  int ranked;          /* 1: a launcher such as mpiexec has given it a rank */
  int forked;          /* 1: it is a forked child of a recorded program, and goes on as that */
  int numbered;        /* 1: it has the process's number in its name since it is not the one that was asked for */
};

/* Opens a recording of what `pid` publishes in `session` (stays the caller's) and begins it; `socket` and `clock`
 * become the recording's; the socket gets `answer` (QZ_WELCOME, with the clock page; or 0 for none). Its profile is
 * called `path`, unless that is another's: then its name is reported. NULL: the reason is on stderr, and the program
 * was notified. */
/* The page that a program of that number gets, by which it learns what is wanted of it. */
struct qzi_clock_page qzi_clock_page_for(pid_t pid, const struct qzi_recording_request *request);
struct qzi_target *qzi_admit(pid_t pid, int socket, int session, struct qzi_clock_page clock, uint32_t answer,
                             const char *path, const struct qzi_replaceable *may, int message_fd,
                             const struct qzi_recording_request *request);
/* 1: of no interest where the program goes on as another one (exec): a shell, nice, env. It had one thread, for less
 * than a second, and was not compiled for Quartz. */
int qzi_target_brief(const struct qzi_target *target);
/* Ends publishing and sampling. Short, as others may be waiting. */
void qzi_stop(struct qzi_target *target, uint32_t end_reason);
/* Ends sampling into this file, while another one is about to begin: publishing goes on. */
void qzi_pause(struct qzi_target *target);
/* Of one that was stopped: says what was recorded, unless quiet. */
void qzi_summarize(const struct qzi_target *target);
/* Fills in what takes longer, finishes the file, says what failed, and frees it. Any one thread may. */
void qzi_finish(struct qzi_target *target, uint32_t end_reason, int32_t exit_status);
/* Instead: removes the file. */
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
/* Reads what is read at intervals, the map and the CPU times, where it is due. Milliseconds until it is again. */
int qzi_target_tend(struct qzi_target *target);

#endif
