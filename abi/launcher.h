/* What the launcher of a parallel program (mpiexec, srun) puts into the environment of its processes. Pure
 * functions, except for getenv and tests whether a file exists. */
#ifndef QZ_ABI_LAUNCHER_H
#define QZ_ABI_LAUNCHER_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Variables that give a process its rank, and the number of ranks. */
struct qz_launcher {
  const char *rank, *size;
};
#define QZ_MPI_LAYER "/libquartz-mpi.so"
#define QZ_LAUNCHERS 4u
extern const struct qz_launcher qz_launchers[QZ_LAUNCHERS];

/* If `entry` of an environment is NAME=value, returns the value, else NULL. */
const char *qz_launcher_value(const char *entry, const char *name);
/* Writes to `entries` what LD_PRELOAD begins with in a process with that environment: the pthread layer's path and,
 * if the process has a rank, that of the MPI layer beside it, unless QUARTZ_MPI is 0. It is truncated if it does not
 * fit. Allocates nothing. */
void qz_launcher_layers(const char *layer, char *const *environment, char *entries, size_t bytes);

/* Returns the number of processes of the program on this machine, including this one; 1: no other is known. It knows
 * Open MPI, and MPICH with its derivatives (Hydra). It does not use Slurm's variables: Slurm binds processes to CPUs,
 * and its variables are also set in programs that it does not start.
 */
int qz_launcher_processes_here(void);

#pragma GCC visibility pop

#endif
