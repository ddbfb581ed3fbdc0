/* Everything at once: threads that lock, wait, signal, create and name others, create and destroy objects, while
 * publishing is on. Counts that locks protect must be correct at the end: status 0. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 6
#define ROUNDS  3000
#define LOCKS   8

static pthread_mutex_t locks[LOCKS], recursive;
static long sums[LOCKS], nested, read_sum, spun, taken, items;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;

static void *brief(void *unused) {
  pthread_mutex_lock(&recursive);
  pthread_mutex_lock(&recursive);
  nested++;
  pthread_mutex_unlock(&recursive);
  pthread_mutex_unlock(&recursive);
  return NULL;
}

static void of_its_own(void) {
  pthread_mutex_t *made = malloc(sizeof *made);
  pthread_mutex_init(made, NULL);
  pthread_mutex_lock(made);
  pthread_mutex_unlock(made);
  pthread_mutex_destroy(made);
  free(made);
}

static void wait_for_item(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 1000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
  pthread_mutex_lock(&queue_lock);
  while (!items && pthread_cond_timedwait(&filled, &queue_lock, &until) != ETIMEDOUT) continue;
  if (items) items--, taken++;
  pthread_mutex_unlock(&queue_lock);
}

static void *worker(void *argument) {
  unsigned seed = (unsigned)(size_t)argument;
  for (int k = 0; k < ROUNDS; k++) {
    unsigned what = (unsigned)rand_r(&seed) % 16, which = (unsigned)rand_r(&seed) % LOCKS;
    pthread_mutex_lock(&locks[which]);
    sums[which]++;
    pthread_mutex_unlock(&locks[which]);
    switch (what) {
    case 0: of_its_own(); break;
    case 1:
      if (!pthread_mutex_trylock(&locks[which])) pthread_mutex_unlock(&locks[which]);
      break;
    case 2:
      pthread_rwlock_wrlock(&rwlock);
      read_sum++;
      pthread_rwlock_unlock(&rwlock);
      break;
    case 3:
      pthread_rwlock_rdlock(&rwlock);
      if (read_sum < 0) abort();
      pthread_rwlock_unlock(&rwlock);
      break;
    case 4:
      pthread_spin_lock(&spin);
      spun++;
      pthread_spin_unlock(&spin);
      break;
    case 5: wait_for_item(); break;
    case 6:
    case 7:
      pthread_mutex_lock(&queue_lock);
      items++;
      pthread_cond_signal(&filled);
      pthread_mutex_unlock(&queue_lock);
      break;
    case 8:
      sem_wait(&semaphore);
      sem_post(&semaphore);
      break;
    case 9: {
      pthread_t thread;
      if (k % 8) break;
      pthread_create(&thread, NULL, brief, NULL);
      pthread_setname_np(thread, "brief");
      pthread_join(thread, NULL);
      break;
    }
    default: break;
    }
    if (k % 500 == 0) pthread_barrier_wait(&barrier);
  }
  return NULL;
}

/* One wait of each kind that is certain to happen: the thread that ends it cannot have the lock before the wait
 * releases it. */
static int asked, answered;
static void *answer(void *unused) {
  pthread_mutex_lock(&queue_lock);
  answered = asked;
  pthread_cond_broadcast(&filled);
  pthread_mutex_unlock(&queue_lock);
  return NULL;
}
static void wait_for_certain(int kind) {
  pthread_t thread;
  struct timespec until;
  clock_gettime(kind == 3 ? CLOCK_MONOTONIC : CLOCK_REALTIME, &until);
  until.tv_sec += 200;
  pthread_mutex_lock(&queue_lock);
  asked = kind;
  pthread_create(&thread, NULL, answer, NULL);
  while (answered != kind) {
    int error = kind == 1   ? pthread_cond_wait(&filled, &queue_lock)
                : kind == 2 ? pthread_cond_timedwait(&filled, &queue_lock, &until)
                            : pthread_cond_clockwait(&filled, &queue_lock, CLOCK_MONOTONIC, &until);
    if (error) abort();
  }
  pthread_mutex_unlock(&queue_lock);
  pthread_join(thread, NULL);
}

int main(void) {
  pthread_t threads[THREADS];
  for (int kind = 1; kind <= 3; kind++) wait_for_certain(kind);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&recursive, &attributes);
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_barrier_init(&barrier, NULL, THREADS);
  sem_init(&semaphore, 0, 2);
  for (int k = 0; k < LOCKS; k++) pthread_mutex_init(&locks[k], NULL);
  for (size_t k = 0; k < THREADS; k++) pthread_create(&threads[k], NULL, worker, (void *)(k + 1));
  for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
  long sum = 0;
  for (int k = 0; k < LOCKS; k++) sum += sums[k];
  printf("%ld %s\n", sum, sum == (long)THREADS * ROUNDS ? "right" : "wrong");
  return sum != (long)THREADS * ROUNDS;
}
