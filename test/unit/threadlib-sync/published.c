/* What a sampler sees of the synchronization objects: the program attaches to itself and reads its own session. With
 * one processor, threads are brought into a known state by yielding to them, and everything is compared exactly. With
 * two, only what needs a second processor is tested: spinning. With more, on fewer CPUs: that no thread spins. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "test/support/attach.h"
#include "helpers.h"

static uint64_t keys[65536];
static uint32_t stack_of(const char *thread) {
  struct qz_stack_copy copy;
  qz_session_copy_stack(&view, qz_session_thread(&view, thread_index(thread)), keys, 0, &copy);
  CHECK(!copy.invalid);
  return copy.depth;
}
static bool on_stack(const char *thread, uint64_t key) {
  uint32_t depth = stack_of(thread);
  for (uint32_t i = 0; i < depth; i++)
    if (keys[i] == key) return true;
  return false;
}
static uint64_t top(const char *thread) {
  uint32_t depth = stack_of(thread);
  return depth ? keys[depth - 1] : 0;
}
static void check_state(const char *thread, unsigned state, const struct qz_object *o) {
  uint64_t word = qz_session_thread(&view, thread_index(thread))->state;
  CHECK_IS(QZ_STATE_OF(word), state);
  if (o) CHECK_IS(QZ_STATE_OBJECT(word), index_of(o));
}

/* Other threads run until each of them waits. */
static void let_them(void) {
  for (int i = 0; i < 8; i++) qz_yield();
}

extern const char __executable_start[], etext[];
static void check_place(const struct qz_object *o) {
  CHECK(o->site >= (uint64_t)(uintptr_t)__executable_start && o->site < (uint64_t)(uintptr_t)etext);
}

/* ---- scenes ---- */

static qz_mutex mutex, other;
static qz_cond cond;
static bool go;

static void *takes_mutex(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  while (!go) qz_yield(); /* holds it, ready */
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  return NULL;
}
static void *waits_for_mutex(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  return NULL;
}

static void mutexes(void) {
  CHECK_IS(qz_mutex_init(&mutex, "m", QZ_ADAPTIVE), 0);
  qz_thread_t holder = start("holder", takes_mutex, NULL);
  let_them();
  const struct qz_object *m = object("m", QZ_KIND_MUTEX);
  check_place(m);
  CHECK_IS(m->address, (uintptr_t)&mutex);
  CHECK_IS(m->owner, thread_index("holder") + 1);
  CHECK_IS(m->acquisitions, 1);
  CHECK_IS(m->contended, 0);
  CHECK(top("holder") == key_of(m));
  qz_thread_t waiter = start("waiter", waits_for_mutex, NULL);
  let_them();
  CHECK_IS(m->queue, 1);
  CHECK_IS(m->acquisitions, 1);
  CHECK(top("waiter") == key_of(m));
  check_state("waiter", QZ_STATE_BLOCKED, m);
  check_state("holder", QZ_STATE_READY, NULL);
  CHECK(!on_stack("main", key_of(m)));
  go = true;
  finish(holder);
  finish(waiter);
  CHECK_IS(m->owner, 0);
  CHECK_IS(m->queue, 0);
  CHECK_IS(m->acquisitions, 2);
  CHECK_IS(m->contended, 1);
  CHECK(m->wait_ns > 0 && m->wait_max_ns == m->wait_ns);
  CHECK_IS(waits_counted(m), 1);
  CHECK_IS(calls_to(key_of(m)), 2);
  CHECK_IS(m->hold_ns, 0); /* not requested */
}

static __attribute__((noinline)) void lock_both(void) {
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_mutex_lock(&other), 0);
}

/* A lock that is released first may have been taken first, in a function that has returned. */
static void unlock_order(void) {
  CHECK_IS(qz_mutex_init(&other, "o", QZ_ADAPTIVE), 0);
  uint32_t before = stack_of("main");
  lock_both();
  uint64_t m = key_of(object("m", QZ_KIND_MUTEX)), o = key_of(object("o", QZ_KIND_MUTEX));
  CHECK_IS(stack_of("main"), before + 2);
  CHECK(keys[before] == m && keys[before + 1] == o);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  CHECK_IS(stack_of("main"), before + 1);
  CHECK(top("main") == o);
  CHECK_IS(qz_mutex_trylock(&other), EBUSY); /* tries, gets nothing, leaves nothing */
  CHECK_IS(qz_mutex_lock(&other), EDEADLK);
  CHECK_IS(stack_of("main"), before + 1);
  CHECK_IS(qz_mutex_unlock(&other), 0);
  CHECK_IS(stack_of("main"), before);
}

