/* See counters.h. */
#include "counters.h"

#include <linux/perf_event.h>

#define OF_CACHE(cache, result) \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* A CPU may have 600,000 page faults per second, of which every 256th would be 2,300 samples. */
#define FAULT_SAMPLES 250u

/* With these periods, a busy CPU takes 100 to 500 samples of each event per second. */
const struct qzi_event qzi_counter_events[QZ_COUNTER_COUNT] = {
  [QZ_COUNTER_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 20000003},
  [QZ_COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 20000003},
  [QZ_COUNTER_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 100003},
  [QZ_COUNTER_TLB_MISSES] = {PERF_TYPE_HW_CACHE, OF_CACHE(DTLB, MISS), 100003},
  [QZ_COUNTER_REMOTE] = {PERF_TYPE_HW_CACHE, OF_CACHE(NODE, MISS), 100003},
  [QZ_COUNTER_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, 256, FAULT_SAMPLES},
};

void qzi_counters_open(struct qzi_counters *counters, struct qzi_file *file) {
  if (counters->counted.file) return;
  counters->counted.file = file;
  /* All recordings share one allowance of memory for buffers; if child processes are recorded, too, it is reserved for
   * timers. */
  if (file->head->children_apart) return;
  for (unsigned k = 0; k < QZ_COUNTER_COUNT; k++) {
    counters->events[k] =
      qzi_running_count(file->head->pid, file->head->cpus, &qzi_counter_events[k], QZI_RUNNING_CPUS, 1);
    if (counters->events[k]) qzi_counted_add(&counters->counted, 0, (enum qz_counter)k, 0);
  }
}

void qzi_counters_close(struct qzi_counters *counters) {
  for (unsigned k = 0; k < QZ_COUNTER_COUNT; k++) {
    qzi_running_close(counters->events[k]);
    counters->events[k] = NULL;
  }
  qzi_counted_close(&counters->counted);
}

void qzi_counters_begin(struct qzi_counters *counters, uint32_t tid) {
  for (unsigned k = 0; k < QZ_COUNTER_COUNT; k++)
    if (counters->events[k]) qzi_running_begin(counters->events[k], tid);
}

void qzi_counters_end(struct qzi_counters *counters, uint32_t tid) {
  for (unsigned k = 0; k < QZ_COUNTER_COUNT; k++)
    if (counters->events[k]) qzi_running_end(counters->events[k], tid);
}

void qzi_counters_read(struct qzi_counters *counters,
                       uint32_t (*node_of)(void *context, const struct qzi_sample *sample), void *context) {
  for (unsigned k = 0; k < QZ_COUNTER_COUNT; k++)
    while (counters->events[k] && qzi_running_next(counters->events[k], &counters->sample))
      qzi_counted_add(&counters->counted, node_of(context, &counters->sample), (enum qz_counter)k,
                      counters->sample.count);
}
