/* A kernel thread without a thread to run: it searches for a while, then sleeps; and how it is woken.
 *
 * Owns:    qzi_runtime.idle, .searching, .keeper, .injected; the status of processors.
 * Writer:  kernel threads in their scheduler loop; processors that queue work and wake one.
 * Reader:  scheduler.c, blocking_region.c, timer.c.
 * Must not: run on the stack of a thread (except qzi_wake_one).
 *
 * No wake-up is lost. There are three pairs of actors; in each, at least one of the two sees the other:
 * - A processor that makes a thread ready queues it, then looks for sleepers. A processor that goes to sleep sets
 *   `idle`, executes a barrier on all CPUs, then looks for work and timers.
 * - While a processor searches, none is woken. A processor that queues work and sees a sleeper executes a fence, then
 *   looks for searchers. A processor that stops searching (because it has found work, or found none to wake) decrements
 *   `searching`, executes a fence, then looks for work and sleepers, and wakes the next one. So wake-ups spread by
 *   themselves.
 * - A processor that arms a timer then looks for the keeper. A processor that becomes the keeper sets `keeper`, then
 *   looks for timers.
 * A look may miss threads that move between queues. So either they are put into one before they are taken out of the
 * other (scheduler.c, take_turns), or the processor that moved them looks for sleepers afterwards.
 */
#include "processor.h"
#include "sanitizers.h"
#include "worker.h"

#include <sched.h>

#define SEARCH_PAUSE_NS     1000u
#define SEARCH_PAUSE_MAX_NS 32000u
#define NAP_NS              50000u
#define NAP_MAX_NS          400000u
#define NAP_THREADS         4u
#define NAPS                4u /* as many naps as it takes after it last saw a ready thread */

/* ---- ready threads without a processor ---- */

void qzi_inject(struct qzi_thread *thread) {
  thread->link = NULL;
  qzi_spin_lock(&qzi_runtime.lock);
  if (qzi_runtime.injected_last)
    qzi_runtime.injected_last->link = thread;
  else
    qzi_runtime.injected_first = thread;
  qzi_runtime.injected_last = thread;
  qzi_pub_unplaced(atomic_fetch_add_explicit(&qzi_runtime.injected_count, 1, memory_order_seq_cst) + 1);
  qzi_spin_unlock(&qzi_runtime.lock);
}

struct qzi_thread *qzi_injected(void) {
  if (!atomic_load_explicit(&qzi_runtime.injected_count, memory_order_relaxed)) return NULL;
  qzi_spin_lock(&qzi_runtime.lock);
  struct qzi_thread *thread = qzi_runtime.injected_first;
  if (thread) {
    qzi_runtime.injected_first = thread->link;
    if (!thread->link) qzi_runtime.injected_last = NULL;
    qzi_pub_unplaced(atomic_fetch_sub_explicit(&qzi_runtime.injected_count, 1, memory_order_relaxed) - 1);
  }
  qzi_spin_unlock(&qzi_runtime.lock);
  return thread;
}

/* ---- waking ---- */

/* Claims the processor if it has that status. */
static bool claim(struct qzi_processor *p, uint32_t status) {
  return atomic_load_explicit(&p->status, memory_order_relaxed) == status &&
         atomic_compare_exchange_strong_explicit(&p->status, &status, QZI_RUNNING, memory_order_acq_rel,
                                                 memory_order_relaxed);
}

struct qzi_processor *qzi_claim_processor(uint32_t status, unsigned first) {
  unsigned count = qzi_runtime.processor_count;
  for (unsigned k = 0; k < count; k++) {
    struct qzi_processor *p = &qzi_runtime.processors[(first + k) % count];
    if (claim(p, status)) {
      atomic_fetch_sub_explicit(&qzi_runtime.idle, 1, memory_order_seq_cst);
      return p;
    }
  }
  return NULL;
}

bool qzi_claim_this(struct qzi_processor *p, uint32_t status) {
  if (!claim(p, status)) return false;
  atomic_fetch_sub_explicit(&qzi_runtime.idle, 1, memory_order_seq_cst);
  return true;
}

/* Returns whether there is work or a timer without a keeper, and an idle processor for it. Executes the fence
 * described above. */
