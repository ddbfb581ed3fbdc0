/* A thread that sleeps and reads from an empty pipe, for 400 ms in all, while main works. */
#include <pthread.h>
#include <unistd.h>
#include "work.h"

static int ends[2];

static void *waits(void *unused) {
  char byte;
  usleep(200000);
  return read(ends[0], &byte, 1) == 1 ? ends : NULL;
}

int main(void) {
  pthread_t thread;
  if (pipe(ends)) return 1;
  pthread_create(&thread, NULL, waits, NULL);
  work_us(400000);
  if (write(ends[1], "x", 1) != 1) return 1;
  pthread_join(thread, NULL);
  return 0;
}
