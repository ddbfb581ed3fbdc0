/* What is asked of a recording. */
#ifndef QZI_RECORDING_REQUEST_H
#define QZI_RECORDING_REQUEST_H

#include <stdint.h>
#include "abi/session.h"

/* Which processes that the program starts are recorded, too, each by itself. */
enum qzi_children {
  QZI_CHILDREN_NONE,
  QZI_CHILDREN_FOLLOW, /* of a wrapper: a program that does nothing itself (follow.h) */
  QZI_CHILDREN_ALL
};

struct qzi_outside;

struct qzi_recording_request {
  int attached;                /* 1: the program ran before */
  struct qzi_outside *outside; /* it publishes nothing: who makes its session (sampler/outside); NULL: it does */
  enum qzi_children children;
  int followed; /* 1: it was started by a wrapper: nothing is said of it until that has ended */
  int span;     /* 1: work and span are recorded */
  int timeline; /* 1: what each thread did when is recorded */
  struct qz_what_if what_if[QZ_WHAT_IFS]; /* what is asked with them; names alone */
  uint64_t rate_mhz;                      /* snapshots, millihertz; 0: default */
  int cpu;                                /* for the first sampling thread; -1: chosen */
  unsigned threads;                       /* sampling threads; 0: chosen */
  uint64_t max_bytes;                     /* of the profile */
  int quiet;                              /* 1: nothing is said of it at its end */
};

#endif