bool qzi_idle_wanted(void) {
  __sync_synchronize();
  return qzi_idle() && (qzi_work_anywhere(NULL) ||
                        (qzi_timers_pending() && !atomic_load_explicit(&qzi_runtime.keeper, memory_order_relaxed)));
}

__attribute__((noinline)) void qzi_wake_idle_slow(struct qzi_processor *self) {
  if (qzi_some_idle()) qzi_wake_one(self);
}

/* Ends the nap of a searching processor if this processor has several ready threads; see nap(). */
static void end_nap(const struct qzi_processor *self) {
  if (!atomic_load_explicit(&qzi_runtime.napping, memory_order_relaxed)) return;
  uint32_t tasks;
  if (qzi_deque_waiting(&self->deque, NULL, NAP_THREADS, &tasks) + qzi_ring_size(&self->fifo) < NAP_THREADS) return;
  struct qzi_kernel *kernel = atomic_exchange(&qzi_runtime.napping, NULL);
  if (kernel) qzi_kernel_nudge(kernel);
}

static inline void wake_one(struct qzi_processor *self) {
  __sync_synchronize(); /* orders the queueing of work before the load of `searching` */
  for (unsigned tries = 1;; tries++) {
    uint32_t none = 0;
    if (atomic_load_explicit(&qzi_runtime.searching, memory_order_relaxed) != 0) {
      end_nap(self);
      return;
    }
    /* count the processor to be woken as searching now, so that only one is woken at a time */
    if (!atomic_compare_exchange_strong_explicit(&qzi_runtime.searching, &none, 1, memory_order_seq_cst,
                                                 memory_order_relaxed))
      return;
    unsigned first = self->index + 1;
    struct qzi_processor *p = qzi_claim_processor(QZI_PARKED, first);
    if (p) {
      qzi_kernel_wake(p->kernel);
      return;
    }
    p = qzi_claim_processor(QZI_VACANT, first);
    if (!p) p = qzi_claim_processor(QZI_IN_IO, first);
    if (p) {
      qzi_kernel_start_for(p);
      return;
    }
    /* since then other processors may have relied on this one to wake a sleeper */
    atomic_fetch_sub_explicit(&qzi_runtime.searching, 1, memory_order_seq_cst);
    if (!qzi_idle_wanted()) return;
    if (tries % 64 == 0)
      sched_yield(); /* a processor that is going to sleep or waking up may have lost its CPU */
    else
      qzi_pause();
  }
}

void qzi_wake_one(struct qzi_processor *self) {
  uint64_t since = qzi_spanning() ? qzi_span_aside_begins(&self->head.pub) : 0;
  wake_one(self);
  if (since) qzi_span_aside(&self->head.pub, since);
}

/* ---- searching and sleeping ---- */

static struct qzi_thread *look(struct qzi_processor *p) {
  qzi_enter(p);
  struct qzi_thread *thread = qzi_take(p);
  qzi_leave(p);
  if (!thread) thread = qzi_injected();
  return thread;
}

static void pause_ns(uint64_t begin_ns, uint64_t length_ns) {
  do {
    for (int n = 0; n < 16; n++) qzi_pause();
  } while (qzi_now_ns() - begin_ns < length_ns);
}

/* With more processors than CPUs no processor spins, since that would take the CPU from one that works. Instead, a
 * searching processor naps as long as it sees ready threads that their own processor runs soon: if it slept, each
 * such thread would wake it. A processor with several ready threads ends the nap. */
static void nap(struct qzi_kernel *kernel, uint64_t until_ns) {
  atomic_store_explicit(&qzi_runtime.napping, kernel, memory_order_seq_cst);
  qzi_kernel_wait(kernel, until_ns);
  struct qzi_kernel *self = kernel;
  atomic_compare_exchange_strong(&qzi_runtime.napping, &self, NULL);
}
/* The caller must have counted the processor as searching. */
static struct qzi_thread *search(struct qzi_processor *p, struct qzi_kernel *kernel) {
  uint64_t begin = qzi_now_ns(), now = begin, length = SEARCH_PAUSE_NS, nap_ns = NAP_NS;
  unsigned naps = 0;
  for (;;) {
    bool young;
    if (qzi_timers_pending()) qzi_timers_run();
    struct qzi_thread *thread = look(p);
    if (!thread) thread = qzi_steal(p, kernel, &young);
    if (thread) return thread;
    now = qzi_now_ns();
    if (qzi_runtime.spin_ns == 0) {
      if (young)
        naps = NAPS;
      else if (naps > 0)
        naps--;
      if (naps == 0) return NULL;
      nap(kernel, now + nap_ns);
      if (nap_ns < NAP_MAX_NS) nap_ns *= 2;
      continue;
    }
    if (now - begin >= qzi_runtime.spin_ns) return NULL;
    pause_ns(now, length);
    if (length < SEARCH_PAUSE_MAX_NS) length += length / 4;
  }
}

