/* Taking ready threads from other processors.
 *
 * Owns:    the thief's side of the biased lock; the rule that decides when a thread is old enough to be taken.
 * Writer:  a processor that has nothing to run.
 * Reader:  idle.c.
 * Must not: access the queues of a processor that it has not revoked.
 *
 * A thread that was made ready a moment ago should stay where it is: its joiner or waker is about to run it, and its
 * data are there. So a thief watches a victim for AGE_NS and takes only threads that were ready all that time. Without
 * this rule, idle processors would slow down one that spawns and joins every 15 ns. Threads that yield to each other
 * never wait that long, although there are more of them than their processor can run: a thief recognizes them by a
 * queue that gets one thread per decision, and takes some of them. And a waker that will continue itself marks the
 * woken thread as better run elsewhere (`away`).
 */
#define _GNU_SOURCE
#include "processor.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define AGE_NS      2000u
#define ANSWER_NS   3000u   /* how long a thief waits for the owner's answer before it uses membarrier */
#define ENTRY_NS    100000u /* after this time the thief gives up: the lock's owner may have lost its CPU */
#define STEAL_LIMIT 128u

void qzi_heavy_fence(void) {
  if (qzi_runtime.membarrier)
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  else
    __sync_synchronize();
}

void qzi_enter_slow(struct qzi_processor *p) {
  uint64_t since = qzi_spanning() ? qzi_span_stands_since() : 0;
  do {
    atomic_store_explicit(&p->busy, 0, memory_order_release);
    atomic_store_explicit(&p->answered, 1, memory_order_release);
    for (unsigned tries = 0; atomic_load_explicit(&p->revoked, memory_order_acquire); tries++) qzi_relax(tries);
    atomic_store_explicit(&p->busy, 1, memory_order_relaxed);
    qzi_light_fence();
  } while (atomic_load_explicit(&p->revoked, memory_order_acquire));
  if (since) qzi_span_stood(since); /* the thief takes threads, or has lost its CPU */
}

void qzi_answer(void) {
  struct qzi_processor *p = qzi_processor_self();
  if (QZI_LIKELY(!atomic_load_explicit(&p->revoked, memory_order_relaxed))) return;
  qzi_enter(p);
  qzi_leave(p);
}

bool qzi_revoke(struct qzi_processor *victim) {
  if (!qzi_spin_trylock(&victim->thief)) return false;
  atomic_store_explicit(&victim->answered, 0, memory_order_relaxed);
  atomic_store_explicit(&victim->revoked, 1, memory_order_seq_cst);
  qzi_deque_close(&victim->deque);
  uint64_t begin = qzi_now_ns(), now = begin;
  if (qzi_runtime.membarrier) {
    while (!atomic_load_explicit(&victim->answered, memory_order_acquire) && now - begin < ANSWER_NS) {
      qzi_pause();
      now = qzi_now_ns();
    }
  }
  if (!atomic_load_explicit(&victim->answered, memory_order_acquire)) qzi_heavy_fence();
  for (unsigned n = 1; atomic_load_explicit(&victim->busy, memory_order_acquire); n++) {
    qzi_pause();
    if (n % 64 == 0 && qzi_now_ns() - now > ENTRY_NS) {
      qzi_give_back(victim);
      return false;
    }
  }
  return true;
}

void qzi_give_back(struct qzi_processor *victim) {
  atomic_store_explicit(&victim->revoked, 0, memory_order_release);
  qzi_spin_unlock(&victim->thief);
}

bool qzi_work_at(struct qzi_processor *p) {
  return qzi_deque_waits(&p->deque) || qzi_ring_size(&p->fifo) || atomic_load_explicit(&p->next, memory_order_relaxed);
}

bool qzi_work_anywhere(const struct qzi_processor *self) {
  if (atomic_load_explicit(&qzi_runtime.injected_count, memory_order_relaxed)) return true;
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++)
    if (&qzi_runtime.processors[k] != self && qzi_work_at(&qzi_runtime.processors[k])) return true;
  return false;
}

