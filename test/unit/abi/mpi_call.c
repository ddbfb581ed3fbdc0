/* Names of MPI's procedures and libraries. */
#include "test/support/check.h"
#include "abi/mpi_call.h"
#include "abi/origin.h"

static void calls(enum qz_mpi_call call, const char *const *names, size_t count) {
  for (size_t k = 0; k < count; k++)
    if (qz_mpi_call_of(names[k]) != call) {
      fprintf(stderr, "%s is %d, not %d\n", names[k], qz_mpi_call_of(names[k]), call);
      exit(1);
    }
}
#define CALLS(call, ...)                              \
  do {                                                \
    const char *const names[] = {__VA_ARGS__};        \
    calls(call, names, sizeof names / sizeof *names); \
  } while (0)

int main(void) {
  CALLS(QZ_MPI_COLLECTIVE, "MPI_Allreduce", "PMPI_Allreduce", "MPI_Allreduce_c", "mpi_allreduce_", "MPI_ALLREDUCE",
        "mpi_bcast__", "MPI_Barrier_f08", "PMPI_Bcast_f", "pmpi_bcast_", "MPI_Neighbor_alltoall", "MPI_Win_fence",
        "ompi_allreduce_f");
  CALLS(QZ_MPI_MESSAGE, "MPI_Recv", "MPI_Send", "PMPI_Waitall", "mpi_wait_", "MPI_Sendrecv_replace", "MPI_Probe_f08ts");
  CALLS(QZ_MPI_START, "MPI_Init", "MPI_Init_thread", "mpi_finalize_", "PMPI_Finalize");
  CALLS(QZ_MPI_OTHER, "MPI_Irecv", "MPI_Isend", "MPI_Iallreduce", "MPI_Test", "MPI_Comm_rank", "MPI_Wtime",
        "MPI_Type_c2f");
  CALLS(QZ_MPI_NONE, "main", "ompi_request_default_wait", "MPI", "MPIR_Allreduce", "MPI_Send(int)", "my_MPI_Recv", "",
        "P", "mpiexec", "MPI_a_name_that_is_longer_than_any_procedure_of_the_interface_could_be_said_to_be");
  char text[16];
  CHECK(qz_mpi_name("PMPI_Allreduce", text, sizeof text) && !strcmp(text, "MPI_Allreduce"));
  CHECK(qz_mpi_name("pmpi_recv__", text, sizeof text) && !strcmp(text, "MPI_Recv"));
  CHECK(qz_mpi_name("mpi_waitall_f08ts_", text, sizeof text) && !strcmp(text, "MPI_Waitall"));
  CHECK(qz_mpi_name("MPI_COMM_DUP", text, sizeof text) && !strcmp(text, "MPI_Comm_dup"));
  CHECK(qz_mpi_name("MPI_Type_f2c", text, sizeof text) && !strcmp(text, "MPI_Type_f2c"));
  CHECK(qz_mpi_name("ompi_barrier_f", text, sizeof text) && !strcmp(text, "MPI_Barrier"));
  CHECK(!qz_mpi_name("Process_all", text, sizeof text));
  CHECK(!qz_mpi_name("MPI_Comm_get_parent_group", text, sizeof text));
  CHECK(qz_mpi_is_library("/opt/openmpi/lib/libmpi.so.40"));
  CHECK(qz_mpi_is_library("/usr/lib/libmpich.so.12"));
  CHECK(qz_mpi_is_library("/usr/lib/openmpi/mca_coll_tuned.so"));
  CHECK(!qz_mpi_is_library("/usr/lib/libm.so.6"));
  CHECK(!qz_mpi_is_library("/opt/mpi/lib/libsolver.so"));
  CHECK_IS(qz_library_wait_of("MPI_Allreduce"), QZ_LIBRARY_WAIT_COLLECTIVE);
  CHECK_IS(qz_library_wait_of("MPI_Recv"), QZ_LIBRARY_WAIT_MESSAGE);
  CHECK_IS(qz_library_wait_of("MPI_Init"), QZ_LIBRARY_WAIT_PROCESSES);
  CHECK_IS(qz_library_wait_of("MPI_Isend"), QZ_LIBRARY_WAIT_UNKNOWN);
  return 0;
}
