/* The cases, the same for every thread package. A program defines, before it includes this file:
 *
 *   PROCEDURE(f) ... END            head and last statement of a thread's start routine, whose parameter is `argument`
 *   start_t                         type of such a routine
 *   thread_t, thread_start(t, f, argument), thread_join(t), thread_yield()
 *   lock_t, lock_init, lock_take, lock_give
 *   cond_t, cond_init, cond_wait(c, lock), cond_wake_one(c), cond_wake_all(c)
 *   HAVE_BARRIER: barrier_t, barrier_init(b, parties), barrier_wait(b)
 *   HAVE_CHANNEL: channel_init(k), channel_send(k, value), channel_receive(k): two channels of one item or none
 *   HAVE_PINNED: thread_start_on(t, processor, f, argument)
 *
 * and calls run_case from a thread of the package. All pointers are to objects that stay where they are.
 */
#include <unistd.h>
#include "measure.h"

PROCEDURE(empty) {
  (void)argument;
  END;
}
static double spawn(long n) { /* one thread at a time, joined at once */
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    thread_t t;
    thread_start(&t, empty, NULL);
    thread_join(&t);
  }
  return now_ns() - begin;
}

/* One thread at a time on a stack of its own: it has started and continued before it is joined. */
PROCEDURE(yields_once) {
  (void)argument;
  thread_yield();
  END;
}
static double spawn_switch(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    thread_t t;
    thread_start(&t, yields_once, NULL);
    thread_yield();
    thread_join(&t);
  }
  return now_ns() - begin;
}

enum { BATCH = 1000 };
static thread_t batch[BATCH];
static double spawn_batch(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k += BATCH) {
    for (int i = 0; i < BATCH; i++) thread_start(&batch[i], empty, NULL);
    for (int i = 0; i < BATCH; i++) thread_join(&batch[i]);
  }
  return now_ns() - begin;
}

#ifndef HAVE_OWN_FIB
struct fib {
  long n, value;
};
PROCEDURE(fib_thread) {
  struct fib *own = (struct fib *)argument;
  if (own->n < 2) {
    own->value = own->n;
  } else {
    struct fib a, b;
    thread_t t;
    a.n = own->n - 1, b.n = own->n - 2;
    thread_start(&t, fib_thread, &a);
    fib_thread(&b);
    thread_join(&t);
    own->value = a.value + b.value;
  }
  END;
}
static double fib(long n) {
  struct fib whole;
  whole.n = n;
  double begin = now_ns();
  fib_thread(&whole);
  double took = now_ns() - begin;
  must(whole.value == serial_fib(n), "fib is wrong");
  return took;
}
#endif

/* Two threads that yield to each other. Only switches count: a yield that comes back at once has done nothing. */
static volatile long yields, last_one, switches;
PROCEDURE(yielder) {
  long me = (long)(intptr_t)argument, seen = 0;
  for (long k = 0; k < yields; k++) {
    if (last_one != me) seen++, last_one = me;
    thread_yield();
  }
  switches = switches + seen;
  END;
}
static double yield_two(long n) {
  thread_t a, b;
  yields = n / 2, switches = 0, last_one = 0;
  double begin = now_ns();
  thread_start(&a, yielder, (void *)1);
  thread_start(&b, yielder, (void *)2);
  thread_join(&a);
  thread_join(&b);
  double took = now_ns() - begin;
  return took * (double)n / (double)(switches > 0 ? switches : 1);
}

/* What all threads write is separated from each other and from everything else, in lines and pairs of lines of the
 * caches, so that the linker's placement is not measured. */
static struct {
  lock_t lock __attribute__((aligned(128)));
  volatile long counter __attribute__((aligned(128)));
} hot;
static double lock_free(long n) {
  double begin = now_ns();
  for (long k = 0; k < n; k++) {
    lock_take(&hot.lock);
    hot.counter = hot.counter + 1;
    lock_give(&hot.lock);
  }
  return now_ns() - begin;
}

