/* What POSIX and the C library guarantee for threads, as lines "what: result": with and without the layer, the lines
 * must be the same. Nothing here depends on speed. */
#include "conformance.h"

static const struct timespec bad = {0, -1}, past = {1, 0};

/* ---- mutexes ---- */

static pthread_mutex_t typed(int type, int robust, int protocol) {
  pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  if (protocol) pthread_mutexattr_setprotocol(&attributes, protocol);
  say("  pthread_mutex_init", pthread_mutex_init(&mutex, &attributes));
  pthread_mutexattr_destroy(&attributes);
  return mutex;
}

static void *other_locks(void *argument) {
  pthread_mutex_t *mutex = argument;
  struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  say("  other: trylock", pthread_mutex_trylock(mutex));
  say("  other: timedlock, past", pthread_mutex_timedlock(mutex, &past));
  say("  other: timedlock, bad", pthread_mutex_timedlock(mutex, &bad));
  say("  other: timedlock, soon", pthread_mutex_timedlock(mutex, &soon));
  say("  other: clocklock, soon", pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &soon_monotonic));
  say("  other: clocklock, no clock", pthread_mutex_clocklock(mutex, CLOCK_PROCESS_CPUTIME_ID, &past));
  return NULL;
}
static void *other_unlocks(void *argument) {
  say("  other: unlock", pthread_mutex_unlock(argument));
  return NULL;
}
static void in_other(void *(*start)(void *), void *argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, start, argument);
  pthread_join(thread, NULL);
}

static void mutexes(void) {
  static const struct {
    const char *name;
    int type, robust, protocol;
  } kinds[] = {
    {"normal", PTHREAD_MUTEX_NORMAL, 0, 0},
    {"recursive", PTHREAD_MUTEX_RECURSIVE, 0, 0},
    {"errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, 0},
    {"adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0},
    {"robust errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 0},
    {"robust recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0},
    {"inheriting", PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT},
    {"inheriting errorcheck", PTHREAD_MUTEX_ERRORCHECK, 0, PTHREAD_PRIO_INHERIT},
    {"inheriting robust", PTHREAD_MUTEX_NORMAL, 1, PTHREAD_PRIO_INHERIT},
  };
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    printf("mutex, %s\n", kinds[k].name);
    pthread_mutex_t mutex = typed(kinds[k].type, kinds[k].robust, kinds[k].protocol);
    say("  lock", pthread_mutex_lock(&mutex));
    say("  destroy while locked", pthread_mutex_destroy(&mutex));
    in_other(other_locks, &mutex);
    if (kinds[k].type != PTHREAD_MUTEX_NORMAL && kinds[k].type != PTHREAD_MUTEX_ADAPTIVE_NP) {
      say("  lock again", pthread_mutex_lock(&mutex));
      say("  trylock again", pthread_mutex_trylock(&mutex));
      in_other(other_unlocks, &mutex);
      if (kinds[k].type == PTHREAD_MUTEX_RECURSIVE) {
        say("  unlock", pthread_mutex_unlock(&mutex));
        in_other(other_locks, &mutex);
        say("  unlock", pthread_mutex_unlock(&mutex));
      }
    }
    say("  unlock", pthread_mutex_unlock(&mutex));
    if (kinds[k].type == PTHREAD_MUTEX_ERRORCHECK) say("  unlock a free one", pthread_mutex_unlock(&mutex));
    say("  timedlock a free one, bad time", pthread_mutex_timedlock(&mutex, &bad));
    say("  unlock", pthread_mutex_unlock(&mutex));
    say("  destroy", pthread_mutex_destroy(&mutex));
  }
}

static void *dies_with(void *argument) {
  pthread_mutex_lock(argument);
  return NULL;
}
static void owner_died(void) {
  for (int inherit = 0; inherit < 2; inherit++) {
    printf("owner died%s\n", inherit ? ", inheriting" : "");
    pthread_mutex_t mutex = typed(PTHREAD_MUTEX_ERRORCHECK, 1, inherit ? PTHREAD_PRIO_INHERIT : 0);
    in_other(dies_with, &mutex);
    say("  lock", pthread_mutex_lock(&mutex));
    say("  consistent", pthread_mutex_consistent(&mutex));
    say("  unlock", pthread_mutex_unlock(&mutex));
    in_other(dies_with, &mutex);
    say("  trylock", pthread_mutex_trylock(&mutex));
    say("  unlock", pthread_mutex_unlock(&mutex));
    say("  lock", pthread_mutex_lock(&mutex));
    say("  trylock", pthread_mutex_trylock(&mutex));
    say("  destroy", pthread_mutex_destroy(&mutex));
  }
}

/* ---- conditions ---- */

static void conditions(void) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, checked;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER, monotonic;
  pthread_condattr_t attributes;
  puts("conditions");
  checked = typed(PTHREAD_MUTEX_ERRORCHECK, 0, 0);
  struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  SAY(pthread_cond_signal(&condition));
  SAY(pthread_cond_broadcast(&condition));
  pthread_mutex_lock(&mutex);
  SAY(pthread_cond_timedwait(&condition, &mutex, &past));
  SAY(pthread_cond_timedwait(&condition, &mutex, &bad));
  SAY(pthread_cond_timedwait(&condition, &mutex, &soon));
  SAY(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &soon_monotonic));
  SAY(pthread_cond_clockwait(&condition, &mutex, CLOCK_PROCESS_CPUTIME_ID, &soon_monotonic));
  pthread_mutex_unlock(&mutex);
  SAY(pthread_cond_timedwait(&condition, &checked, &past));
  pthread_condattr_init(&attributes);
  SAY(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC));
  SAY(pthread_cond_init(&monotonic, &attributes));
  pthread_mutex_lock(&checked);
  soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  SAY(pthread_cond_timedwait(&monotonic, &checked, &soon_monotonic));
  SAY(pthread_mutex_lock(&checked));
  SAY(pthread_mutex_unlock(&checked));
  SAY(pthread_cond_destroy(&monotonic));
  SAY(pthread_cond_destroy(&condition));
}

