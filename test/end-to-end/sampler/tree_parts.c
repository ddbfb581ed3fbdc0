/* Processes whose truth is known, for reports over trees. Without anything of Quartz.
 *
 *   tree_parts spin MS     uses so much processor time
 *   tree_parts lock MS     a child holds a mutex that processes share while it uses so much processor time; another one
 *                          waits for it. Prints the holder's process, and the ns that the other one waited
 *   tree_parts prefork MS  two workers get a request each by socket pairs, one uses so much processor time and the
 * other none; the parent waits for both answers. Prints the slow worker's process, and the ns waited
 *   tree_parts join MS     a thread uses so much processor time, and the first one joins it. Prints its process, and
 * the ns that it waited
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_ms(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void spin(double ms) {
  double end_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID) + ms;
  while (now_ms(CLOCK_PROCESS_CPUTIME_ID) < end_ms) {}
}

struct shared {
  pthread_mutex_t mutex;
  double waited_ms;
};

static void lock(double ms) {
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int ready[2];
  char byte = 0;
  if (shared == MAP_FAILED || pipe(ready)) exit(2);
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &attributes);
  pid_t holder = fork();
  if (holder == 0) {
    pthread_mutex_lock(&shared->mutex);
    if (write(ready[1], &byte, 1) != 1) _exit(2);
    spin(ms);
    pthread_mutex_unlock(&shared->mutex);
    _exit(0);
  }
  if (read(ready[0], &byte, 1) != 1) exit(2);
  pid_t waiter = fork();
  if (waiter == 0) {
    double begin_ms = now_ms(CLOCK_MONOTONIC);
    pthread_mutex_lock(&shared->mutex);
    shared->waited_ms = now_ms(CLOCK_MONOTONIC) - begin_ms;
    pthread_mutex_unlock(&shared->mutex);
    _exit(0);
  }
  waitpid(waiter, NULL, 0);
  waitpid(holder, NULL, 0);
  printf("%ld %.0f\n", (long)holder, shared->waited_ms * 1e6);
}

static void prefork(double ms) {
  int ends[2][2];
  pid_t workers[2];
  char byte = 0;
  for (int k = 0; k < 2; k++) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends[k])) exit(2);
    workers[k] = fork();
    if (workers[k]) {
      close(ends[k][1]);
      continue;
    }
    for (int each = 0; each <= k; each++) close(ends[each][0]);
    while (read(ends[k][1], &byte, 1) == 1) {
      if (k) spin(ms);
      if (write(ends[k][1], &byte, 1) != 1) break;
    }
    _exit(0);
  }
  double begin_ms = now_ms(CLOCK_MONOTONIC);
  for (int k = 0; k < 2; k++)
    if (write(ends[k][0], &byte, 1) != 1) exit(2);
  for (int k = 0; k < 2; k++)
    if (read(ends[k][0], &byte, 1) != 1) exit(2);
  printf("%ld %.0f\n", (long)workers[1], (now_ms(CLOCK_MONOTONIC) - begin_ms) * 1e6);
  for (int k = 0; k < 2; k++) {
    close(ends[k][0]);
    waitpid(workers[k], NULL, 0);
  }
}

static void *spins(void *ms) {
  spin(*(double *)ms);
  return NULL;
}

static void join(double ms) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, spins, &ms)) exit(2);
  double begin_ms = now_ms(CLOCK_MONOTONIC);
  pthread_join(thread, NULL);
  printf("%ld %.0f\n", (long)getpid(), (now_ms(CLOCK_MONOTONIC) - begin_ms) * 1e6);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  double ms = atof(argv[2]);
  if (!strcmp(argv[1], "spin"))
    spin(ms);
  else if (!strcmp(argv[1], "lock"))
    lock(ms);
  else if (!strcmp(argv[1], "prefork"))
    prefork(ms);
  else if (!strcmp(argv[1], "join"))
    join(ms);
  else
    return 2;
  return 0;
}
