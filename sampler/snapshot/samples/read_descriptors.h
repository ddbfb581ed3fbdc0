/* What threads sleep in read() for: a socket, where another thread or program sends, or anything else (a file, a pipe,
 * a terminal). Findings then know whether a read is a wait for a reply. */
#ifndef QZI_READ_DESCRIPTORS_H
#define QZI_READ_DESCRIPTORS_H

#include <stdint.h>
#include "sampler/linux/task_state.h"

#define QZI_READ_DESCRIPTORS 64u

/* What descriptors were found to be, for a second each: they may be closed, and be another file afterwards. */
struct qzi_read_descriptors {
  struct {
    uint64_t until_ns;
    uint32_t descriptor;
    uint16_t kind;
  } known[QZI_READ_DESCRIPTORS];
};

/* What the process sleeps for: QZ_SOCKETS_READ, or QZ_READS_ELSEWHERE; 0: it does not read, or what it reads is not
 * known. Takes a system call where that is not known yet. */
uint16_t qzi_read_descriptor(struct qzi_read_descriptors *all, uint32_t pid, const struct qzi_asleep *asleep,
                             uint64_t now_ns);

#endif
