/* One recording: a program's session sampled by threads of its own into one file.
 *
 * Owns:    the session's view, the profile, the sampling threads.
 * Writer:  the control thread opens and ends it; in between the first sampling thread writes the profile.
 * Reader:  the control thread reads only what is atomic here, and everything after the threads have ended.
 * Must not: signal, stop or wait for the program.
 */
#ifndef QZI_RECORDING_H
#define QZI_RECORDING_H

#include <pthread.h>
#include <semaphore.h>
#include <sys/types.h>
#include "sampler/linux/schedstat.h"
#include "sampler/linux/perf_timer_cost.h"
#include "sampler/linux/process_usage.h"
#include "sampler/profile/modules.h"
#include "request.h"
#include "pacing.h"
#include "sampler/snapshot/snapshot.h"

#define QZI_HELPERS_MAX 63

struct qzi_helper;

/* What snapshots cost. */
struct qzi_cheap {
  uint64_t cpu_ns, apart_ns, snapshots; /* CPU time, that of what has its own share, and snapshots at the last look */
  uint64_t cost_ns, count;              /* of the last ones: CPU time without that share, and four times their number */
  uint64_t wake_ns;                     /* CPU time of a bare wake-up */
  unsigned looks;                       /* how often it was looked at */
};

struct qzi_recording {
  struct qz_session_view view;
  struct qzi_file file;
  struct qzi_sampler sampler;
  const struct qzi_recording_request *request;
  struct qzi_clock_page clock; /* which the program has, or will have, mapped */
  struct qzi_pacing pacing;
  struct qzi_cheap cheap;
  uint64_t others_ns; /* what visit_others may use */
  pid_t pid;
  struct qzi_cpu_time cpu_time;     /* the control thread's */
  struct qzi_timer_cost timer_cost; /* likewise */
  struct qzi_process_usage usage;
  int settled;                 /* 1: the last counts have been read */
  uint64_t children_before_ns; /* processor time of child processes from before the recording */
  /* sampling threads */
  pthread_t thread;
  int started;
  sem_t ready;    /* posted when the first thread could take snapshots, */
  sem_t prepared; /* and when it may */
  unsigned threads;
  int prompt; /* 1: it has real-time priority */
  int cpu;    /* that the first thread is pinned to, -1: none */
  struct qzi_helper *helpers;
  _Atomic uint32_t helper_round, helper_done;
  _Atomic int helpers_stop;
  uint64_t helpers_cpu_ns; /* of helpers that have ended */
  uint32_t asked;          /* number of processors that the session said last */
  uint64_t went_on_ns;     /* when a program that had waited for it went on; 0: it did not wait */
  /* between control and sampling thread */
  _Atomic uint32_t stop;                 /* 1: end; a futex */
  _Atomic uint64_t end_ns;               /* before `stop`: when that was known; 0: it runs another program (exec) */
  _Atomic int rebase;                    /* 1: leave out the time since the last snapshot */
  _Atomic int failed;                    /* the sampling thread ended by itself: enum qz_end_reason */
  _Atomic int want_modules;              /* an address in no known module was seen */
  _Atomic(struct qzi_modules *) mailbox; /* newest map, for the sampling thread */
  int messages_fd;                       /* log of an MPI program's messages; -1: it has sent none */
  int wake_fd;                           /* eventfd: `failed` or `want_modules` has changed */
};

/* Why a program is not recorded, as far as that decides what its user can do about it. */
enum qzi_obstacle {
  QZI_NO_OBSTACLE,
  QZI_OTHER_OBSTACLE, /* the clause says it all */
  QZI_NO_DESCRIPTORS, /* too many files are open */
  QZI_NO_OUTPUT,      /* the profile cannot be written where it is to be */
  QZI_NO_MEMORY,
  QZI_NO_THREAD /* no thread can be started */
};

/* Opens the session in `fd` (which stays the caller's) of the program `pid`, and makes the profile (file.h says how it
 * is called). `clock` becomes the recording's, whatever happens. Where there is an obstacle: one clause that names it.
 */
enum qzi_obstacle qzi_recording_open(struct qzi_recording *recording, int fd, struct qzi_clock_page clock, pid_t pid,
                                     const char *path, const struct qzi_replaceable *may,
                                     const struct qzi_recording_request *request, char *why, size_t why_bytes);
/* Starts the sampling threads, and has the kernel take samples: before the program goes on, for threads that it creates
 * then inherit the kernel's events. Threads that have events of their own take some us more at each switch. 0, or -1.
 */
int qzi_recording_start(struct qzi_recording *recording);
/* Begins to sample, once unwinding is prepared: some ms, in which the program may go on, for what it publishes is
 * counted. What it does once this has returned is seen. After qzi_recording_start. */
void qzi_recording_begin(struct qzi_recording *recording);
/* Names the machine and its CPUs; "": not known. Kept: may be asked before there is a recording. The control thread's.
 */
const char *qzi_recording_host(void);
/* The program, which waited for its recording, was let go on then. */
void qzi_recording_went_on(struct qzi_recording *recording, uint64_t at_ns);
/* Writes what is known now of the program's processor time, of its threads' turns and of what the samples' timer takes
 * at these. Once at a time. */
void qzi_recording_keep_times(struct qzi_recording *recording);
/* Measures what the program's switches of threads take, where there are so many that it matters. Takes some ms then,
 * once. The control thread's. */
void qzi_recording_measure(struct qzi_recording *recording);
/* Has the sampling thread end, soon: the program has ended, or recording does. */
void qzi_recording_ends(struct qzi_recording *recording);
/* The same, where it is not known when: it runs another program. */
void qzi_recording_cut(struct qzi_recording *recording);
/* Ends sampling, and reads what only the kernel knows of the program, while it still does. 0, or -1: the sampling
 * thread does not end (a fault of ours), and goes on to use the recording. */
int qzi_recording_stop(struct qzi_recording *recording);
/* Of one that was stopped while the program goes on: reads the last counts, and gives the kernel back what it lent for
 * samples. Before another recording of the program begins; qzi_recording_finish does the rest. */
void qzi_recording_settle(struct qzi_recording *recording);
/* Of one that was stopped: reads the last counts, fills in symbols, and finishes the file. 0, or -1: the file could not
 * be finished (it is good as it is). */
int qzi_recording_finish(struct qzi_recording *recording, uint32_t end_reason, int32_t exit_status);
void qzi_recording_close(struct qzi_recording *recording);

/* The main loop of the first sampling thread (sampling_threads.c), and of the others. */
void *qzi_sampling_main(void *recording);

#endif
