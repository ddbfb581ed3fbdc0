/* Places of threads. See pool.h. */
#include "pool.h"

#include <string.h>
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/private.h"

struct qzl_pool qzl_pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
struct qzl_process qzl_process;
static uint64_t serials;

void qzl_place_table(struct qzl_thread *place, uint32_t slot) {
  uint32_t tables = qzi_session.call_tables;
  place->pub.calls = slot < tables ? qzi_session.call_base + (size_t)slot * QZI_CALL_SLOTS : NULL;
  place->counts = slot < tables ? place->pub.calls : qzi_small_table(slot - tables);
}

struct qzl_thread *qzl_place_take(uint64_t start, uint64_t site) {
  pthread_mutex_lock(&qzl_pool.lock);
  struct qzl_thread *place = NULL;
  if (qzl_pool.free) {
    place = &qzl_pool.places[qzl_pool.free - 1];
    qzl_pool.free = place->next_free;
  } else if (qzl_pool.high < qzl_pool.size) {
    place = &qzl_pool.places[qzl_pool.high++];
  }
  if (place) {
    uint32_t slot = (uint32_t)(place - qzl_pool.places);
    memset(place, 0, offsetof(struct qzl_thread, cached_locks));
    place->slot = slot;
    place->pub.free = place->free;
    place->pub.sites = place->sites;
    place->pub.cpu = UINT32_MAX;
    if (qzi_session.head) {
      place->pub.record = &place->processor;
      qzl_place_table(place, slot);
    }
    place->thread.serial = ++serials;
    place->thread.start = start;
    place->thread.create_site = site;
  }
  pthread_mutex_unlock(&qzl_pool.lock);
  return place;
}

void qzl_place_give(struct qzl_thread *place) {
  qzi_threads_return_pool(&place->pub);
  pthread_mutex_lock(&qzl_pool.lock);
  place->next_free = qzl_pool.free;
  qzl_pool.free = place->slot + 1;
  pthread_mutex_unlock(&qzl_pool.lock);
}

uint32_t qzl_own_tid(void) {
  pthread_mutex_lock(&qzl_pool.lock);
  uint32_t tid = (uint32_t)qzl_pool.lock.__data.__owner;
  pthread_mutex_unlock(&qzl_pool.lock);
  return tid;
}
