/* The buffer of an event (perf_event_open): a page that says how far it is written and read, and a ring of records.
 *
 * Owns:    nothing. Writer: the kernel. Reader: who opened the event.
 */
#ifndef QZI_PERF_BUFFER_H
#define QZI_PERF_BUFFER_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

#define QZI_PERF_PAGE 4096u

struct qzi_perf_buffer {
  struct perf_event_mmap_page *page;
  uint64_t bytes; /* of the ring, which follows the page */
};

/* Where the ring has that position. */
static inline const unsigned char *qzi_perf_at(const struct qzi_perf_buffer *buffer, uint64_t at) {
  return (const unsigned char *)buffer->page + QZI_PERF_PAGE + at % buffer->bytes;
}
/* Number of bytes from there on that are in one piece. */
static inline uint64_t qzi_perf_piece(const struct qzi_perf_buffer *buffer, uint64_t at) {
  return buffer->bytes - at % buffer->bytes;
}
static inline void qzi_perf_copy(const struct qzi_perf_buffer *buffer, uint64_t at, void *to, size_t bytes) {
  uint64_t piece = qzi_perf_piece(buffer, at);
  size_t first = piece < bytes ? (size_t)piece : bytes;
  memcpy(to, qzi_perf_at(buffer, at), first);
  memcpy((char *)to + first, qzi_perf_at(buffer, at + first), bytes - first);
}

#endif
