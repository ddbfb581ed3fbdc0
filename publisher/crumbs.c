/* Crumbs of the time path, and the sampler's clock page. See crumbs.h. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "crumbs.h"
#include "private.h"
#include "states.h"

static const struct qz_clock_page stopped;
QZI_READ_OFTEN const struct qz_clock_page *qzi_path_clock = &stopped;

uint64_t qzi_path_write(struct qz_path *actor, uint64_t index, uint64_t prev, uint64_t since, uint64_t key) {
  uint64_t now = qzi_path_time(), limit = qzi_session.crumbs_limit, at = actor->count, number = 0;
  /* Several crumbs of the same time are distinguished by a number. The sampler reads the ring often enough if at
   * most half of it is filled between two reads. */
  while (number < at && number < limit / 2 &&
         QZ_CHAIN_TIME(actor->ring[(at - 1 - number) & (limit - 1)].id) == QZ_CHAIN_TIME(now))
    number++;
  if (number >= limit / 2 || number >= QZ_CRUMBS_AT_ONCE) {
    qzi_pub_store(&actor->lost, actor->lost + 1);
    return 0;
  }
  struct qz_crumb *crumb = &actor->ring[at & (limit - 1)];
  uint64_t id = QZ_CHAIN(QZ_CHAIN_TIME(now), index, number);
  qzi_pub_store(&crumb->id, id);
  qzi_pub_store(&crumb->prev, prev);
  qzi_pub_store(&crumb->since, since);
  qzi_pub_store(&crumb->key, key);
  __atomic_store_n(&actor->count, at + 1, __ATOMIC_RELEASE);
  return id;
}

/* A processor of the package may run a thread that started before recording began and makes no call that would
 * publish which thread it is. */
static void name_thread(uint64_t index) {
  uint64_t now = __atomic_load_n(&qzi_session.processor_base[index].now, __ATOMIC_RELAXED);
  if (QZ_NOW_STATE(now) != QZ_STATE_USEFUL || QZ_NOW_THREAD_PLUS_1(now)) return;
  struct qzi_publisher *p;
  struct qzi_pub_thread *thread = qzi_sched_current(&p);
  if (thread && qzi_publishing()) qzi_pub_run(p, thread);
}

/* Called if a snapshot has been taken since the last crumb of the actor's chain. Not inlined, and cold: it happens
 * once per snapshot. */
__attribute__((noinline, cold)) uint64_t qzi_path_crumb(struct qz_path *actor) {
  uint64_t index = (uint64_t)((char *)actor - qzi_session.path_base) / qzi_session.path_stride, now = qzi_path_time();
  if (qzi_publishers_kind == QZ_PUBLISHER_THREADLIB) name_thread(index);
  uint64_t id = qzi_path_write(actor, index, actor->word, actor->since, actor->key);
  if (!id) return actor->word;
  actor->since = now;
  actor->key = 0;
  qzi_pub_store(&actor->word, id);
  return id;
}

struct qz_path *qzi_path_actor(uint32_t index) {
  return qzi_session.path_base ? (struct qz_path *)(void *)(qzi_session.path_base + index * qzi_session.path_stride)
                               : NULL;
}

void qzi_path_clock_map(int fd) {
  struct stat state;
  int seals = fcntl(fd, F_GET_SEALS);
  if (fstat(fd, &state) || state.st_size < (off_t)QZ_CLOCK_PAGE_BYTES || seals < 0 || !(seals & F_SEAL_SHRINK)) return;
  /* The page of an earlier sampler is replaced at the same address, because another thread may be reading it. */
  void *place = qzi_path_clock == &stopped ? NULL : (void *)(uintptr_t)qzi_path_clock;
  void *page = mmap(place, QZ_CLOCK_PAGE_BYTES, PROT_READ, MAP_SHARED | (place ? MAP_FIXED : 0), fd, 0);
  if (page != MAP_FAILED) __atomic_store_n(&qzi_path_clock, page, __ATOMIC_RELEASE);
}
