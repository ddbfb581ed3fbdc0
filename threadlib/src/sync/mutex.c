/* Mutex: spin, block, or spin for a while and then block (adaptive).
 *
 * Owns:    struct qz_mutex. Its state is in `word`: the holder and five flags.
 * Writer:  the holder of QLOCK changes the queue and `woken`; the holder of the mutex clears the holder.
 * Reader:  condition variables release and lock it through qzi_mutex_... functions.
 * Must not: access a mutex after the store that releases it: the next holder may free it.
 *
 * Locking and unlocking a free mutex takes one atomic exchange each. Other threads may overtake a woken waiter
 * (barging), because handing the lock over at each unlock would move it between processors every time. The time for
 * which a waiter is overtaken is bounded: after TENURE_NS it is given the lock (HANDED), so the thread that keeps
 * taking the lock must wait in turn. The lock of the queue as a bit of the word and the single woken waiter are ideas
 * of the mutexes in Mike Burrows' nsync; the code is not.
 *
 * One thread at a time watches a contended mutex: the woken waiter, as soon as it runs. It clears WAITERS and WOKEN in
 * the word, so that other threads use the fast paths; it checks the clock in their place, and sets WAITERS
 * again when it gets the lock or blocks again. So while it watches, the queue may hold waiters although the word does
 * not show them; `woken` does.
 */
#include "mutex_word.h"

static void release_queue(void *mutex) { qzi_word_clear(&((struct mutex *)mutex)->word, QLOCK); }

/* Takes the lock of the queue, whether or not the mutex is held. */
static void acquire_queue(struct mutex *mutex) {
  for (unsigned tries = 0;; tries++) {
    uint64_t old = qzi_word_load(&mutex->word);
    if (old & QLOCK)
      qzi_relax(tries);
    else if (qzi_word_swap(&mutex->word, old, old | QLOCK))
      return;
  }
}

/* The mutex was free at one look, but another thread keeps taking it: returns true then, since it is better to leave
 * the mutex to that thread, whose cache holds it, until the waiter is due. */
static bool in_use(const struct mutex *mutex, const struct qzi_thread *self, uint64_t word) {
  for (int look = 1; look < FREE_LOOKS && holder(word) == NULL; look++) {
    for (int n = 0; n < FREE_PAUSES; n++) qzi_pause();
    word = qzi_word_load(&mutex->word);
  }
  return !settled(mutex, self, word);
}

/* Watches the mutex until it is free or handed to the caller, or until blocking is better. Returns the last value of
 * the word. For a mutex of policy QZ_SPIN that is the value that ended the watch: if the caller is then overtaken,
 * its compare-and-swap fails and it spins again instead of blocking. */
static uint64_t spin(struct mutex *mutex, struct qzi_thread *self, bool woken, uint64_t deadline_ns,
                     uint64_t *spin_ns) {
  uint64_t word = qzi_word_load(&mutex->word);
  bool overtaken =
    woken && mutex->object.policy != QZ_SPIN && __atomic_load_n(&mutex->object.barges, __ATOMIC_RELAXED) >= MANY_BARGES;
  if (settled(mutex, self, word) && !(overtaken && in_use(mutex, self, word))) return word;
  struct qzi_spin spin;
  qzi_spin_begin(&spin, &mutex->object, mutex->object.policy, deadline_ns);
  while (qzi_spin_more(&spin)) {
    word = qzi_word_load(&mutex->word);
    if (settled(mutex, self, word) && !(overtaken && in_use(mutex, self, word))) break;
    if (!woken || (word & QLOCK)) continue;
    if (word & (WAITERS | WOKEN)) (void)qzi_word_swap(&mutex->word, word, word & ~(uint64_t)(WAITERS | WOKEN));
    if (!(word & DUE) && spin.now_ns - qzi_word_load(&mutex->tenure_ns) > TENURE_NS) {
      qzi_word_set(&mutex->word, DUE);
      spin.pauses = 1; /* makes the next look soon: the next unlock hands the mutex over */
    }
  }
  *spin_ns += qzi_spin_end(&spin);
  return mutex->object.policy == QZ_SPIN ? word : qzi_word_load(&mutex->word);
}

