/* Threads that look busy and poll: a sample of what a thread executes lies in a loop that does nothing but look and count
 * (polling_loop.h). One sample is enough: until the next one the thread is taken to be there, as with its path.
 *
 * Owns:    the verdicts on instructions that samples were taken at.
 * Writer and reader: the aggregating thread.
 */
#ifndef QZI_POLLING_H
#define QZI_POLLING_H

#include "running.h"
#include "waiting_loop.h"

#define QZI_POLLING_KNOWN 1024u

struct qzi_polling {
  struct { uint64_t seen, loop; } known[QZI_POLLING_KNOWN]; /* seen: instruction and whether framed; 0: none */
};
/* Where the loop begins in which the sample found its thread polling; 0: it may be at work. pid: the program. */
uint64_t qzi_polling_look(struct qzi_polling *polling, uint32_t pid, const struct qzi_sample *sample);

/* The program's code around first..last, as much of it as can be read. -1: none. */
int qzi_code_around(uint32_t pid, uint64_t first, uint64_t last, unsigned char *bytes, size_t room, struct qzi_code *code);

#endif
