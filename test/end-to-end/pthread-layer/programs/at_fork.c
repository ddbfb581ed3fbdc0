/* A library that is initialized before a layer in front of it, and whose at-fork handlers lock: in a child it prints
 * whether the C library wrote the child's own number into the lock. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

pthread_mutex_t at_fork_lock = PTHREAD_MUTEX_INITIALIZER;

static void lock_some(int times) {
  for (int k = 0; k < times; k++) {
    pthread_mutex_lock(&at_fork_lock);
    pthread_mutex_unlock(&at_fork_lock);
  }
}
static void prepare(void) { lock_some(3); }
static void parent(void) { lock_some(4); }
static void child(void) {
  lock_some(1000);
  pthread_mutex_lock(&at_fork_lock);
  int own = at_fork_lock.__data.__owner == (int)syscall(SYS_gettid);
  pthread_mutex_unlock(&at_fork_lock);
  printf("the child's handler: %s number\n", own ? "its own" : "another's");
}

__attribute__((constructor)) static void begin(void) { pthread_atfork(prepare, parent, child); }
