/* See work.h. */
#include "work.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The recursion of the diagrams is as deep as a cone has inputs. */
enum { STACK_BYTES = 128 << 10, STACK_BYTES_PER_INPUT = 512 };

static struct pair *take_pair(struct work *work) {
  struct pair *pair = NULL;
  qz_mutex_lock(&work->queue_lock);
  if (work->next < work->pair_count) pair = &work->pairs[work->next++];
  qz_mutex_unlock(&work->queue_lock);
  return pair;
}

static void enter_result(struct work *work, struct pair *pair, struct proof proof) {
  qz_mutex_lock(&work->result_lock);
  pair->proof = proof;
  work->verdicts[proof.verdict]++;
  work->methods[proof.method]++;
  work->nodes += proof.nodes;
  qz_mutex_unlock(&work->result_lock);
}

static void *run_worker(void *argument) {
  struct work *work = argument;
  struct prover *prover = prover_create(work->graph, work->inputs, work->engine, &work->pool, work->limit);
  if (!prover) {
    qz_mutex_lock(&work->result_lock);
    if (!work->error) work->error = ENOMEM;
    qz_mutex_unlock(&work->result_lock);
    return NULL;
  }
  for (struct pair *pair; (pair = take_pair(work));)
    enter_result(work, pair, prove_pair(prover, pair->left, pair->right));
  prover_free(prover);
  return NULL;
}

int work_start(struct work *work, unsigned workers) {
  work->workers = calloc(workers, sizeof *work->workers);
  if (!work->workers) return ENOMEM;
  int error = pool_init(&work->pool);
  if (!error) error = qz_mutex_init(&work->queue_lock, "work queue", QZ_ADAPTIVE);
  if (!error) error = qz_mutex_init(&work->result_lock, "result table", QZ_ADAPTIVE);
  for (unsigned i = 0; i < workers && !error; i++) {
    char name[32];
    snprintf(name, sizeof name, "worker %u", i);
    qz_thread_attr attr = {.name = name, .stack_bytes = STACK_BYTES + STACK_BYTES_PER_INPUT * work->inputs};
    error = qz_thread_create(&work->workers[i], &attr, run_worker, work);
    if (!error) work->worker_count++;
  }
  /* Fewer workers than asked for do the same work. */
  return work->worker_count ? 0 : error;
}

int work_finish(struct work *work) {
  for (unsigned i = 0; i < work->worker_count; i++) {
    int error = qz_join(work->workers[i], NULL);
    if (error && !work->error) work->error = error;
  }
  /* A worker that had no memory left its pairs to the others, if there were any. */
  if (work->error == ENOMEM && work->next == work->pair_count) work->error = 0;
  return work->error;
}

void work_free(struct work *work) {
  for (size_t i = 0; i < work->pair_count; i++) free(work->pairs[i].proof.inputs);
  free(work->pairs);
  if (work->worker_count) {
    pool_destroy(&work->pool);
    qz_mutex_destroy(&work->queue_lock);
    qz_mutex_destroy(&work->result_lock);
  }
  free(work->workers);
}
