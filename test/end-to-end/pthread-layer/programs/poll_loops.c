/* Threads that wait, for 100 ms of processor time each, in loops that call functions to read what they wait for; and
 * threads that work as long in loops that do so, too. Those that read many words are recognized later, and wait for
 * 200 ms. C and C++. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __cplusplus
#include <atomic>
#include <chrono>
#endif
#include "call_counts.h"

#define PROCEDURE __attribute__((noinline)) static
#define KEEP()    __asm__ volatile("" ::: "memory")

struct queue {
  int head, tail;
};
static struct queue work;
static int up;
static unsigned long results[16];
static unsigned char from[1 << 16], to[1 << 16];

PROCEDURE int is_up(void) { return __atomic_load_n(&up, __ATOMIC_ACQUIRE); }
PROCEDURE int is_empty(const struct queue *queue) {
  return __atomic_load_n(&queue->head, __ATOMIC_ACQUIRE) == __atomic_load_n(&queue->tail, __ATOMIC_ACQUIRE);
}
PROCEDURE int ready(const struct queue *queue) {
  int empty = is_empty(queue);
  KEEP();
  return !empty;
}
struct job {
  int state, cancelled;
};
static struct job job;
PROCEDURE int is_done(const struct job *its) {
  if (__atomic_load_n(&its->cancelled, __ATOMIC_ACQUIRE)) return 1;
  return __atomic_load_n(&its->state, __ATOMIC_ACQUIRE) == 2;
}
static long now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000L + now.tv_nsec;
}
PROCEDURE double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void *flag(void *unused) {
  while (!is_up()) continue;
  return unused;
}
static void *empty(void *unused) {
  while (is_empty(&work)) continue;
  return unused;
}
static void *nested(void *unused) {
  while (!ready(&work)) continue;
  return unused;
}
static void *branching(void *unused) {
  while (!is_done(&job)) continue;
  return unused;
}
static int *volatile mailbox;
static void *own_word(void *unused) { /* on its stack, where another thread writes */
  int word = 0;
  mailbox = &word;
  while (!__atomic_load_n(&word, __ATOMIC_ACQUIRE)) continue;
  return unused;
}
static void *yielding(void *unused) {
  while (!is_up()) sched_yield();
  return unused;
}
/* No other thread can end these: the time is their own. */
static void *deadline(void *unused) {
  while (!is_up())
    for (long end = now_ns() + 50000000; now_ns() < end;) continue;
  return unused;
}
static void *deadline_in_seconds(void *unused) {
  while (!is_up())
    for (double end = seconds() + 0.05; seconds() < end;) continue;
  return unused;
}
static void *until_either(void *unused) {
  while (!is_up())
    for (long end = now_ns() + 50000000; now_ns() < end && !is_up();) continue;
  return unused;
}

