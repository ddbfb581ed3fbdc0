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
bool qzl_path_is_awaited(uint32_t index);
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
/* The same as qzl_path_lets_go for an object that is no lock. Any thread, any signal handler. */
static inline void qzl_lets_go(const void *address) {
  struct qzl_thread *me = qzl_self;
  if (qzi_publishing() && me) qzl_path_lets_go(me, qzl_known(address));
}

/* Work and span: memory for what goes through objects, false: none; the thread has an actor from now on, in the strand
 * that began when its processor time was that (0: it begins). */
bool qzl_span_make(void);
void qzl_span_connect(struct qzl_thread *me, uint64_t used_ns);

#pragma GCC visibility pop
#endif
