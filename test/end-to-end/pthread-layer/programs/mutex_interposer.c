/* A library that interposes the C library's mutexes and conditions, as other people's tools do (its symbols have no
 * versions, as in most of these): in the programs `lock` and `process_environment` it prints how many acquisitions it
 * saw, and how often each wait for a condition. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long taken, waited[3];

static int count(const char *name, pthread_mutex_t *mutex) {
  int (*real)(pthread_mutex_t *) = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, name);
  int result = real(mutex);
  if (!result) __atomic_add_fetch(&taken, 1, __ATOMIC_RELAXED);
  return result;
}
int pthread_mutex_lock(pthread_mutex_t *mutex) { return count("pthread_mutex_lock", mutex); }
int pthread_mutex_trylock(pthread_mutex_t *mutex) { return count("pthread_mutex_trylock", mutex); }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  __atomic_add_fetch(&waited[0], 1, __ATOMIC_RELAXED);
  return NEXT(pthread_cond_wait)(condition, mutex);
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  __atomic_add_fetch(&waited[1], 1, __ATOMIC_RELAXED);
  return NEXT(pthread_cond_timedwait)(condition, mutex, until);
}
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
  __atomic_add_fetch(&waited[2], 1, __ATOMIC_RELAXED);
  return NEXT(pthread_cond_clockwait)(condition, mutex, clock, until);
}

__attribute__((destructor)) static void end(void) {
  if (!strcmp(program_invocation_short_name, "lock") || !strcmp(program_invocation_short_name, "process_environment"))
    fprintf(stderr, "%ld taken, waited %ld %ld %ld\n", taken, waited[0], waited[1], waited[2]);
}