static void *waits_for_cond(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_cond_wait(&cond, &mutex), 0);
  CHECK(top("sleeper") == key_of(object("m", QZ_KIND_MUTEX)));
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  return NULL;
}

static void conditions(void) {
  CHECK_IS(qz_cond_init(&cond, "c"), 0);
  const struct qz_object *m = object("m", QZ_KIND_MUTEX);
  qz_thread_t sleeper = start("sleeper", waits_for_cond, NULL);
  let_them();
  const struct qz_object *c = object("c", QZ_KIND_CONDITION);
  check_place(c);
  CHECK(top("sleeper") == key_of(c));
  CHECK(!on_stack("sleeper", key_of(m)));
  check_state("sleeper", QZ_STATE_BLOCKED, c);
  CHECK_IS(c->queue, 1);
  CHECK_IS(m->owner, 0);
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_cond_signal(&cond), 0);
  CHECK_IS(c->queue, 0);
  check_state("sleeper", QZ_STATE_READY, NULL);
  let_them(); /* it is awake and needs the mutex, which main has */
  CHECK(top("sleeper") == key_of(m));
  CHECK(!on_stack("sleeper", key_of(c)));
  check_state("sleeper", QZ_STATE_BLOCKED, m);
  CHECK_IS(m->queue, 1);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  finish(sleeper);
  CHECK_IS(c->acquisitions, 1);
  CHECK_IS(c->contended, 1);
  CHECK_IS(calls_to(key_of(c)), 2); /* a wait and a signal */
}

static qz_rwlock rwlock;
static qz_sem sem;
static qz_barrier barrier;
static qz_channel channel;
static qz_future future;

static void *reads(void *unused) {
  (void)unused;
  CHECK_IS(qz_rwlock_rdlock(&rwlock), 0);
  while (!go) qz_yield();
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  return NULL;
}
static void *writes(void *unused) {
  (void)unused;
  CHECK_IS(qz_rwlock_wrlock(&rwlock), 0);
  CHECK_IS(object("rw", QZ_KIND_RWLOCK)->owner, thread_index("writer") + 1);
  CHECK_IS(qz_rwlock_unlock(&rwlock), 0);
  return NULL;
}
static void rwlocks(void) {
  go = false;
  CHECK_IS(qz_rwlock_init(&rwlock, "rw"), 0);
  qz_thread_t a = start("reader a", reads, NULL), b = start("reader b", reads, NULL);
  let_them();
  qz_thread_t w = start("writer", writes, NULL);
  let_them();
  const struct qz_object *rw = object("rw", QZ_KIND_RWLOCK);
  check_place(rw);
  CHECK_IS(rw->readers, 2);
  CHECK_IS(rw->queue, 1);
  CHECK_IS(rw->owner, 0);
  CHECK(top("reader a") == key_of(rw) && top("writer") == key_of(rw));
  check_state("writer", QZ_STATE_BLOCKED, rw);
  go = true;
  finish(a), finish(b), finish(w);
  CHECK_IS(rw->readers, 0);
  CHECK_IS(rw->queue, 0);
  CHECK_IS(rw->owner, 0);
  CHECK_IS(rw->acquisitions, 3);
  CHECK_IS(rw->contended, 1);
}

static void *takes_unit(void *unused) {
  (void)unused;
  CHECK_IS(qz_sem_wait(&sem), 0);
  return NULL;
}
static void *meets(void *unused) {
  (void)unused;
  qz_barrier_wait(&barrier);
  return NULL;
}
static void *receives(void *unused) {
  (void)unused;
  long item;
  CHECK_IS(qz_channel_receive(&channel, &item), 0);
  return NULL;
}
static void *gets(void *unused) {
  (void)unused;
  void *value;
  CHECK_IS(qz_future_get(&future, &value), 0);
  return NULL;
}

