/* MPI's procedures and libraries, by their names: the one definition, for whoever finds them on a stack.
 *
 * Owns:    lists of names. Pure functions of strings; any thread.
 * Source:  MPI: A Message-Passing Interface Standard, version 4.1 (chapters 3 to 5, 11 to 14); Fortran names as
 *          compilers make them (lower case with `_` or `__` behind, or upper case; `_f08` of the module mpi_f08).
 */
#ifndef QZ_ABI_MPI_CALL_H
#define QZ_ABI_MPI_CALL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum qz_mpi_call {
  QZ_MPI_NONE = 0,       /* no procedure of MPI's interface */
  QZ_MPI_OTHER = 1,      /* one that does not wait for other processes: MPI_Isend, MPI_Test, MPI_Comm_rank */
  QZ_MPI_MESSAGE = 2,    /* returns when one other process has done its part: MPI_Recv, MPI_Send, MPI_Wait, MPI_Probe */
  QZ_MPI_COLLECTIVE = 3, /* when several have come: MPI_Barrier, MPI_Allreduce, MPI_Win_fence */
  QZ_MPI_START = 4       /* the same, and it has work of its own: MPI_Init, MPI_Finalize */
};

/* Of a procedure by its name, with or without the P of the profiling interface, in C or Fortran. */
enum qz_mpi_call qz_mpi_call_of(const char *name);
/* As MPI's standard writes it: "MPI_Recv" of "PMPI_Recv", "mpi_recv_", "mpi_recv_f08ts_", "MPI_RECV". false: it is none
 * of MPI's, or longer than `text` has room for. */
bool qz_mpi_name(const char *name, char *text, size_t room);
/* Whether the module at that path is a library of an MPI implementation, or one from which these start threads of their
 * own. */
bool qz_mpi_is_library(const char *path);

#ifdef __cplusplus
}
#endif
#endif
