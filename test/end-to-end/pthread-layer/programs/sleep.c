/* While main works for 400 ms, one thread sleeps and reads from an empty pipe, and another one waits for a signal. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "work.h"

static int ends[2];

static void *waits(void *unused) {
  char byte;
  usleep(200000);
  return read(ends[0], &byte, 1) == 1 ? ends : NULL;
}

static void *awaits(void *signals) {
  int number;
  return sigwait(signals, &number) ? NULL : signals;
}

int main(void) {
  pthread_t thread, other;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  if (pipe(ends)) return 1;
  pthread_create(&thread, NULL, waits, NULL);
  pthread_create(&other, NULL, awaits, &signals);
  work_us(400000);
  if (write(ends[1], "x", 1) != 1) return 1;
  pthread_kill(other, SIGUSR2);
  pthread_join(thread, NULL);
  pthread_join(other, NULL);
  return 0;
}