static void *copies(void *unused) {
  while (!is_up()) {
    memcpy(to, from, sizeof to);
    __asm__ volatile("" ::"r"(to) : "memory");
  }
  return unused;
}
static void *collatz(void *unused) { /* its next step depends on its own results */
  unsigned long steps = 0, at = 27;
  while (!is_up()) {
    if (at & 1)
      at = 3 * at + 1;
    else
      at = at == 2 ? 27 : at >> 1;
    steps++;
  }
  results[6] = steps + at;
  return unused;
}
static void *hashes(void *unused) { /* its results are in a register */
  unsigned long hash = 14695981039346656037ul;
  while (!is_up()) hash = (hash ^ (hash >> 7)) * 1099511628211ul;
  results[0] = hash;
  return unused;
}
static void *sums(void *unused) { /* of the values that it read */
  unsigned long sum = 0;
  while (!is_up()) sum += (unsigned long)is_empty(&work);
  results[1] = sum;
  return unused;
}
static void *steps(void *unused) { /* reads the clock in each step of a simulation */
  double position = 0, speed = 1, then = seconds();
  while (!is_up()) {
    double now = seconds();
    position += speed * (now - then);
    speed -= position * (now - then);
    then = now;
  }
  results[2] = (unsigned long)position;
  return unused;
}
PROCEDURE unsigned long next_random(unsigned long *state) {
  return *state = *state * 6364136223846793005ul + 1442695040888963407ul;
}
static void *draws(void *unused) { /* until the state has some value */
  unsigned long state = 1;
  while (!is_up())
    while ((next_random(&state) >> 50) != 0) continue;
  results[3] = state;
  return unused;
}
static struct item {
  struct item *next;
  int key;
} items[4096];
PROCEDURE int key_of(const struct item *item) { return item->key; }
static void *searches(void *unused) { /* a list, by a procedure that reads */
  while (!is_up()) {
    const struct item *item = items;
    while (key_of(item)) item = item->next;
    results[4] += (unsigned long)(item - items);
  }
  return unused;
}
PROCEDURE int count_up(void) { return (int)__atomic_add_fetch(&results[5], 1, __ATOMIC_RELAXED); }
/* Counters of all threads, which no thread increments before the end. */
static struct counter { unsigned long value, apart[7]; } counters[64];
static unsigned version;
PROCEDURE unsigned long total(void) {
  unsigned long sum = 0;
  for (int k = 0; k < 64; k++) sum += __atomic_load_n(&counters[k].value, __ATOMIC_RELAXED);
  return sum;
}
static void *totals(void *unused) {
  while (total() < 5000) __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return unused;
}
static void *totals_here(void *unused) {
  for (unsigned long sum = 0; sum < 5000;) {
    sum = 0;
    KEEP();
    for (int k = 0; k < 64; k++) sum += __atomic_load_n(&counters[k].value, __ATOMIC_ACQUIRE);
  }
  return unused;
}
/* Reads all, and tries again if they changed in between, which they do not. */
PROCEDURE unsigned long read_all(void) {
  for (;;) {
    unsigned before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);
    unsigned long sum = 0;
    for (int k = 0; k < 64; k++) sum += __atomic_load_n(&counters[k].value, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&version, __ATOMIC_RELAXED) == before) return sum;
  }
}
static void *reads(void *unused) {
  unsigned long sum = 0;
  while (!is_up()) sum += read_all();
  results[7] = sum;
  return unused;
}
static void *counts(void *unused) {
  while (!is_up() && count_up()) continue;
  return unused;
}
#ifdef __cplusplus
struct Gate {
  std::atomic<int> state{0};
  __attribute__((noinline)) bool closed() const { return state.load() == 0; }
};
static Gate gate;
static void *closed(void *unused) {
  while (gate.closed()) continue;
  return unused;
}
static void *chrono(void *unused) {
  while (!is_up()) {
    auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (std::chrono::steady_clock::now() < end) continue;
  }
  return unused;
}
#endif

static void in_turn(const char *name, void *(*routine)(void *)) {
  pthread_t thread;
  __atomic_store_n(&up, 0, __ATOMIC_RELEASE);
  work.head = work.tail = job.state = 0;
  for (int k = 0; k < 64; k++) counters[k].value = (unsigned long)k;
#ifdef __cplusplus
  gate.state = 0;
#endif
  pthread_create(&thread, NULL, routine, NULL);
  pthread_setname_np(thread, name);
  until_used(thread, strncmp(name, "+totals", 7) ? 100000000 : 200000000);
  __atomic_store_n(&up, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&work.head, 1, __ATOMIC_RELEASE);
  __atomic_store_n(&job.state, 2, __ATOMIC_RELEASE);
  __atomic_store_n(&counters[5].value, 5000, __ATOMIC_RELEASE);
  if (mailbox) __atomic_store_n(mailbox, 1, __ATOMIC_RELEASE);
  mailbox = NULL;
#ifdef __cplusplus
  gate.state = 1;
#endif
  pthread_join(thread, NULL);
}

int main(void) {
  for (int k = 0; k < 4096; k++) items[k].next = &items[(k + 1) % 4096], items[k].key = k < 4095;
  in_turn("+flag", flag);
  in_turn("+empty", empty);
  in_turn("+nested", nested);
  in_turn("+yielding", yielding);
  in_turn("+branching", branching);
  in_turn("+own_word", own_word);
  in_turn("-deadline", deadline);
  in_turn("-seconds", deadline_in_seconds);
  in_turn("+either", until_either);
#ifdef __cplusplus
  in_turn("+closed", closed);
  in_turn("-chrono", chrono);
#endif
  in_turn("+totals", totals);
  in_turn("+totals_here", totals_here);
  in_turn("-reads", reads);
  in_turn("-copies", copies);
  in_turn("-collatz", collatz);
  in_turn("-hashes", hashes);
  in_turn("-sums", sums);
  in_turn("-steps", steps);
  in_turn("-draws", draws);
  in_turn("-searches", searches);
  in_turn("-counts", counts);
  return 0;
}
