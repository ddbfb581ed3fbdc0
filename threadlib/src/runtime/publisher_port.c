/* The thread package as a host of the publisher: its processors, which publish, and the kernel threads that run them.
 *
 * Owns:    the list of kernel threads that may publish, the publisher of each processor.
 * Writer:  each kernel thread adds and removes itself; the channel's kernel thread sets their qzi_hot when publishing
 *          begins and ends.
 * Reader:  session.c.
 * Must not: change the record of a processor that already publishes for itself.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "abi/note.h"
#include "publisher/private.h"
#include "threadlib/src/base/self.h"

QZ_NOTE; /* marks the file as a publisher for tools that look for one */

/* A kernel thread that may publish. */
struct kernel {
  uint64_t **hot;
  struct kernel *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list and `publishers` */
static struct kernel *kernels;
static _Thread_local struct kernel self __attribute__((tls_model("initial-exec")));
static struct qzi_publisher **publishers; /* by processor index; NULL: not started */
static uint32_t publishers_room;

const uint32_t qzi_publishers_kind = QZ_PUBLISHER_THREADLIB;
const uint32_t qzi_publishers_short = QZI_PUB_SHORT_ENTRIES;
const bool qzi_publishers_own_thread = true;
const ptrdiff_t qzi_span_offset = offsetof(struct qzi_thread, span) - offsetof(struct qzi_thread, pub);
const ptrdiff_t qzi_current_offset =
  (ptrdiff_t)offsetof(struct qzi_processor_head, current) - (ptrdiff_t)offsetof(struct qzi_processor_head, pub);
const ptrdiff_t qzi_current_pub = offsetof(struct qzi_thread, pub);

/* Minimum number of records and call tables of a session, since qz_init() may raise the number of processors. */
#define PROCESSORS_ROOM 1024u

/* Makes the table of publishers, and room for one call table per processor. */
bool qzi_publishers_make(void) {
  pthread_mutex_lock(&lock);
  if (publishers_room < qzi_session.processors) {
    struct qzi_publisher **more = qzi_pub_reserve(qzi_session.processors * sizeof *more);
    if (more && publishers) memcpy(more, publishers, publishers_room * sizeof *more);
    publishers_room = more ? qzi_session.processors : 0;
    publishers = more;
  }
  if (qzi_session.call_tables < qzi_session.processors)
    qzi_session.call_tables = qzi_session.processors > PROCESSORS_ROOM ? qzi_session.processors : PROCESSORS_ROOM;
  pthread_mutex_unlock(&lock);
  return publishers != NULL;
}

QZI_HOOK struct qz_call *qzi_publishers_small(void) { return NULL; }

void qzi_publishers_calibrate(struct qz_session *head) {
  (void)head;
  qzi_pub_ticks_calibrate();
}

void qzi_publishers_head(struct qz_session *head) {
  qzi_pub_ticks_begin(); /* the calibration follows in qzi_publishers_calibrate */
  pthread_mutex_lock(&lock);
  qzi_session.head = head;
  pthread_mutex_unlock(&lock);
}

void qzi_publishers_mapped(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < qzi_session.processors; k++) {
    struct qz_processor *record = &qzi_session.processor_base[k];
    struct qzi_publisher *p = publishers[k];
    record->os_tid = p ? p->os_tid : 0;
    record->cpu = p ? p->cpu : UINT32_MAX;
  }
  pthread_mutex_unlock(&lock);
}

/* A processor that has published before may still read what it published by. So nothing is stored that is unchanged,
 * as always from one connection to the next of the same kind. */
#define CONNECT(field, value)                                                      \
  do {                                                                             \
    if ((field) != (value)) __atomic_store_n(&(field), (value), __ATOMIC_RELEASE); \
  } while (0)
static void connect_path(struct qzi_publisher *p) {
  struct qzi_span_actor *span =
    qzi_span_connect(&p->span_room, p->index, qzi_pub_ticks(), p->os_tid) ? p->span_room : NULL;
  CONNECT(p->span, span);
  struct qz_path *path = qzi_path_actor(p->index), *alone = span ? NULL : path;
  CONNECT(p->time_path, path);
  CONNECT(p->path, alone); /* stored last: then both chains exist */
}
void qzi_publishers_sample(void) {} /* the code that its threads run is known from hooks */

void qzi_publishers_span(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < qzi_session.processors; k++)
    if (publishers[k] && publishers[k]->record) connect_path(publishers[k]);
  pthread_mutex_unlock(&lock);
}

void qzi_publishers_spanning(void) { qzi_sched_close(); }

/* Connects a processor's publisher to the session. With the lock held, and while the processor's own kernel thread
 * does not publish yet, or by that kernel thread itself. */
