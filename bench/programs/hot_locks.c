/* Threads that hand a lock, or a token, to each other all the time; and the same work with the change that helps.
 *
 * hot_locks mutex|spin THREADS PARTS ROUNDS WORDS INSIDE OUTSIDE
 *   each thread takes the lock of its part ROUNDS times, changes WORDS words of the part's data, and does INSIDE steps
 *   of work while it holds the lock, OUTSIDE without. PARTS 1: one lock for all; THREADS: one for each.
 * hot_locks pool THREADS PARTS ROUNDS NODES OUTSIDE
 *   takes NODES pieces of memory from the free list of its part, writes to them, and gives them back, each under the
 *   part's mutex.
 * hot_locks token THREADS TURN ROUNDS INSIDE
 *   the threads take turns of TURN rounds of INSIDE steps, by a mutex and a condition.
 *
 * A step takes one to two ns. Prints a sum that depends on all of the work. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64, MOST_WORDS = 64, MOST_NODES = 64 };
struct node {
  struct node *next;
  uint64_t words[6];
};
static struct part {
  _Alignas(128) pthread_mutex_t mutex;
  pthread_spinlock_t spin;
  _Alignas(128) uint64_t words[MOST_WORDS];
  struct node *free;
} parts[MOST_THREADS];
static uint64_t sums[MOST_THREADS][16];
static struct { int threads, parts, rounds, words, inside, outside; } with;
static void (*take)(struct part *), (*let_go)(struct part *);

__attribute__((noinline)) static uint64_t work(uint64_t x, int steps) {
  for (int k = 0; k < steps; k++) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

static void take_mutex(struct part *part) { pthread_mutex_lock(&part->mutex); }
static void let_mutex_go(struct part *part) { pthread_mutex_unlock(&part->mutex); }
static void take_spin(struct part *part) { pthread_spin_lock(&part->spin); }
static void let_spin_go(struct part *part) { pthread_spin_unlock(&part->spin); }

__attribute__((noinline)) static uint64_t change(struct part *part, uint64_t x) {
  for (int k = 0; k < with.words; k++) part->words[k] += x >> 60;
  return work(x, with.inside);
}

static void *lockers(void *argument) {
  uint64_t me = (uint64_t)(uintptr_t)argument, x = me;
  struct part *part = &parts[me % (unsigned)with.parts];
  for (int k = 0; k < with.rounds; k++) {
    take(part);
    x = change(part, x);
    let_go(part);
    x = work(x, with.outside);
  }
  sums[me][0] = x;
  return NULL;
}

__attribute__((noinline)) static struct node *node_of(struct part *part) {
  pthread_mutex_lock(&part->mutex);
  struct node *node = part->free;
  part->free = node->next;
  pthread_mutex_unlock(&part->mutex);
  return node;
}
__attribute__((noinline)) static void give_back(struct part *part, struct node *node) {
  pthread_mutex_lock(&part->mutex);
  node->next = part->free;
  part->free = node;
  pthread_mutex_unlock(&part->mutex);
}
static void *poolers(void *argument) {
  uint64_t me = (uint64_t)(uintptr_t)argument, x = me;
  struct part *part = &parts[me % (unsigned)with.parts];
  for (int k = 0; k < with.rounds; k++) {
    struct node *nodes[MOST_NODES];
    for (int n = 0; n < with.words; n++) {
      nodes[n] = node_of(part);
      for (int w = 0; w < 6; w++) nodes[n]->words[w] = x + (unsigned)w;
      x = work(x, with.outside);
    }
    for (int n = 0; n < with.words; n++) {
      x += nodes[n]->words[n % 6];
      give_back(part, nodes[n]);
    }
  }
  sums[me][0] = x;
  return NULL;
}

static pthread_mutex_t token = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static uint64_t turn;
static void *passers(void *argument) {
  uint64_t me = (uint64_t)(uintptr_t)argument, x = me, threads = (unsigned)with.threads;
  for (int k = 0; k < with.rounds; k += with.parts) {
    pthread_mutex_lock(&token);
    while (turn % threads != me) pthread_cond_wait(&passed, &token);
    for (int n = 0; n < with.parts; n++) x = work(x, with.inside);
    turn++;
    pthread_cond_broadcast(&passed);
    pthread_mutex_unlock(&token);
  }
  sums[me][0] = x;
  return NULL;
}

int main(int count, char **arguments) {
  const char *kind = count > 1 ? arguments[1] : "";
  int numbers[6] = {0};
  for (int k = 2; k < count && k < 8; k++) numbers[k - 2] = atoi(arguments[k]);
  with.threads = numbers[0], with.parts = numbers[1], with.rounds = numbers[2], with.words = numbers[3];
  with.inside = numbers[4], with.outside = numbers[5];
  void *(*run)(void *) = NULL;
  if (!strcmp(kind, "mutex") || !strcmp(kind, "spin")) run = lockers;
  if (!strcmp(kind, "pool")) run = poolers, with.outside = with.inside;
  if (!strcmp(kind, "token")) run = passers, with.inside = with.words;
  take = strcmp(kind, "spin") ? take_mutex : take_spin;
  let_go = strcmp(kind, "spin") ? let_mutex_go : let_spin_go;
  if (!run || with.threads < 1 || with.threads > MOST_THREADS || with.parts < 1 ||
      (run != passers && (with.parts > with.threads || with.words > MOST_WORDS))) {
    fputs("usage: see the head of hot_locks.c\n", stderr);
    return 2;
  }
  for (int k = 0; k < MOST_THREADS; k++) {
    pthread_mutex_init(&parts[k].mutex, NULL);
    pthread_spin_init(&parts[k].spin, PTHREAD_PROCESS_PRIVATE);
    for (int n = 0; run == poolers && k < with.parts && n < with.threads * with.words; n++) {
      struct node *node = aligned_alloc(64, 64);
      if (!node) return 1;
      node->next = parts[k].free;
      parts[k].free = node;
    }
  }
  pthread_t threads[MOST_THREADS];
  for (int k = 0; k < with.threads; k++) pthread_create(&threads[k], NULL, run, (void *)(uintptr_t)k);
  uint64_t sum = 0;
  for (int k = 0; k < with.threads; k++) {
    pthread_join(threads[k], NULL);
    sum += sums[k][0];
  }
  printf("%llu\n", (unsigned long long)sum);
  return 0;
}
