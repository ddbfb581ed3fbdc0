/* What the layer itself adds to a lock and to a wait, measured in this process before it publishes (calibrate.c).
 *
 * Owns:    lock and wait_ps of the session. Writer: the thread that makes the session, once. Reader: the sampler.
 * Must not: leave a trace in the session but those numbers.
 *
 * A mutex of our own is locked and unlocked as the program does it, by a thread that exists only here: its record is
 * given back, its calls are counted in a table that nobody reads.
 */
#include "held_locks.h"
#include "waits.h"
#include "pthread-layer/src/libc/fast_mutex.h"
#include <string.h>
#include <sys/mman.h>
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/calibrate_work.h"
#include "publisher/private.h"
#undef pthread_mutex_trylock
#undef pthread_mutex_unlock

#define PAIRS  256
#define BUSY   8  /* rounds: about as many instructions as a lock and unlock have */
#define CHAINS 64 /* pairs between work that waits: each takes longer */
#define CHAIN  24 /* rounds: longer than what a lock and unlock of the layer add where the processor is busy */

static struct qzl_thread self;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last;       /* record that nobody has yet */
static struct qz_path path; /* an actor of no session */

/* Without the layer, but with the same locked instructions: the C library leaves them out while there is but one
 * thread, of which the program is to have more. */
__attribute__((noinline)) static void plain_lock(void) {
  if (!qzl_takes)
    qzl_real.pthread_mutex_trylock(&mutex);
  else
    qzl_take(&mutex, self.thread.os_tid);
}

static uint64_t chains[4] = {1, 2, 3, 4};
static double chain;
static void locks(void) {
  for (int k = 0; k < PAIRS; k++) {
    qzi_work_busy(chains, BUSY);
    qzl_mutex_lock(&mutex);
    qzl_mutex_unlock(&mutex);
  }
}
static void plain_locks(void) {
  for (int k = 0; k < PAIRS; k++) {
    qzi_work_busy(chains, BUSY);
    plain_lock();
    qzl_real.pthread_mutex_unlock(&mutex);
  }
}
static void locks_in_chain(void) {
  for (int k = 0; k < CHAINS; k++) {
    qzi_work_waiting(&chain, CHAIN);
    qzl_mutex_lock(&mutex);
    qzl_mutex_unlock(&mutex);
  }
}
static void plain_locks_in_chain(void) {
  for (int k = 0; k < CHAINS; k++) {
    qzi_work_waiting(&chain, CHAIN);
    plain_lock();
    qzl_real.pthread_mutex_unlock(&mutex);
  }
}
static void waits(void) {
  struct qzl_wait wait;
  for (int k = 0; k < PAIRS / 8; k++) {
    qzl_wait_begin(&wait, &self, last, QZ_STATE_BLOCKED);
    qzl_wait_end(&wait, 1);
  }
}

void qzi_publishers_calibrate(struct qz_session *head) {
  static uint32_t free[2];
  qzi_pub_ticks_calibrate(); /* before waits are measured by them */
  struct qzl_thread *before = qzl_self;
  self = (struct qzl_thread){.pub = {.free = free, .record = &self.processor, .sites = self.sites, .path = &path},
                             .thread = {.serial = UINT64_MAX}};
  self.counts = self.pub.calls = qzi_pub_reserve(QZI_CALL_SLOTS * sizeof *self.pub.calls);
  struct qzl_object *place = qzl_calibrate_place(&mutex);
  if (!self.pub.calls || !place) return;
  last = qzi_session.objects - 1;
  uint64_t *hot = qzi_hot;
  qzl_self = &self;
  qzl_take_mutexes();
  atomic_store_explicit(&qzi_publishing_flag, 1, memory_order_relaxed);
  qzi_pub_run(&self.pub, &self.thread);
  if (self.thread.record) {
    head->lock = qzi_cost(qzi_added_ps(locks_in_chain, plain_locks_in_chain, CHAINS, false),
                          qzi_added_ps(locks, plain_locks, PAIRS, true));
    head->wait_ps = qzi_least_ps(waits, PAIRS / 8);
    memset(&qzi_pub_objects[last], 0, sizeof *qzi_pub_objects);
    qzi_pub_ended(&self.pub, &self.thread);
  }
  atomic_store_explicit(&qzi_publishing_flag, 0, memory_order_relaxed);
  qzl_self = before;
  qzi_hot_set(hot);
  qzi_threads_return_pool(&self.pub);
  munmap(self.pub.calls, QZI_CALL_SLOTS * sizeof *self.pub.calls);
  place->address = 0;
}
