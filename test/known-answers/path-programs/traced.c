/* Random programs that log what they do (events.h), for ../oracle/chains.test.ts: traced CASE SEED. For the thread
 * package and, with PTHREADS defined, the same with plain pthreads. graph: a random graph of spawned calls and created
 * threads. mesh: threads that meet in rounds, each round in another way. */
#define _GNU_SOURCE
#define UNITS_ALONE
#define ROUND UINT64_C(50000)
#include "units.h"
#include "events.h"

#define NAP_NS 2000000

#ifdef PTHREADS
#include <pthread.h>
#include <semaphore.h>
typedef pthread_t thread;
#define CREATE(at, start, argument) pthread_create(at, NULL, start, argument)
#define JOIN(of)                    pthread_join(of, NULL)
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t meeting;
#define LOCK()       pthread_mutex_lock(&lock)
#define UNLOCK()     pthread_mutex_unlock(&lock)
#define COND_WAIT()  pthread_cond_wait(&changed, &lock)
#define BROADCAST()  pthread_cond_broadcast(&changed)
#define MEET()       pthread_barrier_wait(&meeting)
#define NAP(ns)      usleep((ns) / 1000)
#define SEM          sem_t
#define SEM_INIT(at) sem_init(at, 0, 0)
#define SEM_POST(at) sem_post(at)
#define SEM_WAIT(at) \
  while (sem_wait(at)) {}
#define MEANS 5
#else
#include <quartz/quartz.h>
typedef qz_thread_t thread;
#define CREATE(at, start, argument) qz_create(at, NULL, start, argument)
#define JOIN(of)                    qz_join(of, NULL)
static qz_mutex lock;
static qz_cond changed;
static qz_barrier meeting;
#define LOCK()                      qz_mutex_lock(&lock)
#define UNLOCK()                    qz_mutex_unlock(&lock)
#define COND_WAIT()                 qz_cond_wait(&changed, &lock)
#define BROADCAST()                 qz_cond_broadcast(&changed)
#define MEET()                      qz_barrier_wait(&meeting)
#define NAP(ns)                     qz_sleep_ns(ns)
#define SEM                         qz_sem
#define SEM_INIT(at)                qz_sem_init(at, "turn", 0)
#define SEM_POST(at)                qz_sem_post(at)
#define SEM_WAIT(at)                qz_sem_wait(at)
#define MEANS                       7
#endif

#define THREADS 4
#define FIRST   2u /* id of the first of them; main is 1 */
#define ROUNDS  64

static uint64_t random_of(uint64_t *seed, uint64_t below) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 7;
  *seed ^= *seed << 17;
  return *seed % below;
}

/* ---- graph ---- */

struct node {
  uint64_t id, before, after, between[4];
  struct node *child[4];
  unsigned children, color;
  int created; /* its children are threads that it joins; else spawned calls */
};
static uint64_t nodes = 1; /* main */
static void *red(void *), *green(void *), *blue(void *);
static void *(*const starts[])(void *) = {red, green, blue};

static struct node *make(int depth, uint64_t *seed) {
  struct node *node = calloc(1, sizeof *node);
  if (!node) abort();
  node->id = ++nodes;
  node->color = (unsigned)random_of(seed, 3);
  node->before = 8 * random_of(seed, 16);
  node->after = 8 * random_of(seed, 16);
  node->children = depth ? 1 + (unsigned)random_of(seed, 3) : 0;
  node->created = (int)random_of(seed, 2);
  for (unsigned k = 0; k < node->children; k++) {
    node->child[k] = make(depth - 1, seed);
    node->between[k] = 8 * random_of(seed, 16);
  }
  return node;
}

static inline __attribute__((always_inline, no_instrument_function)) void run(struct node *node) {
  event("begin", node->id, node->color);
  units(node->before);
  thread threads[4];
#ifndef PTHREADS
  qz_scope scope = {0};
#endif
  for (unsigned k = 0; k < node->children; k++) {
    struct node *child = node->child[k];
    event("creates", node->id, child->id);
#ifndef PTHREADS
    if (!node->created)
      qz_spawn(&scope, (void (*)(void *))(void (*)(void))starts[child->color], child);
    else
#endif
      if (CREATE(&threads[k], starts[child->color], child))
      abort();
    event("created", node->id, child->id);
    units(node->between[k]);
  }
#ifndef PTHREADS
  if (!node->created) {
    event("syncs", node->id, 0);
    qz_sync(&scope);
    event("synced", node->id, 0);
  } else
#endif
    for (unsigned k = 0; k < node->children; k++) {
      event("joins", node->id, node->child[k]->id);
      JOIN(threads[k]);
      event("joined", node->id, node->child[k]->id);
    }
  units(node->after);
  event("end", node->id, 0);
}
PROCEDURE static void *red(void *argument) {
  run(argument);
  return argument;
}
PROCEDURE static void *green(void *argument) {
  run(argument);
  return argument;
}
PROCEDURE static void *blue(void *argument) {
  run(argument);
  return argument;
}

static void graph(uint64_t *seed) {
  struct node *root = make(4, seed);
  thread first;
  event("creates", 1, root->id);
  if (CREATE(&first, starts[root->color], root)) abort();
  event("created", 1, root->id);
  event("joins", 1, root->id);
  JOIN(first);
  event("joined", 1, root->id);
}

/* ---- mesh ---- */

static uint64_t plan;
static int stage;
static SEM turn[THREADS];
#ifndef PTHREADS
static qz_channel ring[THREADS];
static qz_future ready[ROUNDS];
#endif

