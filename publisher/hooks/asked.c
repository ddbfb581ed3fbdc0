/* Entry and exit of the procedures that a "what if" query names. See asked.h. */
#include "asked.h"

QZI_HOOK static bool is_entry(const struct qz_entry *entry) {
  return !(entry->key & QZ_KEY_OBJECT) && !FIXED(entry) && entry->key != QZ_KEY_MARKER;
}

/* Returns the span state of the running thread if `record` is its record; NULL: its span is not recorded. */
QZI_HOOK static struct qzi_span *span_of(const struct qz_thread *record, struct qzi_publisher **publisher) {
  struct qzi_pub_thread *thread = qzi_sched_current(publisher);
  if (!thread || thread->record != record || !(*publisher)->span) return NULL;
  return qzi_span_of(thread);
}

/* Pushes the marker; returns false if there is no room. */
QZI_HOOK static bool mark(struct qz_thread *record, uint64_t word, struct qz_entry *top) {
  if (QZ_WORD_TOP(word) >= record->limit) {
    struct qzi_pub_thread *thread = qzi_hook_owner(record);
    struct qz_thread *longer = thread ? qzi_pub_lengthen(thread) : NULL;
    if (!longer) return false;
    record = longer;
    word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
    top = TOP(record, word);
  }
  push(record, word, top, QZ_KEY_MARKER, top->sp - 1);
  return true;
}

QZI_HOOK void qzi_asked_entered(struct qz_thread *record, uint64_t key) {
  struct qzi_publisher *publisher;
  struct qzi_span *span = span_of(record, &publisher);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  unsigned bits = qzi_what_if_called(key);
  if (!span || !(bits & ~span->inside)) return;
  if (top->key == key && is_entry(top) && mark(record, word, top))
    qzi_span_enters(publisher, (uint8_t)bits);
  else
    qzi_what_if_missed(bits);
}

/* Marks the procedure on top, if it is asked for. */
QZI_HOOK static void mark_top(struct qz_thread *record) {
  if (__builtin_expect(!qzi_what_if_calls, 1)) return;
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  if (is_entry(top) && qzi_what_if_called(top->key)) mark(record, word, top);
}

QZI_HOOK void qzi_asked_left(struct qz_thread *record) {
  struct qzi_publisher *publisher;
  if (__builtin_expect(!qzi_what_if_calls, 1)) return;
  struct qzi_span *span = span_of(record, &publisher);
  if (!span || !span->called) return;
  const struct qz_entry *entry = TOP(record, __atomic_load_n(&record->word, __ATOMIC_RELAXED));
  unsigned there = 0;
  for (; entry > record->stack; entry--)
    if (is_entry(entry)) there |= qzi_what_if_called(entry->key);
  if (span->called & ~there) qzi_span_leaves(publisher, (uint8_t)(span->called & ~there));
  mark_top(record);
}
