/* Cost of a snapshot: bench_snapshot_cost [PROCESSORS DEPTH [CHANGES]]. JSON lines, ns for one snapshot, by processors,
 * stack depth, and what changes between two snapshots:
 *
 *     still   nothing: every stack is as it was (a long loop in one procedure)
 *     leaf    the innermost four procedures of each stack (what call-heavy code looks like at 10 kHz)
 *     all     the whole stack (another thread runs)
 *
 * With CHANGES also `still_timeline` and `all_timeline`: the same where slices of threads are kept (--timeline).
 *
 * One kernel thread changes the session between snapshots, outside the time taken; so cache misses on lines that
 * another CPU has just written are not in these figures, but those on lines that this one wrote are cheap. `writer` has
 * a second kernel thread write to all stacks all the time, where there is a second CPU.
 */
#include <pthread.h>
#include <sched.h>
#include "test/support/fake_session.h"
#include "sampler/snapshot/snapshot.h"
#include "sampler/util/clock.h"

#define ROUNDS 20000

static struct fake fake;
static uint32_t processors, depth;
static const char *only; /* of the changes, those alone; NULL: all */
static _Atomic int stop;

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* The stacks of each thread come from a program of 64 procedures; `variant` selects the path through it. */
static void rewrite(uint32_t thread, uint32_t from, uint32_t variant) {
  for (uint32_t d = depth; d > from; d--) fake_pop(&fake, thread);
  for (uint32_t d = from; d < depth; d++)
    fake_push(&fake, thread, 0x10000 + 64 * ((d * 5 + variant * (d >= from)) % 64));
}

static void *write_all(void *unused) {
  for (uint32_t k = 0; !stop; k++)
    for (uint32_t t = 0; t < processors; t++) rewrite(t, depth > 4 ? depth - 4 : 0, k % 8);
  return unused;
}

static void measure(const char *what, uint32_t from, int writer, int timeline) {
  static uint64_t took[ROUNDS];
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qz_session_view view;
  const char *clause;
  char why[200], path[] = "/tmp/quartz-bench-XXXXXX";
  pthread_t thread;
  if (only && strcmp(only, what)) return;
  close(mkstemp(path));
  CHECK(!qz_session_open(&view, fake.fd, &clause) &&
        !qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  uint64_t now = qzi_clock_ns();
  CHECK(!qzi_sampler_open(&sampler, &view, &file, now) && !qzi_sampler_base(&sampler, 1));
  if (timeline) CHECK(!qzi_slices_open(&sampler.slices, &file));
  stop = 0;
  if (writer) CHECK(!pthread_create(&thread, NULL, write_all, NULL));
  uint64_t base = qzi_clock_ns();
  for (unsigned k = 0; k < 1000; k++) qzi_clock_ns();
  uint64_t clock_cost = (qzi_clock_ns() - base) / 1000;
  for (unsigned k = 0; k < ROUNDS; k++) {
    for (uint32_t t = 0; !writer && from < depth && t < processors; t++) rewrite(t, from, (k * 7 + t) % 8);
    uint64_t begun = qzi_clock_ns();
    qzi_snapshot(&sampler, begun);
    took[k] = qzi_clock_ns() - begun - clock_cost;
  }
  stop = 1;
  if (writer) pthread_join(thread, NULL);
  qsort(took + ROUNDS / 4, ROUNDS - ROUNDS / 4, sizeof *took,
        by_value); /* without the first: there, everything is new */
  const uint64_t *sorted = took + ROUNDS / 4;
  size_t count = ROUNDS - ROUNDS / 4;
  printf("{\"bench\":\"snapshot\",\"processors\":%u,\"depth\":%u,\"changes\":\"%s\",\"median_ns\":%llu,\"p90_ns\":%llu,"
         "\"p99_ns\":%llu,\"torn_retries\":%llu,\"tuples\":%llu}\n",
         processors, depth, what, (unsigned long long)sorted[count / 2], (unsigned long long)sorted[count * 9 / 10],
         (unsigned long long)sorted[count * 99 / 100], (unsigned long long)file.head->torn_retries,
         (unsigned long long)file.head->sections[QZ_SECTION_TUPLES].count);
  fflush(stdout);
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  qz_session_close(&view);
  unlink(path);
}

static void session(uint32_t p, uint32_t d) {
  processors = p;
  depth = d;
  fake = fake_make(p, p, 2, 64);
  for (uint32_t t = 0; t < p; t++) {
    fake_create(&fake, t, t + 1, "worker", 0x1000, -1);
    for (uint32_t k = 0; k < d; k++) fake_push(&fake, t, 0x10000 + 64 * (k * 5 % 64));
    fake_run(&fake, t, QZ_STATE_USEFUL, (int)t);
  }
  measure("still", d, 0, 0);
  measure("leaf", d > 4 ? d - 4 : 0, 0, 0);
  measure("all", 0, 0, 0);
  measure("writer", 0, 1, 0);
  if (only) { /* requested by name: with --timeline */
    measure("still_timeline", d, 0, 1);
    measure("all_timeline", 0, 0, 1);
  }
  fake_free(&fake);
}

int main(int argc, char **argv) {
  static const uint32_t standard[][2] = {{1, 8}, {2, 8}, {18, 8}, {18, 32}, {64, 8}, {256, 8}, {256, 32}};
  if (argc == 3 || argc == 4) {
    only = argv[3];
    session((uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]));
    return 0;
  }
  for (unsigned k = 0; k < sizeof standard / sizeof *standard; k++) session(standard[k][0], standard[k][1]);
  return 0;
}