static void connect_publisher(struct qzi_publisher *p) {
  struct qz_processor *record = &qzi_session.processor_base[p->index];
  qzi_threads_pool_publisher(p);
  if (!p->sites) p->sites = qzi_pub_reserve(QZI_PUB_SITES * sizeof *p->sites);
  if (!p->pairs) p->pairs = qzi_pub_reserve(qzi_pairs_bytes);
  if (!p->places) p->places = qzi_pub_reserve(QZI_PUB_SITES * sizeof *p->places);
  if (!p->free || !p->sites || !p->places) return;
  connect_path(p);
  record->os_tid = p->os_tid;
  record->cpu = p->cpu;
  struct qz_call *calls = qzi_session.call_base + (size_t)p->index * QZI_CALL_SLOTS;
  if (p->record == record && p->calls == calls)
    return; /* unchanged, and the processor may be reading them: it has published before */
  p->calls = calls;
  __atomic_store_n(&p->record, record, __ATOMIC_RELEASE);
}

void qzi_publishers_prepare(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < qzi_session.processors; k++) {
    struct qzi_publisher *p = publishers[k];
    if (!p) continue;
    connect_publisher(p);
    struct qz_processor *record = p->record;
    if (!record) continue;
    /* A counter that changes concurrently is published again, with its full value, at its next change. */
    qzi_pub_store(&record->enqueued, qzi_pub_enqueued_in_all(p));
    qzi_pub_store(&record->dequeued, __atomic_load_n(&p->dequeued, __ATOMIC_RELAXED));
    qzi_pub_store(&record->switches, __atomic_load_n(&p->switches, __ATOMIC_RELAXED));
    qzi_pub_store(&record->steals, __atomic_load_n(&p->steals, __ATOMIC_RELAXED));
    qzi_pub_store(&record->spawns, __atomic_load_n(&p->spawns, __ATOMIC_RELAXED));
    qzi_pub_store(&record->parks, __atomic_load_n(&p->parks, __ATOMIC_RELAXED));
    __atomic_store_n(&record->now, UINT64_MAX, __ATOMIC_RELAXED);
  }
  pthread_mutex_unlock(&lock);
  qzi_sched_publish_unplaced();
}

void qzi_pub_unplaced(uint32_t count) {
  if (qzi_session.head) __atomic_store_n(&qzi_session.head->unplaced, count, __ATOMIC_RELAXED);
}

void qzi_publishers_on(void) {
  qzi_sched_close();
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < qzi_session.processors; k++) {
    struct qz_processor *record = &qzi_session.processor_base[k];
    uint64_t unknown = UINT64_MAX; /* the processor has not published a state itself yet */
    bool busy = publishers[k] && qzi_sched_busy(k);
    QZI_TRACE(now(record, QZ_NOW(busy ? QZ_STATE_USEFUL : QZ_STATE_IDLE, 0, 0)));
    __atomic_compare_exchange_n(&record->now, &unknown, QZ_NOW(busy ? QZ_STATE_USEFUL : QZ_STATE_IDLE, 0, 0), false,
                                __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
  for (struct kernel *k = kernels; k; k = k->next) qzi_hot_attend(k->hot);
  pthread_mutex_unlock(&lock);
}
void qzi_publishers_attend(intptr_t gone) {
  pthread_mutex_lock(&lock);
  for (struct kernel *k = kernels; k; k = k->next) {
    qzi_hot_gone(k->hot, gone);
    if (qzi_publishing()) qzi_hot_attend(k->hot);
  }
  pthread_mutex_unlock(&lock);
}

void qzi_publishers_off(void) {
  qzi_sched_close();
  pthread_mutex_lock(&lock);
  for (struct kernel *k = kernels; k; k = k->next) qzi_hot_clear(k->hot);
  pthread_mutex_unlock(&lock);
}

void qzi_pub_processor(struct qzi_publisher *p, unsigned index, uint32_t cpu) {
  pthread_mutex_lock(&lock);
  p->index = index;
  p->cpu = cpu;
  p->os_tid = (uint32_t)syscall(SYS_gettid);
  if (publishers && index < qzi_session.processors) {
    publishers[index] = p;
    if (qzi_session.head) connect_publisher(p);
  }
  if (!self.hot) {
    self.hot = &qzi_hot;
    self.next = kernels;
    kernels = &self;
  }
  if (qzi_publishing() && p->record && !qzi_sched_busy(index))
    qzi_pub_now(p, QZ_STATE_IDLE); /* only if no thread runs: when main is pinned, it is running */
  pthread_mutex_unlock(&lock);
}

void qzi_pub_kernel_thread_end(void) {
  pthread_mutex_lock(&lock);
  for (struct kernel **k = &kernels; *k; k = &(*k)->next) {
    if (*k == &self) {
      *k = self.next;
      break;
    }
  }
  self.hot = NULL;
  qzi_hot_set(NULL);
  pthread_mutex_unlock(&lock);
}

void qzi_publishers_forked(void) {
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  kernels = self.hot ? &self : NULL;
  self.next = NULL;
}

void qzi_publishers_started_again(void) {
  for (uint32_t k = 0; k < qzi_session.processors; k++)
    if (publishers[k]) {
      publishers[k]->woken = -publishers[k]->spawns; /* the counts of the other processors are lost */
      publishers[k]->dequeued = 0;
      qzi_pub_forget_joins(publishers[k]);
    }
}
