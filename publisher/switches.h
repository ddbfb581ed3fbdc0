/* Processors that leave a thread, or go on with another one: states, and what the time path and the span need.
 *
 * Owns:    nothing. Writer, reader: as publisher.h says, whose rules apply here too.
 * Must not: be included by a host, which includes publisher.h.
 */
#ifndef QZI_PUBLISH_SWITCHES_H
#define QZI_PUBLISH_SWITCHES_H

#include "path.h"
#include "states.h"

/* The thread that p runs gives up its processor: to wait (arrival ..._OWN, unless another thread ends the wait), or
 * for a blocking region. State OVERHEAD. */
static inline void qzi_pub_park(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) {
    qzi_path_give(p, t, QZ_ARRIVAL_OWN);
    qzi_pub_now(p, QZ_STATE_OVERHEAD);
  }
}

/* qzi_pub_run after p ran another thread, or none: t continues with its own chain. */
static inline void qzi_pub_go_on(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (!qzi_publishing() || !p->record) return;
  qzi_path_take(p, t);
  qzi_pub_run(p, t);
}
static inline __attribute__((always_inline)) void qzi_pub_take_up(struct qzi_publisher *p, struct qzi_pub_thread *to) {
  qzi_path_take(p, to);
  qzi_pub_run_usual(p, to, QZ_STATE_USEFUL);
}
/* p leaves `from` for `to`, in the usual case (qzi_pub_may_switch() returns true for both), before `to` becomes its
 * current thread; then qzi_pub_run_usual follows. qzi_pub_turn: the two take turns; the same stores as qzi_pub_ready
 * and qzi_pub_switched, without the counts for a queue whose length does not change. qzi_pub_waits_while: `from` waits
 * (qzi_pub_blocked); the same stores as qzi_pub_switched and, if `to` was queued, qzi_pub_dequeued. */
static inline __attribute__((always_inline)) void qzi_pub_leaves(struct qzi_publisher *p, struct qzi_pub_thread *from,
                                                                 const struct qzi_pub_thread *to) {
  uint64_t switches = p->switches + 1;
  qzi_pub_store(&p->switches, switches);
  qzi_pub_store(&p->record->switches, switches);
  qzi_path_turns(p, from, to);
}
static inline __attribute__((always_inline)) void qzi_pub_turn(struct qzi_publisher *p, struct qzi_pub_thread *from,
                                                               const struct qzi_pub_thread *to) {
  QZI_TRACE(thread(from->record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&from->record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  qzi_pub_leaves(p, from, to);
}
static inline __attribute__((always_inline)) void qzi_pub_waits_while(struct qzi_publisher *p,
                                                                      struct qzi_pub_thread *from,
                                                                      const struct qzi_pub_thread *to, bool queued) {
  if (__builtin_expect(queued, 1)) {
    uint64_t dequeued = p->dequeued + 1;
    qzi_pub_store(&p->dequeued, dequeued);
    qzi_pub_store(&p->record->dequeued, dequeued);
  }
  qzi_pub_leaves(p, from, to);
}
/* qzi_pub_switched and qzi_pub_run in one call. */
static inline __attribute__((always_inline)) void qzi_pub_switch_run(struct qzi_publisher *p,
                                                                     struct qzi_pub_thread *t) {
  qzi_pub_store(&p->switches, p->switches + 1);
  if (!qzi_publishing() || !p->record) return;
  qzi_pub_store(&p->record->switches, p->switches);
  if (qzi_pub_may_switch(p, t))
    qzi_pub_take_up(p, t);
  else
    qzi_pub_go_on(p, t);
}
/* t, which p runs, begins to spin for an object; qzi_pub_spun when it stops spinning and continues. */
static inline void qzi_pub_spinning(struct qzi_publisher *p, struct qzi_pub_thread *t, uint32_t object) {
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_SPINNING, object);
    qzi_pub_now(p, QZ_STATE_SPINNING);
    if (p->span) qzi_span_spins(p);
  }
}
static inline void qzi_pub_spun(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (qzi_publishing() && p->record) {
    qzi_pub_thread_state(p, t, QZ_STATE_USEFUL, 0);
    qzi_pub_now(p, QZ_STATE_USEFUL);
    if (p->span) qzi_span_goes_on(p);
  }
}

#endif
