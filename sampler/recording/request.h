/* What is asked of a recording. */
#ifndef QZI_RECORDING_REQUEST_H
#define QZI_RECORDING_REQUEST_H

#include <stdint.h>

struct qzi_recording_request {
  int attached;       /* 1: the program ran before */
  int children;       /* 1: its child processes are recorded, too, each by itself */
  int span;           /* 1: work and span are recorded */
  uint64_t rate_mhz;  /* snapshots, millihertz; 0: default */
  int cpu;            /* for the first sampling thread; -1: chosen */
  unsigned threads;   /* sampling threads; 0: chosen */
  uint64_t max_bytes; /* of the profile */
  int quiet;          /* 1: nothing is said of it at its end */
};

#endif
