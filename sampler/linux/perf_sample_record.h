/* The kernel's record of a sample: registers and a part of the stack, as perf_event.c asks for them.
 *
 * Owns:    nothing. Caller: the reader of the buffer (perf_samples.c).
 */
#ifndef QZI_PERF_SAMPLE_RECORD_H
#define QZI_PERF_SAMPLE_RECORD_H

#include "perf_buffer.h"
#include "sample_choice.h"
#include "thread_sample.h"

/* Reads the record at that position, without its header. choice: which ones are used; NULL: all. in_place: 1: the stack
 * need not be copied, as the buffer stays. Returns 1 if it is a sample of that process, and chosen. */
int qzi_perf_sample(const struct qzi_perf_buffer *buffer, uint64_t at, uint64_t bytes, uint32_t pid,
                    struct qzi_sample_choice *choice, int in_place, struct qzi_sample *sample);

#endif
