/* Plain pthreads, each case by its name: see ../path.test.ts. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>
#include "units.h"

#define ROUNDS 60

static long rounds = ROUNDS;
static sem_t items, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t round_ends, all_three;
static int turn;

static void *does_shorter(void *unused) {
  shorter();
  return unused;
}
static void *does_longer(void *unused) {
  longer();
  return unused;
}
static void *producer(void *unused) {
  for (long k = 0; k < rounds; k++) {
    sem_wait(&room);
    produce();
    sem_post(&items);
  }
  return unused;
}
static void *consumer(void *unused) {
  for (long k = 0; k < rounds; k++) {
    sem_wait(&items);
    consume();
    sem_post(&room);
  }
  return unused;
}
static void *locks(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    pthread_mutex_lock(&lock);
    locked();
    pthread_mutex_unlock(&lock);
    outside();
  }
  return unused;
}
static void *write_locks(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    pthread_rwlock_wrlock(&rwlock);
    locked();
    pthread_rwlock_unlock(&rwlock);
    outside();
  }
  return unused;
}
static void *is_early(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    early();
    pthread_barrier_wait(&round_ends);
  }
  return unused;
}
static void *is_late(void *unused) {
  for (int k = 0; k < ROUNDS; k++) {
    late();
    pthread_barrier_wait(&round_ends);
  }
  return unused;
}
/* Two read at the same time, and a third waits to write until the second of them has let go. */
static void reads(void (*work)(void)) {
  for (int k = 0; k < ROUNDS; k++) {
    pthread_rwlock_rdlock(&rwlock);
    pthread_barrier_wait(&all_three);
    work();
    pthread_rwlock_unlock(&rwlock);
    pthread_barrier_wait(&all_three);
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
    pthread_barrier_wait(&all_three);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_barrier_wait(&all_three);
  }
  return unused;
}
static void await(int mine) {
  pthread_mutex_lock(&lock);
  while (turn != mine) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}
static void pass(int next) {
  pthread_mutex_lock(&lock);
  turn = next;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
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
  usleep(300000);
  sem_post(&items);
  shorter();
  return unused;
}

/* Ends after the nap whatever the machine does: the nap is on every path to the end. */
static void *works_after_nap(void *unused) {
  sem_wait(&items);
  early();
  return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *)) {
  pthread_t a, b;
  if (pthread_create(&a, NULL, first, NULL) || pthread_create(&b, NULL, second, NULL)) exit(99);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
}

/* Not joined: that it has worked is only visible by the semaphore. */
static void *longer_then_posts(void *unused) {
  longer();
  sem_post(&items);
  return unused;
}
static void detached(void) {
  pthread_t thread;
  before();
  if (pthread_create(&thread, NULL, longer_then_posts, NULL)) exit(99);
  pthread_detach(thread);
  shorter();
  sem_wait(&items);
  after();
}

/* The deadline comes first: a later signal has ended no wait. */
static void *times_out(void *unused) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += 300000000;
  deadline.tv_sec += deadline.tv_nsec / 1000000000;
  deadline.tv_nsec %= 1000000000;
  pthread_mutex_lock(&lock);
  while (pthread_cond_timedwait(&changed, &lock, &deadline) != ETIMEDOUT) {}
  pthread_mutex_unlock(&lock);
  sem_post(&items);
  after();
  return unused;
}
static void *signals_late(void *unused) {
  sem_wait(&items);
  pthread_cond_signal(&changed);
  shorter();
  return unused;
}

static int flag;
/* Each three times, since the loop that watches is recognized by samples, after some milliseconds. */
static void *raises_flag(void *unused) {
  for (int k = 0; k < 3; k++) longer();
  __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
  return unused;
}
static void *watches_flag(void *unused) {
  while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) {}
  for (int k = 0; k < 3; k++) after();
  return unused;
}

int main(int count, char **words) {
  const char *which = count > 1 ? words[1] : "";
  sem_init(&items, 0, 0);
  sem_init(&room, 0, ROUNDS);
  pthread_barrier_init(&round_ends, NULL, 2);
  pthread_barrier_init(&all_three, NULL, 3);
  if (!strcmp(which, "fork")) {
    before();
    both(does_shorter, does_longer);
    after();
  } else if (!strcmp(which, "hand-over")) {
    both(producer, consumer);
  } else if (!strcmp(which, "endless")) { /* to be attached to */
    rounds = LONG_MAX;
    sem_init(&room, 0, 4);
    puts("ready");
    fflush(stdout);
    both(producer, consumer);
  } else if (!strcmp(which, "mutex")) {
    both(locks, locks);
  } else if (!strcmp(which, "rwlock")) {
    both(write_locks, write_locks);
  } else if (!strcmp(which, "readers")) {
    pthread_t third;
    if (pthread_create(&third, NULL, writes, NULL)) return 99;
    both(reads_early, reads_late);
    pthread_join(third, NULL);
  } else if (!strcmp(which, "barrier")) {
    both(is_early, is_late);
  } else if (!strcmp(which, "condition")) {
    both(pings, pongs);
  } else if (!strcmp(which, "detached")) {
    detached();
  } else if (!strcmp(which, "deadline")) {
    both(times_out, signals_late);
  } else if (!strcmp(which, "flag")) {
    both(raises_flag, watches_flag);
  } else if (!strcmp(which, "sleep")) {
    both(naps, works_after_nap);
  } else {
    return 2;
  }
  return 0;
}
