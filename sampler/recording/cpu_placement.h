/* Selects CPUs for the sampling threads: which ones are free, and whether a thread may spin on one. Owns:
 * nothing. Reads the session's processors and the kernel's affinity masks. */
#ifndef QZI_CPU_PLACEMENT_H
#define QZI_CPU_PLACEMENT_H

#include "abi/session_read.h"

struct qzi_place {
  unsigned cpus;  /* number of CPUs that we may use */
  unsigned spare; /* how many of them the program leaves idle */
  int chosen[64]; /* these CPUs, the highest number first; chosen[0] is the requested one, if any */
  unsigned count; /* number of entries in `chosen` */
  int spins;      /* 1: chosen[0] is exclusively ours */
};

/* The number of distinct CPUs to which processors are pinned. */
unsigned qzi_place_pinned(const struct qz_session_view *view);
/* A CPU is free if the affinity mask has more CPUs than the session has processors, and no processor is pinned to
 * it. `wanted`: -1, or a CPU to use regardless of the program. */
void qzi_place_find(struct qzi_place *place, const struct qz_session_view *view, int wanted);

#endif
