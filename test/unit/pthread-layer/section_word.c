/* The words by which OpenMP's libraries lock critical sections: found in GCC's, by name and without one, and not taken
 * for known where a library works in another way. */
#include "pthread-layer/src/interpose/section_word.h"
#include <stdatomic.h>
#include <string.h>
#include "test/support/check.h"

void qzl_lock_words(_Atomic uint32_t *lock) {
  while (atomic_exchange(lock, 1)) {}
}
void qzl_unlock_words(_Atomic uint32_t *lock) { atomic_store(lock, 0); }

void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void *section);
void GOMP_critical_name_end(void *section);

/* As LLVM's: a tag and the thread's number, or the address of a lock. */
static void tagged_start(void *section) { *(int *)section = 3 << 8; }
static void tagged_end(void *section) { *(int *)section = 0; }
static void made_start(void *section) { memset(section, 1, 8); }
static void made_end(void *section) { (void)section; }
static void other_start(void) {}
static void other_end(void) {}

static void test_named(void) {
  CHECK(qzl_word_of_named(GOMP_critical_name_start, GOMP_critical_name_end) == QZL_OWN_WORD);
  CHECK(qzl_word_of_named(tagged_start, tagged_end) == QZL_NO_WORD);
  CHECK(qzl_word_of_named(made_start, made_end) == QZL_NO_WORD);

  void *section = NULL;
  int *word = (int *)(void *)&section;
  CHECK(qzl_section_take(word) && *word == 1 && !qzl_section_take(word));
  GOMP_critical_name_end(&section); /* what was taken by its word is let go by the library, */
  CHECK(*word == 0);
  GOMP_critical_name_start(&section); /* and the reverse is known to be taken */
  CHECK(!qzl_section_take(word));
  GOMP_critical_name_end(&section);
}

static void test_unnamed(void) {
  CHECK(qzl_word_of_unnamed(other_start, other_end) == QZL_NO_WORD);
  uint64_t found = qzl_word_of_unnamed(GOMP_critical_start, GOMP_critical_end);
  CHECK(found != 0);
  if (found == QZL_NO_WORD) return; /* its code is another one here */
  int *word = (int *)(uintptr_t)found;
  CHECK(qzl_section_take(word) && *word == 1);
  GOMP_critical_end();
  CHECK(*word == 0);
  GOMP_critical_start();
  CHECK(!qzl_section_take(word));
  CHECK(qzl_word_of_unnamed(GOMP_critical_start, GOMP_critical_end) == 0); /* cannot be tried now */
  GOMP_critical_end();
}

static void test_known(void) {
  static struct qzl_section_words known;
  CHECK(qzl_section_word(&known, 100) == 0);
  qzl_section_word_note(&known, 100, 0);
  CHECK(qzl_section_word(&known, 100) == 0);
  for (uint64_t k = 0; k < QZL_SECTION_LIBRARIES + 1; k++) qzl_section_word_note(&known, 100 + k, QZL_NO_WORD + k % 2);
  qzl_section_word_note(&known, 100, QZL_OWN_WORD);
  CHECK(qzl_section_word(&known, 100) == QZL_NO_WORD);
  CHECK(qzl_section_word(&known, 101) == QZL_OWN_WORD);
  CHECK(qzl_section_word(&known, 100 + QZL_SECTION_LIBRARIES) == 0); /* one too many */
}

int main(void) {
  test_named();
  test_unnamed();
  test_known();
  return 0;
}
