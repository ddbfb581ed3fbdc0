/* What threads sleep for in calls that read and write: a descriptor at which only threads of the program itself end the
 * wait, a socket, where another program sends, a file whose writes go to the device at once, or anything else (a file,
 * a pipe, a terminal). Findings then know whether a read is a wait for a reply, and whether a write is a flush. */
#ifndef QZI_READ_DESCRIPTORS_H
#define QZI_READ_DESCRIPTORS_H

#include <stdint.h>
#include "sampler/linux/own_descriptors.h"
#include "sampler/linux/task_state.h"

#define QZI_READ_DESCRIPTORS 64u

/* What descriptors were found to be, for a second each, then for longer if nothing changed: they may be closed, and be
 * another file afterwards. */
struct qzi_read_descriptors {
  struct {
    uint64_t until_ns, each_ns;
    struct qzi_own_descriptor own;
    uint32_t descriptor;
    uint16_t kind, written; /* for who reads, and who writes; 0: nobody has written yet */
  } known[QZI_READ_DESCRIPTORS];
};

/* What the thread sleeps for: QZ_SOCKETS_READ, QZ_READS_ELSEWHERE, QZ_WRITES_THROUGH, QZ_WRITES_PIPES or
 * QZ_WRITES_ELSEWHERE; 0: it neither reads nor writes, or it is not known what. Sets `own` to the descriptor of the
 * process's own at which it waits, if it does. Takes system calls where that is not known yet. */
uint16_t qzi_read_descriptor(struct qzi_read_descriptors *all, uint32_t pid, const struct qzi_asleep *asleep,
                             uint64_t now_ns, struct qzi_own_descriptor *own);

#endif