/* Waits for a mutex that another thread holds. Returns 0 or ETIMEDOUT. */
static int wait(struct mutex *mutex, struct qzi_thread *self, uint64_t deadline_ns, uint64_t *spin_ns) {
  struct qzi_waiter *me = qzi_waiter_of(self, 0, NULL);
  me->timed = deadline_ns != QZI_NEVER;
  uint64_t mine = 0; /* flags that refer to the caller: WOKEN and DUE after it was woken */
  bool may_spin = mutex->object.policy != QZ_BLOCK && !qzi_alone &&
                  !qzi_spanning(); /* with work and span, spinning would hide which thread ended the wait */
  /* where other threads wait already, spinning would only disturb the holder, and the caller's turn is after theirs */
  bool now = may_spin && (mutex->object.policy == QZ_SPIN || !others(mutex));
  for (unsigned tries = 0;; tries++) {
    uint64_t old = now ? spin(mutex, self, mine != 0, deadline_ns, spin_ns) : qzi_word_load(&mutex->word);
    if (holder(old) == self) {                    /* handed over */
      qzi_word_clear(&mutex->word, HANDED | DUE); /* the caller may have set DUE just when the mutex was handed to it */
      return 0;
    }
    if (old & QLOCK) {
      qzi_relax(tries);
      continue;
    }
    if (holder(old) == NULL) {
      if (!qzi_word_swap(&mutex->word, old, (old & ~mine) | (mine ? WAITERS : 0) | (uint64_t)(uintptr_t)self)) continue;
      if (mine) {
        watched_by(mutex, NULL);
        qzi_word_store(&mutex->tenure_ns, qzi_now_ns());
      }
      return 0;
    }
    if (!qzi_word_swap(&mutex->word, old, (old & ~(mine & WOKEN)) | QLOCK | WAITERS)) continue;
    if (mine) {
      watched_by(mutex, NULL);
      qzi_queue_prepend(&mutex->queue, me);
    } else {
      if (qzi_queue_empty(&mutex->queue) && !watcher(mutex)) qzi_word_store(&mutex->tenure_ns, qzi_now_ns());
      qzi_queue_append(&mutex->queue, me);
    }
    qzi_pub_queue(qzi_object_index(&mutex->object), ++mutex->object.waiting);
    qzi_block(&mutex->object, QZ_KIND_MUTEX, self);
    if (deadline_ns == QZI_NEVER) {
      qzi_park(release_queue, mutex);
    } else {
      qzi_timed_begin(self);
      if (!qzi_park_until(release_queue, mutex, deadline_ns)) {
        acquire_queue(mutex);
        if (me->queued) {
          qzi_queue_remove(&mutex->queue, me);
          qzi_pub_queue(qzi_object_index(&mutex->object), --mutex->object.waiting);
        }
        if (qzi_queue_empty(&mutex->queue)) qzi_word_clear(&mutex->word, WAITERS | DUE);
        release_queue(mutex);
        return ETIMEDOUT;
      }
    }
    mine = WOKEN | DUE;
    now = may_spin;
  }
}

/* Unlocks a contended mutex: releases it, wakes a waiter, or hands the mutex over. Returns the thread that the
 * caller must make ready, or NULL. */
