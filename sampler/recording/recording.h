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
#include "sampler/linux/open_sockets.h"
#include "sampler/linux/schedstat.h"
#include "sampler/linux/cpu_limits.h"
#include "sampler/linux/perf_timer_cost.h"
#include "sampler/linux/process_usage.h"
#include "sampler/profile/modules.h"
#include "request.h"
#include "budget.h"
#include "own_cpu.h"
#include "pacing.h"
#include "precedence.h"
#include "rest.h"
#include "sampler/snapshot/snapshot.h"

#define QZI_HELPERS_MAX 63

struct qzi_helper;

struct qzi_recording {
  struct qz_session_view view;
  struct qzi_file file;
  struct qzi_sampler sampler;
  const struct qzi_recording_request *request;
  struct qzi_clock_page clock; /* mapped by the program now or later */
  struct qzi_pacing pacing;
  struct qzi_budget budget;
  struct qzi_precedence precedence;
  uint64_t others_ns; /* remaining time for visit_others */
  pid_t pid;
  struct qzi_cpu_time cpu_time;     /* accessed by the control thread */
  struct qzi_timer_cost timer_cost; /* accessed by the control thread */
  struct qzi_process_usage usage;
  struct qzi_open_sockets sockets;
  struct qzi_cpu_limits limits;
  int settled;                 /* 1: the final counts have been read */
  uint64_t children_before_ns; /* processor time of child processes before the recording */
  /* sampling threads */
  pthread_t thread;
  int started;
  sem_t ready;    /* posted when the first thread is able to take snapshots, */
  sem_t prepared; /* and when it may take them */
  unsigned threads;
  int prompt; /* 1: it has real-time priority */
  int cpu;    /* CPU to which the first thread is pinned, -1 if none: then it is kept off those that are used */
  struct qzi_own_cpu own_cpu;
  struct qzi_rest rest;
  struct qzi_helper *helpers;
  _Atomic uint32_t helper_round, helper_done;
  _Atomic int helpers_stop;
  uint64_t helpers_cpu_ns; /* CPU time of helpers that have ended */
  uint32_t asked;          /* number of processors in the session's last request */
  uint64_t went_on_ns;     /* when the program, having waited for the recording, continued; 0: it did not wait */
  /* between control and sampling thread */
  _Atomic uint32_t stop;    /* 1: the threads have to end; a futex */
  _Atomic uint64_t end_ns;  /* set before `stop`: the time of the program's end; 0 if it executes another program */
  _Atomic int rebase;       /* 1: exclude the time since the last snapshot */
  _Atomic int failed;       /* reason if the sampling thread ended by itself: enum qz_end_reason */
  _Atomic int want_modules; /* an address outside of known modules was seen */
  _Atomic(struct qzi_modules *) mailbox; /* the newest memory map, for the sampling thread */
  int samples_fd;                        /* ring of samples that the program takes of itself; -1 if there is none */
  int messages_fd;                       /* log of the messages of an MPI program; -1 if there is none */
  int wake_fd;                           /* eventfd: `failed` or `want_modules` has changed */
};

/* Reasons why a program cannot be recorded, as far as the advice to the user depends on them. */
enum qzi_obstacle {
  QZI_NO_OBSTACLE,
  QZI_OTHER_OBSTACLE, /* the clause is sufficient */
  QZI_NO_DESCRIPTORS, /* too many files are open */
  QZI_NO_OUTPUT,      /* the profile cannot be written to its path */
  QZI_NO_MEMORY,
  QZI_NO_THREAD /* no thread can be created */
};

/* Opens the session in `fd` (which stays the caller's) of the program `pid` and creates the profile (file.h
 * describes its name). Takes over `clock` in any case. Returns the obstacle if it fails, with a clause in *why. */
enum qzi_obstacle qzi_recording_open(struct qzi_recording *recording, int fd, struct qzi_clock_page clock, pid_t pid,
                                     const char *path, const struct qzi_replaceable *may,
                                     const struct qzi_recording_request *request, char *why, size_t why_bytes);
/* Starts the sampling threads, and has the kernel take samples: before the program goes on, for threads that it creates
 * then inherit the kernel's events. Threads that have events of their own take some us more at each switch. 0, or -1.
 */
int qzi_recording_start(struct qzi_recording *recording);
/* 1: this process samples other programs as well, and may choose how often it looks at this one. */
int qzi_recording_is_beside(const struct qzi_recording *recording);
/* Begins to sample once unwinding is prepared. The preparation takes some ms, during which the program may continue,
 * because it publishes counts. Activity after the return is sampled. To be called after qzi_recording_start. */
void qzi_recording_begin(struct qzi_recording *recording);
/* Name of the machine and its CPUs; "" if unknown. Cached; may be called before there is a recording, by the control
 * thread. */
const char *qzi_recording_host(void);
/* Takes over the descriptor of the ring in which the program puts samples of itself. By the control thread. */
void qzi_recording_samples(struct qzi_recording *recording, int fd);
/* Notes the time at which the program, which waited for its recording, continued. */
void qzi_recording_went_on(struct qzi_recording *recording, uint64_t at_ns);
/* Of the program that the command started, which had taken so long before: what it takes after that one's end is
 * added when the file is finished. */
void qzi_recording_command(struct qzi_recording *recording, uint64_t before_ns);
/* Stores the current values of the program's processor time, of its threads' time slices, and of the cost of the
 * sampling timer. Must not be called concurrently. */
void qzi_recording_keep_times(struct qzi_recording *recording);
/* Measures the cost of the program's thread switches, if there are so many that it matters. Then takes some ms,
 * once. For the control thread. */
void qzi_recording_measure(struct qzi_recording *recording);
/* Requests the sampling thread to end soon, because the program has ended or the recording does. */
void qzi_recording_ends(struct qzi_recording *recording);
/* Like qzi_recording_ends if the time of the end is unknown: the process executes another program. */
void qzi_recording_cut(struct qzi_recording *recording);
/* Ends sampling and reads data that the kernel keeps only while the program exists. Returns 0, or -1 if the sampling
 * thread does not end (an error in Quartz) and continues to use the recording. */
int qzi_recording_stop(struct qzi_recording *recording);
/* For a stopped recording of a program that is still running: reads the final counts and releases the kernel's
 * sampling events. To be called before another recording of the program begins; qzi_recording_finish does the rest. */
void qzi_recording_settle(struct qzi_recording *recording);
/* For a stopped recording: reads the final counts, adds symbols and finishes the file. Returns 0, or -1 if the file
 * could not be finished (it remains readable as it is). */
int qzi_recording_finish(struct qzi_recording *recording, uint32_t end_reason, int32_t exit_status);
void qzi_recording_close(struct qzi_recording *recording);

/* The main functions of the first sampling thread (sampling_threads.c), and of its helpers. */
void *qzi_sampling_main(void *recording);

#endif
