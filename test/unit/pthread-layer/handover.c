/* No thread is woken needlessly, and no wake-up is lost: threads hand work to each other in every possible way, some
 * thousands of times each. No wait is repeated without a reason, so that one lost wake-up blocks everything: after 100
 * s the case is reported, with status 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TURNS = 3000, CANCELLED = 300, PRODUCERS = 3, CONSUMERS = 3, ROOM = 4, CREW = 3 };
static const char *volatile way = "none";
static pthread_mutex_t lock;
static pthread_cond_t changed[2], filled, emptied;
static sem_t posted[2];
static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock;
static int turn, held, together[CREW];
static long taken, count;
static unsigned long_waits; /* clock + 1 of waits with a time limit that never comes; 0: waits without */

static void stuck(int signal) {
  if (write(1, "stuck: ", 7) < 0 || write(1, way, strlen(way)) < 0 || write(1, "\n", 1) < 0) _exit(2);
  _exit(1);
}
/* What hangs is ended: each way takes seconds, or some dozen of them where other programs have the CPUs. */
static void begins(const char *name) {
  way = name;
  alarm(100);
}
static void wrong(const char *what) {
  printf("wrong: %s, %s\n", way, what);
  exit(1);
}
static struct timespec in(clockid_t clock, long ns) {
  struct timespec until;
  clock_gettime(clock, &until);
  until.tv_sec += (until.tv_nsec + ns) / 1000000000;
  until.tv_nsec = (until.tv_nsec + ns) % 1000000000;
  return until;
}
static const long far = 3600000000000;

static void wait_for(pthread_cond_t *condition) {
  struct timespec until = in(long_waits == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, far);
  int error = long_waits == 0   ? pthread_cond_wait(condition, &lock)
              : long_waits == 1 ? pthread_cond_timedwait(condition, &lock, &until)
                                : pthread_cond_clockwait(condition, &lock, CLOCK_MONOTONIC, &until);
  if (error) wrong("a wait failed");
}

/* Two threads alternate, with signals while the lock is held or (late) after it. */
static void *in_turn(void *argument) {
  int mine = argument != NULL, late = 0;
  for (int k = 0; k < TURNS; k++, late ^= 1) {
    pthread_mutex_lock(&lock);
    while (turn != mine) wait_for(&changed[mine]);
    turn = !mine;
    if (!late) pthread_cond_signal(&changed[!mine]);
    pthread_mutex_unlock(&lock);
    if (late) pthread_cond_signal(&changed[!mine]);
  }
  return NULL;
}
/* Several threads in turn; all are woken each time. */
static void *in_a_ring(void *argument) {
  int mine = (int)(size_t)argument;
  for (int k = 0; k < TURNS; k++) {
    pthread_mutex_lock(&lock);
    while (turn != mine) wait_for(&changed[0]);
    turn = (mine + 1) % CREW;
    pthread_cond_broadcast(&changed[0]);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void *produce(void *unused) {
  for (int k = 0; k < TURNS; k++) {
    pthread_mutex_lock(&lock);
    while (held == ROOM) wait_for(&emptied);
    held++;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&filled);
  }
  return NULL;
}
static void *consume(void *unused) {
  for (int k = 0; k < TURNS * PRODUCERS / CONSUMERS; k++) {
    pthread_mutex_lock(&lock);
    while (!held) wait_for(&filled);
    held--;
    taken++;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&emptied);
  }
  return NULL;
}
static void *post(void *argument) {
  int mine = argument != NULL;
  for (int k = 0; k < TURNS; k++) {
    struct timespec until = in(long_waits == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, far);
    while (long_waits == 0   ? sem_wait(&posted[mine])
           : long_waits == 1 ? sem_timedwait(&posted[mine], &until)
                             : sem_clockwait(&posted[mine], CLOCK_MONOTONIC, &until))
      if (errno != EINTR) wrong("a wait failed");
    sem_post(&posted[!mine]);
  }
  return NULL;
}
#ifdef __SANITIZE_THREAD__ /* whose library does not know this function and would not take it for a lock */
#define pthread_mutex_clocklock(mutex, clock, until) \
  (*(until) = in(CLOCK_REALTIME, far), pthread_mutex_timedlock(mutex, until))
