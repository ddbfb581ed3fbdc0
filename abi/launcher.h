/* What the launcher of a parallel program says in its processes' environment. Pure but for getenv. */
#ifndef QZ_ABI_LAUNCHER_H
#define QZ_ABI_LAUNCHER_H

#pragma GCC visibility push(hidden)

/* Processes of the program on this machine, this one among them; 1: none other is known. Known are Open MPI, and MPICH
 * with its derivatives (Hydra). Slurm's variables are not used: it binds processes to CPUs, and they are also set in
 * programs that it does not start.
 */
int qz_launcher_processes_here(void);

#pragma GCC visibility pop

#endif
