/* Uses every signal that is free for itself: installs a handler for each, or (argv[1] "wait") blocks each and waits for
 * it. Computes, sends itself each, and prints how many came, of how many, and how many came unasked. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include "work.h"

static volatile sig_atomic_t handled;
static void count(int number) {
  (void)number;
  handled = handled + 1;
}

static int is_free(int number) {
  struct sigaction now;
  return !sigaction(number, NULL, &now) && now.sa_handler == SIG_DFL;
}

static void handles(void) {
  int installed = 0;
  for (int k = SIGRTMIN; k <= SIGRTMAX; k++) {
    struct sigaction ours = {.sa_handler = count};
    if (is_free(k)) installed += !sigaction(k, &ours, NULL);
  }
  work_own_us(100000);
  int unasked = handled;
  for (int k = SIGRTMIN; k <= SIGRTMAX; k++) raise(k);
  printf("%d of %d, %d unasked\n", handled - unasked, installed, unasked);
}

static void waits(void) {
  int sent = 0, came = 0, unasked = 0;
  for (int k = SIGRTMIN; k <= SIGRTMAX; k++) {
    sigset_t one;
    if (!is_free(k)) continue;
    sigemptyset(&one);
    sigaddset(&one, k);
    sigprocmask(SIG_BLOCK, &one, NULL);
    work_own_us(10000);
    unasked += sigtimedwait(&one, NULL, &(struct timespec){0, 0}) == k;
    sent += !raise(k);
    came += sigtimedwait(&one, NULL, &(struct timespec){1, 0}) == k;
  }
  printf("%d of %d, %d unasked\n", came, sent, unasked);
}

int main(int argc, char **argv) {
  (void)argv;
  work_own_us(50000);
  if (argc > 1)
    waits();
  else
    handles();
  return 0;
}
