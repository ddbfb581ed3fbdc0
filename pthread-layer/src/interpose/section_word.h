/* The word by which GCC's OpenMP locks a critical section: 0 if it is free, 1 if it is taken, another number if threads
 * sleep until it is free (libgomp/config/linux/mutex.h). The layer takes a free section by that word, as the library
 * does, and so knows whether it was taken before, without a word of its own that all threads write. Whether a library
 * works in this way is tried out once, by its functions themselves: others, as LLVM's, do not.
 *
 * Owns:    what is known of each library, in static tables of the functions that the layer intercepts.
 * Writer and reader: the threads that call.
 */
#ifndef QZL_SECTION_WORD_H
#define QZL_SECTION_WORD_H

#include <stdbool.h>
#include <stdint.h>

#define QZL_SECTION_LIBRARIES 4u /* more of them in one program: of those it is not known */
#define QZL_NO_WORD           UINT64_C(1)
#define QZL_OWN_WORD          UINT64_C(2) /* the beginning of the section's variable */

/* Of one function that begins sections, in each library that has it. All zero: nothing is known yet. */
struct qzl_section_words {
  struct {
    _Atomic uint64_t start; /* the library's function, stored last; 0: none yet */
    _Atomic uint64_t word;  /* its address, or one of the above */
  } of[QZL_SECTION_LIBRARIES];
  _Atomic uint32_t lock; /* of those who add one */
};

#pragma GCC visibility push(hidden)
/* Finds out, by locking and unlocking: of sections that the program names by a variable, and of those without one. The
 * words, which are 0 where this could not be tried now. Thread-safe; not signal-safe. */
uint64_t qzl_word_of_named(void (*start)(void *), void (*end)(void *));
uint64_t qzl_word_of_unnamed(void (*start)(void), void (*end)(void));
/* Remembers it. */
void qzl_section_word_note(struct qzl_section_words *known, uint64_t start, uint64_t word);
#pragma GCC visibility pop

/* What is known of the library with this function; 0: nothing yet. */
static inline uint64_t qzl_section_word(struct qzl_section_words *known, uint64_t start) {
  for (unsigned k = 0; k < QZL_SECTION_LIBRARIES; k++)
    if (__atomic_load_n(&known->of[k].start, __ATOMIC_ACQUIRE) == start)
      return __atomic_load_n(&known->of[k].word, __ATOMIC_RELAXED);
  return 0;
}
/* Takes the section, if it is free. */
static inline bool qzl_section_take(int *word) {
  int free = 0;
  return !__atomic_load_n(word, __ATOMIC_RELAXED) &&
         __atomic_compare_exchange_n(word, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

#endif
