/* The record of a thread, or task, of the thread package by its index.
 *
 * Owns:    a copy of what the session has about the records (thread_records.c). Reader: tasks.h, strands.h.
 * Must not: be included by a host, which includes publisher.h; be part of the pthread layer.
 */
#ifndef QZI_PUBLISH_RECORD_AT_H
#define QZI_PUBLISH_RECORD_AT_H

#include "base.h"

/* The records of threads: what qzi_session has about them. */
extern struct qzi_pub_records {
  char *base, *long_base;
  uint64_t stride, long_stride;
} qzi_pub_records __attribute__((visibility("hidden")));

static inline __attribute__((always_inline)) struct qz_thread *qzi_pub_record_at(uint32_t index_plus_1) {
  uint64_t index = index_plus_1 - 1;
  struct qz_thread *record = (struct qz_thread *)(void *)(qzi_pub_records.base + index * qzi_pub_records.stride);
  if (__builtin_expect(record->limit == QZ_LIMIT_LONG, 0))
    record = (struct qz_thread *)(void *)(qzi_pub_records.long_base + index * qzi_pub_records.long_stride);
  return record;
}

#endif
