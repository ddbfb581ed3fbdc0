/* Where sampling threads run: which CPUs are free, and whether one may spin there.
 *
 * Owns:    nothing. Reader of the session's processors and of the kernel's affinity masks.
 */
#ifndef QZI_CPU_PLACEMENT_H
#define QZI_CPU_PLACEMENT_H

#include "abi/session_read.h"

struct qzi_place {
  unsigned cpus;  /* CPUs that we may use */
  unsigned spare; /* how many of them the program leaves free */
  int chosen[64]; /* those, the highest first; chosen[0] is the wanted one if one is wanted */
  unsigned count; /* of chosen */
  int spins;      /* 1: chosen[0] is free for us alone */
};

/* Distinct CPUs that processors are pinned to. */
unsigned qzi_place_pinned(const struct qz_session_view *view);
/* A CPU is to spare where the mask has more CPUs than the session has processors, and no processor is pinned to it.
 * `wanted`: -1, or the CPU to use whatever the program does there. */
void qzi_place_find(struct qzi_place *place, const struct qz_session_view *view, int wanted);

#endif
