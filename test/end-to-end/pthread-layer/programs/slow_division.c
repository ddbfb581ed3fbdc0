/* A loop in which one instruction takes most of the time: a division by the result of the previous one. A second thread
 * polls a flag for a part of that time. argv[1]: rounds. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int done;

__attribute__((noinline)) static unsigned long divide(unsigned long x, long rounds) {
  for (long k = 0; k < rounds; k++)                               // loop
    x = (x ^ 0x123456789abcdefUL) / ((x & 1023) | 1) | 1UL << 62; // division
  return x;
}
__attribute__((noinline)) static void poll(void) {
  while (!done)
    ; // polls
}
static void *wait_for_it(void *argument) {
  poll();
  return argument;
}

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 30000000;
  pthread_t thread;
  pthread_create(&thread, NULL, wait_for_it, NULL);
  unsigned long x = divide(1, rounds / 2);
  done = 1;
  pthread_join(thread, NULL);
  printf("%lu\n", divide(x, rounds / 2));
  return 0;
}
