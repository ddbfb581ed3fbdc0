/* How long locks are held.
 *
 * Owns:    hold times in the objects' records; of a thread, which of its holds
 * are being measured. Writer:  the holder: nobody else writes these. Reader:
 * the sampler. Must not: measure by a rule that depends on how long the hold at
 * hand takes; a lock's sum would then be wrong.
 *
 * QUARTZ_EXACT_HOLD=1: all holds of mutexes, spin locks and writers, by the
 * wall clock.
 *
 * While work and span are recorded: processor time, since that is what no
 * number of processors makes shorter (docs/reference/path.md, "Work and span").
 * Samples do not show it: which locks a thread has is known for the moment of a
 * snapshot, what it executes for that of a sample, and a thread that loses its
 * CPU stays longest where no other one waits for it, which is outside of the
 * lock. Asking for the processor time is a system call. So of holds that are
 * usually short only some are measured, each with probability 2^-shift, and
 * counts 2^shift times (Horvitz and Thompson, 1952). The shift follows from
 * earlier holds alone, so that the sum is right on average.
 */
#include "held_locks.h"
#include "pthread-layer/src/libc/fast_mutex.h"
#include "publisher/private.h"
#include "publisher/span_clock.h"

#define PART       32u /* of the time that a lock is held measuring may take */
#define SHIFT_MOST 10u
#define SHORT_NS                                                                        \
  20000u          /* so much by the counter is processor time: a CPU that is taken away \
                     is so for longer */
#define WEIGHT 8u /* of the usual hold time: the last ones have 1/8 each */

/* In records while no exact hold times are wanted: the usual hold time, ns, <<
 * 8 | its shift; 0: nothing is measured. */
static uint64_t *usual_of(uint32_t index) { return &QZI_PUB_OBJECT(index)->hold_since; }

static uint64_t clock_cost_ns; /* of the counter, which is in what it measures */

static uint32_t shift_of(uint64_t usual_ns) {
  uint32_t shift = 0;
  uint64_t cost = qzi_span_clock_cost * PART;
  while (shift < SHIFT_MOST && (usual_ns + 1) << shift < cost) shift++;
  return shift;
}

void qzl_take_mutexes(void) {
  int kind = qzl_takes && !qzi_pub_exact_hold ? QZL_KIND_USUAL : QZL_KIND_NONE;
  __atomic_store_n(&qzl_taken_kind, kind, __ATOMIC_RELAXED);
}

void qzl_hold_times_prepare(void) {
  clock_cost_ns = UINT64_MAX;
  for (unsigned n = 0; n < 64; n++) {
    uint64_t from = qzi_pub_ticks(), ns = qzi_pub_ticks_ns(from, qzi_pub_ticks());
    if (ns < clock_cost_ns) clock_cost_ns = ns;
  }
}

/* xorshift (Marsaglia 2003); its high bits are the better ones. */
static uint64_t roll(struct qzl_thread *me) {
  uint64_t dice = me->dice ? me->dice : (uint64_t)(uintptr_t)me ^ qzi_pub_clock_ns();
  dice ^= dice << 13;
  dice ^= dice >> 7;
  dice ^= dice << 17;
  return me->dice = dice;
}

static void begin_cpu(struct qzl_thread *me, uint32_t index, const void *address) {
  unsigned kind = QZI_PUB_OBJECT(index)->kind;
  if (kind != QZ_KIND_MUTEX && kind != QZ_KIND_SPINLOCK) return;
  uint32_t shift = *usual_of(index) & 255;
  if (shift && roll(me) >> (64 - shift)) return;
  if (me->timed_now == (1u << QZL_TIMED) - 1 || !qzl_write_at_release(me, address)) return;
  unsigned slot = (unsigned)__builtin_ctz(~me->timed_now);
  me->timed_now |= 1u << slot; /* first: a signal handler may take locks, too */
  __atomic_signal_fence(__ATOMIC_ACQ_REL);
  me->timed[slot] = (struct qzl_timed_hold){(uint64_t)(uintptr_t)address, ticks_now(), 0, shift};
  me->timed[slot].ticks = qzi_pub_ticks();
}

static void end_cpu(struct qzl_thread *me, uint32_t index, const void *address) {
  for (unsigned slot = 0; slot < QZL_TIMED; slot++) {
    struct qzl_timed_hold its = me->timed[slot];
    if (!(me->timed_now & 1u << slot) || its.address != (uint64_t)(uintptr_t)address) continue;
    uint64_t hold_ns = qzi_pub_ticks_ns(its.ticks, qzi_pub_ticks());
    me->timed_now &= ~(1u << slot);
    if (index & QZI_PUB_SHARED) return;
    if (hold_ns > SHORT_NS) {
      uint64_t used_ns = ticks_now() - its.since;
      if (used_ns < hold_ns) hold_ns = used_ns;
    }
    hold_ns = hold_ns > clock_cost_ns ? hold_ns - clock_cost_ns : 0;
    struct qz_object *record = QZI_PUB_OBJECT(index);
    qzi_pub_store(&record->hold_ns, record->hold_ns + (hold_ns << its.shift));
    uint64_t *usual = usual_of(index), usual_ns = *usual >> 8;
    usual_ns = *usual ? usual_ns - usual_ns / WEIGHT + hold_ns / WEIGHT : hold_ns;
    *usual = usual_ns << 8 | shift_of(usual_ns);
    return;
  }
}

void qzl_hold_begins(struct qzl_thread *me, uint32_t index, const void *address) {
  if (!me || !index || index & QZI_PUB_SHARED) return;
  if (qzi_pub_exact_hold & QZI_HOLD_EXACT)
    QZI_PUB_OBJECT(index)->hold_since = qzi_pub_clock_ns();
  else
    begin_cpu(me, index, address);
}

void qzl_hold_ends(struct qzl_thread *me, uint32_t index, const void *address) {
  if (!index) return;
  if (qzi_pub_exact_hold & QZI_HOLD_EXACT)
    qzi_pub_held_slow(index, qzi_pub_clock_ns());
  else if (me->timed_now)
    end_cpu(me, index, address);
}
