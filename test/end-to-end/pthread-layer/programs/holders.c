/* Threads that hold what others wait for, one kind of object after the other; the holders sleep while they hold, so
 * that the times are known whatever else the machine does.
 *
 *   ledger (mutex)      keeper holds it 4 times for 50 ms; asker waits for it each time, and holds it for hardly any
 * time table (rwlock)      reader-0 and reader-1 hold it for 200 ms at the same time; writer waits for both gate (spin
 * lock)    keeper holds it for 200 ms; asker spins free_lock (mutex)   only keeper holds it, for 200 ms; nobody waits
 *   tokens (semaphore)  taker waits 200 ms until giver posts
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <unistd.h>

static pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER, free_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t gate;
static sem_t tokens;
static pthread_barrier_t step;
static pthread_t threads[2];

static void *reader(void *unused) {
  pthread_rwlock_rdlock(&table);
  pthread_barrier_wait(&step);
  usleep(200000);
  pthread_rwlock_unlock(&table);
  return NULL;
}
static void *keeper(void *unused) {
  for (int k = 0; k < 4; k++) {
    pthread_mutex_lock(&ledger);
    pthread_barrier_wait(&step);
    usleep(50000);
    pthread_mutex_unlock(&ledger);
    pthread_barrier_wait(&step);
  }
  pthread_spin_lock(&gate);
  pthread_barrier_wait(&step);
  usleep(200000);
  pthread_spin_unlock(&gate);
  pthread_mutex_lock(&free_lock);
  usleep(200000);
  pthread_mutex_unlock(&free_lock);
  return NULL;
}
static void *asker(void *unused) {
  for (int k = 0; k < 4; k++) {
    pthread_barrier_wait(&step);
    pthread_mutex_lock(&ledger);
    pthread_mutex_unlock(&ledger);
    pthread_barrier_wait(&step);
  }
  pthread_barrier_wait(&step);
  pthread_spin_lock(&gate);
  pthread_spin_unlock(&gate);
  return NULL;
}
static void *taker(void *unused) {
  sem_wait(&tokens);
  return NULL;
}
static void *giver(void *unused) {
  usleep(200000);
  sem_post(&tokens);
  return NULL;
}

static void start(int which, const char *name, void *(*routine)(void *)) {
  pthread_create(&threads[which], NULL, routine, NULL);
  pthread_setname_np(threads[which], name);
}
static void end(void) {
  for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
}

int main(void) {
  pthread_spin_init(&gate, PTHREAD_PROCESS_PRIVATE);
  sem_init(&tokens, 0, 0);
  pthread_barrier_init(&step, NULL, 2);
  start(0, "keeper", keeper);
  start(1, "asker", asker);
  end();
  pthread_barrier_init(&step, NULL, 3);
  start(0, "reader-0", reader);
  start(1, "reader-1", reader);
  pthread_setname_np(pthread_self(), "writer");
  pthread_barrier_wait(&step);
  pthread_rwlock_wrlock(&table);
  pthread_rwlock_unlock(&table);
  end();
  start(0, "taker", taker);
  start(1, "giver", giver);
  end();
  return 0;
}