enum { EIGHT = 8 };
static volatile long each;
static long gathered;
static double longest[EIGHT];
PROCEDURE(contender) { /* reads the clock only at each 16th operation, because that costs more than the lock */
  double *own = (double *)argument;
  __atomic_fetch_add(&gathered, 1, __ATOMIC_SEQ_CST);
  while (__atomic_load_n(&gathered, __ATOMIC_SEQ_CST) < EIGHT) thread_yield();
  double last = wall_ns();
  for (long k = 0; k < each; k++) {
    lock_take(&hot.lock);
    hot.counter = hot.counter + 1;
    lock_give(&hot.lock);
    if (k % 16) continue;
    double now = wall_ns();
    if (now - last > *own) *own = now - last;
    last = now;
  }
  END;
}
static double lock_eight(long n) {
  thread_t t[EIGHT];
  each = n / EIGHT, gathered = 0, hot.counter = 0;
  double begin = now_ns();
  for (int k = 0; k < EIGHT; k++) thread_start(&t[k], contender, &longest[k]);
  for (int k = 0; k < EIGHT; k++) thread_join(&t[k]);
  double took = now_ns() - begin;
  must(hot.counter == n, "the lock lost updates");
  return took;
}

static cond_t conds[2];
static volatile int turn;
static volatile long trips;
PROCEDURE(pinger) {
  int me = (int)(intptr_t)argument;
  for (long k = 0; k < trips; k++) {
    lock_take(&hot.lock);
    while (turn != me) cond_wait(&conds[me], &hot.lock);
    turn = 1 - me;
    cond_wake_one(&conds[1 - me]);
    lock_give(&hot.lock);
  }
  END;
}
static double cond_trip(long n) {
  thread_t a, b;
  trips = n, turn = 0;
  double begin = now_ns();
  thread_start(&a, pinger, (void *)0);
  thread_start(&b, pinger, (void *)1);
  thread_join(&a);
  thread_join(&b);
  return now_ns() - begin;
}
#ifdef HAVE_PINNED
static double cond_pinned(long n) {
  thread_t a, b;
  trips = n, turn = 0;
  double begin = now_ns();
  thread_start_on(&a, 0, pinger, (void *)0);
  thread_start_on(&b, 1, pinger, (void *)1);
  thread_join(&a);
  thread_join(&b);
  return now_ns() - begin;
}
#endif

#ifdef HAVE_CHANNEL
PROCEDURE(caller) {
  (void)argument;
  for (long k = 0; k < trips; k++) {
    channel_send(0, k);
    must(channel_receive(1) == k, "the channel lost an item");
  }
  END;
}
PROCEDURE(answerer) {
  (void)argument;
  for (long k = 0; k < trips; k++) channel_send(1, channel_receive(0));
  END;
}
static double channel_trip(long n) {
  thread_t a, b;
  trips = n;
  double begin = now_ns();
  thread_start(&a, caller, NULL);
  thread_start(&b, answerer, NULL);
  thread_join(&a);
  thread_join(&b);
  return now_ns() - begin;
}
#endif

#ifdef HAVE_BARRIER
static barrier_t barrier;
PROCEDURE(arriver) {
  (void)argument;
  for (long k = 0; k < trips; k++) barrier_wait(&barrier);
  END;
}
static double barrier_round(long n) {
  thread_t t[EIGHT];
  trips = n;
  double begin = now_ns();
  for (int k = 0; k < EIGHT; k++) thread_start(&t[k], arriver, NULL);
  for (int k = 0; k < EIGHT; k++) thread_join(&t[k]);
  return now_ns() - begin;
}
#endif

/* Threads that wait at a gate until all have arrived. */
static volatile long blocked, released;
static void gate_wait(void) {
  lock_take(&hot.lock);
  blocked = blocked + 1;
  while (!released) cond_wait(&conds[0], &hot.lock);
  lock_give(&hot.lock);
}
static void gate_fill(long threads) {
  for (long seen = 0; seen < threads;) {
    thread_yield();
    lock_take(&hot.lock);
    seen = blocked;
    lock_give(&hot.lock);
  }
}
static void gate_open(void) {
  lock_take(&hot.lock);
  released = 1;
  cond_wake_all(&conds[0]);
  lock_give(&hot.lock);
}

/* Only yields among all of them count: from the time at which all pass the gate until the first one ends. If threads do
 * not take turns, so that some end before others continue, all yields count, with what comes before and after. */
