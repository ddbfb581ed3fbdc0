/* Opening of events (perf_event_open) that take samples: what all uses have in common.
 *
 * Owns:    nothing. May be called by any thread.
 */
#ifndef QZI_PERF_EVENT_H
#define QZI_PERF_EVENT_H

#include <stdint.h>

/* An event that is counted in place of time, in the program's own code (user mode): a sample is taken after every
 * `period` of them. If `most` is not 0, an event of a CPU takes at most about so many samples per second: where more
 * events occur, the period becomes longer. */
struct qzi_event {
  uint32_t type; /* as in struct perf_event_attr */
  uint64_t config, period;
  uint32_t most;
};
#define QZI_PERF_WHOLE UINT32_MAX /* as a thread: everything that runs on the CPU */

/* Opens an event for a thread on a CPU (-1: on any), or for a CPU (tid QZI_PERF_WHOLE). event NULL: a timer, with
 * `interval` in ns; else `interval` is the number of events between samples. stack: bytes of it to copy. processes: the
 * buffer also receives a record for each process that is created. Returns the descriptor, or -1 with errno. */
int qzi_perf_event_open(uint32_t tid, int cpu, const struct qzi_event *event, uint64_t interval, uint32_t stack,
                        int paused, int processes);

#endif
