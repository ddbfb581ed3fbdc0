/* What publishing asks of the program's threads (publisher/port.h), when it begins, ends, or the process has forked.
 *
 * Reader:  session.c and hot_line.c, through the functions that private.h names.
 * Must not: touch a thread's record while it may run, but where that is said.
 */
#include <time.h>
#include "abi/channel.h"
#include "held_locks.h"
#include "object_table.h"
#include "path.h"
#include "pool.h"
#include "signal_samples.h"
#include "job.h"
#include "task_pool.h"
#include "team.h"
#include "yield_places.h"
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/private.h"

#define TABLES 255u /* call tables with one writer; threads beyond these have small ones */

const uint32_t qzi_publishers_kind = QZ_PUBLISHER_PTHREAD;
const uint32_t qzi_publishers_short = 0; /* kernel threads are few */
const bool qzi_publishers_own_thread = false;
const ptrdiff_t qzi_span_offset = offsetof(struct qzl_thread, span) - offsetof(struct qzl_thread, thread);
const ptrdiff_t qzi_current_offset = offsetof(struct qzl_thread, thread) - offsetof(struct qzl_thread, pub);
const ptrdiff_t qzi_current_pub = 0;

bool qzi_publishers_make(void) {
  if (!qzi_session.call_tables) qzi_session.call_tables = TABLES; /* later fewer, where addresses are short */
  qzi_session.small_tables = qzl_pool.size;
  return qzl_pool.places && qzl_aggregates_make();
}
QZI_HOOK struct qz_call *qzi_publishers_small(void) {
  const struct qzl_thread *me = qzl_self;
  return me && !me->pub.calls ? me->counts : NULL;
}
void qzi_publishers_head(struct qz_session *head) {
  qzi_pub_ticks_begin(); /* calibrated soon */
  pthread_mutex_lock(&qzl_pool.lock);
  qzi_session.head = head;
  pthread_mutex_unlock(&qzl_pool.lock);
}

void qzi_publishers_mapped(void) {
  for (uint32_t k = 0; k < qzi_session.processors; k++) qzi_session.processor_base[k].cpu = UINT32_MAX;
}
/* A thread that runs already gets its record now, for it may compute or wait for long; what it does is seen from
 * outside until it calls the layer. Nothing is published yet, so it does not touch its record, and it can't end while
 * the lock is held. */
static void begin_record(struct qzl_thread *place) {
  struct qz_thread *record = qzi_pub_begin(&place->pub, &place->thread);
  if (!record) return;
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  place->pub.path = qzi_path_actor(place->thread.index_plus_1 - 1);
}
void qzi_publishers_prepare(void) {
  qzl_teams_prepare(qzi_session.head);
  qzi_pub_exact_hold &= ~QZI_HOLD_CPU;
  qzl_attend_holds();
  qzl_take_mutexes();
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++) {
    qzl_place_table(&qzl_pool.places[k], k);
    __atomic_store_n(&qzl_pool.places[k].pub.record, &qzl_pool.places[k].processor, __ATOMIC_RELEASE);
    qzl_pool.places[k].pub.span = NULL;
    if (qzl_pool.places[k].hot) begin_record(&qzl_pool.places[k]);
  }
  pthread_mutex_unlock(&qzl_pool.lock);
}
/* Threads that run already, the caller among them, are in a strand from now on. */
void qzi_publishers_spanning(void) {} /* its threads read the flag */
void qzi_publishers_span(void) {
  if (!qzl_span_make()) return;
  qzl_hold_times_prepare();
  qzi_pub_exact_hold |= QZI_HOLD_CPU;
  qzl_take_mutexes();
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++) {
    clockid_t clock;
    struct timespec used;
    if (qzl_pool.places[k].hot && qzl_pool.places[k].thread.record &&
        !pthread_getcpuclockid(qzl_pool.places[k].id, &clock) && !clock_gettime(clock, &used))
      qzl_span_connect(&qzl_pool.places[k], (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
  }
  pthread_mutex_unlock(&qzl_pool.lock);
  qzl_regime_ends();
}
void qzi_publishers_on(void) {
  qzl_generation_ends();
  qzl_regime_ends();
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++) {
    if (qzl_pool.places[k].hot) qzi_hot_attend(qzl_pool.places[k].hot);
  }
  pthread_mutex_unlock(&qzl_pool.lock);
}
void qzi_publishers_attend(intptr_t gone) {
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++) {
    if (!qzl_pool.places[k].hot) continue;
    qzi_hot_gone(qzl_pool.places[k].hot, gone);
    if (qzi_publishing()) qzi_hot_attend(qzl_pool.places[k].hot);
  }
  pthread_mutex_unlock(&qzl_pool.lock);
}
void qzi_publishers_off(void) {
  qzl_generation_ends();
  qzl_regime_ends();
  qzl_sampling_off();
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high; k++)
    if (qzl_pool.places[k].hot) qzi_hot_clear(qzl_pool.places[k].hot);
  pthread_mutex_unlock(&qzl_pool.lock);
}
/* The only thread of a forked child is the one that called fork. */
void qzi_publishers_forked(void) {
  qzl_process.attachable = false;
  qzl_regime_ends();
  qzl_sampling_forked();
  qzl_pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  qzl_pool.starting = 0;
  qzl_pool.free = 0;
  for (uint32_t k = qzl_pool.high; k-- > 0;) {
    struct qzl_thread *place = &qzl_pool.places[k];
    if (place == qzl_self) continue;
    place->hot = NULL;
    place->next_free = qzl_pool.free;
    qzl_pool.free = k + 1;
  }
  qzl_process.tid = qzl_own_tid();
  if (qzl_self) qzl_self->pub.os_tid = qzl_self->thread.os_tid = qzl_process.tid;
  qzl_objects_forked();
  qzl_tasks_forked();
  qzl_jobs_forked();
}
void qzi_publishers_started_again(void) {}

/* The MPI layer's: hands the sampler the log of this rank's messages. 0; -1: nobody records this process. */
QZL_EXPORT int quartz_pass_messages(int fd);
QZL_EXPORT int quartz_pass_messages(int fd) { return qzi_channel_pass(QZ_MESSAGES, fd) ? 0 : -1; }
