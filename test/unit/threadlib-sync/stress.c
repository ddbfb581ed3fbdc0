/* Stress of one kind of object: stress KIND [ROUNDS]. Checks that nothing is lost or duplicated, and that no two
 * threads are inside at once. */
#include "helpers.h"

enum { THREADS = 12 };
static long rounds = 2000;

static unsigned next_random(unsigned *state) {
  *state = *state * 1103515245u + 12345u;
  return *state >> 16;
}
static void *worker_argument(int index) { return (void *)(intptr_t)index; }

static void run_all(void *(*function)(void *)) {
  qz_thread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) threads[i] = start("stress", function, worker_argument(i));
  for (int i = 0; i < THREADS; i++) finish(threads[i]);
}

/* ---- mutex: lock, trylock, timedlock mixed ---- */

static qz_mutex mutex;
static long counter; /* plain: two holders at once would lose counts (and TSan would see it) */

static void *mutex_worker(void *argument) {
  unsigned random = (unsigned)(intptr_t)argument + 1;
  for (long i = 0; i < rounds;) {
    int error;
    switch (next_random(&random) % 4) {
    case 0: error = qz_mutex_trylock(&mutex); break;
    case 1: {
      struct timespec time = from_now(CLOCK_MONOTONIC, (long)(next_random(&random) % 2));
      error = qz_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &time);
      break;
    }
    default: error = qz_mutex_lock(&mutex);
    }
    if (error) {
      CHECK(error == EBUSY || error == ETIMEDOUT);
      qz_yield();
      continue;
    }
    counter++;
    if (next_random(&random) % 8 == 0) qz_yield(); /* others find it held by a thread that does not run */
    CHECK_IS(qz_mutex_unlock(&mutex), 0);
    i++;
  }
  return NULL;
}

static void stress_mutex(qz_policy policy) {
  CHECK_IS(qz_mutex_init(&mutex, "stressed", policy), 0);
  run_all(mutex_worker);
  CHECK_IS(counter, THREADS * rounds);
  CHECK_IS(qz_mutex_destroy(&mutex), 0);
}

/* ---- rwlock ---- */

static qz_rwlock rwlock;
static long pair[2];
static int readers_inside;

static void *rwlock_worker(void *argument) {
  unsigned random = (unsigned)(intptr_t)argument + 1;
  for (long i = 0; i < rounds;) {
    bool write = next_random(&random) % 4 == 0;
    int error;
    struct timespec time = from_now(CLOCK_MONOTONIC, 1);
    switch (next_random(&random) % 4) {
    case 0: error = write ? qz_rwlock_trywrlock(&rwlock) : qz_rwlock_tryrdlock(&rwlock); break;
    case 1:
      error = write ? qz_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &time)
                    : qz_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &time);
      break;
    default: error = write ? qz_rwlock_wrlock(&rwlock) : qz_rwlock_rdlock(&rwlock);
    }
    if (error) {
      CHECK(error == EBUSY || error == ETIMEDOUT);
      qz_yield();
      continue;
    }
    if (write) {
      CHECK_IS(__atomic_load_n(&readers_inside, __ATOMIC_RELAXED), 0);
      pair[0]++;
      if (next_random(&random) % 4 == 0) qz_yield();
      pair[1]++;
    } else {
      __atomic_fetch_add(&readers_inside, 1, __ATOMIC_RELAXED);
      CHECK(pair[0] == pair[1]);
      if (next_random(&random) % 4 == 0) qz_yield();
      CHECK(pair[0] == pair[1]);
      __atomic_fetch_sub(&readers_inside, 1, __ATOMIC_RELAXED);
    }
    CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
    i++;
  }
  return NULL;
}

static void stress_rwlock(void) {
  CHECK_IS(qz_rwlock_init(&rwlock, "stressed"), 0);
  run_all(rwlock_worker);
  CHECK_IS(qz_rwlock_destroy(&rwlock), 0);
}

/* ---- condition: a bounded buffer with signals only, so that a lost one hangs; and rounds by broadcast ---- */

static qz_cond not_empty, not_full, turned;
static long buffered, produced, consumed, arrived, turn;

