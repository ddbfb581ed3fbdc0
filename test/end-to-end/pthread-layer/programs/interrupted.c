/* Threads that wait in every way that a signal ends, while main sends them the signal that its argument names (0:
 * none), as if the signal by which samples are taken came in the middle of each wait. Before that, main resets all
 * signals and blocks them, as some run-times do. Prints how many waits a signal ended. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "work.h"

#define ROUNDS 40

static long ended;
static int left = 2;

static void note(long result) {
  if (result < 0 && errno == EINTR) __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
}

static void *waits(void *unused) {
  struct timespec wait = {0, 3000000};
  struct timeval limit = {0, 3000};
  struct epoll_event event;
  struct pollfd none;
  int epoll = epoll_create1(0), pair[2];
  char byte;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) abort();
  setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  for (int k = 0; k < ROUNDS; k++) {
    struct timeval selected = limit;
    note(nanosleep(&wait, NULL));
    errno = clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, NULL);
    note(errno ? -1 : 0);
    note(usleep(3000));
    note(poll(&none, 0, 3));
    note(ppoll(&none, 0, &wait, NULL));
    note(select(0, NULL, NULL, NULL, &selected));
    note(pselect(0, NULL, NULL, NULL, &wait, NULL));
    note(epoll_wait(epoll, &event, 1, 3));
    note(epoll_pwait(epoll, &event, 1, 3, NULL));
    note(recv(pair[0], &byte, 1, 0));
  }
  __atomic_fetch_sub(&left, 1, __ATOMIC_RELEASE);
  pause();
  return unused;
}

int main(int argc, char **argv) {
  int number = argc > 1 ? atoi(argv[1]) : 0;
  pthread_t threads[2];
  sigset_t all;
  for (int k = 1; k <= SIGRTMAX; k++) {
    struct sigaction reset = {.sa_handler = SIG_DFL};
    sigaction(k, &reset, NULL);
    signal(k, SIG_DFL);
  }
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  for (int k = 0; k < 2; k++)
    if (pthread_create(&threads[k], NULL, waits, NULL)) return 2;
  while (__atomic_load_n(&left, __ATOMIC_ACQUIRE)) {
    for (int k = 0; k < 2 && number; k++) pthread_kill(threads[k], number);
    nanosleep(&(struct timespec){0, 7000000}, NULL);
  }
  printf("%ld\n", ended);
  fflush(stdout);
  _exit(0);
}
