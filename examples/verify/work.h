/* The parallel part: pairs of outputs, the queue that hands them out, and the table of results.
 * Owns: the queue, under the mutex "work queue"; the table, under the mutex "result table".
 */
#ifndef VERIFY_WORK_H
#define VERIFY_WORK_H

#include "prove.h"

struct pair {
  const char *name; /* of the output */
  literal left, right;
  uint32_t left_output, right_output; /* position among the outputs of the two circuits */
  struct proof proof;
};

struct work {
  const struct graph *graph;
  size_t inputs;
  const struct bdd_engine *engine;
  size_t limit;
  struct pair *pairs;
  size_t pair_count;
  struct pool pool;
  qz_mutex queue_lock;
  size_t next; /* first pair that no worker has taken */
  qz_mutex result_lock;
  size_t verdicts[4]; /* by enum verdict */
  size_t methods[METHODS];
  size_t nodes;
  int error; /* first error number of a worker */
  qz_thread_t *workers;
  unsigned worker_count;
};

/* Starts the workers. 0 or an error number; then none runs. */
int work_start(struct work *work, unsigned workers);
/* Waits until all pairs have a result. 0 or the first error of a worker. */
int work_finish(struct work *work);
void work_free(struct work *work);

#endif