static void *cond_worker(void *argument) {
  bool producer = (intptr_t)argument % 2;
  for (long i = 0; i < rounds; i++) {
    CHECK_IS(qz_mutex_lock(&mutex), 0);
    if (producer) {
      while (buffered == 3) CHECK_IS(qz_cond_wait(&not_full, &mutex), 0);
      buffered++;
      produced++;
      CHECK_IS(qz_cond_signal(&not_empty), 0);
    } else {
      while (buffered == 0) {
        struct timespec time = from_now(CLOCK_REALTIME, i % 3 ? 600000 : 1);
        int error = qz_cond_timedwait(&not_empty, &mutex, &time);
        CHECK(error == 0 || error == ETIMEDOUT);
      }
      buffered--;
      consumed++;
      CHECK_IS(qz_cond_signal(&not_full), 0);
    }
    CHECK_IS(qz_mutex_unlock(&mutex), 0);
  }
  for (long i = 0; i < rounds / 10; i++) {
    CHECK_IS(qz_mutex_lock(&mutex), 0);
    long now = turn;
    if (++arrived == THREADS) {
      arrived = 0;
      turn++;
      CHECK_IS(qz_cond_broadcast(&turned), 0);
    }
    while (turn == now) CHECK_IS(qz_cond_wait(&turned, &mutex), 0);
    CHECK_IS(qz_mutex_unlock(&mutex), 0);
  }
  return NULL;
}

static void stress_cond(void) {
  CHECK_IS(qz_mutex_init(&mutex, "stressed", QZ_ADAPTIVE), 0);
  CHECK_IS(qz_cond_init(&not_empty, "not empty"), 0);
  CHECK_IS(qz_cond_init(&not_full, "not full"), 0);
  CHECK_IS(qz_cond_init(&turned, "turned"), 0);
  run_all(cond_worker);
  CHECK_IS(buffered, 0);
  CHECK_IS(produced, THREADS / 2 * rounds);
  CHECK_IS(consumed, produced);
  CHECK_IS(qz_cond_destroy(&not_empty), 0);
  CHECK_IS(qz_cond_destroy(&not_full), 0);
  CHECK_IS(qz_cond_destroy(&turned), 0);
  CHECK_IS(qz_mutex_destroy(&mutex), 0);
}

/* ---- semaphore: at most three inside ---- */

static qz_sem sem;
static int inside;

static void *sem_worker(void *argument) {
  unsigned random = (unsigned)(intptr_t)argument + 1;
  for (long i = 0; i < rounds;) {
    int error;
    struct timespec time = from_now(CLOCK_MONOTONIC, 1);
    switch (next_random(&random) % 4) {
    case 0: error = qz_sem_trywait(&sem); break;
    case 1: error = qz_sem_clockwait(&sem, CLOCK_MONOTONIC, &time); break;
    default: error = qz_sem_wait(&sem);
    }
    if (error) {
      CHECK(error == EAGAIN || error == ETIMEDOUT);
      qz_yield();
      continue;
    }
    CHECK(__atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) <= 3);
    if (next_random(&random) % 4 == 0) qz_yield();
    __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
    CHECK_IS(qz_sem_post(&sem), 0);
    i++;
  }
  return NULL;
}

static void stress_sem(void) {
  CHECK_IS(qz_sem_init(&sem, "stressed", 3), 0);
  run_all(sem_worker);
  CHECK_IS(qz_sem_value(&sem), 3);
  CHECK_IS(qz_sem_destroy(&sem), 0);
}

/* ---- barrier: nobody is a round ahead, one serial thread a round ---- */

static qz_barrier barrier;
static long at_round[THREADS], serials;

static void *barrier_worker(void *argument) {
  intptr_t me = (intptr_t)argument;
  for (long i = 0; i < rounds / 4; i++) {
    at_round[me] = i;
    int result = qz_barrier_wait(&barrier);
    CHECK(result == 0 || result == QZ_BARRIER_SERIAL);
    if (result) __atomic_fetch_add(&serials, 1, __ATOMIC_RELAXED);
    for (int other = 0; other < THREADS; other++) CHECK_IS(at_round[other], i); /* plain: ordered by the barrier */
    qz_barrier_wait(&barrier);
  }
  return NULL;
}

static void stress_barrier(qz_policy policy) {
  CHECK_IS(qz_barrier_init(&barrier, "stressed", THREADS, policy), 0);
  run_all(barrier_worker);
  CHECK_IS(serials, rounds / 4);
  CHECK_IS(qz_barrier_destroy(&barrier), 0);
}

/* ---- channel: every item arrives once, and those of one sender in order (for one receiver) ---- */

static qz_channel channel;
struct item {
  int sender;
  long number;
  char filler[20];
};
static long received_sum[THREADS];
static int senders_left;

