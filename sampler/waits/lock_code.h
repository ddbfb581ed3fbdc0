/* Whether a running thread is in code by which threads wait for each other and wake each other: what takes and releases
 * locks, of the C library, the pthread layer, or a run-time library that makes its own (Go, Rust, HotSpot, Abseil).
 * Such code takes long where the lock's cache line has to come from another CPU.
 *
 * Owns:    what is known of some procedures.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_LOCK_CODE_H
#define QZI_LOCK_CODE_H

#include "sampler/callpath/call_path.h"

struct qzi_lock_code {
  struct {
    uint64_t entry;
    int is; /* it is such a procedure */
  } known[256];
};

/* Of a sample in user mode. */
int qzi_lock_code(struct qzi_lock_code *code, struct qzi_paths *paths, const struct qzi_walk *walk);

#endif
