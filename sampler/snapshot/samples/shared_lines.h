/* Cache lines that several threads alternately write, or read and write: which words of them, and from which code.
 *
 * Owns:    the section LINES, and the lines seen recently.
 * Writer and reader: the aggregating thread.
 * Must not: mistake memory that is occasionally handed from one thread to another for permanently shared memory; grow
 * with the memory that a program uses.
 *
 * No CPU counter is needed: a sample of a running thread contains its registers, from which the addresses are computed
 * that the code around it accesses (near_accesses.h). A line is shared if samples of threads on different CPUs
 * repeatedly find it alternately, within a short time, while it is written. The words that the threads access
 * distinguish false sharing (unrelated data in one line) from shared data. Words that several threads change by atomic
 * operations are kept even if samples seldom find them alternately.
 */
#ifndef QZI_SHARED_LINES_H
#define QZI_SHARED_LINES_H

#include "sampler/linux/perf_samples.h"
#include "sampler/machine_code/near_accesses.h"
#include "sampler/callpath/call_path.h"
#include "sampler/waits/new_code.h"

#define QZI_LINE_SETS 1024u
#define QZI_LINE_WAYS 4u
#define QZI_LINE_CODE 1024u /* maximum number of instructions whose accesses are remembered */

struct qzi_line {
  uint64_t address;              /* 0: free */
  uint64_t seen_ns;              /* time of the last access, */
  uint32_t who;                  /* its thread (index of its record + 1), */
  int cpu;                       /* and its CPU; -1: unknown */
  uint32_t row;                  /* index + 1 in the section; 0: it has no row */
  uint32_t users[QZ_LINE_USERS]; /* index + 1 in their section; 0: none */
  struct qz_shared_line its;
};
struct qzi_near {
  uint64_t pc; /* 0: free */
  uint32_t count;
  struct qzi_access access[QZI_NEAR_ACCESSES];
};
struct qzi_shared_lines {
  struct qzi_interner *in;
  struct qzi_new_code *new_code;
  struct qzi_line (*lines)[QZI_LINE_WAYS]; /* QZI_LINE_SETS elements */
  struct qzi_near *near;                   /* QZI_LINE_CODE elements */
  uint32_t first;                          /* index + 1 of the first thread that was seen */
  int several;                             /* another one was seen as well */
};

/* new_code: what analysing code may take. Returns 0, or -1 if there is no memory; then no lines are found. */
int qzi_shared_lines_open(struct qzi_shared_lines *shared, struct qzi_interner *in, struct qzi_new_code *new_code);
void qzi_shared_lines_close(struct qzi_shared_lines *shared);
/* Adds a sample of a working thread, given by its record's index, and its walk. now_ns: time of the snapshot that
 * follows it. Samples in the kernel and in the C library are ignored; of other libraries that the system installed,
 * only atomic operations count (their data cannot be laid out differently, but may be used less often). Nothing is kept
 * until a second thread is seen. */
void qzi_shared_lines_look(struct qzi_shared_lines *shared, const struct qzi_sample *sample,
                           const struct qzi_walk *walk, uint32_t index, uint64_t now_ns);

#endif
