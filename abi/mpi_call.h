/* MPI's procedures and libraries, by name: the only definition, for code that finds them on a stack.
 *
 * Owns:    lists of names. Pure functions of strings, for any thread.
 * Source:  MPI: A Message-Passing Interface Standard, version 4.1 (chapters 3 to 5, 11 to 14); Fortran names as
 *          compilers make them (lower case with a trailing `_` or `__`, or upper case; `_f08` of the module mpi_f08).
 */
#ifndef QZ_ABI_MPI_CALL_H
#define QZ_ABI_MPI_CALL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum qz_mpi_call {
  QZ_MPI_NONE = 0,       /* not a procedure of MPI's interface */
  QZ_MPI_OTHER = 1,      /* does not wait for other processes: MPI_Isend, MPI_Test, MPI_Comm_rank */
  QZ_MPI_MESSAGE = 2,    /* waits for one other process: MPI_Recv, MPI_Send, MPI_Wait, MPI_Probe */
  QZ_MPI_COLLECTIVE = 3, /* waits for several processes: MPI_Barrier, MPI_Allreduce, MPI_Win_fence */
  QZ_MPI_START = 4       /* waits for several processes, and has work of its own: MPI_Init, MPI_Finalize */
};

/* Classifies a procedure by its name, with or without the prefix P of the profiling interface, in C or Fortran. */
enum qz_mpi_call qz_mpi_call_of(const char *name);
/* Writes the name as the MPI standard spells it: "MPI_Recv" for "PMPI_Recv", "mpi_recv_", "mpi_recv_f08ts_",
 * "MPI_RECV". Returns false if the name is not MPI's, or does not fit. */
bool qz_mpi_name(const char *name, char *text, size_t room);
/* Returns whether the module at that path is a library of an MPI implementation, or one through which these start
 * threads. */
bool qz_mpi_is_library(const char *path);

#ifdef __cplusplus
}
#endif
#endif
