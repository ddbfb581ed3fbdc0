/* Every error code that the synchronization objects define. */
#include "helpers.h"

static qz_mutex mutex = QZ_MUTEX_INIT;
static qz_rwlock rwlock = QZ_RWLOCK_INIT;
static qz_cond cond = QZ_COND_INIT;

static void *foreign_mutex(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_unlock(&mutex), EPERM);
  CHECK_IS(qz_mutex_trylock(&mutex), EBUSY);
  struct timespec past = from_now(CLOCK_REALTIME, -1000);
  CHECK_IS(qz_mutex_timedlock(&mutex, &past), ETIMEDOUT);
  CHECK_IS(qz_mutex_timedlock(&mutex, &BAD_TIME), EINVAL);
  CHECK_IS(qz_mutex_clocklock(&mutex, 12345, &past), EINVAL);
  CHECK_IS(qz_cond_wait(&cond, &mutex), EPERM);
  CHECK_IS(qz_cond_timedwait(&cond, &mutex, &past), EPERM);
  return NULL;
}

static void mutexes(void) {
  qz_mutex made;
  CHECK_IS(qz_mutex_init(&made, "made", (qz_policy)7), EINVAL);
  for (qz_policy policy = QZ_ADAPTIVE; policy <= QZ_SPIN; policy++) {
    CHECK_IS(qz_mutex_init(&made, "made", policy), 0);
    CHECK_IS(qz_mutex_lock(&made), 0);
    CHECK_IS(qz_mutex_lock(&made), EDEADLK);
    CHECK_IS(qz_mutex_destroy(&made), EBUSY);
    CHECK_IS(qz_mutex_unlock(&made), 0);
    CHECK_IS(qz_mutex_unlock(&made), EPERM);
    CHECK_IS(qz_mutex_destroy(&made), 0);
  }
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  struct timespec soon = from_now(CLOCK_REALTIME, 10000);
  CHECK_IS(qz_mutex_timedlock(&mutex, &soon), EDEADLK);
  CHECK_IS(qz_mutex_trylock(&mutex), EBUSY);
  finish(start("foreign", foreign_mutex, NULL));
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  CHECK_IS(qz_mutex_unlock(&mutex), EPERM);
}

static void *foreign_rwlock(void *held_for_writing) {
  struct timespec past = from_now(CLOCK_REALTIME, -1000);
  CHECK_IS(qz_rwlock_trywrlock(&rwlock), EBUSY);
  CHECK_IS(qz_rwlock_timedwrlock(&rwlock, &past), ETIMEDOUT);
  CHECK_IS(qz_rwlock_timedwrlock(&rwlock, &BAD_TIME), EINVAL);
  CHECK_IS(qz_rwlock_timedrdlock(&rwlock, &BAD_TIME), EINVAL);
  if (held_for_writing) {
    CHECK_IS(qz_rwlock_tryrdlock(&rwlock), EBUSY);
    CHECK_IS(qz_rwlock_timedrdlock(&rwlock, &past), ETIMEDOUT);
    CHECK_IS(qz_rwlock_unlock(&rwlock), EPERM);
  } else {
    CHECK_IS(qz_rwlock_tryrdlock(&rwlock), 0);
    CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  }
  return NULL;
}

static void rwlocks(void) {
  CHECK_IS(qz_rwlock_unlock(&rwlock), EPERM);
  CHECK_IS(qz_rwlock_wrlock(&rwlock), 0);
  CHECK_IS(qz_rwlock_wrlock(&rwlock), EDEADLK);
  CHECK_IS(qz_rwlock_rdlock(&rwlock), EDEADLK);
  CHECK_IS(qz_rwlock_destroy(&rwlock), EBUSY);
  finish(start("foreign", foreign_rwlock, &rwlock));
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  CHECK_IS(qz_rwlock_rdlock(&rwlock), 0);
  CHECK_IS(qz_rwlock_destroy(&rwlock), EBUSY);
  finish(start("foreign", foreign_rwlock, NULL));
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  CHECK_IS(qz_rwlock_destroy(&rwlock), 0);
}

static qz_mutex guard = QZ_MUTEX_INIT;
static qz_cond waited_for;
static int waiting, go;

