/* What the launcher of a parallel program says in its processes' environment. Pure but for getenv, and whether a file
 * is there. */
#ifndef QZ_ABI_LAUNCHER_H
#define QZ_ABI_LAUNCHER_H

#include <stddef.h>

#pragma GCC visibility push(hidden)

/* Variables that give a process its rank among others, and the number of all. */
struct qz_launcher {
  const char *rank, *size;
};
#define QZ_MPI_LAYER "/libquartz-mpi.so"
#define QZ_LAUNCHERS 4u
extern const struct qz_launcher qz_launchers[QZ_LAUNCHERS];

/* The value, where `entry` of an environment is NAME=value; NULL. */
const char *qz_launcher_value(const char *entry, const char *name);
/* What LD_PRELOAD begins with in a process of that environment: the pthread layer's path and, where the process has a
 * rank, that of the MPI layer beside it, unless QUARTZ_MPI is 0. Cut where it does not fit. Allocates nothing. */
void qz_launcher_layers(const char *layer, char *const *environment, char *entries, size_t bytes);

/* Processes of the program on this machine, this one among them; 1: none other is known. Known are Open MPI, and MPICH
 * with its derivatives (Hydra). Slurm's variables are not used: it binds processes to CPUs, and they are also set in
 * programs that it does not start.
 */
int qz_launcher_processes_here(void);

#pragma GCC visibility pop

#endif
