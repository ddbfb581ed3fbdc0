/* Time-outs and sleep.
 *
 * Owns:    the timer heap of each processor, qzi_timer_count.
 * Writer:  a waiter arms its timer on the processor that it leaves; any processor fires or disarms it, under
 *          timer_lock.
 * Reader:  idle.c (when to wake up), scheduler.c (at every 64th decision).
 * Must not: run threads, or be called under a biased lock.
 *
 * There is no timer thread: running processors read the clock at every 64th decision, searching ones all the time, and
 * one of the sleeping ones (the keeper) sleeps only until the first deadline.
 */
#define _GNU_SOURCE
#include "processor.h"
#include "worker.h"

#include <sys/mman.h>

_Atomic(uint32_t) qzi_timer_count;

static void place(struct qzi_processor *p, uint32_t at, struct qzi_thread *thread) {
  p->timer_heap[at] = thread;
  thread->timer_index = at + 1;
}

static void sift_up(struct qzi_processor *p, uint32_t at, struct qzi_thread *thread) {
  while (at > 0) {
    uint32_t above = (at - 1) / 2;
    if (p->timer_heap[above]->deadline_ns <= thread->deadline_ns) break;
    place(p, at, p->timer_heap[above]);
    at = above;
  }
  place(p, at, thread);
}

static void sift_down(struct qzi_processor *p, uint32_t at, struct qzi_thread *thread) {
  for (;;) {
    uint32_t below = 2 * at + 1;
    if (below >= p->timer_count) break;
    if (below + 1 < p->timer_count && p->timer_heap[below + 1]->deadline_ns < p->timer_heap[below]->deadline_ns)
      below++;
    if (thread->deadline_ns <= p->timer_heap[below]->deadline_ns) break;
    place(p, at, p->timer_heap[below]);
    at = below;
  }
  place(p, at, thread);
}

static void set_first(struct qzi_processor *p) {
  atomic_store_explicit(&p->timer_first_ns, p->timer_count ? p->timer_heap[0]->deadline_ns : QZI_NEVER,
                        memory_order_seq_cst);
}

static void take_out(struct qzi_processor *p, uint32_t at) {
  struct qzi_thread *last = p->timer_heap[--p->timer_count];
  p->timer_heap[at]->timer_index = 0;
  if (at < p->timer_count) {
    if (at > 0 && last->deadline_ns < p->timer_heap[(at - 1) / 2]->deadline_ns)
      sift_up(p, at, last);
    else
      sift_down(p, at, last);
  }
  atomic_fetch_sub_explicit(&qzi_timer_count, 1, memory_order_seq_cst);
}

static void grow(struct qzi_processor *p) {
  uint32_t capacity = p->timer_capacity ? p->timer_capacity * 2 : 512;
  void *heap = p->timer_capacity
                 ? mremap(p->timer_heap, p->timer_capacity * sizeof(void *), capacity * sizeof(void *), MREMAP_MAYMOVE)
                 : mmap(NULL, capacity * sizeof(void *), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (heap == MAP_FAILED) qzi_die("no memory for %u timers; raise the limit of memory", capacity);
  p->timer_heap = heap;
  p->timer_capacity = capacity;
}

void qzi_timer_arm(struct qzi_thread *thread) {
  struct qzi_processor *p = qzi_processor_self();
  uint64_t deadline = thread->deadline_ns;
  atomic_fetch_add_explicit(&qzi_timer_count, 1, memory_order_seq_cst);
  qzi_spin_lock(&p->timer_lock);
  if (p->timer_count == p->timer_capacity) grow(p);
  thread->timer_processor = p;
  sift_up(p, p->timer_count++, thread);
  set_first(p);
  qzi_spin_unlock(&p->timer_lock);
  /* from here on `thread` may have been freed */
  uint32_t keeper = atomic_load(&qzi_runtime.keeper);
  if (keeper) {
    struct qzi_kernel *kernel = qzi_runtime.processors[keeper - 1].kernel;
    if (deadline < atomic_load(&qzi_runtime.keeper_ns) && kernel) qzi_kernel_nudge(kernel);
  } else if (qzi_idle() && p->head.current) {
    qzi_wake_one(
      p); /* wakes a processor that becomes the keeper: this one continues with another thread for an unknown time */
  }
}

void qzi_timer_disarm(struct qzi_thread *thread) {
  struct qzi_processor *p = thread->timer_processor;
  qzi_spin_lock(&p->timer_lock);
  if (thread->timer_index) {
    take_out(p, thread->timer_index - 1);
    set_first(p);
  }
  qzi_spin_unlock(&p->timer_lock);
}

uint64_t qzi_timers_first(void) {
  uint64_t first = QZI_NEVER;
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) {
    uint64_t ns = atomic_load_explicit(&qzi_runtime.processors[k].timer_first_ns, memory_order_seq_cst);
    if (ns < first) first = ns;
  }
  return first;
}

