/* Threads beside MPI. In each rank two workers compute between two barriers, while a thread of its own receives (which
 * costs nothing, since the workers have work). Then main sends to the next rank and receives from the previous one;
 * rank 1 packs before it sends, so that rank 0, or 2, waits for it. Prints how long each rank's main waited, in ns. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 25, LATE = 1 };
static pthread_barrier_t begin, end;
static int rank, ranks;

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
static void work(double seconds) {
  double until = processor_time() + seconds;
  volatile double sum = 0;
  while (processor_time() < until)
    for (int k = 0; k < 1000; k++) sum += k;
}
__attribute__((noinline)) static void compute(void) { work(0.006); }
__attribute__((noinline)) static void pack(void) { work(0.010); }

static void *compute_all(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    pthread_barrier_wait(&begin);
    compute();
    pthread_barrier_wait(&end);
  }
  return unused;
}
static void *receive_all(void *unused) {
  char bytes[64];
  for (int k = 0; k < ROUNDS; k++)
    MPI_Recv(bytes, 64, MPI_BYTE, (rank + ranks - 1) % ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* beside work */
  return unused;
}

int main(int argc, char **argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) return 77;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_barrier_init(&begin, NULL, 3);
  pthread_barrier_init(&end, NULL, 3);
  pthread_t threads[3];
  for (int k = 0; k < 3; k++) pthread_create(&threads[k], NULL, k < 2 ? compute_all : receive_all, NULL);
  char bytes[64] = {0};
  double waited = 0;
  for (int k = 0; k < ROUNDS; k++) {
    MPI_Send(bytes, 64, MPI_BYTE, (rank + 1) % ranks, 2, MPI_COMM_WORLD);
    pthread_barrier_wait(&begin);
    pthread_barrier_wait(&end);
    if (rank == LATE) pack();
    MPI_Request request;
    MPI_Isend(bytes, 64, MPI_BYTE, (rank + 1) % ranks, 1, MPI_COMM_WORLD, &request);
    double from = MPI_Wtime();
    MPI_Recv(bytes, 64, MPI_BYTE, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* late */
    waited += MPI_Wtime() - from;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  for (int k = 0; k < 3; k++) pthread_join(threads[k], NULL);
  double all[64];
  MPI_Gather(&waited, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int k = 0; rank == 0 && k < ranks; k++) printf("waited %.0f\n", all[k] * 1e9);
  MPI_Finalize();
  return 0;
}