/* Moves up to `count` of the oldest entries to the places above the bottom of p's deque, where nobody looks yet. Tasks
 * remain tasks in the first `room` places, for which p has reserved descriptors, so that the owner, which waits
 * meanwhile, only has to wait until they are copied: p makes threads of them one after the other, on a stack that it
 * has used before. Returns the number of entries. */
static uint32_t take_deque(struct qzi_processor *from, struct qzi_processor *p, uint32_t count, uint32_t room) {
  struct qzi_entry *to = QZI_GET(p->deque.bottom);
  if (QZI_GET(from->deque.mode) != p->deque.mode) room = 0; /* what is published has just changed */
  uint32_t n = qzi_deque_tasks_leave(&from->deque, to, room < count ? room : count);
  for (to += n; n < count; n++, to++) {
    struct qzi_thread *slot;
    const struct qzi_entry *entry = qzi_deque_leaves(&from->deque, &slot);
    if (!entry) break;
    if (qzi_is_task(slot)) {
      if (n < room) /* not above the limit: what is below it is what descriptors are reserved for */
        qzi_task_copy(to, entry);
      else
        slot = qzi_task_becomes(from, p, qzi_task_scope(slot), entry);
    }
    QZI_SET(to->slot, slot);
  }
  return n;
}
/* Puts the entries into p's deque, gives back the descriptors that were reserved for more tasks, and takes the youngest
 * entry. */
static struct qzi_thread *moved(struct qzi_processor *p, uint32_t count) {
  struct qzi_deque *deque = &p->deque;
  qzi_enter(p);
  struct qzi_entry *bottom = QZI_GET(deque->bottom) + count;
  __atomic_store_n(&deque->bottom, bottom, __ATOMIC_RELEASE);
  if (deque->limit > bottom) qzi_deque_limit(deque, bottom);
  struct qzi_thread *thread = qzi_deque_take(p);
  qzi_leave(p);
  return thread;
}
static uint32_t take_fifo(struct qzi_processor *from, uint32_t count, struct qzi_thread **taken) {
  uint32_t n = 0;
  while (n < count && n < STEAL_LIMIT && (taken[n] = qzi_ring_take_oldest(&from->fifo)) != NULL) n++;
  return n;
}

/* Returns whether, since the three numbers were read, the victim has only let threads take turns (one decision in 32
 * may have been different). The number of decisions is read last the first time and first now, so that no decision
 * seems to lack its push. Threads that were woken and queued, e.g. all those of a barrier, are counted in
 * `enqueued`; those that yield are not. */
static bool took_turns(struct qzi_processor *victim, uint32_t tick, uint32_t fifo_bottom, uint64_t enqueued) {
  uint32_t ticks = atomic_load_explicit(&victim->tick, memory_order_acquire) - tick;
  uint32_t pushes = atomic_load_explicit(&victim->fifo.bottom, memory_order_relaxed) - fifo_bottom;
  uint32_t woken = (uint32_t)(qzi_pub_enqueued_in_all(&victim->head.pub) - enqueued);
  return ticks && pushes + ticks / 32 >= ticks + woken;
}

