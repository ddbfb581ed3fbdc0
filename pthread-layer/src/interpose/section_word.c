/* Finds the words of critical sections. See section_word.h. */
#include "section_word.h"
#include <string.h>
#include "pthread-layer/src/state/path.h"

static int read_word(const int *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

uint64_t qzl_word_of_named(void (*start)(void *), void (*end)(void *)) {
  static const uint64_t free[8], taken[8] = {1}; /* the word is the lower half; LLVM's variables have 32 bytes */
  uint64_t variable[8] = {0};
  start(variable);
  bool locks = !memcmp(variable, taken, sizeof taken);
  end(variable);
  return locks && !memcmp(variable, free, sizeof free) ? QZL_OWN_WORD : QZL_NO_WORD;
}

/* The operand of the instruction that takes the lock of sections without a name, the first thing that the function
 * does: 0 becomes 1. NULL: its code is another one. */
static int *operand_of(const unsigned char *code) {
#if defined(__x86_64__)
  static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, from[] = {0x31, 0xc0}, to[] = {0xba, 1, 0, 0, 0},
                             exchange[] = {0xf0, 0x0f, 0xb1, 0x15}; /* lock cmpxchg %edx, DISTANCE(%rip) */
  int32_t distance;
  if (!memcmp(code, endbr, sizeof endbr)) code += sizeof endbr;
  for (bool zero = false, one = false; !zero || !one;) {
    if (!zero && !memcmp(code, from, sizeof from)) {
      code += sizeof from;
      zero = true;
    } else if (!one && !memcmp(code, to, sizeof to)) {
      code += sizeof to;
      one = true;
    } else
      return NULL;
  }
  if (memcmp(code, exchange, sizeof exchange)) return NULL;
  memcpy(&distance, code + sizeof exchange, sizeof distance);
  return (int *)(uintptr_t)(code + sizeof exchange + sizeof distance + distance);
#else
  (void)code;
  return NULL;
#endif
}

uint64_t qzl_word_of_unnamed(void (*start)(void), void (*end)(void)) {
  const unsigned char *code;
  memcpy(&code, &start, sizeof code);
  int *word = operand_of(code);
  if (!word) return QZL_NO_WORD;
  if (read_word(word)) return 0; /* a thread is in such a section */
  start();
  int held = read_word(word);
  end();
  return held ? (uint64_t)(uintptr_t)word : QZL_NO_WORD;
}

void qzl_section_word_note(struct qzl_section_words *known, uint64_t start, uint64_t word) {
  if (!word) return;
  qzl_lock_words(&known->lock);
  for (unsigned k = 0; k < QZL_SECTION_LIBRARIES; k++) {
    uint64_t its = __atomic_load_n(&known->of[k].start, __ATOMIC_RELAXED);
    if (its == start) break; /* another thread has found it out, too */
    if (its) continue;
    __atomic_store_n(&known->of[k].word, word, __ATOMIC_RELAXED);
    __atomic_store_n(&known->of[k].start, start, __ATOMIC_RELEASE);
    break;
  }
  qzl_unlock_words(&known->lock);
}
