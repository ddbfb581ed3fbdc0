/* Parameters of a recording. */
#ifndef QZI_RECORDING_REQUEST_H
#define QZI_RECORDING_REQUEST_H

#include <stdint.h>
#include "abi/session.h"

/* Which child processes are recorded, each into its own profile. */
enum qzi_children {
  QZI_CHILDREN_NONE,
  QZI_CHILDREN_FOLLOW, /* those of a wrapper, that is, of a program that does no work itself (follow.h) */
  QZI_CHILDREN_ALL
};

struct qzi_outside;

struct qzi_recording_request {
  int attached;                /* 1: the program was already running */
  struct qzi_outside *outside; /* creator of the session of a program that publishes nothing; otherwise NULL */
  enum qzi_children children;
  int followed;                           /* 1: it was started by a wrapper: no messages before that has ended */
  int span;                               /* 1: work and span are recorded */
  int no_signals;                         /* 1: the program must not take samples of itself */
  int timeline;                           /* 1: the states of each thread over time are recorded */
  struct qz_what_if what_if[QZ_WHAT_IFS]; /* the questions asked with --what-if; names only */
  uint64_t rate_mhz;                      /* snapshots per 1000 s; 0: default */
  int cpu;                                /* for the first sampling thread; -1: select one */
  unsigned threads;                       /* number of sampling threads; 0: select */
  uint64_t max_bytes;                     /* maximum size of the profile */
  int quiet;                              /* 1: no summary at the end */
};

#endif
