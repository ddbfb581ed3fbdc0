/* A program that knows nothing of Quartz, to be watched from outside. `keeps` takes a lock and computes, all the time;
 * three threads wait for that lock. SIGUSR1: one more thread computes. SIGTERM: the lock is let go, all end; what they
 * did is printed, and is the same however long it took. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static atomic_int kept, over, passed;

__attribute__((noinline)) static void computes(void) {
  static atomic_ulong sum;
  for (unsigned long k = 0; !over; k++) atomic_store_explicit(&sum, k * k, memory_order_relaxed);
}

static void *keeps(void *unused) {
  pthread_mutex_lock(&door);
  kept = 1;
  computes();
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

static void *comes_later(void *unused) {
  computes();
  return unused;
}

int main(void) {
  pthread_t threads[4], later[8];
  int count = 0, number;
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR1);
  sigaddset(&awaited, SIGTERM);
  sigprocmask(SIG_BLOCK, &awaited, NULL);
  for (int k = 0; k < 4; k++) pthread_create(&threads[k], NULL, k ? waits : keeps, NULL);
  while (!kept) {}
  puts("ready");
  fflush(stdout);
  while (!sigwait(&awaited, &number) && number == SIGUSR1)
    if (count < 8) pthread_create(&later[count++], NULL, comes_later, NULL);
  over = 1;
  for (int k = 0; k < 4; k++) pthread_join(threads[k], NULL);
  for (int k = 0; k < count; k++) pthread_join(later[k], NULL);
  printf("%d passed, %d came later\n", passed, count);
  return 3;
}