static struct qzi_thread *steal_from(struct qzi_processor *p, struct qzi_processor *victim) {
  /* note what is there now, to see whether it is still there after AGE_NS */
  uint32_t fifo_bottom = atomic_load_explicit(&victim->fifo.bottom, memory_order_acquire);
  /* the owner writes these counters all the time: read them only if they may matter */
  bool turns = qzi_ring_size(&victim->fifo) != 0;
  uint64_t enqueued = turns ? qzi_pub_enqueued_in_all(&victim->head.pub) : 0;
  uint32_t tick = atomic_load_explicit(&victim->tick, memory_order_relaxed);
  struct qzi_thread *next = atomic_load_explicit(&victim->next, memory_order_acquire);
  bool away = next && next == atomic_load_explicit(&victim->away, memory_order_relaxed);
  struct qzi_entry *bottom = QZI_GET(victim->deque.bottom);
  if (bottom != QZI_GET(victim->deque.top)) QZI_SET(victim->deque.low, bottom);
  uint64_t begin = qzi_now_ns();
  while (!away && qzi_now_ns() - begin < AGE_NS)
    for (int n = 0; n < 16; n++) qzi_pause();
  uint32_t deque_old = 0, tasks = 0; /* how many of the deque's entries to take */
  if (qzi_deque_waits(&victim->deque)) {
    uint32_t size = qzi_deque_waiting(&victim->deque, NULL, 2 * STEAL_LIMIT, &tasks);
    deque_old =
      qzi_deque_waiting(&victim->deque, QZI_GET(victim->deque.low), size > 16 ? size / 2 : (size + 3) / 4, &tasks);
  }
  int32_t fifo_old = (int32_t)(fifo_bottom - atomic_load_explicit(&victim->fifo.top, memory_order_relaxed));
  if (fifo_old <= 0 && turns && took_turns(victim, tick, fifo_bottom, enqueued)) fifo_old = INT32_MAX;
  bool next_old = next && tick == atomic_load_explicit(&victim->tick, memory_order_relaxed) &&
                  next == atomic_load_explicit(&victim->next, memory_order_relaxed);
  if (deque_old == 0 && fifo_old <= 0 && !next_old) return NULL;
  qzi_pub_leave(&p->head.pub,
                QZ_STATE_OVERHEAD); /* published as overhead: from here on stealing nearly always succeeds */
  uint32_t room = deque_old ? qzi_tasks_room(p, tasks ? deque_old : 0) : 0;
  if (!qzi_revoke(victim)) {
    if (room) moved(p, 0);
    qzi_pub_leave(&p->head.pub, QZ_STATE_IDLE);
    return NULL;
  }

  struct qzi_thread *taken[STEAL_LIMIT];
  uint32_t size, count = 0, from_deque = 0;
  if (deque_old > 0) count = from_deque = take_deque(victim, p, deque_old, room);
  if (!count && fifo_old > 0 && (size = qzi_ring_size(&victim->fifo)) != 0) {
    count = (size + 1) / 2;
    count = take_fifo(victim, count > (uint32_t)fifo_old ? (uint32_t)fifo_old : count, taken);
  }
  if (!count && next_old && (taken[0] = atomic_load_explicit(&victim->next, memory_order_relaxed)) != NULL) {
    atomic_store_explicit(&victim->next, NULL, memory_order_relaxed);
    count = 1;
  }
  qzi_give_back(victim); /* before taking the own lock: holding both, thieves could deadlock */
  if (from_deque || room) {
    struct qzi_thread *thread = moved(p, from_deque);
    if (from_deque) return thread;
  }
  if (count > 1) {
    qzi_enter(p);
    for (uint32_t n = 1; n < count; n++) qzi_ring_push(&p->fifo, taken[n]);
    qzi_leave(p);
  }
  if (!count) qzi_pub_leave(&p->head.pub, QZ_STATE_IDLE);
  return count ? taken[0] : NULL;
}

struct qzi_thread *qzi_steal(struct qzi_processor *p, struct qzi_kernel *kernel, bool *young) {
  *young = false;
  unsigned count = qzi_runtime.processor_count;
  kernel->search_seed = kernel->search_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  unsigned first = (unsigned)((kernel->search_seed >> 33) % count);
  for (unsigned k = 0; k < count; k++) {
    struct qzi_processor *victim = &qzi_runtime.processors[first + k < count ? first + k : first + k - count];
    if (victim == p || !qzi_work_at(victim)) continue;
    struct qzi_thread *thread = steal_from(p, victim);
    *young = true;
    if (thread) {
      qzi_pub_stole(&p->head.pub);
      qzi_pub_dequeued(&p->head.pub);
      return thread;
    }
  }
  return NULL;
}
