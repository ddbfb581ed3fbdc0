/* On which CPUs samples found the program's threads, and when.
 *
 * Owns:    struct qzi_used_cpus. Writer and reader: the aggregating thread.
 */
#ifndef QZI_USED_CPUS_H
#define QZI_USED_CPUS_H

#include <stdint.h>

#define QZI_USED_CPUS 256u /* CPUs with higher numbers are not known */
struct qzi_used_cpus {
  uint64_t seen_ns[QZI_USED_CPUS]; /* time of the snapshot that read the last sample taken there; 0: none */
};

static inline void qzi_used_cpus_note(struct qzi_used_cpus *used, int cpu, uint64_t now_ns) {
  if (cpu >= 0 && (unsigned)cpu < QZI_USED_CPUS) used->seen_ns[cpu] = now_ns;
}

#endif
