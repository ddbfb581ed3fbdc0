/* A parent that forks CHILDREN children, which continue as the same program and work for MILLISECONDS of processor
 * time; it waits for them. forked CHILDREN MILLISECONDS [PARENT_MILLISECONDS [PAUSE_MILLISECONDS]]: processor time of
 * each, and how long each child waits for nothing afterwards, in elapsed time. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"

static volatile int worked; /* different code, or the compiler would merge the procedures */
__attribute__((noinline)) static void child_work(unsigned ms) {
  work_own_us(ms * 1000ul);
  worked = 1;
}
__attribute__((noinline)) static void parent_work(unsigned ms) {
  work_own_us(ms * 1000ul);
  worked = 2;
}

int main(int count, char **words) {
  int children = count > 1 ? atoi(words[1]) : 1;
  unsigned ms = count > 2 ? (unsigned)atoi(words[2]) : 100, pause_ms = count > 4 ? (unsigned)atoi(words[4]) : 0;
  if (count > 3) parent_work((unsigned)atoi(words[3]));
  for (int k = 0; k < children; k++)
    if (!fork()) {
      child_work(ms);
      if (pause_ms) usleep(pause_ms * 1000);
      exit(0);
    }
  while (wait(NULL) > 0) {}
  return 0;
}
