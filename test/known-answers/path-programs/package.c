/* The thread package, each case by its name: see ../path.test.ts. */
#include <errno.h>
#include <limits.h>
#include <quartz/quartz.h>
#include <time.h>
#include "units.h"

#define ROUNDS 60

static long rounds = ROUNDS;
static qz_channel items;
static qz_sem units_left;
static qz_mutex lock;
static qz_rwlock rwlock;
static qz_cond changed;
static qz_barrier round_ends, all_three;
static int turn;

static void *does_shorter(void *unused) {
  shorter();
  return unused;
}
static void *does_longer(void *unused) {
  longer();
  return unused;
}
static void *sender(void *unused) {
  for (long k = 0; k < rounds; k++) {
    produce();
    qz_channel_send(&items, &k);
  }
  return unused;
}
static void *receiver(void *unused) {
  for (long k = 0, item; k < rounds; k++) {
    qz_channel_receive(&items, &item);
    consume();
  }
  return unused;
}
static void *poster(void *unused) {
  for (long k = 0; k < ROUNDS; k++) {
    produce();
    qz_sem_post(&units_left);
  }
  return unused;
}
static void *waiter(void *unused) {
  for (long k = 0; k < ROUNDS; k++) {
    qz_sem_wait(&units_left);
    consume();
  }
  return unused;
}
static void *locks(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    qz_mutex_lock(&lock);
    locked();
    qz_mutex_unlock(&lock);
    outside();
  }
  return unused;
}
static void *write_locks(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    qz_rwlock_wrlock(&rwlock);
    locked();
    qz_rwlock_unlock(&rwlock);
    outside();
  }
  return unused;
}
static void *is_early(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    early();
    qz_barrier_wait(&round_ends);
  }
  return unused;
}
static void *is_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    late();
    qz_barrier_wait(&round_ends);
  }
  return unused;
}
/* Two read at the same time, and a third waits to write until the second of them has let go. */
static void reads(void (*work)(void)) {
  for (int k = 0; k < ROUNDS; k++) {
    qz_rwlock_rdlock(&rwlock);
    qz_barrier_wait(&all_three);
    work();
    qz_rwlock_unlock(&rwlock);
    qz_barrier_wait(&all_three);
  }
}
static void *reads_early(void *unused) {
  reads(early);
  return unused;
}
static void *reads_late(void *unused) {
  reads(late);
  return unused;
}
static void *writes(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    qz_barrier_wait(&all_three);
    qz_rwlock_wrlock(&rwlock);
    qz_rwlock_unlock(&rwlock);
    qz_barrier_wait(&all_three);
  }
  return unused;
}
static void await(int mine) {
  qz_mutex_lock(&lock);
  while (turn != mine) qz_cond_wait(&changed, &lock);
  qz_mutex_unlock(&lock);
}
static void pass(int next) {
  qz_mutex_lock(&lock);
  turn = next;
  qz_cond_broadcast(&changed);
  qz_mutex_unlock(&lock);
}
static void *pings(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    await(0);
    ping();
    pass(1);
  }
  return unused;
}
static void *pongs(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    await(1);
    pong();
    pass(0);
  }
  return unused;
}
static void *naps(void *unused) {
  qz_sleep_ns(300000000);
  qz_sem_post(&units_left);
  shorter();
  return unused;
}
static void *blocks(void *unused) {
  qz_blocking_begin("nap");
  usleep(300000);
  qz_blocking_end();
  qz_sem_post(&units_left);
  shorter();
  return unused;
}
/* Not joined: that it has worked is only visible by the semaphore. */
static void *longer_then_posts(void *unused) {
  longer();
  qz_sem_post(&units_left);
  return unused;
}
static void detached(void) {
  qz_thread_t thread;
  before();
  if (qz_create(&thread, "detached", longer_then_posts, NULL) || qz_detach(thread)) exit(99);
  shorter();
  qz_sem_wait(&units_left);
  after();
}

