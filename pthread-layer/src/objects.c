/* Synchronization objects by address, and waits for them.
 *
 * Owns:    the table from addresses to records.
 * Writer:  any thread, under `lock`; a found object is then its user's. Reader: any thread, without a lock.
 * Must not: grow: programs have objects by the million. What does not fit is known by the place that uses it, and only
 *          while it is waited for.
 */
#include "layer.h"
#include <errno.h>
#include "plain.h"
#include "threadlib/src/publish_private.h"

struct qzl_object *qzl_objects;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int qzl_objects_make(void) {
  if (!qzl_objects) qzl_objects = qzi_pub_reserve(sizeof *qzl_objects << QZL_OBJECT_BITS);
  return qzl_objects ? 0 : -1;
}

void qzl_objects_forked(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

struct qzl_object *qzl_insert(const void *address, uint64_t site) {
  if (!qzl_objects) return NULL;
  pthread_mutex_lock(&lock);
  struct qzl_object *object = qzl_find(address);
  uint32_t first = qzl_first(address);
  for (uint32_t k = 0; !object && k < QZL_PROBES; k++) {
    struct qzl_object *free = &qzl_objects[(first + k) & ((1u << QZL_OBJECT_BITS) - 1)];
    if (free->address > 1) continue;
    object = free;
    object->pub = (struct qzi_pub_object){.site = site};
    __atomic_store_n(&object->address, (uint64_t)(uintptr_t)address, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&lock);
  return object;
}

void qzl_destroyed(const void *address) {
  struct qzl_object *object = qzl_find(address);
  if (!object) return;
  qzi_pub_destroyed(&object->pub);
  __atomic_store_n(&object->address, 1, __ATOMIC_RELEASE);
}

void qzl_initialized(const void *address, uint64_t site) {
  if (!qzi_publishing()) return;
  qzl_destroyed(address); /* memory that was given back without saying so */
  qzl_insert(address, site);
}

/* ---- waits ---- */

void qzl_wait_begin(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state) {
  *wait = (struct qzl_wait){.me = me, .index = index, .begin_ns = qzi_pub_clock_ns()};
  if (state == QZ_STATE_BLOCKED) qzi_pub_queue_add(index, 1);
  if (qzi_publishing()) qzi_pub_thread_state(&me->pub, &me->thread, state, index);
}

/* Also the time to see whether the sampler is still there: who waits has it. */
static void look_at_channel(uint64_t now_ns) {
  static _Atomic uint64_t due_ns;
  uint64_t due = atomic_load_explicit(&due_ns, memory_order_relaxed);
  if (now_ns < due) return;
  if (atomic_compare_exchange_strong(&due_ns, &due, now_ns + 100000000)) qzi_channel_look();
}

static void over(struct qzl_wait *wait, int counted, int spun) {
  uint64_t now_ns = qzi_pub_clock_ns(), ns = now_ns - wait->begin_ns;
  if (!spun) qzi_pub_queue_add(wait->index, -1);
  if (counted) qzi_pub_waited(wait->index, ns, spun ? ns : 0);
  if (qzi_publishing()) qzi_pub_thread_state(&wait->me->pub, &wait->me->thread, QZ_STATE_USEFUL, 0);
  look_at_channel(now_ns);
}
void qzl_wait_end(struct qzl_wait *wait, int counted) { over(wait, counted, 0); }
void qzl_spin_end(struct qzl_wait *wait) { over(wait, 1, 1); }

void qzl_tried(struct qzl_thread *me, uint32_t index, int failed) {
  struct qz_thread *record = me->thread.record;
  if (!record) return;
  uint64_t before = record->tries, object = (uint64_t)(index & ~QZI_PUB_SHARED) << 32;
  if (failed) qzi_pub_store(&record->tries, object && before >> 32 == object >> 32 ? before + 1 : object | (object != 0));
  else if (before) qzi_pub_store(&record->tries, 0);
}