enum { MANY = 100000 };
static thread_t *many;
static volatile long begun, yielded, yielded_first, yielded_last;
static double many_begin, many_end;
PROCEDURE(yielder_many) {
  (void)argument;
  gate_wait();
  begun = begun + 1;
  for (long k = 0; k < yields; k++) {
    if (begun == MANY && many_begin == 0) yielded_first = yielded, many_begin = now_ns();
    thread_yield();
    yielded = yielded + 1;
  }
  if (many_end == 0) yielded_last = yielded, many_end = now_ns();
  END;
}
static double yield_many(long n) {
  yields = n / MANY + 1; /* the first round does not count */
  begun = yielded = blocked = released = 0, many_begin = many_end = 0;
  if (!many) many = (thread_t *)calloc(MANY, sizeof *many);
  for (long k = 0; k < MANY; k++) thread_start(&many[k], yielder_many, NULL);
  gate_fill(MANY);
  double begin = now_ns();
  gate_open();
  for (long k = 0; k < MANY; k++) thread_join(&many[k]);
  if (many_begin == 0 || yielded_last <= yielded_first)
    many_begin = begin, many_end = now_ns(), yielded_first = 0, yielded_last = yielded;
  return (many_end - many_begin) * (double)n / (double)(yielded_last - yielded_first);
}

static double resident_bytes(void) {
  long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  must(f && fscanf(f, "%*d %ld", &pages) == 1, "/proc/self/statm cannot be read");
  fclose(f);
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}
PROCEDURE(blocker) {
  (void)argument;
  gate_wait();
  END;
}
/* All block, all are woken, all are joined; then once more, on the same stacks. */
static void block_many(long threads) {
  thread_t *t = (thread_t *)calloc((size_t)threads, sizeof *t);
  must(t != NULL, "no memory");
  memset((void *)t, 0, (size_t)threads * sizeof *t);
  for (int round = 0; round < 2; round++) {
    double before = resident_bytes(), begin = now_ns();
    blocked = released = 0;
    for (long k = 0; k < threads; k++) thread_start(&t[k], blocker, NULL);
    gate_fill(threads);
    double all_blocked = now_ns();
    if (round == 0) print_number("bytes", (resident_bytes() - before) / (double)threads);
    double wake = now_ns();
    gate_open();
    for (long k = 0; k < threads; k++) thread_join(&t[k]);
    double joined = now_ns();
    print_number(round == 0 ? "ns" : "recycled_ns", (all_blocked - begin) / (double)threads);
    if (round == 1) print_number("wake_ns", (joined - wake) / (double)threads);
  }
  free(t);
}

#ifndef FIB_FIRST
#define FIB_FIRST 20
#endif
#ifndef FIB_MOST
#define FIB_MOST 32
#endif

/* 0; 3: this package has no such operation. */
static int run_case(const char *name, long threads) {
  lock_init(&hot.lock);
  cond_init(&conds[0]);
  cond_init(&conds[1]);
  if (!strcmp(name, "spawn"))
    measure(spawn, 1000, 1);
  else if (!strcmp(name, "spawn-switch"))
    measure(spawn_switch, 1000, 1);
  else if (!strcmp(name, "spawn-batch"))
    measure(spawn_batch, BATCH, BATCH);
  else if (!strcmp(name, "fib"))
    measure_fib(fib, FIB_FIRST, FIB_MOST);
  else if (!strcmp(name, "yield"))
    measure(yield_two, 10000, 2);
  else if (!strcmp(name, "yield-many"))
    measure(yield_many, 5L * MANY, MANY);
  else if (!strcmp(name, "lock"))
    measure(lock_free, 10000, 1);
  else if (!strcmp(name, "lock-eight")) {
    measure(lock_eight, 8L * 1000, 8);
    double most = 0;
    for (int k = 0; k < EIGHT; k++) most = longest[k] > most ? longest[k] : most;
    print_number("longest_us", most / 1000);
  } else if (!strcmp(name, "cond"))
    measure(cond_trip, 1000, 1);
  else if (!strcmp(name, "blocked"))
    block_many(threads);
#ifdef HAVE_PINNED
  else if (!strcmp(name, "cond-pinned"))
    measure(cond_pinned, 1000, 1);
#endif
#ifdef HAVE_CHANNEL
  else if (!strcmp(name, "channel")) {
    channel_init(0);
    channel_init(1);
    measure(channel_trip, 1000, 1);
  }
#endif
#ifdef HAVE_BARRIER
  else if (!strcmp(name, "barrier")) {
    barrier_init(&barrier, EIGHT);
    measure(barrier_round, 1000, 1);
  }
#endif
  else
    return 3;
  return 0;
}

/* The command line of every program here. */
static int processors = 1;
static const char *case_name;
static long case_threads = 100000;
static void read_arguments(int count, char **arguments) {
  must(count >= 3, "usage: PROGRAM CASE PROCESSORS [THREADS]");
  case_name = arguments[1];
  processors = atoi(arguments[2]);
  measure_processors(processors);
  if (count > 3) case_threads = atol(arguments[3]);
}
