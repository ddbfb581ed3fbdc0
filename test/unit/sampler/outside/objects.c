/* Objects of a program that is watched from outside: those of this one, on which it says that its threads sleep. */
#include "sampler/outside/objects.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sampler/outside/state.h"
#include "test/support/check.h"

#define MS UINT64_C(1000000)

static struct qzi_outside *outside;
static uint64_t now_ns = 1000 * MS;
static uint32_t own; /* record of this thread: index + 1 */

static uint64_t address(const void *at) { return (uint64_t)(uintptr_t)at; }
static const struct qz_object *object_at(uint32_t index) { return qzi_outside_object_at(outside, index); }

/* Keys on this thread's stack. */
static uint32_t depth(void) { return (uint32_t)QZ_WORD_DEPTH(qzi_outside_record(outside, own - 1)->word); }
static uint64_t top(void) { return qzi_outside_record(outside, own - 1)->stack[depth() - 1].key; }

static void *other_owns(void *mutex) {
  pthread_mutex_lock(mutex);
  return NULL;
}

static void kinds(void) {
  static pthread_mutex_t mutex;
  static pthread_rwlock_t rwlock;
  static pthread_barrier_t barrier;
  static sem_t semaphore;
  static struct { uint64_t words[8]; } joined;
  pthread_barrier_init(&barrier, NULL, 2);
  static const struct {
    const char *called;
    const void *futex;
    const void *object;
    uint32_t kind;
  } calls[] = {
    {"__pthread_mutex_lock", &mutex, &mutex, QZ_KIND_MUTEX},
    {"pthread_mutex_timedlock", &mutex, &mutex, QZ_KIND_MUTEX},
    {"pthread_rwlock_rdlock", (const char *)&rwlock + 8, &rwlock, QZ_KIND_RWLOCK},
    {"__pthread_rwlock_wrlock", (const char *)&rwlock + 12, &rwlock, QZ_KIND_RWLOCK},
    {"pthread_barrier_wait", (const char *)&barrier + 4, &barrier, QZ_KIND_BARRIER},
    {"sem_wait", &semaphore, &semaphore, QZ_KIND_SEMAPHORE},
    {"sem_clockwait", &semaphore, &semaphore, QZ_KIND_SEMAPHORE},
    {"__pthread_clockjoin_ex", &joined, NULL, QZ_KIND_JOIN},
    {"pthread_cond_signal", &joined, NULL, 0},
    {"nanosleep", &joined, NULL, 0},
    {"sem_post", &semaphore, NULL, 0},
    {"", &mutex, NULL, 0},
  };
  for (unsigned k = 0; k < sizeof calls / sizeof *calls; k++) {
    uint32_t kind, again;
    uint32_t object = qzi_outside_object(outside, calls[k].called, address(calls[k].futex), 0x1234, now_ns, &kind);
    if (kind != calls[k].kind || (object != 0) != (kind != 0)) fprintf(stderr, "%s\n", calls[k].called);
    CHECK_IS(kind, calls[k].kind);
    CHECK((object != 0) == (kind != 0));
    if (!object) continue;
    CHECK(object_at(object)->kind == kind && object_at(object)->address == address(calls[k].object));
    CHECK(object_at(object)->site == 0x1234);
    /* The next time it is known. */
    uint32_t high = outside->head->object_high;
    CHECK(qzi_outside_object(outside, calls[k].called, address(calls[k].futex), 0x1234, now_ns, &again) == object);
    CHECK(outside->head->object_high == high);
    if (kind == QZ_KIND_JOIN) continue;
    CHECK(qzi_outside_known(outside, address(calls[k].futex), &again) == object && again == kind);
  }
  uint32_t kind;
  CHECK(!qzi_outside_known(outside, address(&joined), &kind));
  CHECK(!qzi_outside_object(outside, "pthread_mutex_lock", 0x10, 1, now_ns, &kind)); /* nothing can be there */
  static const int32_t wrong[][10] = {{1, 0, -1, 1, 0}, {1, 0, 1 << 22, 1, 0}, {1, 0, 0, 1, -1}, {1, 0, 0, 1, 0x400}};
  for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++) /* no mutex has such an owner, or such a kind */
    CHECK(!qzi_outside_object(outside, "pthread_mutex_lock", address(wrong[k]), 1, now_ns, &kind));

  /* Joins are one object for each place. */
  uint32_t here = qzi_outside_object(outside, "pthread_join", address(&joined), 1, now_ns, &kind),
           there = qzi_outside_object(outside, "pthread_join", address(&joined), 2, now_ns, &kind);
  CHECK(here && there && here != there);
  memset(&joined, 0, sizeof joined);
  joined.words[0] = (uint64_t)getpid();
  CHECK(qzi_outside_object(outside, "pthread_join", address(&joined), 1, now_ns, &kind) == here);
  CHECK(object_at(here)->owner == own);
}

