/* The path's last ten seconds while a program runs: windows cover their time exactly, contain who was on the path and
 * how much is not decided yet, cost no more after ten minutes than after one, and do not change the run's path. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sampler/path/recent.h"
#include "test/support/fake_path.h"

enum { ACTORS = 3 };
#define BASE   UINT64_C(1000)
#define TICK   UINT64_C(610) /* times of the clock page in 10 ms */
#define SECOND UINT64_C(61000)

static struct qzi_file file;

struct run {
  struct qzi_chains chains;
  struct qzi_settled settled;
  struct qzi_recent recent;
};

static void settle_nothing(void *to, const struct qzi_link *link) {
  (void)link;
  (*(unsigned *)to)++;
}

static void see(struct run *run, unsigned k, uint64_t now, int works) {
  struct qzi_observation seen = {now, works ? k + 1 : 0, works ? k + 1 : 0, works ? QZ_STATE_USEFUL : QZ_STATE_IDLE, 0};
  qzi_chains_seen(&run->chains, k, &seen);
}

/* The row of the newest window, after checking all of its contents. */
static const struct qz_recent_path *newest(unsigned *threads) {
  const struct qz_recent_path *best = &file.recent_paths[0];
  uint64_t sum = 0;
  if (qzi_file_count(&file, QZ_SECTION_RECENT_PATHS) > 1 && file.recent_paths[1].number > best->number)
    best = &file.recent_paths[1];
  CHECK(best->number > 0 && best->first + best->count <= qzi_file_count(&file, QZ_SECTION_RECENT_SEGMENTS));
  for (uint64_t k = 0; k < best->count; k++) {
    const struct qz_path_segment *its = &file.recent_segments[best->first + k];
    CHECK(its->start_ns == best->start_ns + sum && its->ns > 0 && its->thread <= ACTORS);
    if (k && its->thread != its[-1].thread) ++*threads;
    sum += its->ns;
  }
  CHECK(sum == best->ns);
  return best;
}

/* The sums of the path until now: all of the time, and those of each thread. */
static void sums_until(uint64_t now, uint64_t by[ACTORS + 1]) {
  uint64_t sum = 0;
  memset(by, 0, (ACTORS + 1) * sizeof *by);
  for (uint64_t k = 0; k < qzi_file_count(&file, QZ_SECTION_ON_PATH); k++) {
    CHECK(file.on_path[k].thread <= ACTORS);
    by[file.on_path[k].thread] += file.on_path[k].ns;
    sum += file.on_path[k].ns;
  }
  CHECK(sum == now << QZ_PATH_TIME_SHIFT);
}

/* Two take turns, a second each; the third does nothing. */
static void turns(void) {
  static struct run run;
  unsigned settled = 0;
  make_session(ACTORS);
  CHECK(!qzi_chains_open(&run.chains, &view, qz_session_path, BASE, settle_nothing, &settled));
  qzi_settled_open(&run.settled, NULL);
  uint64_t after_a_minute = 0, now = 0;
  for (unsigned second = 0; second < 600; second++) {
    unsigned works = second % 2;
    for (unsigned k = 0; k < 100; k++) {
      now += TICK;
      see(&run, works, now, 1);
      see(&run, 1 - works, now, 0);
      see(&run, 2, now, 0);
      qzi_chains_read(&run.chains, ACTORS, now, NULL);
      clock_now = QZ_CHAIN(BASE + now, 0, 0);
      if (k == 49) { /* in the middle of a turn */
        run.chains.now = now;
        qzi_recent_write(&run.recent, &run.chains, &run.settled, &file, now << QZ_PATH_TIME_SHIFT);
        uint64_t by[ACTORS + 1];
        sums_until(now, by);
        if (second < 20) continue;
        CHECK(by[3] == 0 && by[1] > by[2] * 9 / 10 && by[2] > by[1] * 9 / 10);
        unsigned threads = 0;
        const struct qz_recent_path *its = newest(&threads);
        CHECK(its->ns == (UINT64_C(10000000000) >> QZ_PATH_TIME_SHIFT) << QZ_PATH_TIME_SHIFT);
        CHECK(its->start_ns + its->ns == now << QZ_PATH_TIME_SHIFT);
        CHECK(threads == 10); /* hand-overs: one a second */
        CHECK(its->undecided_ns == 0 && its->cut_ns == 0);
        if (second == 60) after_a_minute = run.recent.links;
        if (second > 60) CHECK(run.recent.links <= after_a_minute + 1);
      }
    }
    goes_on(1 - works, hands_on(works), 0);
  }
  CHECK(settled == 0); /* nothing of the run's path was reported, and all of it still exists */
  run.settled.in_order_only = 1;
  run.chains.settle = qzi_settle;
  run.chains.to = &run.settled;
  qzi_chains_read(&run.chains, ACTORS, now, NULL);
  qzi_chains_end(&run.chains);
  CHECK(run.settled.time == now && run.settled.cut == 0);
  qzi_chains_close(&run.chains);
  qzi_settled_free(&run.settled);
  qzi_recent_free(&run.recent);
}

/* One thread releases two at 3 s, which are both at work until 5 s: those 2 s are not decided, until one of them does
 * nothing any more; then the sums show them for the other one. */
static void undecided(void) {
  static struct run run;
  unsigned settled = 0, threads = 0;
  make_session(ACTORS);
  CHECK(!qzi_chains_open(&run.chains, &view, qz_session_path, BASE, settle_nothing, &settled));
  qzi_settled_open(&run.settled, NULL);
  uint64_t now = 0;
  for (unsigned k = 1; k <= 600; k++) {
    now += TICK;
    for (unsigned a = 0; a < ACTORS; a++) see(&run, a, now, k <= 300 ? a == 0 : k <= 500 ? a != 0 : a == 1);
    qzi_chains_read(&run.chains, ACTORS, now, NULL);
    clock_now = QZ_CHAIN(BASE + now, 0, 0);
    if (k == 300) {
      uint64_t word = hands_on(0);
      goes_on(1, word, 0);
      goes_on(2, word, 0);
    }
    if (k != 500 && k != 600) continue;
    qzi_recent_write(&run.recent, &run.chains, &run.settled, &file, now << QZ_PATH_TIME_SHIFT);
    const struct qz_recent_path *its = newest(&threads);
    CHECK(its->start_ns == 0 && its->ns == now << QZ_PATH_TIME_SHIFT);
    CHECK(its->undecided_ns == (k == 500 ? 2 * SECOND << QZ_PATH_TIME_SHIFT : 0));
    uint64_t by[ACTORS + 1];
    sums_until(now, by);
    CHECK(by[1] == 3 * SECOND << QZ_PATH_TIME_SHIFT);
    if (k == 600) CHECK(by[2] == 3 * SECOND << QZ_PATH_TIME_SHIFT && by[3] == 0);
  }
  qzi_chains_close(&run.chains);
  qzi_settled_free(&run.settled);
  qzi_recent_free(&run.recent);
}

static void in_a_file(void (*what)(void)) {
  char name[64], why[200];
  snprintf(name, sizeof name, "/tmp/quartz-recent-%ld.quartz", (long)getpid());
  struct qzi_replaceable may = {0};
  CHECK(!qzi_file_create(&file, name, &may, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  what();
  unlink(file.path);
  qzi_file_close(&file);
}

int main(void) {
  in_a_file(turns);
  in_a_file(undecided);
  return 0;
}
