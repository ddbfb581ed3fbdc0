/* Ranks of MPI of which one is late for each kind of call that waits for others. Rank 1 has three times as much to do
 * before each message and each collective; it prints nothing. Rank 0 prints how long it waited, by its own clock, in
 * ns: for messages in MPI_Recv and, with requests from any source, in MPI_Waitall; and in a collective of a
 * communicator of the program's own. */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 30
#define UNIT   400000

static double work(int units, double x) {
  for (long k = 0; k < (long)units * UNIT; k++) x = x * 1.0000001 + 1e-9;
  return x;
}

int main(int argc, char **argv) {
  int rank;
  double sum = 0, got[2] = {0, 0}, received = 0, requested = 0, gathered = 0, begin;
  MPI_Comm both;
  MPI_Request requests[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &both);
  for (int round = 0; round < ROUNDS; round++) {
    sum = work(rank == 1 ? 12 : 4, sum);
    begin = MPI_Wtime();
    if (rank == 0) MPI_Recv(&got[0], 1, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* late sender */
    if (rank == 1) MPI_Send(&sum, 1, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    received += MPI_Wtime() - begin;
    sum = work(rank == 1 ? 12 : 4, sum);
    begin = MPI_Wtime();
    for (int k = 0; k < 2; k++)
      if (rank == 0)
        MPI_Irecv(&got[k], 1, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, both, &requests[k]);
      else
        MPI_Isend(&sum, 1, MPI_DOUBLE, 0, k, both, &requests[k]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* late request */
    requested += MPI_Wtime() - begin;
    sum = work(rank == 1 ? 12 : 4, sum);
    begin = MPI_Wtime();
    MPI_Allreduce(&sum, &got[1], 1, MPI_DOUBLE, MPI_SUM, both); /* late rank */
    gathered += MPI_Wtime() - begin;
  }
  if (rank == 0)
    printf("received %.0f requested %.0f gathered %.0f\n", received * 1e9, requested * 1e9, gathered * 1e9);
  MPI_Comm_free(&both);
  MPI_Finalize();
  return sum + got[0] + got[1] == 0;
}
