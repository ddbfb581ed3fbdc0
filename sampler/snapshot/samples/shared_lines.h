/* Cache lines that several threads write, or read and write, alternately: which words of them, from which code.
 *
 * Owns:    the section LINES, and the lines seen lately.
 * Writer and reader: the aggregating thread.
 * Must not: take memory that goes from one thread to another now and then for memory that they share all the time;
 * grow with the memory that a program uses.
 *
 * No counter of the CPU is needed: a sample of a running thread has its registers, so that the addresses are known
 * which the code around it accesses (near_accesses.h). A line is shared where samples of threads on different CPUs find
 * it alternately, shortly after each other, again and again, while it is written. Which words they access distinguishes
 * data that merely lie in one line (false sharing) from data that the threads share.
 */
#ifndef QZI_SHARED_LINES_H
#define QZI_SHARED_LINES_H

#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/near_accesses.h"
#include "sampler/callpath/call_path.h"

#define QZI_LINE_SETS 1024u
#define QZI_LINE_WAYS 4u
#define QZI_LINE_CODE 1024u /* places whose accesses are known */

struct qzi_line {
  uint64_t address;              /* 0: free */
  uint64_t seen_ns;              /* when last, */
  uint32_t who;                  /* of which thread (index of its record, + 1), */
  int cpu;                       /* and on which CPU; -1: not known */
  uint32_t row;                  /* of the section, + 1; 0: it has none */
  uint32_t users[QZ_LINE_USERS]; /* likewise */
  struct qz_shared_line its;
};
struct qzi_near {
  uint64_t pc; /* 0: free */
  uint32_t count;
  struct qzi_access access[QZI_NEAR_ACCESSES];
};
struct qzi_shared_lines {
  struct qzi_interner *in;
  struct qzi_line (*lines)[QZI_LINE_WAYS]; /* QZI_LINE_SETS */
  struct qzi_near *near;                   /* QZI_LINE_CODE */
};

/* 0, or -1: no memory; nothing is kept then. */
int qzi_shared_lines_open(struct qzi_shared_lines *shared, struct qzi_interner *in);
void qzi_shared_lines_close(struct qzi_shared_lines *shared);
/* One more sample of the thread with that record, which is at work, and its walk. now_ns: of the snapshot that it came
 * before. Samples in the kernel, and in libraries of the system, do not count. */
void qzi_shared_lines_look(struct qzi_shared_lines *shared, const struct qzi_sample *sample,
                           const struct qzi_walk *walk, uint32_t index, uint64_t now_ns);

#endif