/* The deadline comes first: a later signal has ended no wait. */
static void *times_out(void *unused) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += 300000000;
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  qz_mutex_lock(&lock);
  while (qz_cond_timedwait(&changed, &lock, &deadline) != ETIMEDOUT) {}
  qz_mutex_unlock(&lock);
  qz_sem_post(&units_left);
  after();
  return unused;
}
static void *signals_late(void *unused) {
  qz_sem_wait(&units_left);
  qz_cond_signal(&changed);
  shorter();
  return unused;
}

/* One thread passes an item through that many channels. */
static void through_channels(void) {
  static qz_channel channels[1000];
  for (long k = 0, item; k < 1000; k++) {
    qz_channel_init(&channels[k], "one of 1,000", sizeof item, 1);
    qz_channel_send(&channels[k], &k);
    pass_on();
    qz_channel_receive(&channels[k], &item);
  }
}
/* Each has a chain of its own, from before the last snapshot, whenever it continues; there are so many that crumbs are
 * lost. */
static void *dozes(void *unused) {
  for (int k = 0; k < 100; k++) qz_sleep_ns(5000000);
  return unused;
}
static void many_threads(void) {
  enum { THREADS = 2000 };
  static qz_thread_t threads[THREADS];
  for (int k = 0; k < THREADS; k++)
    if (qz_create(&threads[k], "one of many", dozes, NULL)) exit(99);
  for (int k = 0; k < THREADS; k++) qz_join(threads[k], NULL);
}
static void spawned_shorter(void *unused) { shorter(); }
static void spawned_longer(void *unused) { longer(); }

/* Ends after the nap whatever the machine does: the nap is on every path to the end. */
static void *works_after_nap(void *unused) {
  qz_sem_wait(&units_left);
  early();
  return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
  qz_thread_t a, b;
  if (qz_create(&a, "first", first, NULL) || qz_create(&b, "second", second, NULL)) exit(99);
  qz_join(a, NULL);
  qz_join(b, NULL);
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  qz_channel_init(&items, "items", sizeof(long), 4);
  qz_sem_init(&units_left, "units", 0);
  qz_mutex_init(&lock, "lock", QZ_ADAPTIVE);
  qz_rwlock_init(&rwlock, "rwlock");
  qz_cond_init(&changed, "changed");
  qz_barrier_init(&round_ends, "round", 2, QZ_BLOCK);
  qz_barrier_init(&all_three, "all three", 3, QZ_BLOCK);
  if (!strcmp(which, "fork")) {
    before();
    both(does_shorter, does_longer);
    after();
  } else if (!strcmp(which, "spawn")) {
    before();
    qz_scope scope = {0};
    qz_spawn(&scope, spawned_shorter, NULL);
    qz_spawn(&scope, spawned_longer, NULL);
    qz_sync(&scope);
    after();
  } else if (!strcmp(which, "hand-over")) {
    both(sender, receiver);
  } else if (!strcmp(which, "endless")) { /* to be attached to */
    rounds = LONG_MAX;
    puts("ready");
    fflush(stdout);
    both(sender, receiver);
  } else if (!strcmp(which, "semaphore")) {
    both(poster, waiter);
  } else if (!strcmp(which, "mutex")) {
    both(locks, locks);
  } else if (!strcmp(which, "rwlock")) {
    both(write_locks, write_locks);
  } else if (!strcmp(which, "readers")) {
    qz_thread_t third;
    if (qz_create(&third, "third", writes, NULL)) return 99;
    both(reads_early, reads_late);
    qz_join(third, NULL);
  } else if (!strcmp(which, "barrier")) {
    both(is_early, is_late);
  } else if (!strcmp(which, "condition")) {
    both(pings, pongs);
  } else if (!strcmp(which, "sleep")) {
    both(naps, works_after_nap);
  } else if (!strcmp(which, "detached")) {
    detached();
  } else if (!strcmp(which, "deadline")) {
    both(times_out, signals_late);
  } else if (!strcmp(which, "channels")) {
    through_channels();
  } else if (!strcmp(which, "many-threads")) {
    many_threads();
  } else if (!strcmp(which, "io")) {
    both(blocks, works_after_nap);
  } else {
    return 2;
  }
  return 0;
}
