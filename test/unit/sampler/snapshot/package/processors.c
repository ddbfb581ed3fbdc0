/* One snapshot of the thread package's processors, in states that a test sets: what is observed of each, and what is
 * left out and counted as invalid. */
#include "test/support/fake_session.h"
#include "abi/profile_read.h"
#include "sampler/snapshot/snapshot.h"

#define MS UINT64_C(1000000)
enum { PROCESSORS = 3, THREADS = 16, MAIN = 0x1000, LOCK = 1, OTHER = 2 };

static struct fake fake;
static uint64_t lock_key, other_key;

static void runs(uint32_t p, unsigned state, uint32_t thread) { fake_run(&fake, p, state, (int)thread); }
/* Thread 0 spins on processor 0 for the lock; its stack ends with that key. */
static void spins(uint32_t object, uint64_t top) {
  runs(0, QZ_STATE_SPINNING, 0);
  fake_state(&fake, 0, QZ_STATE_SPINNING, object);
  if (top) fake_push(&fake, 0, top);
}

static void at_lock(void) { spins(LOCK, lock_key); }
static void at_other(void) { spins(LOCK, other_key); }
static void in_procedure(void) { spins(LOCK, 0x5000); }
static void for_none(void) { spins(0, lock_key); }
static void with_empty_stack(void) {
  fake_pop(&fake, 0);
  spins(LOCK, 0);
}
static void useful_at_lock(void) {
  spins(LOCK, lock_key);
  runs(0, QZ_STATE_USEFUL, 0);
}
static void two(void) {
  runs(0, QZ_STATE_USEFUL, 0);
  runs(1, QZ_STATE_USEFUL, 1);
}
static void waiting_threads(void) {
  two();
  fake_processor(&fake, 0)->enqueued = 3;
  fake_processor(&fake, 2)->enqueued = 4; /* one that is idle has a queue, too */
  fake_processor(&fake, 2)->dequeued = 2;
  fake.head->unplaced = 1;
}
static void more_taken_than_put(void) {
  two();
  fake_processor(&fake, 0)->enqueued = 1;
  fake_processor(&fake, 1)->dequeued = 5;
}
static void more_than_there_are(void) {
  two();
  fake_processor(&fake, 0)->enqueued = THREADS + 1;
}
static void as_many_as_there_are(void) {
  two();
  fake_processor(&fake, 0)->enqueued = THREADS;
}
static void no_such_thread(void) { runs(0, QZ_STATE_USEFUL, 1000); }
static void ended_thread(void) {
  runs(0, QZ_STATE_USEFUL, 0);
  fake_thread(&fake, 0)->serial = 0;
}
static void no_such_state(void) {
  two();
  runs(2, 15, 0);
}
static void no_such_depth(void) {
  runs(0, QZ_STATE_USEFUL, 0);
  fake_thread(&fake, 0)->word = 65535;
}
static void changing(void) {
  runs(0, QZ_STATE_USEFUL, 0);
  fake_thread(&fake, 0)->word |= QZ_WORD_FLUX;
}
static void overhead_of_no_thread(void) { fake_run(&fake, 1, QZ_STATE_WAKING, -1); }