static struct qzi_thread *unlock_wanted(struct mutex *mutex, struct qzi_thread *self) {
  for (unsigned tries = 0;; tries++) {
    uint64_t old = qzi_word_load(&mutex->word);
    if (old & QLOCK) {
      qzi_relax(tries);
      continue;
    }
    bool due = (old & DUE) != 0;
    if (!due && (old & (WAITERS | WOKEN))) {
      uint16_t barges = mutex->object.barges + 1;
      __atomic_store_n(&mutex->object.barges, barges, __ATOMIC_RELAXED);
      if (barges % BARGES_PER_LOOK == 0) due = qzi_now_ns() - qzi_word_load(&mutex->tenure_ns) > TENURE_NS;
    }
    if (!due && (!(old & WAITERS) || (old & WOKEN))) {
      if (!qzi_word_swap(&mutex->word, old, old & FLAGS)) continue;
      qzi_answer(); /* the woken waiter is ready on this processor, and an idle processor may want to take it */
      return NULL;
    }
    if (!qzi_word_swap(&mutex->word, old, old | QLOCK)) continue;
    bool asleep = watcher(mutex) == NULL;
    if (!asleep && !due) { /* the waiter watches the mutex */
      qzi_word_store(&mutex->word, 0);
      return NULL;
    }
    struct qzi_waiter *waiter = asleep ? qzi_queue_take(&mutex->queue, &mutex->object) : watcher(mutex);
    struct qzi_thread *thread = waiter ? qzi_waiting_thread(waiter) : NULL;
    uint64_t word = qzi_queue_empty(&mutex->queue) ? 0 : WAITERS;
    if (due && thread) {
      word |= (uint64_t)(uintptr_t)thread | HANDED;
      watched_by(mutex, NULL);
      qzi_word_store(&mutex->tenure_ns, qzi_now_ns());
    } else if (thread) {
      word |= WOKEN;
      watched_by(mutex, waiter);
      __atomic_store_n(&mutex->object.barges, 0, __ATOMIC_RELAXED);
    }
    qzi_word_store(&mutex->word, word);
    return asleep ? thread : NULL;
  }
}

/* Waits for the mutex and takes it, after the request was published. */
static __attribute__((noinline)) int lock_asked(struct mutex *mutex, struct qzi_thread *self, uint32_t index,
                                                uint64_t deadline_ns) {
  if (!take(mutex, self)) {
    uint64_t since = index ? qzi_pub_ticks() : 0, spin_ns = 0;
    int error = wait(mutex, self, deadline_ns, &spin_ns);
    if (since) {
      uint64_t wait_ns = qzi_pub_ticks_ns(since, qzi_pub_ticks());
      qzi_pub_waited(index, wait_ns,
                     spin_ns < wait_ns ? spin_ns : wait_ns); /* two clocks are compared, which differ by up to 0.01 % */
    }
    if (error) {
      qzi_take_off(index, QZ_KIND_MUTEX, self);
      return error;
    }
  }
  qzi_pub_acquired(index, &self->pub);
  return 0;
}

/* All cases of lock except the fast paths. */
static __attribute__((noinline)) int lock_slow(struct mutex *mutex, struct qzi_thread *self, uint64_t deadline_ns,
                                               uint64_t place) {
  qzi_object_check(&mutex->object, place);
  if (holder(qzi_word_load(&mutex->word)) == self) return EDEADLK;
  uint32_t index = qzi_ask(&mutex->object, QZ_KIND_MUTEX, mutex, self, place, 0);
  return lock_asked(mutex, self, index, deadline_ns);
}

static __attribute__((noinline)) int acquired_slow(uint32_t index, struct qzi_thread *self) {
  qzi_pub_acquired(index, &self->pub);
  return 0;
}

/* The fast path while publishing is on. */
static __attribute__((noinline)) int lock_published(struct mutex *mutex, struct qzi_thread *self, uint64_t place) {
  if (QZI_UNLIKELY(__atomic_load_n(&mutex->word, __ATOMIC_RELAXED) != 0))
    return lock_slow(mutex, self, QZI_NEVER, place);
  uint32_t index = qzi_object_index(&mutex->object);
  if (QZI_UNLIKELY(
        !qzi_pub_ask_fast(qzi_publisher_self(), &self->pub, index, QZI_PUB_KEY(QZ_KIND_MUTEX, index), place)))
    return lock_slow(mutex, self, QZI_NEVER, place);
  if (QZI_UNLIKELY(!qzi_word_swap(&mutex->word, 0, (uint64_t)(uintptr_t)self)))
    return lock_asked(mutex, self, index, QZI_NEVER);
  return QZI_LIKELY(qzi_pub_acquired_fast(index, &self->pub)) ? 0 : acquired_slow(index, self);
}