static void others(void) {
  CHECK_IS(qz_sem_init(&sem, "s", 1), 0);
  CHECK_IS(qz_barrier_init(&barrier, "b", 3, QZ_ADAPTIVE), 0);
  CHECK_IS(qz_channel_init(&channel, "ch", sizeof(long), 5), 0);
  CHECK_IS(qz_future_init(&future, "f"), 0);

  qz_thread_t s1 = start("s1", takes_unit, NULL), s2 = start("s2", takes_unit, NULL);
  qz_thread_t b1 = start("b1", meets, NULL), b2 = start("b2", meets, NULL);
  qz_thread_t r1 = start("r1", receives, NULL);
  qz_thread_t f1 = start("f1", gets, NULL), f2 = start("f2", gets, NULL);
  let_them();
  const struct qz_object *s = object("s", QZ_KIND_SEMAPHORE), *b = object("b", QZ_KIND_BARRIER),
                         *ch = object("ch", QZ_KIND_CHANNEL), *f = object("f", QZ_KIND_JOIN);
  check_place(s), check_place(b), check_place(ch), check_place(f);
  CHECK_IS(s->queue, 1);
  CHECK_IS(s->readers, 0); /* its count */
  CHECK_IS(b->capacity, 3);
  CHECK_IS(b->queue, 2);
  CHECK_IS(ch->capacity, 5);
  CHECK_IS(ch->queue, 1);
  CHECK_IS(f->queue, 2);
  CHECK(top("b1") == key_of(b) && top("r1") == key_of(ch) && top("f1") == key_of(f));
  check_state("b2", QZ_STATE_BLOCKED, b);
  check_state("r1", QZ_STATE_BLOCKED, ch);
  check_state("f2", QZ_STATE_BLOCKED, f);

  CHECK_IS(qz_sem_post(&sem), 0);
  CHECK_IS(qz_barrier_wait(&barrier), QZ_BARRIER_SERIAL);
  for (long i = 0; i < 4; i++) CHECK_IS(qz_channel_send(&channel, &i), 0);
  CHECK_IS(qz_future_set(&future, NULL), 0);
  CHECK_IS(ch->readers, 3); /* items: one went straight to the receiver */
  finish(s1), finish(s2), finish(b1), finish(b2), finish(r1), finish(f1), finish(f2);
  CHECK_IS(s->queue + b->queue + ch->queue + f->queue, 0);
  CHECK_IS(s->acquisitions, 2);
  CHECK_IS(b->acquisitions, 3);
  CHECK_IS(ch->acquisitions, 5);
  CHECK_IS(f->acquisitions, 2);
  CHECK_IS(s->contended + b->contended + ch->contended + f->contended, 1 + 2 + 1 + 2);
  CHECK_IS(calls_to(key_of(s)), 3);
  CHECK_IS(calls_to(key_of(ch)), 5);
}

/* A lock that was taken before publishing began is released without a trace. */
static void taken_before(void) {
  CHECK_IS(qz_mutex_trylock(&other), EBUSY);
  uint32_t before = stack_of("main");
  CHECK_IS(qz_mutex_unlock(&other), 0);
  CHECK_IS(stack_of("main"), before);
  CHECK_IS(qz_mutex_destroy(&other), 0);
}

/* Records are reused for the next object with the same place and name. */
static void reuse(void) {
  uint32_t high = 0;
  for (int i = 0; i < 100; i++) {
    qz_mutex short_lived;
    CHECK_IS(qz_mutex_init(&short_lived, "short-lived", QZ_ADAPTIVE), 0);
    CHECK_IS(qz_mutex_lock(&short_lived), 0);
    CHECK_IS(qz_mutex_unlock(&short_lived), 0);
    CHECK_IS(qz_mutex_destroy(&short_lived), 0);
    if (i == 0) high = qz_session_object_high(&view);
  }
  CHECK_IS(qz_session_object_high(&view), high);
  const struct qz_object *o = object("short-lived", QZ_KIND_MUTEX);
  CHECK_IS(o->acquisitions, 100);
  CHECK_IS(o->instances, 100);
  CHECK_IS(o->address, 0);
}

