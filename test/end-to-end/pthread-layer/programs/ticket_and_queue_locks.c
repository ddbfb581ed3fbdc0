/* For each lock, two threads that wait for their turn at a lock of the program's own (names with +); and two that wait
 * in loops beside a fetch-and-add or an exchange for something else (names with -); each for 150 ms of processor time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include "call_counts.h"
#include "work.h"

#define LOAD(at)         __atomic_load_n((at), __ATOMIC_ACQUIRE)
#define STORE(at, value) __atomic_store_n((at), (value), __ATOMIC_RELEASE)

static volatile int up;

static unsigned next_ticket, served;
static void *ticket(void *unused) {
  while (!up) {
    unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_ACQ_REL);
    while (LOAD(&served) != mine) continue;
    work_us(300);
    STORE(&served, mine + 1);
  }
  return unused;
}

struct node {
  struct node *next;
  int waits;
};
static struct node *last;
static void *queue(void *unused) {
  static struct node nodes[2];
  static int taken;
  struct node *mine = &nodes[__atomic_fetch_add(&taken, 1, __ATOMIC_ACQ_REL)];
  while (!up) {
    mine->waits = 1;
    mine->next = NULL;
    struct node *before = __atomic_exchange_n(&last, mine, __ATOMIC_ACQ_REL), *none = mine;
    if (before) {
      STORE(&before->next, mine);
      while (LOAD(&mine->waits)) continue;
    }
    work_us(300);
    if (LOAD(&mine->next) || !__atomic_compare_exchange_n(&last, &none, NULL, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      while (!LOAD(&mine->next)) continue;
      STORE(&mine->next->waits, 0);
    }
  }
  return unused;
}

static unsigned arrived, phase;
static void *barrier(void *unused) {
  for (unsigned k = 0; !up; k++) {
    unsigned now = LOAD(&phase);
    work_us(k % 2 ? 300 : 100);
    if (__atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL) == 1) {
      STORE(&arrived, 0);
      STORE(&phase, now + 1);
    } else
      while (LOAD(&phase) == now && !up) continue;
  }
  return unused;
}

static unsigned next_place;
static struct {
  unsigned turn;
  char apart[60];
} ring[64];
static void *places(void *unused) { /* each takes the next slot, and fills it once the reader has read it */
  while (!up) {
    unsigned mine = __atomic_fetch_add(&next_place, 1, __ATOMIC_ACQ_REL);
    while (LOAD(&ring[mine % 64].turn) != mine && !up) continue;
    STORE(&ring[mine % 64].turn, mine + 64);
    work_us(20);
  }
  return unused;
}
static void *reader(void *unused) {
  for (unsigned k = 0; !up; k++) {
    work_us(300);
    STORE(&ring[k % 64].turn, k);
  }
  return unused;
}

static void in_turn(const char *name, void *(*routine)(void *), void *(*other)(void *)) {
  pthread_t threads[2];
  up = 0;
  pthread_create(&threads[0], NULL, routine, NULL);
  pthread_create(&threads[1], NULL, other, NULL);
  pthread_setname_np(threads[0], name);
  if (routine == other) pthread_setname_np(threads[1], name);
  until_used(threads[0], 150000000);
  up = 1;
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
}

int main(void) {
  in_turn("+ticket", ticket, ticket);
  in_turn("+queue", queue, queue);
  in_turn("-barrier", barrier, barrier);
  for (unsigned k = 0; k < 64; k++) ring[k].turn = ~0u;
  in_turn("-places", places, reader);
  return 0;
}