/* A thread that has waited for a condition locks its mutex again: the same procedure, another object. */
static void conditions(void) {
  static pthread_mutex_t mutex;
  static struct { uint64_t words[8]; } condition;
  uint32_t kind;
  CHECK(qzi_outside_object(outside, "pthread_cond_wait", address(&condition.words[5]), 1, now_ns, &kind));
  CHECK_IS(kind, QZ_KIND_CONDITION);
  pthread_mutex_lock(&mutex);
  CHECK(qzi_outside_object(outside, "pthread_cond_wait", address(&mutex), 1, now_ns, &kind));
  CHECK_IS(kind, QZ_KIND_MUTEX);
  pthread_mutex_unlock(&mutex);
  CHECK(qzi_outside_object(outside, "pthread_cond_wait", address(&mutex), 1, now_ns, &kind));
  CHECK_IS(kind, QZ_KIND_MUTEX); /* since it is known as one */
}

/* What a thread owns stands on its stack as long as others wait for it. */
static void owners(void) {
  static pthread_mutex_t mutex, second;
  static pthread_rwlock_t rwlock;
  uint32_t kind;
  qzi_outside_owners(outside, now_ns += MS);
  uint32_t free_one = qzi_outside_object(outside, "pthread_mutex_lock", address(&mutex), 1, now_ns, &kind);
  CHECK(free_one && depth() == 0);
  pthread_mutex_lock(&mutex);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 1 && top() == QZ_KEY(QZ_KIND_MUTEX, free_one));
  pthread_mutex_lock(&second);
  pthread_rwlock_wrlock(&rwlock);
  uint32_t held = qzi_outside_object(outside, "pthread_mutex_lock", address(&second), 1, now_ns, &kind);
  CHECK(depth() == 2 && top() == QZ_KEY(QZ_KIND_MUTEX, held)); /* seen at once */
  uint32_t written = qzi_outside_object(outside, "pthread_rwlock_rdlock", address(&rwlock) + 8, 1, now_ns, &kind);
  CHECK(depth() == 3 && top() == QZ_KEY(QZ_KIND_RWLOCK, written));
  /* Released from the middle. */
  pthread_mutex_unlock(&second);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 2 && top() == QZ_KEY(QZ_KIND_RWLOCK, written));
  pthread_rwlock_unlock(&rwlock);
  pthread_mutex_unlock(&mutex);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 0);

  /* Where nobody has waited for a while, the owner is not read any more. */
  pthread_mutex_lock(&mutex);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 1);
  qzi_outside_owners(outside, now_ns += 200 * MS);
  CHECK(depth() == 0 && outside->hot_count == 0);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 0);
  qzi_outside_waits(outside, free_one, now_ns);
  CHECK(depth() == 1);
  pthread_mutex_unlock(&mutex);

  /* The owner is a thread without a record (it has begun since). */
  static pthread_mutex_t others;
  pthread_t thread;
  CHECK_IS(pthread_create(&thread, NULL, other_owns, &others), 0);
  pthread_join(thread, NULL);
  CHECK(qzi_outside_object(outside, "pthread_mutex_lock", address(&others), 1, now_ns, &kind));
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(depth() == 0);
}

/* Waiting time, numbers of waits, and locks that are mostly held for less than a snapshot's interval. */
static void waiting(void) {
  static pthread_mutex_t mutex;
  uint32_t kind, object = qzi_outside_object(outside, "pthread_mutex_lock", address(&mutex), 1, now_ns, &kind);
  for (unsigned k = 0; k < 3; k++) qzi_outside_waits(outside, object, now_ns);
  qzi_outside_waited(outside, 5);
  CHECK(object_at(object)->queue == 3 && object_at(object)->wait_ns == 15);
  qzi_outside_owners(outside, now_ns += MS);
  CHECK(object_at(object)->queue == 0);
  qzi_outside_waited(outside, 5);
  CHECK(object_at(object)->wait_ns == 15);
  qzi_outside_begun(outside, object);
  qzi_outside_begun(outside, object);
  CHECK(object_at(object)->contended == 2);

  CHECK(!qzi_outside_is_brief(outside, object));
  for (unsigned k = 0; k < 40; k++) { /* each reading finds another owner */
    if (k % 2)
      pthread_mutex_unlock(&mutex);
    else
      pthread_mutex_lock(&mutex);
    qzi_outside_waits(outside, object, now_ns);
    qzi_outside_owners(outside, now_ns += MS);
    CHECK(qzi_outside_is_brief(outside, object) == (k + 3 >= 16)); /* judged from 16 readings on; two were before */
  }
  pthread_mutex_lock(&mutex);
  for (unsigned k = 0; k < 200; k++) { /* the same owner all the time */
    qzi_outside_waits(outside, object, now_ns);
    qzi_outside_owners(outside, now_ns += MS);
  }
  CHECK(!qzi_outside_is_brief(outside, object));
  pthread_mutex_unlock(&mutex);
}

int main(void) {
  const char *why;
  CHECK((outside = qzi_outside_open(getpid(), &why)));
  own = outside->record_of[getpid()];
  CHECK(own);
  kinds();
  conditions();
  owners();
  waiting();
  qzi_outside_close(outside);
  return 0;
}
