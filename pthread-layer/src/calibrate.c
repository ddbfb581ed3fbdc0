/* What the layer itself adds to a lock and to a wait, measured in this process before it publishes (publish_calibrate.c).
 *
 * Owns:    lock_ps and wait_ps of the session. Writer: the thread that makes the session, once. Reader: the sampler.
 * Must not: leave a trace in the session but those two numbers.
 *
 * A mutex of our own is locked and unlocked as the program does it, by a thread that exists only here: its record is given back,
 * its calls are counted in a table that nobody reads.
 */
#include "layer.h"
#include "take.h"
#include <string.h>
#include <sys/mman.h>
#include "plain.h"
#include "threadlib/src/publish_private.h"
#undef pthread_mutex_trylock
#undef pthread_mutex_unlock

#define PAIRS 512
#define WORK  8 /* rounds: about as many instructions as a lock and unlock have */

static struct qzl_thread self;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint32_t last; /* record that nobody has yet */

/* What a program does between its locks: some 110 instructions that don't wait for each other. Without, the processor would wait for the locked
 * instructions alone, and do what the layer adds in that time: 150 instructions would seem to take 16 cycles, which in a program that keeps the
 * processor busy take up to 44 (docs/pthread.md). */
static uint64_t chains[4] = {1, 2, 3, 4};
__attribute__((always_inline)) static inline void work(void) {
  uint64_t a = chains[0], b = chains[1], c = chains[2], d = chains[3];
  for (int k = 0; k < WORK; k++) {
    a = (a * 5 + 1) ^ b >> 7;
    b = b * 7 + 3;
    c = c * 9 + 5 + d;
    d = d * 11 + 7;
  }
  chains[0] = a, chains[1] = b, chains[2] = c, chains[3] = d;
}

static void locks(void) {
  for (int k = 0; k < PAIRS; k++) {
    work();
    qzl_mutex_lock(&mutex);
    qzl_mutex_unlock(&mutex);
  }
}
/* Without the layer, but with the same locked instructions: the C library leaves them out while there is but one thread, of
 * which the program is to have more. */
__attribute__((noinline)) static void plain_lock(void) {
  if (!qzl_takes) qzl_real.pthread_mutex_trylock(&mutex);
  else qzl_take(&mutex, self.thread.os_tid);
}
static void plain_locks(void) {
  for (int k = 0; k < PAIRS; k++) {
    work();
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
  struct qzl_thread *before = qzl_self;
  self = (struct qzl_thread){.pub = {.free = free, .record = &self.processor, .sites = self.sites}, .thread = {.serial = UINT64_MAX}};
  self.counts = self.pub.calls = qzi_pub_reserve(QZI_CALL_SLOTS * sizeof *self.pub.calls);
  struct qzl_object *place = qzl_calibrate_place(&mutex);
  if (!self.pub.calls || !place) return;
  uint64_t plain = qzi_least_ps(plain_locks, PAIRS);
  last = qzi_session.objects - 1;
  uint64_t *hot = qzi_hot;
  qzl_self = &self;
  atomic_store_explicit(&qzi_publishing_flag, 1, memory_order_relaxed);
  qzi_pub_run(&self.pub, &self.thread);
  if (self.thread.record) {
    uint64_t published = qzi_least_ps(locks, PAIRS);
    head->lock_ps = published > plain ? published - plain : 0;
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