static void *cond_waiter(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_lock(&guard), 0);
  waiting = 1;
  while (!go) CHECK_IS(qz_cond_wait(&waited_for, &guard), 0);
  CHECK_IS(qz_mutex_unlock(&guard), 0);
  return NULL;
}

static void conditions(void) {
  CHECK_IS(qz_cond_init(&waited_for, "waited for"), 0);
  CHECK_IS(qz_cond_wait(&waited_for, &guard), EPERM);
  qz_thread_t thread = start("waiter", cond_waiter, NULL);
  for (;;) {
    CHECK_IS(qz_mutex_lock(&guard), 0);
    if (waiting) break;
    CHECK_IS(qz_mutex_unlock(&guard), 0);
    qz_yield();
  }
  CHECK_IS(qz_cond_destroy(&waited_for), EBUSY);
  CHECK_IS(qz_cond_timedwait(&waited_for, &guard, &BAD_TIME), EINVAL);
  CHECK_IS(qz_cond_clockwait(&waited_for, &guard, 12345, &BAD_TIME), EINVAL);
  go = 1;
  CHECK_IS(qz_cond_signal(&waited_for), 0);
  CHECK_IS(qz_mutex_unlock(&guard), 0);
  finish(thread);
  CHECK_IS(qz_cond_destroy(&waited_for), 0);
}

static void semaphores(void) {
  qz_sem sem;
  CHECK_IS(qz_sem_init(&sem, NULL, 0x80000000u), EINVAL);
  CHECK_IS(qz_sem_init(&sem, NULL, 1), 0);
  CHECK_IS(qz_sem_trywait(&sem), 0);
  CHECK_IS(qz_sem_trywait(&sem), EAGAIN);
  CHECK_IS(qz_sem_timedwait(&sem, &BAD_TIME), EINVAL);
  CHECK_IS(qz_sem_timedwait(&sem, NULL), EINVAL);
  struct timespec past = from_now(CLOCK_REALTIME, -1000);
  CHECK_IS(qz_sem_timedwait(&sem, &past), ETIMEDOUT);
  CHECK_IS(qz_sem_post(&sem), 0);
  CHECK_IS(qz_sem_value(&sem), 1);
  CHECK_IS(qz_sem_destroy(&sem), 0);
  CHECK_IS(qz_sem_init(&sem, NULL, 0x7fffffff), 0);
  CHECK_IS(qz_sem_post(&sem), EOVERFLOW);
  CHECK_IS(qz_sem_destroy(&sem), 0);
}

static qz_sem blocked_on;
static qz_barrier barrier;
static qz_channel channel;
static qz_future future;
static void *sem_waiter(void *unused) {
  (void)unused;
  CHECK_IS(qz_sem_wait(&blocked_on), 0);
  return NULL;
}
static void *barrier_waiter(void *unused) {
  (void)unused;
  qz_barrier_wait(&barrier);
  return NULL;
}
static void *receiver(void *unused) {
  (void)unused;
  int item;
  CHECK_IS(qz_channel_receive(&channel, &item), 0);
  return NULL;
}
static void *getter(void *unused) {
  (void)unused;
  void *value;
  CHECK_IS(qz_future_get(&future, &value), 0);
  return value;
}

/* On one processor a thread that others yield to runs until it waits. */
static void let_it_wait(void) {
  for (int i = 0; i < 3; i++) qz_yield();
}

/* An object for which a thread waits cannot be destroyed. */
static void busy(void) {
  CHECK_IS(qz_sem_init(&blocked_on, "busy", 0), 0);
  qz_thread_t thread = start("sem", sem_waiter, NULL);
  let_it_wait();
  CHECK_IS(qz_sem_destroy(&blocked_on), EBUSY);
  CHECK_IS(qz_sem_post(&blocked_on), 0);
  finish(thread);
  CHECK_IS(qz_sem_destroy(&blocked_on), 0);

  CHECK_IS(qz_barrier_init(&barrier, "busy", 2, QZ_BLOCK), 0);
  thread = start("barrier", barrier_waiter, NULL);
  let_it_wait();
  CHECK_IS(qz_barrier_destroy(&barrier), EBUSY);
  qz_barrier_wait(&barrier);
  finish(thread);
  CHECK_IS(qz_barrier_destroy(&barrier), 0);

  CHECK_IS(qz_channel_init(&channel, "busy", sizeof(int), 1), 0);
  thread = start("channel", receiver, NULL);
  let_it_wait();
  CHECK_IS(qz_channel_destroy(&channel), EBUSY);
  CHECK_IS(qz_channel_send(&channel, &(int){1}), 0);
  finish(thread);
  CHECK_IS(qz_channel_destroy(&channel), 0);

  CHECK_IS(qz_future_init(&future, "busy"), 0);
  thread = start("future", getter, NULL);
  let_it_wait();
  CHECK_IS(qz_future_destroy(&future), EBUSY);
  CHECK_IS(qz_future_set(&future, &future), 0);
  CHECK(finish(thread) == &future);
  CHECK_IS(qz_future_destroy(&future), 0);
}