/* ---- read-write locks, spin locks, barriers, semaphores ---- */

static void *other_rwlock(void *argument) {
  pthread_rwlock_t *lock = argument;
  struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  int result = pthread_rwlock_tryrdlock(lock);
  say("  other: tryrdlock", result);
  if (!result) say("  other: unlock", pthread_rwlock_unlock(lock));
  say("  other: trywrlock", pthread_rwlock_trywrlock(lock));
  say("  other: timedwrlock, soon", pthread_rwlock_timedwrlock(lock, &soon));
  say("  other: clockwrlock, soon", pthread_rwlock_clockwrlock(lock, CLOCK_MONOTONIC, &soon_monotonic));
  say("  other: clockwrlock, no clock", pthread_rwlock_clockwrlock(lock, CLOCK_PROCESS_CPUTIME_ID, &past));
  say("  other: timedwrlock, bad", pthread_rwlock_timedwrlock(lock, &bad));
  return NULL;
}
static void rwlocks(void) {
  puts("read-write locks");
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  SAY(pthread_rwlock_rdlock(&lock));
  SAY(pthread_rwlock_rdlock(&lock));
  in_other(other_rwlock, &lock);
  SAY(pthread_rwlock_unlock(&lock));
  SAY(pthread_rwlock_unlock(&lock));
  SAY(pthread_rwlock_wrlock(&lock));
  SAY(pthread_rwlock_wrlock(&lock));
  SAY(pthread_rwlock_rdlock(&lock));
  in_other(other_rwlock, &lock);
  SAY(pthread_rwlock_unlock(&lock));
  SAY(pthread_rwlock_timedrdlock(&lock, &bad));
  SAY(pthread_rwlock_destroy(&lock));
}

