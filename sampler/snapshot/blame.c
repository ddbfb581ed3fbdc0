/* Charges waiters' time to holders. See blame.h. */
#include "blame.h"
#include "lock_holders.h"
#include "thread_look.h"

#define READERS_MOST  64u  /* maximum number of readers of one lock that are blamed in one visit */
#define READERS_LOOKS 256u /* maximum number of threads examined to find them */

/* The k-th of `count` shares of `all`; the shares add up to `all`. */
static inline uint64_t qzi_share(uint64_t all, uint32_t count, uint32_t k) {
  return (uint64_t)((unsigned __int128)all * (k + 1) / count - (unsigned __int128)all * k / count);
}

void qzi_blame(struct qzi_sampler *sampler, uint32_t object, uint32_t stack, uint32_t thread, uint64_t ns) {
  struct qzi_file *file = sampler->file;
  for (;;) {
    uint32_t hash = qzi_hash((uint64_t)stack << 32 | thread, object);
    QZI_TABLE_EACH(&sampler->blame, hash, at) {
      struct qz_blame *found = &file->blame[at - 1];
      if (found->object != object || found->stack != stack || found->thread != thread) continue;
      found->count += found->count < UINT32_MAX;
      found->ns += ns;
      return;
    }
    uint64_t used = qzi_file_count(file, QZ_SECTION_BLAME), capacity = file->head->sections[QZ_SECTION_BLAME].capacity;
    int rest = stack == 0 && thread == 0;
    if (used < (rest ? capacity : capacity - capacity / 4) && !qzi_file_room(file, QZ_SECTION_BLAME, 1) &&
        !qzi_table_add(&sampler->blame, hash, (uint32_t)used + 1)) {
      file->blame[used] = (struct qz_blame){.object = object, .stack = stack, .thread = thread, .count = 1, .ns = ns};
      qzi_file_append(file, QZ_SECTION_BLAME, 1);
      return;
    }
    if (rest) return;
    stack = thread = 0;
  }
}

int qzi_blame_holders(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns) {
  uint32_t at = 0, stack = 0, thread = 0, count = 0;
  (void)lock;
  while (qzi_holders_of(sampler, sampler->holders, index, &at, &stack, &thread)) count++;
  if (!count) qzi_blame(sampler, entity, 0, 0, ns);
  for (uint32_t k = 0; k < count && qzi_holders_of(sampler, sampler->holders, index, &at, &stack, &thread); k++)
    qzi_blame(sampler, entity, stack, thread, qzi_share(ns, count, k));
  return 1;
}

int qzi_blame_readers(struct qzi_sampler *sampler, const struct qz_object *lock, uint32_t index, uint32_t entity,
                      uint64_t ns) {
  uint32_t readers = QZ_LOAD(&lock->owner) || QZ_LOAD(&lock->kind) != QZ_KIND_RWLOCK ? 0 : QZ_LOAD(&lock->readers);
  if (!readers) return 0;
  struct {
    uint32_t node, thread;
  } found[READERS_MOST];
  uint32_t count = 0, high = qz_session_thread_high(sampler->view), looks = high < READERS_LOOKS ? high : READERS_LOOKS;
  for (uint32_t k = 0; k < looks && count < readers && count < READERS_MOST; k++) {
    uint32_t at = (uint32_t)(((uint64_t)sampler->reader_cursor + k) % high), thread;
    uint64_t state = QZ_LOAD(&qz_session_thread(sampler->view, at)->state);
    if (QZ_STATE_OF(state) == QZ_STATE_IDLE) continue;
    uint32_t node = qzi_thread_path(sampler, at, &thread);
    if (!node || !qzi_holders_has(sampler, sampler->holders, node, index, QZ_STATE_OBJECT(state))) continue;
    found[count].node = node;
    found[count++].thread = thread;
  }
  if (looks < high && count < readers) sampler->reader_cursor = (sampler->reader_cursor + looks) % high;
  uint64_t rest = ns;
  for (uint32_t k = 0; k < count; k++) {
    uint64_t part = qzi_share(ns, readers, k);
    qzi_blame(sampler, entity, found[k].node, found[k].thread, part);
    rest -= part;
  }
  if (rest) qzi_blame(sampler, entity, 0, 0, rest);
  return 1;
}
