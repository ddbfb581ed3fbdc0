/* What the kernel counts of a whole process: threads that have ended included, child processes not.
 *
 * Owns:    one struct, which session and profile share.
 * Writer:  the program, of itself (getrusage); the sampler, of the program, into the profile.
 * Reader:  the sampler; reports.
 */
#ifndef QZ_ABI_USAGE_H
#define QZ_ABI_USAGE_H

#include <stdint.h>

struct qz_usage {
  uint64_t ns;                     /* session: CLOCK_MONOTONIC when it was read, 0: it was not. Profile: time covered */
  uint64_t user_ns, system_ns;     /* processor time of the program's own code, and of the kernel on its behalf */
  uint64_t voluntary, involuntary; /* how often a thread gave up its CPU to wait; how often one was taken away */
  uint64_t minor_faults;           /* page faults that the kernel served from memory, */
  uint64_t major_faults;           /* and by reading */
  uint64_t resident_bytes;         /* most memory that it had at one time, since it began */
  /* Calls that read and write files, pipes and sockets, and their bytes: the sampler's alone (/proc/PID/io). */
  uint64_t reads, writes, read_bytes, written_bytes;
};

#endif
