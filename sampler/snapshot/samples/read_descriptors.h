/* What threads sleep for in calls that read and write: a descriptor at which only threads of the program itself end the
 * wait, a socket, where another program sends, or anything else (a file, a pipe, a terminal). Findings then know
 * whether a read is a wait for a reply. */
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
    uint16_t kind;
  } known[QZI_READ_DESCRIPTORS];
};

/* What the thread sleeps for: QZ_SOCKETS_READ, or QZ_READS_ELSEWHERE; 0: it does not read, or what it reads is not
 * known. Sets `own` to the descriptor of the process's own at which it waits, if it does. Takes system calls where that
 * is not known yet. */
uint16_t qzi_read_descriptor(struct qzi_read_descriptors *all, uint32_t pid, const struct qzi_asleep *asleep,
                             uint64_t now_ns, struct qzi_own_descriptor *own);

#endif