static void channels(void) {
  qz_channel c;
  CHECK_IS(qz_channel_init(&c, NULL, SIZE_MAX / 2, 4), EINVAL);
#if !defined __SANITIZE_THREAD__ && !defined __SANITIZE_ADDRESS__ /* their malloc() ends the program instead */
  CHECK_IS(qz_channel_init(&c, NULL, SIZE_MAX / 8, 4), ENOMEM);
#endif
  CHECK_IS(qz_channel_init(&c, NULL, sizeof(int), 2), 0);
  int item = 1;
  struct timespec past = from_now(CLOCK_REALTIME, -1000);
  CHECK_IS(qz_channel_tryreceive(&c, &item), EAGAIN);
  CHECK_IS(qz_channel_timedreceive(&c, &item, &past), ETIMEDOUT);
  CHECK_IS(qz_channel_timedreceive(&c, &item, &BAD_TIME), EINVAL);
  CHECK_IS(qz_channel_send(&c, &item), 0);
  CHECK_IS(qz_channel_trysend(&c, &item), 0);
  CHECK_IS(qz_channel_trysend(&c, &item), EAGAIN);
  CHECK_IS(qz_channel_timedsend(&c, &item, &past), ETIMEDOUT);
  CHECK_IS(qz_channel_close(&c), 0);
  CHECK_IS(qz_channel_send(&c, &item), EPIPE);
  CHECK_IS(qz_channel_trysend(&c, &item), EPIPE);
  CHECK_IS(qz_channel_receive(&c, &item), 0);
  CHECK_IS(qz_channel_tryreceive(&c, &item), 0);
  CHECK_IS(qz_channel_receive(&c, &item), EPIPE);
  CHECK_IS(qz_channel_tryreceive(&c, &item), EPIPE);
  CHECK_IS(qz_channel_destroy(&c), 0);
}

static void futures_and_barriers(void) {
  qz_future f = QZ_FUTURE_INIT;
  void *value;
  struct timespec past = from_now(CLOCK_REALTIME, -1000);
  CHECK_IS(qz_future_tryget(&f, &value), EAGAIN);
  CHECK_IS(qz_future_timedget(&f, &value, &past), ETIMEDOUT);
  CHECK_IS(qz_future_timedget(&f, &value, &BAD_TIME), EINVAL);
  CHECK_IS(qz_future_set(&f, &f), 0);
  CHECK_IS(qz_future_set(&f, NULL), EBUSY);
  CHECK_IS(qz_future_get(&f, &value), 0);
  CHECK(value == &f);
  CHECK_IS(qz_future_destroy(&f), 0);
  qz_barrier b;
  CHECK_IS(qz_barrier_init(&b, NULL, 0, QZ_BLOCK), EINVAL);
  CHECK_IS(qz_barrier_init(&b, NULL, 1, (qz_policy)9), EINVAL);
  CHECK_IS(qz_barrier_init(&b, NULL, 1, QZ_SPIN), 0);
  CHECK_IS(qz_barrier_wait(&b), QZ_BARRIER_SERIAL);
  CHECK_IS(qz_barrier_wait(&b), QZ_BARRIER_SERIAL);
  CHECK_IS(qz_barrier_destroy(&b), 0);
}

int main(void) {
  mutexes();
  rwlocks();
  conditions();
  semaphores();
  if (qz_processors() == 1) busy();
  channels();
  futures_and_barriers();
  return 0;
}
