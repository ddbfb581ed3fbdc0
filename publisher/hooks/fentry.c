/* Slow paths of the hooks in assembly (hooks_x86_64.S, and those that quartz/hooks.h expands in the program).
 *
 * Owns:    nothing; profile_stack.h describes what hooks do to the profile stack.
 * Writer:  the running thread. Reader: the sampler.
 * Must not: be instrumented; in the second stages, use a vector register or call a function that might.
 */
#include "asked.h"

#if defined(__x86_64__)
#include <cpuid.h>

#pragma GCC visibility push(hidden)
uint32_t qzi_xsave_bytes; /* bytes that xsave needs for vector and x87 state; 0: the CPU supports only fxsave */
uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first);
void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first);
uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark);
void qzi_return_third(struct qz_thread *record, uint64_t mark);
#pragma GCC visibility pop

#define COUNTED (UINT64_C(1) << 63) /* bit in the key: the call has been counted */

struct entry {
  uint64_t key, site, mark;
  uint32_t slot; /* index at which the search for the call begins */
};

/* At the hook of a nested function gcc saves the static chain register by a push, so that the saved register is
 * where the return address should be, and the function begins two bytes earlier. Such a call never takes the fast
 * path, since no call is counted under such an address. */
QZI_HOOK static inline struct entry entry_of(const struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark,
                                             uint32_t first) {
  struct entry entry = {key & ~COUNTED, site, mark, first / (uint32_t)sizeof(struct qz_call)};
  if (__builtin_expect(site <= mark || site >= record->high, 1)) return entry; /* not an address on the stack */
  const uint8_t *code = (const uint8_t *)(uintptr_t)entry.key;
  if (code[-2] != 0x41 || code[-1] != 0x52) return entry; /* not preceded by pushq %r10 */
  entry.key -= 2;
  entry.mark += 8;
  entry.site = *(const uint64_t *)(uintptr_t)entry.mark;
  entry.slot = qzi_pub_slot(entry.site, entry.key);
  return entry;
}

/* Second stage: handles the frequent cases, i.e. a call that shares its first slot, or a full stack. This file is
 * compiled for general registers only, so no vector registers need be saved for it. Returns 0 if that was
 * sufficient; 1: the third stage is needed, which calls the scheduler. */
QZI_HOOK uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark,
                                    uint32_t first) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  struct entry entry = entry_of(record, key, site, mark, first);
  if (record == &qzi_attend || LEVEL(top->sp) <= entry.mark || qzi_pub_copied() || asked(entry.key)) return 1;
  if (QZ_WORD_TOP(word) >= record->limit && qzi_session_is_short(record)) return 1;
  if (!(key & COUNTED)) qzi_call_count(record->calls, entry.slot, entry.site, entry.key);
  if (top->key == entry.key) return 0;
  if (QZ_WORD_TOP(word) >= record->limit)
    qzi_pub_store(&record->overflows, record->overflows + 1);
  else
    push(record, word, top, entry.key, entry.mark);
  return 0;
}

QZI_HOOK void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first) {
  if (stop_in_copy()) return;
  if (record == &qzi_attend && !(record = qzi_hook_attend())) return;
  struct entry entry = entry_of(record, key, site, mark, first);
  struct qzi_pub_thread *thread = qzi_hook_owner(record);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (on_stack(thread, entry.mark))
    word = drop_below(record, word, thread, entry.mark + 8); /* two live frames cannot be at the same level */
  qzi_asked_left(record);
  word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (!(key & COUNTED)) qzi_call_count(record->calls, asked_slot(entry.slot, entry.key), entry.site, entry.key);
  if (TOP(record, word)->key == entry.key) return;
  push_within(record, word, entry.key, entry.mark, thread);
  if (asked(entry.key)) qzi_asked_entered(thread ? thread->record : record, entry.key);
}

/* The function returns with objects above it on the stack (locks that it leaves to its caller). */
QZI_HOOK static void leave_below(struct qz_thread *record, uint64_t mark) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  while (end->key & QZ_KEY_OBJECT) end--;
  for (from = end; !FIXED(from) && LEVEL(from->sp) < mark; from--) continue;
  if (from->sp == mark) from--;
  take_out(record, word, from, end, top);
}
/* Second stage of an exit; returns 1 if the third stage is needed. */
QZI_HOOK uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark) {
  const struct qz_entry *top = TOP(record, __atomic_load_n(&record->word, __ATOMIC_RELAXED));
  if (record == &qzi_attend || !FIXED(top) || qzi_what_if_calls) return 1;
  leave_below(record, mark);
  return 0;
}

QZI_HOOK void qzi_return_third(struct qz_thread *record, uint64_t mark) {
  if (record == &qzi_attend) {
    qzi_hook_attend();
    return;
  }
  const struct qzi_pub_thread *thread = qzi_hook_owner(record);
  if (!on_stack(thread, mark)) return;
  uint64_t word = drop_below(record, __atomic_load_n(&record->word, __ATOMIC_RELAXED), thread, mark);
  const struct qz_entry *top = TOP(record, word);
  if (top->sp == mark)
    drop(record, word);
  else if (FIXED(top))
    leave_below(record, mark);
  qzi_asked_left(record);
}

/* Computes the room for the state components that the hooks save: 0 to 2 (x87, SSE, AVX) and 5 to 7 (AVX-512), at
 * any offsets. */
void qzi_hooks_init(void) {
  uint32_t a, b, c, d, bytes = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return;
  bytes = 512 + 64;
  for (uint32_t part = 2; part < 8; part++) {
    if (part == 3 || part == 4) continue;
    __cpuid_count(0xd, part, a, b, c, d);
    if (a && a + b > bytes) bytes = a + b;
  }
  qzi_xsave_bytes = bytes;
}

#else
void qzi_hooks_init(void) {}
#endif