static void run_on(struct qzi_processor *p, uint64_t now_ns) {
  struct qzi_thread *due = NULL, **end = &due;
  qzi_spin_lock(&p->timer_lock);
  while (p->timer_count && p->timer_heap[0]->deadline_ns <= now_ns) {
    struct qzi_thread *thread = p->timer_heap[0];
    take_out(p, 0);
    uint32_t waiting = QZI_WAITING;
    if (atomic_compare_exchange_strong(&thread->claim, &waiting, QZI_TIMED_OUT)) {
      thread->link = NULL;
      *end = thread;
      end = &thread->link;
    }
  }
  set_first(p);
  qzi_spin_unlock(&p->timer_lock);
  while (due) {
    struct qzi_thread *next = due->link;
    qzi_ready_last(due);
    due = next;
  }
}

void qzi_timers_run(void) {
  uint64_t now = qzi_now_ns();
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) {
    struct qzi_processor *p = &qzi_runtime.processors[k];
    if (atomic_load_explicit(&p->timer_first_ns, memory_order_relaxed) <= now) run_on(p, now);
  }
}

/* ---- timed waits ---- */

struct timed {
  struct qzi_thread *thread;
  void (*after)(void *);
  void *arg;
  _Atomic(bool) left; /* timed_after no longer needs this struct: the waiter may return from its frame */
};

static void timed_after(void *arg) {
  struct timed *timed = arg;
  qzi_timer_arm(timed->thread);
  if (timed->after) timed->after(timed->arg);
  atomic_store_explicit(&timed->left, true, memory_order_release);
}

void qzi_timed_begin(struct qzi_thread *self) {
  atomic_store_explicit(&self->claim, QZI_WAITING, memory_order_relaxed);
}

static bool park_until(void (*after)(void *), void *arg, uint64_t deadline_ns) {
  struct qzi_thread *self = qzi_self();
  struct timed timed = {self, after, arg, false};
  self->deadline_ns = deadline_ns;
  qzi_park(timed_after, &timed);
  /* the waker may be faster than the processor that the caller left */
  for (unsigned tries = 0; !atomic_load_explicit(&timed.left, memory_order_acquire); tries++) qzi_relax(tries);
  qzi_timer_disarm(self);
  return atomic_load_explicit(&self->claim, memory_order_acquire) == QZI_WOKEN;
}

bool qzi_park_until(void (*after)(void *), void *arg, uint64_t deadline_ns) {
  if (park_until(after, arg, deadline_ns)) return true;
  if (qzi_spanning()) qzi_span_timed_out(qzi_publisher_self(), deadline_ns);
  return false;
}

void qz_sleep_ns(uint64_t nanoseconds) {
  struct qzi_processor *p = qzi_processor_checked();
  if (nanoseconds == 0) {
    qz_yield();
    return;
  }
  struct qzi_thread *self = qzi_self();
  uint64_t since = qzi_now_ns();
  uint64_t deadline = nanoseconds < QZI_NEVER - 1 - since ? since + nanoseconds : QZI_NEVER - 1;
  uint32_t object = qzi_pub_site(&p->head.pub, QZ_KIND_SLEEP, QZI_CALLER());
  if (object) {
    qzi_pub_push(&p->head.pub, &self->pub, QZI_PUB_KEY(QZ_KIND_SLEEP, object));
    qzi_pub_blocked(&p->head.pub, &self->pub, object);
    qzi_pub_queue_add(object, 1);
  }
  qzi_timed_begin(self);
  park_until(NULL, NULL, deadline);
  if (qzi_spanning()) qzi_span_slept(qzi_publisher_self(), deadline - since);
  if (object) {
    qzi_pub_queue_add(object, -1);
    qzi_pub_pop(&self->pub, QZI_PUB_KEY(QZ_KIND_SLEEP, object));
    qzi_pub_waited(object, qzi_now_ns() - since, 0);
    qzi_pub_acquired_shared(object);
  }
}