static inline struct qzi_thread *let_go(struct mutex *mutex, struct qzi_thread *self) {
  uint32_t index = qzi_publishing() ? qzi_object_index(&mutex->object) : 0;
  if (QZI_UNLIKELY(index)) qzi_pub_released(index);
  struct qzi_thread *next = NULL;
  if (__atomic_load_n(&mutex->word, __ATOMIC_RELAXED) != (uint64_t)(uintptr_t)self ||
      !qzi_word_swap(&mutex->word, (uint64_t)(uintptr_t)self, 0))
    next = unlock_wanted(mutex, self);
  if (QZI_UNLIKELY(index)) qzi_take_off(index, QZ_KIND_MUTEX, self);
  return next;
}

int qz_mutex_init(qz_mutex *mutex, const char *name, qz_policy policy) {
  if (policy != QZ_ADAPTIVE && policy != QZ_BLOCK && policy != QZ_SPIN) return EINVAL;
  struct mutex *m = (struct mutex *)mutex;
  *m = (struct mutex){0};
  qzi_object_init(&m->object, QZ_KIND_MUTEX, name, policy, QZI_CALLER());
  return 0;
}

int qz_mutex_destroy(qz_mutex *mutex) {
  struct mutex *m = (struct mutex *)mutex;
  uint64_t place = QZI_CALLER();
  qzi_object_check(&m->object, place);
  acquire_queue(m); /* the thread that unlocked last may still be in unlock_wanted */
  bool used = qzi_word_load(&m->word) != QLOCK || watcher(m) || !qzi_queue_empty(&m->queue);
  if (used) {
    release_queue(m);
    return EBUSY;
  }
  qzi_object_destroy(&m->object, QZ_KIND_MUTEX, place); /* QLOCK remains set, so that no fast path can take the mutex */
  return 0;
}

/* For publishing, and for callers without a thread (a call in place, a foreign kernel thread). */
static __attribute__((noinline)) int lock_other(struct mutex *mutex, uint64_t place) {
  struct qzi_thread *self = qzi_self();
  return qzi_publishing() ? lock_published(mutex, self, place) : lock_slow(mutex, self, QZI_NEVER, place);
}

__attribute__((aligned(64))) int qz_mutex_lock(qz_mutex *mutex) {
  struct mutex *m = (struct mutex *)mutex;
  struct qzi_thread *self = qzi_thread_self();
  if (QZI_UNLIKELY(qzi_publishing() || !self)) return lock_other(m, QZI_CALLER());
  if (QZI_LIKELY(qzi_word_swap(&m->word, 0, (uint64_t)(uintptr_t)self)))
    return 0; /* without a load before the exchange, which would take 5 cycles more */
  if (take(m, self)) return 0;
  return lock_slow(m, self, QZI_NEVER, QZI_CALLER());
}

int qz_mutex_trylock(qz_mutex *mutex) {
  struct mutex *m = (struct mutex *)mutex;
  struct qzi_thread *self = qzi_self();
  uint64_t place = QZI_CALLER();
  qzi_object_check(&m->object, place);
  uint32_t index = qzi_ask(&m->object, QZ_KIND_MUTEX, m, self, place, 0);
  if (!take(m, self)) {
    qzi_take_off(index, QZ_KIND_MUTEX, self);
    return EBUSY;
  }
  qzi_pub_acquired(index, &self->pub);
  return 0;
}

static int lock_until(struct mutex *mutex, int clock, const struct timespec *time, uint64_t place) {
  struct qzi_thread *self = qzi_self();
  if (!qzi_publishing() && QZI_LIKELY(qzi_word_swap(&mutex->word, 0, (uint64_t)(uintptr_t)self))) return 0;
  uint64_t deadline_ns;
  int error = qzi_until(clock, time, &deadline_ns);
  return error ? error : lock_slow(mutex, self, deadline_ns, place);
}

