/* How many CPUs the program may use: its CPU affinity, and the limit of its control groups (cgroup v1 and v2:
 * "cpu.max", "cpu.cfs_quota_us"), as containers, batch systems and systemd set them; and what the kernel counts of
 * threads that had to wait because that limit was reached ("cpu.stat").
 *
 * Threads: one at a time. Files under /proc and /sys/fs/cgroup are read; what cannot be read is unknown. */
#ifndef QZI_CPU_LIMITS_H
#define QZI_CPU_LIMITS_H

#include <stdint.h>
#include <sys/types.h>
#include "abi/profile_rows.h"

/* The counts of a limit, as in struct qz_cpu_limits. */
struct qzi_throttle {
  uint64_t periods, throttled_periods, throttled_ns;
};

struct qzi_cpu_limits {
  char group[512]; /* folder of the control group with the least limit; empty: none */
  struct qzi_throttle begin;
};

/* Finds the limits of the process, and fills in the row: all but the counts, and the time of confined threads. */
void qzi_cpu_limits_begin(struct qzi_cpu_limits *limits, pid_t pid, struct qz_cpu_limits *row);
/* Updates the counts of the row. */
void qzi_cpu_limits_read(const struct qzi_cpu_limits *limits, struct qz_cpu_limits *row);

/* The least limit among a control group and those that contain it up to `base`, where control groups are mounted.
 * `text`: contents of /proc/PID/cgroup. Puts its folder into `group`. Returns its limit in thousandths of a CPU; 0:
 * there is none. `root`: put before all paths (""; tests have another one). */
uint32_t qzi_cpu_quota_find(const char *root, const char *text, char *group, unsigned bytes);
/* Reads the counts of a control group; those that are missing are 0. */
void qzi_throttle_read(const char *group, struct qzi_throttle *now);

#endif
