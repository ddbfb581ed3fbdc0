/* Cholesky's decomposition of a dense matrix, by blocks and plain threads: the case study of Tallent and
 * Mellor-Crummey, "Effective performance measurement and analysis of multithreaded applications" (PPoPP 2009), in
 * substance. Each stage repairs what the profile of the one before names: docs/evidence/effort-case.md.
 *
 *   cholesky STAGE [--blocks N] [--threads T]      initial, balanced, parallel-fill or own-memory
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIDE    8 /* rows of a block */
#define THREADS 64
typedef double block[SIDE][SIDE];

static long blocks = 192, threads = 2;
static int balanced, parallel_fill, own_memory;
static block *matrix; /* the lower half, by rows of blocks */
static pthread_barrier_t barrier;
static atomic_long next_row[2]; /* of this step, and the one before, which is cleared in this step */

static block *at(long row, long column) { return &matrix[row * (row + 1) / 2 + column]; }

/* ---- memory: one list for all threads, kept in the order of addresses, so that neighbours could be joined ---- */

struct piece {
  struct piece *next;
};
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct piece *list;

static void *take(void) {
  pthread_mutex_lock(&list_lock);
  struct piece *its = list;
  if (its) list = its->next;
  pthread_mutex_unlock(&list_lock);
  return its ? its : aligned_alloc(64, sizeof(block));
}

__attribute__((noinline)) static void give_back(void *memory) {
  struct piece *its = memory, **place = &list;
  pthread_mutex_lock(&list_lock);
  memset(its, 0, sizeof(block)); /* so that no use of it after this goes unseen */
  while (*place && *place < its) place = &(*place)->next;
  its->next = *place;
  *place = its;
  pthread_mutex_unlock(&list_lock);
}

/* ---- arithmetic ---- */

/* The element of a matrix that has a decomposition: symmetric, with a great diagonal. */
static double element(long i, long j) {
  double sum = i == j ? (double)(blocks * SIDE) : 0;
  for (int k = 1; k <= 4; k++) sum += cos((double)(k * (i + j))) / k;
  return sum;
}

__attribute__((noinline)) static void fill_row(long row) {
  for (long column = 0; column <= row; column++)
    for (long i = 0; i < SIDE; i++)
      for (long j = 0; j < SIDE; j++) (*at(row, column))[i][j] = element(row * SIDE + i, column * SIDE + j);
}

__attribute__((noinline)) static void factor(block *a) {
  for (long j = 0; j < SIDE; j++) {
    for (long k = 0; k < j; k++)
      for (long i = j; i < SIDE; i++) (*a)[i][j] -= (*a)[i][k] * (*a)[j][k];
    double root = sqrt((*a)[j][j]);
    for (long i = j; i < SIDE; i++) (*a)[i][j] /= root;
  }
}

__attribute__((noinline)) static void solve(block *a, block *with) {
  for (long i = 0; i < SIDE; i++)
    for (long j = 0; j < SIDE; j++) {
      double sum = (*a)[i][j];
      for (long k = 0; k < j; k++) sum -= (*a)[i][k] * (*with)[j][k];
      (*a)[i][j] = sum / (*with)[j][j];
    }
}

/* a -= left * transpose of right, by way of a transposed copy */
__attribute__((noinline)) static void update(block *a, block *left, block *right, block *copy) {
  for (long i = 0; i < SIDE; i++)
    for (long j = 0; j < SIDE; j++) (*copy)[j][i] = (*right)[i][j];
  for (long i = 0; i < SIDE; i++)
    for (long k = 0; k < SIDE; k++)
      for (long j = 0; j < SIDE; j++) (*a)[i][j] -= (*left)[i][k] * (*copy)[k][j];
}

static void update_row(long row, long step, block *own) {
  for (long column = step + 1; column <= row; column++) {
    block *copy = own ? own : take();
    update(at(row, column), at(row, step), at(column, step), copy);
    if (!own) give_back(copy);
  }
}

/* ---- threads ---- */

/* Rows of blocks that a thread has from the beginning: all the same number. The last ones have most to do. */
static long first_row(long thread) { return blocks * thread / threads; }

static void *work(void *number) {
  long thread = (long)number;
  block *own = own_memory ? aligned_alloc(64, sizeof(block)) : NULL;
  if (parallel_fill)
    for (long row = thread; row < blocks; row += threads) fill_row(row);
  pthread_barrier_wait(&barrier);
  for (long step = 0; step < blocks; step++) {
    atomic_long *next = &next_row[step % 2];
    if (thread == 0) {
      factor(at(step, step));
      atomic_store(&next_row[(step + 1) % 2], 0);
    }
    pthread_barrier_wait(&barrier);
    for (long row = step + 1 + thread; row < blocks; row += threads) solve(at(row, step), at(step, step));
    pthread_barrier_wait(&barrier);
    if (balanced) /* the longest first */
      for (long row; (row = blocks - 1 - atomic_fetch_add(next, 1)) > step;) update_row(row, step, own);
    else
      for (long row = first_row(thread); row < first_row(thread + 1); row++)
        if (row > step) update_row(row, step, own);
    pthread_barrier_wait(&barrier);
  }
  free(own);
  return NULL;
}

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int count, char **words) {
  static const char *const stages[] = {"initial", "balanced", "parallel-fill", "own-memory"};
  int stage = -1;
  for (int k = 0; k < 4; k++)
    if (count > 1 && !strcmp(words[1], stages[k])) stage = k;
  for (int k = 2; k + 1 < count; k += 2) {
    long value = atol(words[k + 1]);
    if (!strcmp(words[k], "--blocks") && value > 0 && value <= 1000) blocks = value;
    if (!strcmp(words[k], "--threads") && value > 0 && value <= THREADS) threads = value;
  }
  if (stage < 0) return fprintf(stderr, "usage: cholesky initial|balanced|parallel-fill|own-memory\n"), 2;
  balanced = stage >= 1, parallel_fill = stage >= 2, own_memory = stage >= 3;
  double begin = now_ms();
  matrix = aligned_alloc(64, (size_t)(blocks * (blocks + 1) / 2) * sizeof(block));
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  for (long row = 0; row < blocks && !parallel_fill; row++) fill_row(row);
  pthread_t others[THREADS];
  for (long k = 1; k < threads; k++) pthread_create(&others[k], NULL, work, (void *)k);
  work(NULL);
  for (long k = 1; k < threads; k++) pthread_join(others[k], NULL);
  double sum = 0;
  for (long k = 0; k < blocks; k++) sum += log((*at(k, k))[0][0]);
  printf("%s: %.9f in %.1f ms\n", stages[stage], sum, now_ms() - begin);
  return 0;
}