static void *channel_worker(void *argument) {
  intptr_t me = (intptr_t)argument;
  if (me % 2) {
    for (long i = 1; i <= rounds; i++) {
      struct item item = {.sender = (int)me, .number = i};
      memset(item.filler, (int)(i & 0x7f), sizeof item.filler);
      int error;
      while ((error = i % 8 == 0 ? qz_channel_trysend(&channel, &item) : qz_channel_send(&channel, &item)) == EAGAIN)
        qz_yield();
      CHECK_IS(error, 0);
    }
    if (__atomic_sub_fetch(&senders_left, 1, __ATOMIC_ACQ_REL) == 0) CHECK_IS(qz_channel_close(&channel), 0);
    return NULL;
  }
  long last[THREADS] = {0};
  for (long i = 0;; i++) {
    struct item item;
    struct timespec time = from_now(CLOCK_MONOTONIC, 1);
    int error = i % 8 == 0 ? qz_channel_clockreceive(&channel, &item, CLOCK_MONOTONIC, &time)
                           : qz_channel_receive(&channel, &item);
    if (error == ETIMEDOUT) continue;
    if (error == EPIPE) return NULL;
    CHECK_IS(error, 0);
    CHECK(item.number > last[item.sender]);
    CHECK_IS(item.filler[19], item.number & 0x7f);
    last[item.sender] = item.number;
    __atomic_fetch_add(&received_sum[item.sender], item.number, __ATOMIC_RELAXED);
  }
}

static void stress_channel(size_t capacity) {
  CHECK_IS(qz_channel_init(&channel, "stressed", sizeof(struct item), capacity), 0);
  memset(received_sum, 0, sizeof received_sum);
  senders_left = THREADS / 2;
  run_all(channel_worker);
  for (int sender = 1; sender < THREADS; sender += 2) CHECK_IS(received_sum[sender], rounds * (rounds + 1) / 2);
  CHECK_IS(qz_channel_destroy(&channel), 0);
}

/* ---- future: all see the one value; short-lived ones ---- */

static qz_future futures[64];

static void *future_worker(void *argument) {
  intptr_t me = (intptr_t)argument;
  for (int i = 0; i < 64; i++) {
    if (i % THREADS == me) CHECK_IS(qz_future_set(&futures[i], &futures[i]), 0);
    void *value = NULL;
    int error;
    while ((error = i % 3 ? qz_future_get(&futures[i], &value) : qz_future_tryget(&futures[i], &value)) == EAGAIN)
      qz_yield();
    CHECK_IS(error, 0);
    CHECK(value == &futures[i]);
  }
  return NULL;
}

static void stress_future(void) {
  for (long round = 0; round < rounds / 50; round++) {
    for (int i = 0; i < 64; i++) CHECK_IS(qz_future_init(&futures[i], "stressed"), 0);
    run_all(future_worker);
    for (int i = 0; i < 64; i++) CHECK_IS(qz_future_destroy(&futures[i]), 0);
  }
}

/* ---- lifetime: the thread that gets a lock last destroys and overwrites it, while the one before has just let go ----
 */

struct handed {
  qz_mutex mutex;
  int users;
};

static void *last_one_destroys(void *argument) {
  struct handed *handed = argument;
  CHECK_IS(qz_mutex_lock(&handed->mutex), 0);
  bool last = --handed->users == 0;
  CHECK_IS(qz_mutex_unlock(&handed->mutex), 0);
  if (last) {
    CHECK_IS(qz_mutex_destroy(&handed->mutex), 0);
    memset(handed, 0xff, sizeof *handed);
    free(handed);
  }
  return NULL;
}

static void stress_lifetime(void) {
  for (long round = 0; round < rounds; round++) {
    struct handed *handed = malloc(sizeof *handed);
    CHECK_IS(qz_mutex_init(&handed->mutex, "handed", (qz_policy)(round % 3)), 0);
    handed->users = 3;
    qz_thread_t threads[3];
    for (int i = 0; i < 3; i++) threads[i] = start("user", last_one_destroys, handed);
    for (int i = 0; i < 3; i++) finish(threads[i]);
  }
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  if (argc > 2) rounds = atol(argv[2]);
  if (!strcmp(kind, "mutex-adaptive"))
    stress_mutex(QZ_ADAPTIVE);
  else if (!strcmp(kind, "mutex-block"))
    stress_mutex(QZ_BLOCK);
  else if (!strcmp(kind, "mutex-spin"))
    stress_mutex(QZ_SPIN);
  else if (!strcmp(kind, "rwlock"))
    stress_rwlock();
  else if (!strcmp(kind, "condition"))
    stress_cond();
  else if (!strcmp(kind, "semaphore"))
    stress_sem();
  else if (!strcmp(kind, "barrier-adaptive"))
    stress_barrier(QZ_ADAPTIVE);
  else if (!strcmp(kind, "barrier-block"))
    stress_barrier(QZ_BLOCK);
  else if (!strcmp(kind, "barrier-spin"))
    stress_barrier(QZ_SPIN);
  else if (!strcmp(kind, "channel")) {
    stress_channel(0);
    stress_channel(1);
    stress_channel(7);
  } else if (!strcmp(kind, "future"))
    stress_future();
  else if (!strcmp(kind, "lifetime"))
    stress_lifetime();
  else
    return 2;
  return 0;
}