static const struct {
  const char *what;
  void (*set)(void);
  uint8_t state, waiting, torn, kernel; /* of processor 0's thread, or the only one that does anything */
  uint16_t busy, spinning;
  uint32_t runnable;
  uint64_t invalid;
} cases[] = {
  {"spins for the lock on top", at_lock, QZ_STATE_SPINNING, 1, 0, 0, 0, 1, 1, 0},
  {"another one is on top", at_other, QZ_STATE_SPINNING, 0, 0, 0, 0, 1, 1, 0},
  {"a procedure is on top", in_procedure, QZ_STATE_SPINNING, 0, 0, 0, 0, 1, 1, 0},
  {"it does not say for what", for_none, QZ_STATE_SPINNING, 0, 0, 0, 0, 1, 1, 0},
  {"nothing is on the stack", with_empty_stack, QZ_STATE_SPINNING, 0, 0, 0, 0, 1, 1, 0},
  {"works, with the lock on top", useful_at_lock, QZ_STATE_USEFUL, 0, 0, 0, 1, 0, 1, 0},
  {"two processors", two, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2, 0},
  {"ready threads, in queues and in none", waiting_threads, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2 + 3 + 2 + 1, 0},
  {"counters read at different times", more_taken_than_put, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2, 0},
  {"more ready threads than records", more_than_there_are, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2, 1},
  {"as many as records", as_many_as_there_are, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2 + THREADS, 0},
  {"a thread without a record", no_such_thread, QZ_STATE_USEFUL, 0, 0, 0, 1, 0, 0, 1},
  {"a thread that has ended", ended_thread, QZ_STATE_USEFUL, 0, 0, 0, 1, 0, 0, 0},
  {"a state that is none counts as idle", no_such_state, QZ_STATE_USEFUL, 0, 0, 0, 2, 0, 2, 1},
  {"a stack of no possible depth", no_such_depth, QZ_STATE_USEFUL, 0, 0, 0, 1, 0, 1, 1},
  {"a stack that is being changed all the time", changing, QZ_STATE_USEFUL, 0, 1, 0, 1, 0, 1, 0},
  {"wakes others", overhead_of_no_thread, QZ_STATE_OVERHEAD, 0, 0, QZ_KERNEL_LOCK, 1, 0, 0, 0},
};

int main(void) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    static struct qzi_file file;
    static struct qzi_sampler sampler;
    struct qz_session_view view;
    const char *clause = NULL;
    char why[256], path[] = "/tmp/quartz-processors-XXXXXX";
    close(mkstemp(path));
    fake = fake_make(PROCESSORS, THREADS, 64, 16);
    lock_key = fake_make_object(&fake, LOCK, QZ_KIND_MUTEX, NULL, 0x6000);
    other_key = fake_make_object(&fake, OTHER, QZ_KIND_MUTEX, NULL, 0x7000);
    for (uint32_t t = 0; t < 2; t++) {
      fake_create(&fake, t, t + 1, NULL, MAIN, -1);
      fake_push(&fake, t, MAIN);
    }
    CHECK(!qz_session_open(&view, fake.fd, &clause));
    CHECK(!qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
    CHECK(!qzi_sampler_open(&sampler, &view, &file, 1000) && !qzi_sampler_base(&sampler, 1));
    cases[k].set();
    CHECK(!qzi_snapshot(&sampler, 1000 + MS));

    const struct qz_tuple *its = &file.tuples[0];
    const struct qz_profile *head = file.head;
    if (its->state != cases[k].state || its->waiting != cases[k].waiting || its->torn != cases[k].torn ||
        its->kernel != cases[k].kernel || its->busy != cases[k].busy || its->spinning != cases[k].spinning ||
        its->runnable != cases[k].runnable || head->invalid != cases[k].invalid) {
      fprintf(stderr, "%s: state %u, waiting %u, torn %u, kernel %u, busy %u, spinning %u, runnable %u, invalid %llu\n",
              cases[k].what, its->state, its->waiting, its->torn, its->kernel, its->busy, its->spinning, its->runnable,
              (unsigned long long)head->invalid);
      return 1;
    }
    CHECK(its->count == 1 && its->ns == MS && head->elapsed_ns == MS && head->snapshots == 1);
    CHECK(qzi_file_count(&file, QZ_SECTION_TUPLES) == cases[k].busy + (unsigned)cases[k].spinning);
    CHECK(head->torn_accepted == cases[k].torn && head->visits == PROCESSORS);
    qzi_sampler_close(&sampler);
    qzi_file_close(&file);
    qz_session_close(&view);
    fake_free(&fake);
    unlink(path);
  }
  return 0;
}