/* The work of that thread in that round. */
static uint64_t due(uint64_t round, uint64_t me) {
  uint64_t seed = plan + 1 + round * 977 + me * 131;
  for (int k = 0; k < 4; k++) random_of(&seed, 2);
  return 2 + random_of(&seed, 16);
}
static uint64_t means(uint64_t round) {
  uint64_t seed = plan + 7 + round * 7919;
  for (int k = 0; k < 4; k++) random_of(&seed, 2);
  return random_of(&seed, MEANS);
}

static inline __attribute__((always_inline, no_instrument_function)) void meet(uint64_t me, uint64_t round) {
  event("arrives", FIRST + me, round);
  MEET();
  event("passes", FIRST + me, round);
}
static inline __attribute__((always_inline, no_instrument_function)) void take(uint64_t me) {
  event("wants", FIRST + me, 1);
  LOCK();
  event("has", FIRST + me, 1);
}
static inline __attribute__((always_inline, no_instrument_function)) void leave(uint64_t me) {
  event("leaves", FIRST + me, 1);
  UNLOCK();
  event("left", FIRST + me, 1);
}

static inline __attribute__((always_inline, no_instrument_function)) void one_round(uint64_t me, uint64_t round) {
  uint64_t first = round % THREADS, item = round * THREADS + me;
  switch (means(round)) {
  case 0:
    units(due(round, me));
    meet(me, round);
    break;
  case 1: /* a part of it alone */
    units(due(round, me) / 3);
    take(me);
    units(due(round, me));
    leave(me);
    break;
  case 2: /* one posts to each of the others */
    if (me == first) {
      units(due(round, me));
      for (uint64_t k = 0; k < THREADS; k++) {
        if (k == me) continue;
        event("posts", FIRST + me, round * THREADS + k);
        SEM_POST(&turn[k]);
        event("posted", FIRST + me, 0);
      }
    } else {
      units(due(round, me) / 2);
      event("waits", FIRST + me, item);
      SEM_WAIT(&turn[me]);
      event("woken", FIRST + me, item);
    }
    break;
  case 3: /* one changes what the others wait for */
    units(due(round, me));
    take(me);
    if (me == first) {
      stage = (int)round + 1;
      event("broadcasts", FIRST + me, 2);
      BROADCAST();
      event("broadcast", FIRST + me, 2);
    }
    while (stage < (int)round + 1) {
      event("awaits", FIRST + me, 2);
      COND_WAIT();
      event("awoke", FIRST + me, 2);
    }
    leave(me);
    meet(me, round);
    break;
  case 4:
    units(due(round, me));
    if (me == first) {
      event("naps", FIRST + me, NAP_NS);
      NAP(NAP_NS);
      event("awake", FIRST + me, 0);
    }
    meet(me, round);
    break;
#ifndef PTHREADS
  case 5: /* from one to the next */
    if (me > 0) {
      event("receives", FIRST + me, item - 1);
      uint64_t got;
      qz_channel_receive(&ring[me], &got);
      event("received", FIRST + me, item - 1);
    }
    units(due(round, me));
    if (me + 1 < THREADS) {
      event("sends", FIRST + me, item);
      qz_channel_send(&ring[me + 1], &item);
      event("sent", FIRST + me, item);
    }
    break;
  default:
    units(due(round, me));
    if (me == first) {
      event("sets", FIRST + me, round);
      qz_future_set(&ready[round], NULL);
      event("set", FIRST + me, round);
    } else {
      event("gets", FIRST + me, round);
      qz_future_get(&ready[round], NULL);
      event("got", FIRST + me, round);
    }
    break;
#endif
  }
}
#define MEMBER(color, me)                                   \
  PROCEDURE static void *color##_member(void *none) {       \
    event("begin", FIRST + me, me);                         \
    for (uint64_t k = 0; k < ROUNDS; k++) one_round(me, k); \
    event("end", FIRST + me, 0);                            \
    return none;                                            \
  }
MEMBER(red, 0)
MEMBER(green, 1)
MEMBER(blue, 2)
MEMBER(black, 3)

static void mesh(void) {
  void *(*const members[])(void *) = {red_member, green_member, blue_member, black_member};
  thread threads[THREADS];
  for (uint64_t k = 0; k < THREADS; k++) {
    event("creates", 1, FIRST + k);
    if (CREATE(&threads[k], members[k], NULL)) abort();
    event("created", 1, FIRST + k);
  }
  for (uint64_t k = 0; k < THREADS; k++) {
    event("joins", 1, FIRST + k);
    JOIN(threads[k]);
    event("joined", 1, FIRST + k);
  }
}

int main(int count, char **words) {
  if (count < 3) return 2;
  uint64_t seed = strtoull(words[2], NULL, 10) * 7919 + 1;
  plan = seed;
  events_begin();
  event("begin", 1, 4);
#ifdef PTHREADS
  pthread_barrier_init(&meeting, NULL, THREADS);
#else
  qz_mutex_init(&lock, "lock", QZ_ADAPTIVE);
  qz_cond_init(&changed, "changed");
  qz_barrier_init(&meeting, "meeting", THREADS, QZ_ADAPTIVE);
  for (int k = 0; k < THREADS; k++) qz_channel_init(&ring[k], "ring", sizeof(uint64_t), 2);
  for (int k = 0; k < ROUNDS; k++) qz_future_init(&ready[k], "ready");
#endif
  for (int k = 0; k < THREADS; k++) SEM_INIT(&turn[k]);
  if (!strcmp(words[1], "graph"))
    graph(&seed);
  else if (!strcmp(words[1], "mesh"))
    mesh();
  else
    return 2;
  event("end", 1, 0);
  return 0;
}
