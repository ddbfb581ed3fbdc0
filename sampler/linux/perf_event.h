/* Events of which samples are taken (perf_event_open): what all of them have in common.
 *
 * Owns:    nothing. Any thread.
 */
#ifndef QZI_PERF_EVENT_H
#define QZI_PERF_EVENT_H

#include "perf_samples.h"

#define QZI_PERF_WHOLE UINT32_MAX /* in place of a thread: all that runs on the CPU */

/* An event of a thread on a CPU (-1: wherever it runs), or of a CPU. event: NULL: a timer; interval: of it, or how many
 * lie between samples. processes: the buffer also gets a record of each process that is made. The descriptor, or -1 and
 * errno. */
int qzi_perf_event_open(uint32_t tid, int cpu, const struct qzi_event *event, uint64_t interval, int paused,
                        int processes);

#endif
