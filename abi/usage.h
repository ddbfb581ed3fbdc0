/* The kernel's resource usage counts of a whole process, including threads that have ended, without child processes.
 *
 * Owns:    one struct, which session and profile share.
 * Writer:  the program, of itself (getrusage); the sampler, of the program, into the profile.
 * Reader:  the sampler; reports.
 */
#ifndef QZ_ABI_USAGE_H
#define QZ_ABI_USAGE_H

#include <stdint.h>

struct qz_usage {
  uint64_t ns;                 /* session: CLOCK_MONOTONIC when it was read; 0: not read. Profile: time covered */
  uint64_t user_ns, system_ns; /* CPU time of the program's own code, and of the kernel on its behalf */
  uint64_t voluntary,
    involuntary;           /* number of times that a thread gave up its CPU to wait, and that a CPU was taken away */
  uint64_t minor_faults;   /* page faults served from memory, */
  uint64_t major_faults;   /* and those that required reading */
  uint64_t resident_bytes; /* maximum resident memory since its start */
  /* Calls that read and write files, pipes and sockets, and their bytes; only from the sampler (/proc/PID/io). */
  uint64_t reads, writes, read_bytes, written_bytes;
};

#endif
