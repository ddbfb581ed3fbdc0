/* Processor time without samples (switch_time.h): the time that sleeps take, and no more; none for threads that do not
 * sleep. */
#include "sampler/snapshot/samples/switch_time.h"
#include "test/support/check.h"

enum { INTERVAL = 2000000, SLEEP = 15000 };

/* Parts of `part` ns, of all the thread's processor time, that count as switches. */
static uint64_t taken(const struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t part) {
  uint64_t sum = 0;
  for (uint64_t ns = 0; ns < its->ran_ns; ns += part)
    if (qzi_switch_time_take(all, its, part)) sum += part;
  return sum;
}

/* A thread that runs for run_us between switches, shown_us of which samples show, `turns` times. */
static void runs(struct qzi_switch_times *all, struct qzi_switch_time *its, uint64_t run_us, uint64_t shown_us,
                 uint64_t turns) {
  uint64_t run_ns = its->run_ns, dispatches = its->dispatches;
  for (uint64_t turn = 1, shown = 0; turn <= turns; turn++) {
    qzi_switch_time_read(all, its, run_ns + turn * run_us * 1000, dispatches + turn, 0);
    for (; shown + INTERVAL <= turn * shown_us * 1000; shown += INTERVAL) qzi_switch_time_sampled(all, its, 1);
  }
}

static const struct {
  const char *name;
  uint64_t run_us, shown_us, turns, most_ns, expects_us;
} rows[] = {
  {"what samples do not show of short turns", 25, 15, 10000, SLEEP, 100000},
  {"no more than sleeps take", 60, 15, 10000, SLEEP, 150000},
  {"nothing where samples show all", 25, 25, 10000, SLEEP, 0},
  {"nothing where samples show more", 25, 30, 10000, SLEEP, 0},
  {"nothing where a sleep was not measured", 25, 15, 10000, 0, 0},
  {"nothing of threads that hardly ever sleep, whatever is missing", 5000, 2500, 100, SLEEP, 0},
};

int main(void) {
  for (unsigned k = 0; k < sizeof rows / sizeof *rows; k++) {
    struct qzi_switch_times all = {.most_ns = rows[k].most_ns, .interval_ns = INTERVAL};
    struct qzi_switch_time its = {0};
    qzi_switch_time_read(&all, &its, 0, 0, 0);
    runs(&all, &its, rows[k].run_us, rows[k].shown_us, rows[k].turns);
    uint64_t us = taken(&all, &its, 500000) / 1000, most = rows[k].expects_us, least = most > 2500 ? most - 2500 : 0;
    if (us < least || us > most) printf("%s: %llu us\n", rows[k].name, (unsigned long long)us);
    CHECK(us >= least && us <= most);
  }
  /* Two threads share one time for a switch: the one with half of all switches gets half. */
  struct qzi_switch_times all = {.most_ns = SLEEP, .interval_ns = INTERVAL};
  struct qzi_switch_time one = {0}, other = {0};
  runs(&all, &one, 25, 25, 10000);
  runs(&all, &other, 25, 5, 10000);
  uint64_t us = taken(&all, &one, 500000) / 1000;
  CHECK(us >= 97500 && us <= 100000);
  us = taken(&all, &other, 500000) / 1000;
  CHECK(us >= 97500 && us <= 100000);
  /* What ran outside of the recording is not part of it, nor is the past of an attached thread. */
  struct qzi_switch_time attached = {0};
  qzi_switch_time_read(&all, &attached, 70000000, 5000, 1);
  CHECK(attached.ran_ns == 0 && attached.switched == 0);
  qzi_switch_time_read(&all, &attached, 70025000, 5001, 0);
  CHECK(attached.ran_ns == 25000 && attached.switched == 1);
  qzi_switch_time_read(&all, &attached, 90000000, 6000, 1);
  CHECK(attached.ran_ns == 25000 && attached.switched == 1);
  return 0;
}
