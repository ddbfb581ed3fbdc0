/* Beginnings and ends of threads, and cancellation. See conformance.c. */
#include "conformance.h"

/* ---- threads ---- */

static void *sleeps(void *unused) {
  for (;;) pause();
  return NULL;
}
static void *exits(void *argument) {
  pthread_exit(argument);
  return NULL;
}
static void *detaches(void *unused) { return (void *)(intptr_t)pthread_detach(pthread_self()); }

void lives(void) {
  puts("threads");
  pthread_t thread;
  void *result = NULL;
  char name[16];
  say("  join itself", pthread_join(pthread_self(), NULL));
  pthread_create(&thread, NULL, exits, name);
  SAY(pthread_join(thread, &result));
  say("  result of pthread_exit", result == name);
  pthread_create(&thread, NULL, sleeps, NULL);
  SAY(pthread_tryjoin_np(thread, NULL));
  struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  SAY(pthread_timedjoin_np(thread, NULL, &soon));
  SAY(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &soon_monotonic));
  SAY(pthread_setname_np(thread, "a name"));
  SAY(pthread_setname_np(thread, "a name that is far too long"));
  SAY(pthread_getname_np(thread, name, sizeof name));
  printf("  %s\n", name);
  SAY(pthread_cancel(thread));
  SAY(pthread_join(thread, &result));
  say("  cancelled", result == PTHREAD_CANCELED);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  SAY(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN + 4096));
  SAY(pthread_create(&thread, &attributes, exits, NULL));
  SAY(pthread_join(thread, NULL));
  SAY(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED));
  SAY(pthread_create(&thread, &attributes, exits, NULL));
  pthread_attr_destroy(&attributes);
  pthread_create(&thread, NULL, detaches, NULL);
}

/* ---- cancellation ---- */

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t zero, started;
static int held_in_cleanup;

static void in_cleanup(void *mutex) {
  held_in_cleanup = pthread_mutex_trylock(mutex) == EBUSY; /* the wait has taken it again */
  pthread_mutex_unlock(mutex);
}
static void *waits_on_condition(void *unused) {
  pthread_mutex_lock(&gate);
  pthread_cleanup_push(in_cleanup, &gate);
  sem_post(&started);
  for (;;) pthread_cond_wait(&never, &gate);
  pthread_cleanup_pop(0);
}
static void *waits_on_semaphore(void *unused) {
  sem_post(&started);
  sem_wait(&zero);
  return NULL;
}
static void *joins(void *argument) {
  sem_post(&started);
  pthread_join(*(pthread_t *)argument, NULL);
  return NULL;
}
static void *cancels_itself(void *argument) {
  sem_t *semaphore = argument;
  pthread_cancel(pthread_self());
  sem_wait(semaphore); /* free, and a cancellation point all the same */
  return NULL;
}
static void *locks_when_cancelled(void *unused) {
  pthread_cancel(pthread_self());
  pthread_mutex_lock(&gate); /* is none */
  pthread_mutex_unlock(&gate);
  return &gate;
}
static void cancel(const char *what, void *(*start)(void *), void *argument, int wait) {
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, start, argument);
  if (wait) {
    sem_wait(&started);
    pthread_cancel(thread);
  }
  pthread_join(thread, &result);
  say(what, result == PTHREAD_CANCELED ? 0 : EINVAL);
}
void cancellation(void) {
  puts("cancellation");
  sem_t one;
  pthread_t sleeper;
  sem_init(&zero, 0, 0);
  sem_init(&started, 0, 0);
  sem_init(&one, 0, 1);
  cancel("  in pthread_cond_wait", waits_on_condition, NULL, 1);
  say("  the mutex was held in the handler", !held_in_cleanup);
  say("  and is free now", pthread_mutex_trylock(&gate));
  pthread_mutex_unlock(&gate);
  cancel("  in sem_wait", waits_on_semaphore, NULL, 1);
  cancel("  before a sem_wait that need not wait", cancels_itself, &one, 0);
  pthread_create(&sleeper, NULL, sleeps, NULL);
  cancel("  in pthread_join", joins, &sleeper, 1);
  pthread_cancel(sleeper);
  say("  join afterwards", pthread_join(sleeper, NULL));
  cancel("  in pthread_mutex_lock", locks_when_cancelled, NULL, 0);
}
