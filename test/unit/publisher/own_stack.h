/* The profile stacks of the program's own threads, and what they should be: for tests that attach to themselves.
 *
 * Owns:    the stack that is expected. Writer, reader: the one program that includes this.
 */
#ifndef TEST_OWN_STACK_H
#define TEST_OWN_STACK_H
#include <quartz/quartz.h>
#include "test/support/attach.h"
#include "own_hooked.h"

enum { MOST = 48 };
static uint64_t expected[MOST];

static inline uint64_t address(void *function) { return (uint64_t)(uintptr_t)function; }

/* Threads reach a known state: with one processor, all that can run do so. */
static inline void let_them(void) {
  for (int k = 0; k < 8; k++) qz_yield();
}

/* Waits until main's record is begun: from then on threads that it creates begin with its procedures. */
static inline void begin_main(void) {
  while (!qz_session_thread_high(&view) || !qz_session_thread(&view, 0)->serial) hooked_inner();
}

static inline void stack_is(const char *thread, int count, const uint64_t *expected) {
  static uint64_t keys[4096];
  struct qz_stack_copy copy;
  CHECK(qz_session_copy_stack(&view, qz_session_thread(&view, thread_index(thread)), keys, 0, &copy) && !copy.invalid);
  /* what was entered before publishing began is not on it; the start routine of main is main */
  CHECK((int)copy.depth == count);
  for (int k = 0; k < count; k++) CHECK(keys[k] == expected[k]);
}

static inline int is_long(const char *thread) {
  return (const unsigned char *)qz_session_thread(&view, thread_index(thread)) >= view.long_low;
}

int main(int argc, char **argv);
/* The stack of main, or of a thread that it created: procedures that call each other `depth` deep. */
static inline int procedures(void *start, int depth) {
  int count = 0;
  expected[count++] = address((void *)main);
  if (start != (void *)main) expected[count++] = address(start);
  for (int k = 0; k < depth; k++) expected[count++] = address(k % 2 ? (void *)hooked_odd : (void *)hooked_even);
  return count;
}

#endif
