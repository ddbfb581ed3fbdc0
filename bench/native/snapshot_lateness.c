/* How late snapshots are if the sampler has a CPU of its own: bench_snapshot_lateness PROCESSORS DEPTH RATE SECONDS. A
 * synthetic session of that many processors, all busy; the sampler's own pacing and snapshots, spinning on the last
 * CPU. Prints the share of due rounds that began within 10 us (skipped intervals count as late), the lateness in us,
 * and the cost of a snapshot. */
#include <sched.h>
#include "test/support/fake_session.h"
#include "sampler/recording/pacing.h"
#include "sampler/snapshot/snapshot.h"
#include "sampler/util/clock.h"

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

int main(int count, char **arguments) {
  if (count != 5) return fprintf(stderr, "usage: bench_snapshot_lateness PROCESSORS DEPTH RATE SECONDS\n"), 2;
  uint32_t processors = (uint32_t)atoi(arguments[1]), depth = (uint32_t)atoi(arguments[2]);
  uint64_t rate = (uint64_t)atoi(arguments[3]), end_ns = (uint64_t)(atof(arguments[4]) * 1e9);
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qzi_pacing pacing;
  struct qz_session_view view;
  const char *clause;
  char why[200], path[] = "/tmp/quartz-bench-XXXXXX";
  cpu_set_t cpus;
  CHECK(!sched_getaffinity(0, sizeof cpus, &cpus));
  for (int cpu = CPU_SETSIZE - 1, last = -1; cpu >= 0; cpu--) {
    if (last < 0 && CPU_ISSET((size_t)cpu, &cpus))
      last = cpu;
    else
      CPU_CLR((size_t)cpu, &cpus);
  }
  CHECK(!sched_setaffinity(0, sizeof cpus, &cpus));
  struct fake fake = fake_make(processors, processors, 2, 64);
  for (uint32_t t = 0; t < processors; t++) {
    fake_create(&fake, t, t + 1, "worker", 0x1000, -1);
    for (uint32_t k = 0; k < depth; k++) fake_push(&fake, t, 0x10000 + 64 * (k * 5 % 64));
    fake_run(&fake, t, QZ_STATE_USEFUL, (int)t);
  }
  close(mkstemp(path));
  CHECK(!qz_session_open(&view, fake.fd, &clause) &&
        !qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  unlink(path);
  uint64_t begin = qzi_clock_ns(), rounds = 0, room = rate * (end_ns / 1000000000u + 2), prompt = 0;
  uint64_t *late = calloc(room, sizeof *late), *took = calloc(room, sizeof *took);
  _Atomic uint32_t stop = 0;
  CHECK(late && took && !qzi_sampler_open(&sampler, &view, &file, begin) && !qzi_sampler_base(&sampler, 1));
  for (uint32_t k = 0; k < 100; k++) CHECK(!qzi_snapshot(&sampler, qzi_clock_ns())); /* what is new costs once */
  begin = qzi_clock_ns();
  qzi_pacing_start(&pacing, rate * 1000, 1, begin, 1);
  while (rounds < room) {
    uint64_t now = qzi_pacing_wait(&pacing, &stop);
    if (now - begin > end_ns) break;
    for (uint32_t t = 0; t < processors; t++) { /* the innermost procedure changes, on another CPU's account */
      fake_pop(&fake, t);
      fake_push(&fake, t, 0x10000 + 64 * (rounds % 64));
    }
    late[rounds] = now - pacing.instant_ns;
    uint64_t snapshot = qzi_clock_ns();
    CHECK(!qzi_snapshot(&sampler, snapshot));
    qzi_pacing_next(&pacing, now);
    took[rounds++] = qzi_clock_ns() - snapshot;
  }
  for (uint64_t k = 0; k < rounds; k++) prompt += late[k] <= 10000;
  qsort(late, rounds, sizeof *late, by_value);
  qsort(took, rounds, sizeof *took, by_value);
  printf("prompt_percent %.4f\nlate_p50_us %.3f\nlate_p99_us %.3f\nsnapshot_us %.3f\n",
         100.0 * (double)prompt / (double)(rounds + pacing.skipped), (double)late[rounds / 2] / 1e3,
         (double)late[rounds * 99 / 100] / 1e3, (double)took[rounds / 2] / 1e3);
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  qz_session_close(&view);
  fake_free(&fake);
  return 0;
}