static void *at_barrier(void *argument) { return (void *)(intptr_t)pthread_barrier_wait(argument); }
static void *at_semaphore(void *argument) {
  while (sem_wait(argument) && errno == EINTR) continue;
  return NULL;
}
static void small_ones(void) {
  puts("spin locks, barriers, semaphores");
  pthread_spinlock_t spin;
  SAY(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
  SAY(pthread_spin_lock(&spin));
  SAY(pthread_spin_trylock(&spin));
  SAY(pthread_spin_unlock(&spin));
  SAY(pthread_spin_trylock(&spin));
  SAY(pthread_spin_unlock(&spin));
  SAY(pthread_spin_destroy(&spin));
  pthread_barrier_t barrier;
  SAY(pthread_barrier_init(&barrier, NULL, 0));
  SAY(pthread_barrier_init(&barrier, NULL, 3));
  for (int round = 0; round < 3; round++) {
    pthread_t threads[2];
    for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, at_barrier, &barrier);
    int serial = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    for (int k = 0; k < 2; k++) {
      void *result;
      pthread_join(threads[k], &result);
      serial += (int)(intptr_t)result == PTHREAD_BARRIER_SERIAL_THREAD;
    }
    say("  serial threads", serial);
  }
  SAY(pthread_barrier_destroy(&barrier));
  sem_t semaphore;
  int value;
  SAY_ERRNO(sem_init(&semaphore, 0, 1));
  SAY_ERRNO(sem_wait(&semaphore));
  SAY_ERRNO(sem_trywait(&semaphore));
  struct timespec soon = in_ms(CLOCK_REALTIME, 20), soon_monotonic = in_ms(CLOCK_MONOTONIC, 20);
  SAY_ERRNO(sem_timedwait(&semaphore, &past));
  SAY_ERRNO(sem_timedwait(&semaphore, &bad));
  SAY_ERRNO(sem_timedwait(&semaphore, &soon));
  SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &soon_monotonic));
  SAY_ERRNO(sem_clockwait(&semaphore, CLOCK_PROCESS_CPUTIME_ID, &soon_monotonic));
  pthread_t thread;
  pthread_create(&thread, NULL, at_semaphore, &semaphore);
  SAY_ERRNO(sem_post(&semaphore));
  SAY(pthread_join(thread, NULL));
  SAY_ERRNO(sem_post(&semaphore));
  errno = EDOM;
  sem_wait(&semaphore);
  say("  errno after a wait that succeeds", errno);
  SAY_ERRNO(sem_getvalue(&semaphore, &value));
  say("  value", value);
  SAY_ERRNO(sem_destroy(&semaphore));
}

/* ---- keys, C11, processes ---- */

static pthread_t first;
static pthread_key_t key;
static int rounds;
static void destroy(void *value) {
  rounds++;
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  if (rounds < 3) pthread_setspecific(key, value);
}
static void *has_key(void *unused) {
  pthread_setspecific(key, &key);
  return NULL;
}
static int c11_thread(void *argument) {
  mtx_lock(argument);
  mtx_unlock(argument);
  return 42;
}
static void once(void) { puts("  once"); }
static void rest(void) {
  puts("keys, C11, processes");
  pthread_key_create(&key, destroy);
  in_other(has_key, NULL);
  say("  rounds of destructors", rounds);
  thrd_t thread;
  mtx_t mutex;
  int result;
  struct timespec soon = in_ms(CLOCK_REALTIME, 20);
  say("  mtx_init", mtx_init(&mutex, mtx_timed | mtx_recursive));
  say("  mtx_lock", mtx_lock(&mutex) != thrd_success);
  say("  mtx_trylock", mtx_trylock(&mutex) != thrd_success);
  mtx_unlock(&mutex);
  mtx_unlock(&mutex);
  thrd_create(&thread, c11_thread, &mutex);
  thrd_join(thread, &result);
  say("  thrd_join", result);
  cnd_t condition;
  cnd_init(&condition);
  mtx_t plain;
  mtx_init(&plain, mtx_plain);
  mtx_lock(&plain);
  say("  cnd_timedwait", cnd_timedwait(&condition, &plain, &soon) != thrd_timedout);
  mtx_unlock(&plain);
  pthread_once_t control = PTHREAD_ONCE_INIT;
  pthread_once(&control, once);
  pthread_once(&control, once);
  fflush(stdout);
  int status;
  pid_t child = fork();
  if (child == 0) {
    in_other(has_key, NULL);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    _exit(7);
  }
  waitpid(child, &status, 0);
  say("  forked child", WEXITSTATUS(status));
  child = vfork();
  if (child == 0) {
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  say("  vfork and exec", WEXITSTATUS(status));
}

static void *last(void *unused) {
  say("  main has ended", pthread_join(first, NULL));
  puts("the last thread ends");
  return NULL;
}

int main(int count, char **arguments) {
  first = pthread_self();
  mutexes();
  owner_died();
  conditions();
  rwlocks();
  small_ones();
  lives();
  cancellation();
  rest();
  if (count > 1 && !strcmp(arguments[1], "exit")) return 5;
  if (count > 1 && !strcmp(arguments[1], "abort")) abort();
  pthread_t thread;
  pthread_create(&thread, NULL, last, NULL);
  pthread_exit(NULL); /* the process continues until that thread ends: then its status is 0 */
}
