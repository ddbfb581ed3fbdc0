/* A program that is not prepared for Quartz, to be observed from outside. `keeps` takes a lock and computes, all the
 * time; three threads wait for that lock. SIGUSR1: one more thread computes. SIGTERM: the lock is released, and all
 * threads end; their results are printed, and do not depend on how long it took. With an argument: other threads wait,
 * one each for a condition, a barrier, a semaphore, a read-write lock that `keeps` holds for writing, and the end of
 * `keeps`. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <semaphore.h>
#include <stdio.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static atomic_int kept, over, passed;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signal_box = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t fence;
static sem_t tickets;
static pthread_rwlock_t ledger = PTHREAD_RWLOCK_INITIALIZER;

__attribute__((noinline)) static void computes(void) {
  static atomic_ulong sum;
  for (unsigned long k = 0; !over; k++) atomic_store_explicit(&sum, k * k, memory_order_relaxed);
}

static void *keeps(void *unused) {
  pthread_mutex_lock(&door);
  pthread_rwlock_wrlock(&ledger);
  kept = 1;
  computes();
  pthread_rwlock_unlock(&ledger);
  pthread_mutex_unlock(&door);
  return unused;
}

static void *waits(void *unused) {
  while (!kept) {}
  pthread_mutex_lock(&door);
  passed++;
  pthread_mutex_unlock(&door);
  return unused;
}

static void *waits_for_condition(void *unused) {
  pthread_mutex_lock(&gate);
  while (!over) pthread_cond_wait(&signal_box, &gate);
  pthread_mutex_unlock(&gate);
  return unused;
}
static void *waits_at_barrier(void *unused) {
  pthread_barrier_wait(&fence);
  return unused;
}
static void *waits_for_ticket(void *unused) {
  while (sem_wait(&tickets)) {}
  return unused;
}
static void *waits_to_read(void *unused) {
  while (!kept) {}
  pthread_rwlock_rdlock(&ledger);
  pthread_rwlock_unlock(&ledger);
  return unused;
}
static void *waits_for_end(void *keeper) {
  pthread_join(*(pthread_t *)keeper, NULL);
  return NULL;
}

static void *comes_later(void *unused) {
  computes();
  return unused;
}

int main(int arguments, char **words) {
  static void *(*const waiting[])(void *) = {waits_for_condition, waits_at_barrier, waits_for_ticket, waits_to_read,
                                             waits_for_end};
  enum { WAITING = sizeof waiting / sizeof *waiting };
  (void)words;
  pthread_t threads[4], later[8], others[WAITING];
  int each = arguments > 1;
  int count = 0, number;
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  pthread_barrier_init(&fence, NULL, 2);
  sem_init(&tickets, 0, 0);
  for (int k = 0; k < (each ? 1 : 4); k++) pthread_create(&threads[k], NULL, k ? waits : keeps, NULL);
  for (int k = 0; each && k < WAITING; k++) pthread_create(&others[k], NULL, waiting[k], &threads[0]);
  while (!kept) {}
  puts("ready");
  fflush(stdout);
  while (!sigwait(&awaited, &number) && number == SIGUSR1)
    if (count < 8) pthread_create(&later[count++], NULL, comes_later, NULL);
  over = 1;
  pthread_mutex_lock(&gate);
  pthread_cond_broadcast(&signal_box);
  pthread_mutex_unlock(&gate);
  sem_post(&tickets);
  if (each) pthread_barrier_wait(&fence);
  for (int k = 0; each && k < WAITING; k++) pthread_join(others[k], NULL);
  for (int k = 0; !each && k < 4; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < count; k++) pthread_join(later[k], NULL);
  printf("%d passed, %d came later\n", passed, count);
  return 3;
}