int qz_mutex_timedlock(qz_mutex *mutex, const struct timespec *realtime) {
  return lock_until((struct mutex *)mutex, CLOCK_REALTIME, realtime, QZI_CALLER());
}

int qz_mutex_clocklock(qz_mutex *mutex, int clock, const struct timespec *time) {
  return lock_until((struct mutex *)mutex, clock, time, QZI_CALLER());
}

/* All cases of unlock except the fast path: publishing, waiters, errors. */
static __attribute__((noinline)) int unlock_slow(struct mutex *mutex, struct qzi_thread *self, uint64_t place) {
  if (holder(__atomic_load_n(&mutex->word, __ATOMIC_RELAXED)) != self) {
    qzi_object_check(&mutex->object, place);
    return EPERM;
  }
  struct qzi_thread *next = let_go(mutex, self);
  if (next) {
    if (qzi_publishing()) qzi_lets_go(next);
    qzi_ready_away(next);
  }
  return 0;
}

/* After the release: removes the mutex from the profile stack, and makes `next` ready. */
static __attribute__((noinline)) int unlocked(struct qzi_thread *self, uint32_t index, struct qzi_thread *next) {
  qzi_take_off(index, QZ_KIND_MUTEX, self);
  if (next) {
    qzi_lets_go(next);
    qzi_ready_away(next);
  }
  return 0;
}

static __attribute__((noinline)) int unlock_published(struct mutex *mutex, struct qzi_thread *self, uint64_t place) {
  uint32_t index = qzi_object_index(&mutex->object);
  if (QZI_UNLIKELY(__atomic_load_n(&mutex->word, __ATOMIC_RELAXED) != (uint64_t)(uintptr_t)self || !index ||
                   qzi_pub_exact_hold))
    return unlock_slow(mutex, self, place);
  __atomic_store_n(&QZI_PUB_OBJECT(index)->owner, 0, __ATOMIC_RELAXED);
  if (QZI_UNLIKELY(!qzi_word_swap(&mutex->word, (uint64_t)(uintptr_t)self, 0)))
    return unlocked(self, index, unlock_wanted(mutex, self));
  return QZI_LIKELY(qzi_pub_pop_fast(&self->pub, QZI_PUB_KEY(QZ_KIND_MUTEX, index))) ? 0 : unlocked(self, index, NULL);
}

static __attribute__((noinline)) int unlock_other(struct mutex *mutex, uint64_t place) {
  struct qzi_thread *self = qzi_self();
  return qzi_publishing() ? unlock_published(mutex, self, place) : unlock_slow(mutex, self, place);
}

__attribute__((aligned(64))) int qz_mutex_unlock(qz_mutex *mutex) {
  struct mutex *m = (struct mutex *)mutex;
  struct qzi_thread *self = qzi_thread_self();
  if (QZI_UNLIKELY(qzi_publishing() || !self)) return unlock_other(m, QZI_CALLER());
  if (QZI_LIKELY(qzi_word_swap(&m->word, (uint64_t)(uintptr_t)self, 0))) return 0;
  return unlock_slow(m, self, QZI_CALLER());
}

bool qzi_mutex_holds(const qz_mutex *mutex, const struct qzi_thread *self) {
  return holder(__atomic_load_n(&((const struct mutex *)mutex)->word, __ATOMIC_RELAXED)) == self;
}

struct qzi_thread *qzi_mutex_let_go(qz_mutex *mutex, struct qzi_thread *self) {
  return let_go((struct mutex *)mutex, self);
}

void qzi_mutex_retake(qz_mutex *mutex, struct qzi_thread *self, uint64_t place) {
  struct mutex *m = (struct mutex *)mutex;
  if (!qzi_publishing() && QZI_LIKELY(qzi_word_swap(&m->word, 0, (uint64_t)(uintptr_t)self))) return;
  (void)lock_slow(m, self, QZI_NEVER, place);
}

const struct qzi_thread *qzi_mutex_holder(const struct qzi_object *object) {
  return holder(((const struct mutex *)object)->word);
}