static void *spins(void *unused) {
  (void)unused;
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  return NULL;
}

/* Joins whose children the joiner runs itself are written in parts: nearly all at any time, and all when it has left
 * its processor. */
static uint64_t joins(void) {
  uint64_t sum = 0;
  for (uint32_t k = 1; k < qz_session_object_high(&view); k++) {
    const struct qz_object *o = qz_session_object(&view, k);
    if (o->kind == QZ_KIND_JOIN) sum += o->acquisitions;
  }
  return sum;
}
static void child(void *unused) { (void)unused; }
static void joined(void) {
  uint64_t before = joins();
  for (uint64_t made = 1; made <= 2000; made++) {
    qz_scope scope = QZ_SCOPE_INIT;
    qz_spawn(&scope, child, NULL);
    qz_sync(&scope);
    uint64_t written = joins() - before;
    CHECK(written <= made && written >= made - made / 16);
  }
  qz_sleep_ns(1000);
  CHECK_IS(joins() - before, 2000);
}

/* Polls, without leaving its own processor, until another one is seen spinning. */
static void spinning(void) {
  CHECK_IS(qz_mutex_init(&mutex, "spun on", QZ_SPIN), 0);
  CHECK_IS(qz_mutex_lock(&mutex), 0);
  qz_thread_t spinner = start("spinner", spins, NULL);
  uint32_t p = 0;
  for (;; p = (p + 1) % view.processors) {
    uint64_t now = __atomic_load_n(&qz_session_processor(&view, p)->now, __ATOMIC_ACQUIRE);
    if (QZ_NOW_STATE(now) == QZ_STATE_SPINNING) {
      CHECK_IS(QZ_NOW_THREAD_PLUS_1(now), thread_index("spinner") + 1);
      break;
    }
  }
  const struct qz_object *o = object("spun on", QZ_KIND_MUTEX);
  CHECK(top("spinner") == key_of(o));
  CHECK_IS(o->queue, 0);
  CHECK_IS(qz_mutex_unlock(&mutex), 0);
  finish(spinner);
  CHECK_IS(o->contended, 1);
  CHECK(o->spin_ns > 0 && o->spin_ns <= o->wait_ns);
}

/* Eight threads on as many processors, but fewer CPUs: a spinning thread would take the CPU from the missing one, so it
 * gives it away at once. */
static _Atomic long given_away;
int sched_yield(void) {
  given_away++;
  return (int)syscall(SYS_sched_yield);
}
enum { PARTIES = 8, ROUNDS = 200 };
static void *meets_often(void *unused) {
  (void)unused;
  for (int k = 0; k < ROUNDS; k++) qz_barrier_wait(&barrier);
  return NULL;
}
static void few_cpus(void) {
  qz_thread_t thread[PARTIES];
  long before = given_away;
  CHECK_IS(qz_barrier_init(&barrier, "oversubscribed", PARTIES, QZ_ADAPTIVE), 0);
  for (int k = 0; k < PARTIES; k++) thread[k] = start("party", meets_often, NULL);
  for (int k = 0; k < PARTIES; k++) finish(thread[k]);
  const struct qz_object *o = object("oversubscribed", QZ_KIND_BARRIER);
  CHECK(o->contended > 0);
  CHECK(given_away - before < ROUNDS); /* spinning: once for each of 7 that wait in a round */
}

static void use_one_cpu(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)sched_getcpu(), &set);
  CHECK_IS(sched_setaffinity(0, sizeof set, &set), 0);
}

int main(void) {
  if (atoi(getenv("QUARTZ_PROCESSORS")) > 2) use_one_cpu(); /* before the package begins */
  CHECK_IS(qz_mutex_init(&other, "before", QZ_ADAPTIVE), 0);
  CHECK_IS(qz_mutex_lock(&other), 0);
  attach();
  if (qz_processors() > 2) {
    few_cpus();
    return 0;
  }
  if (qz_processors() > 1) {
    spinning();
    return 0;
  }
  taken_before();
  mutexes();
  unlock_order();
  conditions();
  rwlocks();
  others();
  reuse();
  joined();
  return 0;
}
