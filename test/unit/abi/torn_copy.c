/* Copies of a stack that another kernel thread changes all the time: every copy that is called consistent must be.
 * Every key contains the key that it was pushed on, so a copy that mixes two moments is detected. */
#include "test/support/fake_session.h"

#include <pthread.h>
#include "abi/session_read.h"

#define LIMIT  64
#define COPIES 300000

static struct fake fake;
static _Atomic int stop;

/* A key: the low half of the key below it, and a number of its own. */
static uint64_t key_on(uint64_t below, uint64_t number) { return (below & 0x7fffffff) << 32 | (number & 0x7fffffff); }

static void *write_all(void *unused) {
  uint64_t number = 1, random = 88172645463325252u, keys[LIMIT];
  uint32_t depth = 0;
  while (!stop) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    if ((depth && random % 2) || depth == LIMIT) {
      fake_pop(&fake, 0);
      depth--;
      if (random % 64 == 0 && depth > 4) { /* entries below the top are rewritten, as when stale ones are dropped */
        struct qz_thread *thread = fake_thread(&fake, 0);
        __atomic_store_n(&thread->word, (thread->word + QZ_WORD_CHANGE) | QZ_WORD_FLUX, __ATOMIC_RELEASE);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        for (uint32_t k = depth - 4; k < depth; k++) {
          keys[k] = key_on(k ? keys[k - 1] : 0, number++);
          __atomic_store_n(&fake_entries(&fake, 0)[k].key, keys[k], __ATOMIC_RELAXED);
        }
        __atomic_store_n(&thread->word, (thread->word + QZ_WORD_CHANGE) & ~QZ_WORD_FLUX, __ATOMIC_RELEASE);
      }
    } else {
      keys[depth] = key_on(depth ? keys[depth - 1] : 0, number++);
      fake_push(&fake, 0, keys[depth]);
      depth++;
    }
  }
  return unused;
}

int main(void) {
  struct qz_session_view view;
  const char *why;
  pthread_t writer;
  fake = fake_make(1, 2, 2, LIMIT);
  fake_create(&fake, 0, 1, NULL, 0x1000, -1);
  CHECK(!qz_session_open(&view, fake.fd, &why));
  CHECK(!pthread_create(&writer, NULL, write_all, NULL));
  uint64_t keys[LIMIT], before[LIMIT];
  uint32_t held = 0;
  unsigned good = 0, torn = 0;
  for (unsigned k = 0; k < COPIES || good < 1000; k++) {
    struct qz_stack_copy copy;
    memcpy(before, keys, sizeof before);
    int consistent = qz_session_copy_stack(&view, qz_session_thread(&view, 0), keys, held, &copy);
    CHECK(!copy.invalid && copy.depth <= LIMIT && copy.common <= copy.depth && copy.common <= held);
    CHECK(!memcmp(before, keys, copy.common * sizeof *keys));
    held = copy.depth;
    if (!consistent) {
      torn++;
      continue;
    }
    good++;
    for (uint32_t d = 0; d < copy.depth; d++) CHECK(keys[d] >> 32 == (d ? keys[d - 1] & 0x7fffffff : 0));
  }
  stop = 1;
  pthread_join(writer, NULL);
  printf("%u consistent, %u torn\n", good, torn);
  qz_session_close(&view);
  fake_free(&fake);
  return 0;
}
