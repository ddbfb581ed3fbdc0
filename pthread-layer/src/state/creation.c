/* Copies the top of the creating thread's stack into the session: see creation.h.
 *
 * A copy, for the thread goes on at once, and the sampler reads later. Logical call paths through creation are those of
 * Tallent & Mellor-Crummey 2009, section 4.
 */
#include "creation.h"
#include "publisher/private.h"

/* Procedures that hooks have pushed stand above those that the record began with. */
static bool has_hooks(const struct qz_thread *record) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  uint32_t depth = QZ_WORD_DEPTH(word), procedures = 0, most = record->base + (record->start != 0);
  for (uint32_t k = 0; k < depth; k++) procedures += !(record->stack[k].key & QZ_KEY_OBJECT);
  return procedures > most;
}

/* Word by word, where a sanitizer would see a stack overrun in what belongs to other frames. */
__attribute__((no_sanitize("address", "thread"))) static void copy_stack(struct qz_creation *to, uint64_t sp,
                                                                         uint64_t bytes) {
  const volatile uint64_t *from = (const volatile uint64_t *)(uintptr_t)sp;
  for (uint64_t k = 0; k < bytes / sizeof *from; k++) to->stack[k] = from[k];
  to->bytes = bytes;
}

static void note(const struct qzl_thread *me, uint32_t child, uint64_t child_serial, const struct qz_frame *from) {
  struct qz_session *head = qzi_session.head;
  const struct qz_thread *mine = me->thread.record;
  uint64_t low = me->thread.stack_low, high = me->thread.stack_high, bytes = high - from->sp;
  if (!qzi_session.creations || !mine || from->sp < low || from->sp >= high) return;
  if (bytes > QZ_CREATION_BYTES) bytes = QZ_CREATION_BYTES;
  uint64_t number = __atomic_add_fetch(&head->creations, 1, __ATOMIC_RELAXED);
  struct qz_creation *at = &qzi_session.creations[number % QZ_CREATIONS];
  __atomic_store_n(&at->sequence, 2 * number - 1, __ATOMIC_RELAXED);
  qzi_pub_fence();
  at->creator = me->thread.index_plus_1 - 1;
  at->child = child;
  at->creator_serial = mine->serial;
  at->child_serial = child_serial;
  at->from = *from;
  copy_stack(at, from->sp, bytes & ~UINT64_C(7));
  __atomic_store_n(&at->sequence, 2 * number, __ATOMIC_RELEASE);
}

void qzl_creation_note(const struct qzl_thread *me, const struct qzl_thread *child, const struct qz_frame *from) {
  const struct qz_thread *mine = me->thread.record, *its = child->thread.record;
  if (mine && its && !has_hooks(mine)) note(me, child->thread.index_plus_1 - 1, its->serial, from);
}

void qzl_creation_futex(const struct qzl_thread *me, uint32_t index, const struct qz_frame *from) {
  if (!(index & QZI_PUB_SHARED)) note(me, index, 0, from);
}
