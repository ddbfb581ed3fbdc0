/* Threads that look busy but poll: a sample finds the thread in a loop that only reads and counts (poll_loop.h), or in
 * a procedure called by such a loop. One sample is enough: until the next one the thread is assumed to be there, as for
 * its path.
 *
 * Owns:    the verdicts on sampled instructions.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_POLL_DETECTOR_H
#define QZI_POLL_DETECTOR_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/loops/store_free_loop.h"
#include "new_code.h"

#define QZI_POLL_DETECTOR_BITS 12

struct qzi_poll_detector {
  struct qzi_new_code *new_code; /* NULL: analyses take the time that they need */
  struct {
    uint64_t seen, loop;
  } known[1u << QZI_POLL_DETECTOR_BITS]; /* seen: address of the instruction, and whether it is framed; 0: none */
};
/* Where the loop begins in which the sample found its thread polling, or waiting for a procedure that the loop called
 * (walk; NULL: unknown); 0: it may be working. pid: the program. */
uint64_t qzi_poll_detector_look(struct qzi_poll_detector *polling, struct qzi_paths *paths, uint32_t pid,
                                const struct qzi_sample *sample, const struct qzi_walk *walk);

/* Reads the program's code around first..last, as much as possible. Returns -1 if there is none. */
int qzi_code_around(uint32_t pid, uint64_t first, uint64_t last, unsigned char *bytes, size_t room,
                    struct qzi_code *code);

/* Whether the loop that begins there tries to take a lock: it exchanges, or compares and exchanges, the memory that it
 * polls; or it waits for its turn (queue_lock.h). */
int qzi_poll_detector_tries(uint32_t pid, uint64_t start);

#endif
