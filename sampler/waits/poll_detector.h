/* Threads that look busy and poll: a sample of what a thread executes lies in a loop that does nothing but look and
 * count (poll_loop.h), or in what such a loop calls. One sample is enough: until the next one the thread is taken to be
 * there, as with its path.
 *
 * Owns:    the verdicts on instructions that samples were taken at.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_POLL_DETECTOR_H
#define QZI_POLL_DETECTOR_H

#include "sampler/callpath/call_path.h"
#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/loops/store_free_loop.h"

#define QZI_POLL_DETECTOR_BITS 12

struct qzi_poll_detector {
  struct {
    uint64_t seen, loop;
  } known[1u << QZI_POLL_DETECTOR_BITS]; /* seen: instruction and whether framed; 0: none */
};
/* Where the loop begins in which the sample found its thread polling, or waiting for a call from there to return (walk,
 * NULL: not known); 0: it may be at work. pid: the program. */
uint64_t qzi_poll_detector_look(struct qzi_poll_detector *polling, struct qzi_paths *paths, uint32_t pid,
                                const struct qzi_sample *sample, const struct qzi_walk *walk);

/* The program's code around first..last, as much of it as can be read. -1: none. */
int qzi_code_around(uint32_t pid, uint64_t first, uint64_t last, unsigned char *bytes, size_t room,
                    struct qzi_code *code);

/* Whether the loop that begins there tries a lock: it exchanges, or compares and exchanges, what it looks at; or it
 * waits for its turn (queue_lock.h). */
int qzi_poll_detector_tries(uint32_t pid, uint64_t start);

#endif