/* Returns whether nothing runs and nothing can become ready. */
static bool stuck(void) {
  return qzi_idle() == qzi_runtime.processor_count && !atomic_load(&qzi_runtime.in_io) &&
         !atomic_load(&qzi_runtime.injected_count) && !qzi_timers_pending() &&
         qzi_idle() == qzi_runtime.processor_count;
}

/* Sleeps until there may be work. On return the processor is counted as searching. */
static void sleep_processor(struct qzi_processor *p, struct qzi_kernel *kernel) {
  atomic_store_explicit(&p->status, QZI_PARKED, memory_order_seq_cst);
  atomic_fetch_add_explicit(&qzi_runtime.idle, 1, memory_order_seq_cst);
  qzi_heavy_fence();
  bool keeper = false;
  if (!qzi_work_anywhere(p)) {
    uint64_t deadline = QZI_NEVER;
    if (qzi_timers_pending()) {
      uint32_t none = 0;
      keeper = atomic_compare_exchange_strong(&qzi_runtime.keeper, &none, p->index + 1);
      if (keeper) {
        atomic_store(&qzi_runtime.keeper_ns, QZI_NEVER); /* a timer that is armed from here on wakes this processor */
        deadline = qzi_timers_first();
        atomic_store(&qzi_runtime.keeper_ns, deadline);
      }
    } else if (stuck()) {
      qzi_deadlock();
    }
    qzi_pub_parked(&p->head.pub);
    qzi_kernel_wait(kernel, deadline);
  }
  if (keeper) atomic_store(&qzi_runtime.keeper, 0);
  uint32_t parked = QZI_PARKED;
  if (atomic_compare_exchange_strong(&p->status, &parked, QZI_RUNNING)) {
    atomic_fetch_sub_explicit(&qzi_runtime.idle, 1, memory_order_seq_cst);
    atomic_fetch_add_explicit(&qzi_runtime.searching, 1, memory_order_seq_cst);
  } else {
    /* a waker has claimed the processor and counted it as searching; its signal may still be to come */
    while (!atomic_exchange_explicit(&kernel->claimed, 0, memory_order_acquire)) qzi_kernel_wait(kernel, QZI_NEVER);
  }
}

static struct qzi_thread *find(struct qzi_processor *p, struct qzi_kernel *kernel, bool searching) {
  if (!searching) {
    struct qzi_thread *thread = look(p);
    if (thread) return thread;
    atomic_fetch_add_explicit(&qzi_runtime.searching, 1, memory_order_seq_cst);
  }
  for (;;) {
    qzi_pub_leave(&p->head.pub, QZ_STATE_IDLE);
    struct qzi_thread *thread = search(p, kernel);
    uint32_t before = atomic_fetch_sub_explicit(&qzi_runtime.searching, 1, memory_order_seq_cst);
    if (thread) {
      qzi_pub_leave(&p->head.pub, QZ_STATE_OVERHEAD);
      if (before == 1 && qzi_idle_wanted()) {
        /* The woken processor may take this one's CPU. So the thread that was found is published as ready,
         * although it was taken from its queue. */
        qzi_pub_enqueued(&p->head.pub);
        qzi_wake_one(p);
        qzi_pub_dequeued(&p->head.pub);
      }
      return thread;
    }
    sleep_processor(p, kernel);
  }
}

void qzi_schedule(struct qzi_kernel *kernel) {
  for (;;) {
    struct qzi_processor *p = kernel->processor;
    bool searching = kernel->searching;
    kernel->searching = false;
    struct qzi_thread *next = find(p, kernel, searching);
    struct qzi_passed passed = qzi_run_from_scheduler(kernel, next);
    if (kernel->processor) qzi_leave(kernel->processor);
    if (passed.after) passed.after(passed.arg);
    if (!kernel->processor) qzi_kernel_spare(kernel);
  }
}