#endif
/* The lock is held for long enough that others must wait for it. */
static void *contend(void *argument) {
  for (int k = 0; k < TURNS; k++) {
    struct timespec until = in(long_waits == 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME, far);
    int error = long_waits == 0   ? pthread_mutex_lock(&lock)
                : long_waits == 1 ? pthread_mutex_timedlock(&lock, &until)
                                  : pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
    if (error) wrong("a lock failed");
    count++;
    if (k % 16 == 0) sched_yield();
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void *read_and_write(void *argument) {
  for (int k = 0; k < TURNS; k++) {
    if (k % 3)
      pthread_rwlock_rdlock(&rwlock);
    else
      pthread_rwlock_wrlock(&rwlock), count++;
    if (k % 16 == 0) sched_yield();
    pthread_rwlock_unlock(&rwlock);
  }
  return NULL;
}
static void *meet(void *argument) {
  int mine = (int)(size_t)argument;
  for (int k = 0; k < TURNS; k++) {
    together[mine] = k;
    pthread_barrier_wait(&barrier);
    for (int other = 0; other < CREW; other++)
      if (together[other] != k) wrong("a barrier let one through");
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}
/* Waits that end at once because their time limit has passed, while others are handed over. */
static void *impatient(void *argument) {
  for (int k = 0; k < TURNS; k++) {
    struct timespec until = in(CLOCK_REALTIME, 1000);
    pthread_mutex_lock(&lock);
    pthread_cond_timedwait(&changed[0], &lock, &until);
    count++;
    pthread_mutex_unlock(&lock);
    sem_timedwait(&posted[0], &until);
    if (!pthread_mutex_timedlock(&lock, &until)) {
      count++;
      pthread_mutex_unlock(&lock);
    }
  }
  return NULL;
}

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }
static void *wait_at_condition(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_cleanup_push(unlock, &lock);
  held = 1;
  while (held) pthread_cond_wait(&filled, &lock);
  pthread_cleanup_pop(1);
  return NULL;
}
static void *wait_at_semaphore(void *unused) {
  held = 1;
  sem_wait(&posted[0]);
  return NULL;
}
static void *wait_for_another(void *other) {
  pthread_join(*(pthread_t *)other, NULL);
  return NULL;
}
/* Threads that are cancelled in their wait, early or late; what they waited for continues. */
static void cancel(void *(*run)(void *)) {
  for (int k = 0; k < CANCELLED; k++) {
    pthread_t thread;
    void *result;
    held = 0;
    pthread_create(&thread, NULL, run, NULL);
    if (k % 3) sched_yield();
    if (k % 3 == 2) usleep(50);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) wrong("a thread was not cancelled");
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
  }
}
static void joins(void) {
  for (int k = 0; k < CANCELLED / 10; k++) { /* each takes the lock some thousand times */
    pthread_t first, second;
    struct timespec until = in(CLOCK_REALTIME, far);
    pthread_create(&first, NULL, contend, NULL);
    pthread_create(&second, NULL, wait_for_another, &first);
    if (pthread_timedjoin_np(second, NULL, &until)) wrong("a join failed");
  }
}

static void crew(const char *name, int members, void *(*first)(void *), void *(*others)(void *)) {
  pthread_t threads[8];
  begins(name);
  turn = held = 0;
  taken = count = 0;
  for (int k = 0; k < members; k++)
    pthread_create(&threads[k], NULL, k < (members + 1) / 2 ? first : others, (void *)(size_t)k);
  for (int k = 0; k < members; k++) pthread_join(threads[k], NULL);
}

int main(void) {
  signal(SIGALRM, stuck);
  pthread_mutex_init(&lock, NULL);
  for (int k = 0; k < 2; k++) {
    pthread_cond_init(&changed[k], NULL);
    sem_init(&posted[k], 0, 0);
  }
  pthread_cond_init(&filled, NULL);
  pthread_cond_init(&emptied, NULL);
  pthread_rwlock_init(&rwlock, NULL);
  pthread_barrier_init(&barrier, NULL, CREW);
  for (long_waits = 0; long_waits < 3; long_waits++) {
    crew("two in turn at conditions", 2, in_turn, in_turn);
    crew("three in turn, all woken", CREW, in_a_ring, in_a_ring);
    crew("a queue with room for four", PRODUCERS + CONSUMERS, produce, consume);
    if (taken != (long)TURNS * PRODUCERS) wrong("items");
    sem_post(&posted[0]);
    crew("two in turn at semaphores", 2, post, post);
    sem_wait(&posted[0]);
    crew("a mutex that others have", 4, contend, contend);
    if (count != 4L * TURNS) wrong("exclusion");
  }
  long_waits = 0;
  crew("a read-write lock", 4, read_and_write, read_and_write);
  crew("a barrier", CREW, meet, meet);
  crew("waits that time out", 4, impatient, contend);
  begins("waits at a condition that are cancelled");
  cancel(wait_at_condition);
  begins("waits at a semaphore that are cancelled");
  cancel(wait_at_semaphore);
  begins("joins");
  joins();
  puts("right");
  return 0;
}
