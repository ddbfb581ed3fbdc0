/* The time path of kernel threads (docs/reference/path.md): what those who let others go on, wait, begin and end call.
 *
 * Owns:    nothing. Writer: path.c. Reader: every file of the layer.
 * Must not: be called while nothing is published, but for qzl_lets_go and qzl_path_ends.
 */
#ifndef QZL_PATH_H
#define QZL_PATH_H

#include "object_table.h"

#pragma GCC visibility push(hidden)

/* The caller is about to let go whoever waits for the object with that record (0: none). */
void qzl_path_lets_go(struct qzl_thread *me, uint32_t index);
/* Whether it is that of an object with a record of its own. */
static inline bool qzl_has_own(uint32_t index) { return __builtin_expect(index && !(index & QZI_PUB_SHARED), 1); }
/* Of words for the kernel's futex: who waits for `from` may be moved, and is then let go at `to`. qzl_path_moved_to:
 * that of a word; 0: none. */
void qzl_path_moves(uint32_t from, uint32_t to);
uint32_t qzl_path_moved_to(uint32_t index);
/* That of these objects at which a chain was left last; 0: none. */
uint32_t qzl_path_youngest(const uint32_t *indices, unsigned count);
/* It has come to a barrier; for struct qzl_wait. */
unsigned qzl_path_arrives(struct qzl_thread *me, uint32_t index);
/* It has passed the barrier at which it came as number `slot`. */
void qzl_path_passed(struct qzl_thread *me, uint32_t index, unsigned slot);
/* It has waited; it has its record and begins to run; it ends; it has waited for the end of `id`. */
void qzl_path_waited(const struct qzl_wait *wait);
void qzl_path_begins(struct qzl_thread *me);
void qzl_path_ends(struct qzl_thread *me);
void qzl_path_joined(struct qzl_thread *me, pthread_t id, uint64_t begin, uint64_t key, uint64_t site);
/* The thread goes on with that chain of the time path, to which it came so, by the object or procedure with that key
 * (0: none). */
void qzl_path_goes_on(struct qzl_thread *me, uint64_t word, unsigned arrival, uint64_t key);
/* For a few words that are copied. */
void qzl_lock_words(_Atomic uint32_t *lock);
void qzl_unlock_words(_Atomic uint32_t *lock);
/* The caller is about to let go whoever waits for the object with that record, for which somebody does.
 * qzl_path_counts: of a semaphore, whose chain has a number in place of a time: no clock has to be read. */
void qzl_path_leaves(struct qzl_thread *me, uint32_t index);
void qzl_path_counts(struct qzl_thread *me, uint32_t index);
static inline bool qzl_path_is_awaited(uint32_t index) {
  return qzl_has_own(index) && __atomic_load_n(&qzi_pub_objects[index].queue, __ATOMIC_RELAXED);
}
/* The same as qzl_path_lets_go for an object that is no lock. Any thread, any signal handler. */
__attribute__((always_inline)) static inline void qzl_lets_go(const void *address, bool is_semaphore) {
  struct qzl_thread *me = qzl_self;
  if (!qzi_publishing() || !me) return;
  uint32_t index = qzl_known(address);
  if (__builtin_expect(!qzl_path_is_awaited(index), 1)) return;
  if (is_semaphore)
    qzl_path_counts(me, index);
  else
    qzl_path_leaves(me, index);
}

/* Somebody has let the thread go, at the object with that key, where the chain stands that it goes on with. */
static inline void qzl_path_takes(struct qzl_thread *me, const struct qz_object *object, unsigned slot, uint64_t key) {
  struct qz_path *actor = me->pub.path;
  uint64_t word = __atomic_load_n(&object->chain[slot].word, __ATOMIC_RELAXED), own = actor->word;
  if (!((word ^ own) & QZ_CHAIN(0, 0xffff, 0)) && word <= own) return; /* its own */
  actor->since = qzi_path_time() | QZ_ARRIVAL_WOKEN;
  __atomic_signal_fence(__ATOMIC_RELEASE); /* as in qzl_ask_fast */
  actor->key = key;
  qzi_pub_store(&actor->word, word);
}

/* Work and span: memory for what goes through objects, false: none; the thread has an actor from now on, in the strand
 * that began when its processor time was that (0: it begins). */
bool qzl_span_make(void);
void qzl_span_connect(struct qzl_thread *me, uint64_t used_ns);

#pragma GCC visibility pop
#endif
