/* The published program of channel_test.c: what it does is known exactly.
 *
 * Owns:    nothing. Compiled with hooks.
 */
#include <dirent.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <quartz/quartz.h>
#include "channel_hooked.h"

#define NO_INLINE __attribute__((noinline))
static _Atomic(int) sink;
static qz_mutex mutex;

NO_INLINE void path_d(void) { sink++; }
NO_INLINE void path_c(void) {
  path_d();
  sink++;
}
NO_INLINE void path_b(void) {
  path_c();
  path_d();
  sink++;
}
NO_INLINE void path_a(void) {
  path_b();
  path_c();
  sink++;
}

static void *locker(void *unused) {
  for (int k = 0; k < LOCKS; k++) {
    qz_mutex_lock(&mutex);
    path_d();
    qz_mutex_unlock(&mutex);
  }
  return NULL;
}

/* LOCKERS threads take the mutex LOCKS times each; before that a forked child calls path_a, which must not be recorded.
 */
NO_INLINE int run_counts(void) {
  qz_thread_t threads[LOCKERS];
  pid_t child = fork();
  if (child == 0) {
    for (int k = 0; k < 1000; k++) path_a();
    _exit(0);
  }
  int status;
  if (child < 0 || waitpid(child, &status, 0) != child || status) return 1;
  if (qz_mutex_init(&mutex, "counted", QZ_ADAPTIVE)) return 2;
  for (int k = 0; k < LOCKERS; k++)
    if (qz_create(&threads[k], "locker", locker, NULL)) return 3;
  for (int k = 0; k < LOCKERS; k++)
    if (qz_join(threads[k], NULL)) return 4;
  return 0;
}

/* Calls path_a until a byte can be read; never calls the package. */
NO_INLINE int run_paths(int until) {
  char byte;
  do {
    for (int k = 0; k < 10000; k++) path_a();
  } while (read(until, &byte, 1) != 1);
  return 0;
}
/* First, another number of processors; then LOCKERS threads call path_d. */
static void *caller(void *unused) {
  for (int k = 0; k < LOCKS; k++) path_d();
  return NULL;
}
NO_INLINE int run_resized(void) {
  qz_options options = {.processors = RESIZED};
  qz_thread_t threads[LOCKERS];
  if (qz_init(&options)) return 1;
  for (int k = 0; k < LOCKERS; k++)
    if (qz_create(&threads[k], NULL, caller, NULL)) return 3;
  for (int k = 0; k < LOCKERS; k++)
    if (qz_join(threads[k], NULL)) return 4;
  return 0;
}

static bool channel_has_begun(void) {
  bool begun = false;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && !begun && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE *file = fopen(path, "re");
    begun = file && fgets(name, sizeof name, file) && !strcmp(name, "quartz-channel\n");
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return begun;
}

/* A forked child calls path_a 1000 times, and ends when it is asked to. */
NO_INLINE int run_forks(int until) {
  /* A child inherits the locks of the address sanitizer as they are, locked forever if a beginning thread was
   * allocating. */
  for (int tries = 0; tries < 10000 && !channel_has_begun(); tries++) poll(NULL, 0, 1);
  pid_t child = fork();
  if (child == 0) {
    for (int k = 0; k < 1000; k++) path_a();
    struct pollfd wait = {.fd = until, .events = POLLIN};
    poll(&wait, 1, -1);
    return 0;
  }
  int status;
  return child < 0 || waitpid(child, &status, 0) != child || status;
}

void *const path_addresses[4] = {(void *)path_a, (void *)path_b, (void *)path_c, (void *)path_d};
void *const run_paths_address = (void *)run_paths;
void *const locker_address = (void *)locker;
