/* Two processes of MPI. In each round the first has three times as much to assemble as the second, which waits for it
 * in MPI_Allreduce and prints for how long, by its own clock, in ns. One unit of work: 250,000 multiplications, each of
 * which needs the result of the previous one. */
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 60
#define UNIT   250000

static double work(int units, double x) {
  for (long k = 0; k < (long)units * UNIT; k++) x = x * 1.0000001 + 1e-9;
  return x;
}
__attribute__((noipa)) double assemble(int units, double x) { return work(units, x) + 1; }
__attribute__((noipa)) double solve(int units, double x) { return work(units, x) + 2; }

int main(int argc, char **argv) {
  int rank;
  double sum = 0, all, waited = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < ROUNDS; round++) {
    sum = assemble(rank == 0 ? 24 : 8, sum);
    double begin = MPI_Wtime();
    MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* uneven */
    waited += MPI_Wtime() - begin;
    sum = solve(16, all / 4);
  }
  if (rank == 1 && sum != 0) printf("waited %.0f\n", waited * 1e9);
  MPI_Finalize();
  return 0;
}
