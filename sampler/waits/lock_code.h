/* Whether a running thread is in code by which threads wait for and wake each other: procedures that take and release
 * locks in the C library, the pthread layer, or a run-time library with its own locks (Go, Rust, HotSpot, Abseil). Such
 * code takes long if the lock's cache line has to come from another CPU.
 *
 * Owns:    a cache of the verdicts on some procedures.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_LOCK_CODE_H
#define QZI_LOCK_CODE_H

#include "sampler/callpath/call_path.h"

struct qzi_lock_code {
  struct {
    uint64_t entry;
    int is; /* 1: it is such a procedure */
  } known[256];
};

/* For a sample in user mode: whether it is in such code. */
int qzi_lock_code(struct qzi_lock_code *code, struct qzi_paths *paths, const struct qzi_walk *walk);

#endif
