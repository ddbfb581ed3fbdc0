/* Timed variants: they return at or after their time and not before, leave the object as it was, and take what is given
 * to them in time. */
#include "helpers.h"

enum { SHORT_MS = 20, LONG_MS = 600000 };

static qz_mutex mutex = QZ_MUTEX_INIT;
static qz_rwlock rwlock = QZ_RWLOCK_INIT;
static qz_cond cond = QZ_COND_INIT;
static qz_sem sem;
static qz_channel channel;
static qz_future future = QZ_FUTURE_INIT;

static int wait_for(int what, int clock, const struct timespec *time) {
  static int item;
  void *value;
  bool real = clock == CLOCK_REALTIME;
  switch (what) {
  case 0: return real ? qz_mutex_timedlock(&mutex, time) : qz_mutex_clocklock(&mutex, clock, time);
  case 1: return real ? qz_rwlock_timedrdlock(&rwlock, time) : qz_rwlock_clockrdlock(&rwlock, clock, time);
  case 2: return real ? qz_rwlock_timedwrlock(&rwlock, time) : qz_rwlock_clockwrlock(&rwlock, clock, time);
  case 3: {
    qz_mutex own = QZ_MUTEX_INIT;
    CHECK_IS(qz_mutex_lock(&own), 0);
    int error = real ? qz_cond_timedwait(&cond, &own, time) : qz_cond_clockwait(&cond, &own, clock, time);
    CHECK_IS(qz_mutex_unlock(&own), 0); /* held again, whether it timed out or not */
    return error;
  }
  case 4: return real ? qz_sem_timedwait(&sem, time) : qz_sem_clockwait(&sem, clock, time);
  case 5:
    return real ? qz_channel_timedreceive(&channel, &item, time)
                : qz_channel_clockreceive(&channel, &item, clock, time);
  case 6:
    return real ? qz_channel_timedsend(&channel, &item, time) : qz_channel_clocksend(&channel, &item, clock, time);
  default: return real ? qz_future_timedget(&future, &value, time) : qz_future_clockget(&future, &value, clock, time);
  }
}
enum { KINDS = 8 };

struct attempt {
  int what, clock;
  long ms;
  int expected;
};

static void *attempt(void *argument) {
  struct attempt *a = argument;
  struct timespec time = from_now(a->clock, a->ms);
  int64_t due_ns = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
  CHECK_IS(wait_for(a->what, a->clock, &time), a->expected);
  if (a->expected == ETIMEDOUT) CHECK(clock_ns(a->clock) >= due_ns);
  return NULL;
}

int main(void) {
  CHECK_IS(qz_sem_init(&sem, "timed", 0), 0);
  CHECK_IS(qz_channel_init(&channel, "timed", sizeof(int), 0), 0);
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_rwlock_wrlock(&rwlock), 0);

  /* Timed out: past and short times on both clocks, alone and several at once. */
  qz_thread_t threads[4 * KINDS];
  struct attempt attempts[4 * KINDS];
  for (int round = 0; round < 3; round++) {
    int n = 0;
    for (int what = 0; what < KINDS; what++) {
      if (what == 6 && round != 1) continue; /* a sender and a receiver would meet */
      if (what == 5 && round == 1) continue;
      for (int variant = 0; variant < 4; variant++) {
        attempts[n] = (struct attempt){what, variant & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME,
                                       variant & 2 ? SHORT_MS + variant : -SHORT_MS, ETIMEDOUT};
        threads[n] = start("timed out", attempt, &attempts[n]);
        n++;
      }
    }
    for (int i = 0; i < n; i++) finish(threads[i]);
  }

  /* In time: a generous time-out, and what is waited for arrives. */
  int n = 0;
  for (int what = 0; what < KINDS; what++) {
    if (what == 1 || what == 2 || what == 0) continue; /* the lock would have to be given back: see below */
    attempts[n] = (struct attempt){what, what & 1 ? CLOCK_MONOTONIC : CLOCK_REALTIME, LONG_MS, 0};
    threads[n] = start("in time", attempt, &attempts[n]);
    n++;
  }
  for (int i = 0; i < 10; i++) qz_yield();
  CHECK_IS(qz_sem_post(&sem), 0);
  CHECK_IS(qz_future_set(&future, NULL), 0);
  /* The condition's waiter may not wait yet: signal until it does. */
  qz_thread_t waiter = threads[0];
  while (qz_tryjoin(waiter, NULL) == EBUSY) {
    CHECK_IS(qz_cond_signal(&cond), 0);
    qz_yield();
  }
  for (int i = 1; i < n; i++) finish(threads[i]);

  /* No thread that timed out is still in a queue, or has left a mark: the objects are free once their holder releases
   * them. */
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  struct timespec time = from_now(CLOCK_REALTIME, LONG_MS);
  CHECK_IS(qz_mutex_timedlock(&mutex, &time), 0);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  CHECK_IS(qz_rwlock_timedrdlock(&rwlock, &time), 0);
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  CHECK_IS(qz_rwlock_timedwrlock(&rwlock, &time), 0);
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  CHECK_IS(qz_mutex_destroy(&mutex), 0);
  CHECK_IS(qz_rwlock_destroy(&rwlock), 0);
  CHECK_IS(qz_cond_destroy(&cond), 0);
  CHECK_IS(qz_sem_value(&sem), 0);
  CHECK_IS(qz_sem_destroy(&sem), 0);
  CHECK_IS(qz_channel_destroy(&channel), 0);
  CHECK_IS(qz_future_destroy(&future), 0);
  return 0;
}
