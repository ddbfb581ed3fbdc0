/* Trees of processes, from events whose results are computed by hand: time by busy CPUs, NPT, the path, which process
 * waits for which. */
#include "sampler/tree/tree.h"
#include "sampler/tree/tree_parts.h"
#include "test/support/check.h"

#define MS 1000000u

static struct qzi_tree *tree;

static void take(enum qzi_task_event_kind kind, unsigned ms, uint32_t tid, int cpu, uint32_t other, const char *name) {
  struct qzi_task_event event = {.kind = kind, .ns = 5 * MS + (uint64_t)ms * MS, .pid = tid, .tid = tid, .cpu = cpu};
  if (kind == QZI_TASK_BEGINS) event.ppid = event.ptid = other;
  if (kind == QZI_TASK_STOPS) event.preempted = (int)other;
  if (name) snprintf(event.name, sizeof event.name, "%s", name);
  qzi_tree_take(tree, &event);
}

static void begins(unsigned ms, uint32_t pid, uint32_t parent) { take(QZI_TASK_BEGINS, ms, pid, 0, parent, NULL); }
static void runs(unsigned ms, uint32_t pid, int cpu) { take(QZI_TASK_RUNS, ms, pid, cpu, 0, NULL); }
static void sleeps(unsigned ms, uint32_t pid) { take(QZI_TASK_STOPS, ms, pid, 0, 0, NULL); }
static void is_taken(unsigned ms, uint32_t pid) { take(QZI_TASK_STOPS, ms, pid, 0, 1, NULL); }
static void executes(unsigned ms, uint32_t pid, const char *name) { take(QZI_TASK_EXECUTES, ms, pid, 0, 0, name); }
static void ends(unsigned ms, uint32_t pid) { take(QZI_TASK_ENDS, ms, pid, 0, 0, NULL); }

static uint32_t kind_of(const char *name, uint32_t forked) {
  for (uint32_t k = 0; k < tree->kind_count; k++)
    if (!strcmp(tree->kinds[k].name, name) && tree->kinds[k].forked == forked) return k;
  CHECK(0 && "there is no such kind");
  return 0;
}

static uint64_t in_all(void) {
  uint64_t all_ns = 0;
  for (unsigned k = 0; k < QZI_TREE_KINDS; k++)
    for (unsigned state = 0; state < QZI_TREE_STATES; state++) all_ns += tree->path.ns[k][state];
  return all_ns;
}

static void check_sums(void) {
  uint64_t elapsed_ns = tree->now_ns - tree->begin_ns, spans_ns = 0, busy_ns = 0;
  for (unsigned b = 0; b <= QZI_TREE_BUSY; b++) {
    uint64_t kinds_ns = 0;
    for (unsigned k = 0; k < tree->kind_count; k++) kinds_ns += tree->kinds[k].by_busy[b];
    CHECK(kinds_ns == b * tree->by_busy[b]);
    busy_ns += tree->by_busy[b];
  }
  for (unsigned k = 0; k < tree->span_count; k++) spans_ns += tree->spans[k].ns;
  CHECK(busy_ns == elapsed_ns && spans_ns == elapsed_ns && in_all() == elapsed_ns);
}

/* make runs cc1 for 10 ms, then two of them at the same time for 20 and 30 ms, then ld for 5 ms. */
static void one_after_the_other(void) {
  tree = qzi_tree_new(100, "make", 2, 5 * MS);
  runs(0, 100, 0);
  executes(0, 100, "make");
  begins(1, 101, 100);
  sleeps(2, 100); /* in wait4 */
  runs(2, 101, 0);
  executes(3, 101, "cc1");
  ends(13, 101);
  runs(13, 100, 0);
  begins(14, 102, 100);
  begins(14, 103, 100);
  sleeps(14, 100);
  runs(14, 102, 0);
  executes(14, 102, "cc1");
  runs(14, 103, 1);
  executes(14, 103, "cc1");
  ends(34, 102);
  runs(34, 100, 0);
  sleeps(34, 100);
  ends(44, 103);
  runs(46, 100, 1); /* it got a CPU late */
  begins(47, 104, 100);
  sleeps(47, 100);
  runs(47, 104, 0);
  executes(48, 104, "ld");
  is_taken(50, 104);
  runs(52, 104, 1);
  ends(55, 104);
  runs(55, 100, 0);
  ends(56, 100);
  ends(90, 77); /* what follows does not matter */

  CHECK(tree->now_ns - tree->begin_ns == 56 * MS && tree->over && tree->numbers == 5);
  CHECK(tree->by_busy[0] == 4 * MS && tree->by_busy[1] == 32 * MS && tree->by_busy[2] == 20 * MS);
  CHECK(tree->starved_ns == 2 * MS);   /* of ld; it was not known that make could run */
  CHECK(tree->held_back_ns == 1 * MS); /* of the first cc1, while make ran */
  const struct qzi_tree_kind *cc1 = &tree->kinds[kind_of("cc1", 0)], *ld = &tree->kinds[kind_of("ld", 0)],
                             *make = &tree->kinds[kind_of("make", 0)], *forked = &tree->kinds[kind_of("make", 1)];
  CHECK(cc1->run_ns == 60 * MS && cc1->by_busy[1] == 20 * MS && cc1->by_busy[2] == 40 * MS && cc1->processes == 3);
  CHECK(cc1->least_ns == 10 * MS && cc1->most_ns == 30 * MS && cc1->ended == 3 && cc1->short_count == 3);
  CHECK(cc1->alone_ns == 20 * MS && ld->alone_ns == 5 * MS &&
        make->alone_ns == 4 * MS); /* for 1 ms its child waited for a CPU */
  CHECK(ld->run_ns == 5 * MS && make->run_ns == 5 * MS && make->processes == 1);
  CHECK(forked->run_ns == 2 * MS && forked->became == 4 && forked->became_ns == 2 * MS);
  /* The path: make, cc1 (10), make, the longer cc1 (30), 2 ms until make had a CPU, make, ld. */
  CHECK(tree->path.ns[kind_of("cc1", 0)][QZI_TREE_RAN] == 40 * MS);
  CHECK(tree->path.ns[kind_of("ld", 0)][QZI_TREE_RAN] == 5 * MS);
  CHECK(tree->path.ns[kind_of("ld", 0)][QZI_TREE_NO_CPU] == 2 * MS);
  CHECK(tree->path.ns[kind_of("make", 0)][QZI_TREE_NO_CPU] == 2 * MS);
  CHECK(tree->path.ns[kind_of("make", 0)][QZI_TREE_ASLEEP] == 0);
  CHECK(tree->family_count == 1 && tree->families[0].children == 4 && tree->families[0].most == 2);
  CHECK(tree->families[0].ns[1] == (12 + 10 + 8) * MS && tree->families[0].ns[2] == 20 * MS);
  CHECK(tree->kept_count == 5 && tree->odd == 0);
  check_sums();
  qzi_tree_free(tree);
}

/* A writes into a pipe at which B waits; C waits for B. */
static void through_a_pipe(void) {
  tree = qzi_tree_new(200, "sh", 2, 5 * MS);
  runs(0, 200, 0);
  begins(0, 201, 200);
  begins(0, 202, 200);
  begins(0, 203, 200);
  sleeps(0, 200);
  runs(0, 201, 0);
  executes(0, 201, "slow");
  runs(0, 202, 1);
  executes(0, 202, "sort");
  sleeps(1, 202);
  runs(1, 203, 1);
  executes(1, 203, "uniq");
  sleeps(2, 203);
  struct qzi_tree_thread *sort = NULL, *uniq = NULL;
  for (struct qzi_tree_thread *its = tree->all; its; its = its->next_all) {
    if (its->tid == 202) sort = its;
    if (its->tid == 203) uniq = its;
  }
  CHECK(sort && uniq);
  if (!sort || !uniq) return;
  sort->wait = uniq->wait = QZI_WAIT_PIPE_READ;
  sort->peers[sort->peer_count++] = 201;
  uniq->peers[uniq->peer_count++] = 202;
  qzi_tree_waited(tree, sort, 3 * MS);
  qzi_tree_waited(tree, uniq, 4 * MS); /* at the end for slow, too */
  CHECK(tree->wait_count == 2);
  for (unsigned k = 0; k < tree->wait_count; k++)
    CHECK(tree->waits[k].holder_pid == 201 && tree->waits[k].idle_ns == tree->waits[k].ns);
  sleeps(40, 201);
  runs(40, 202, 0); /* released by slow */
  ends(50, 202);    /* and its end releases uniq */
  runs(50, 201, 0);
  ends(51, 201);
  runs(52, 203, 0);
  ends(54, 203);
  runs(54, 200, 0);
  ends(55, 200);
  CHECK(tree->path.ns[kind_of("slow", 0)][QZI_TREE_RAN] == 40 * MS);
  CHECK(tree->path.ns[kind_of("sort", 0)][QZI_TREE_RAN] == 10 * MS);
  CHECK(tree->path.ns[kind_of("uniq", 0)][QZI_TREE_NO_CPU] == 2 * MS);
  CHECK(tree->path.ns[kind_of("uniq", 0)][QZI_TREE_RAN] == 2 * MS);
  CHECK(tree->kinds[kind_of("slow", 0)].run_ns == 41 * MS);
  check_sums();
  qzi_tree_free(tree);
}

/* A server that sleeps for something else each time; nothing else runs. What nobody examined is as the short ones. */
static void gaps(void) {
  tree = qzi_tree_new(400, "server", 2, 5 * MS);
  struct qzi_tree_thread *server = qzi_tree_thread_of(tree, 400);
  const struct {
    enum qzi_tree_wait wait;
    unsigned ms;
  } sleeps_for[] = {
    {QZI_WAIT_EVENTS, 100}, {QZI_WAIT_FLUSH, 3}, {QZI_WAIT_UNKNOWN, 20}, {QZI_WAIT_SHARED, 1}, {QZI_WAIT_UNKNOWN, 20}};
  unsigned at = 0;
  runs(at, 400, 0);
  for (unsigned k = 0; k < sizeof sleeps_for / sizeof *sleeps_for; k++) {
    sleeps(at += 2, 400);
    server->wait = sleeps_for[k].wait;
    qzi_tree_advance(tree, 5 * MS + (at + sleeps_for[k].ms) * MS);
    qzi_tree_waited(tree, server, sleeps_for[k].ms * MS);
    runs(at += sleeps_for[k].ms, 400, 0);
  }
  qzi_tree_share_unknown(tree);
  const struct qzi_tree_gap *found = tree->gaps[kind_of("server", 0)];
  CHECK_IS(found[QZI_WAIT_EVENTS].ns, 100 * MS);
  CHECK_IS(found[QZI_WAIT_FLUSH].ns, 33 * MS);
  CHECK_IS(found[QZI_WAIT_SHARED].ns, 11 * MS);
  CHECK_IS(found[QZI_WAIT_UNKNOWN].ns, 0);
  const uint64_t waited[] = {100 * MS, 33 * MS, 0, 11 * MS};
  for (unsigned k = 0; k < tree->wait_count; k++) CHECK_IS(tree->waits[k].ns, waited[k]);
  ends(at + 1, 400);
  check_sums();
  qzi_tree_free(tree);
}

/* Losses: a process whose beginning was not seen, CPUs that two processes have. Long runs: the time line stays bounded.
 */
static void what_is_lost(void) {
  tree = qzi_tree_new(300, "server", 4, 5 * MS);
  runs(0, 300, 3);
  runs(1, 301, 3); /* 300 must have stopped */
  CHECK(tree->odd == 2 && tree->busy == 1);
  sleeps(2, 302); /* of no interest */
  for (unsigned ms = 10; ms < 5000; ms += 10) {
    sleeps(ms, 301);
    runs(ms + 5, 301, (int)(ms / 10 % 4));
  }
  CHECK(tree->span_count <= QZI_TREE_SPANS && tree->span_ns == 16 * MS);
  ends(5000, 301);
  ends(5001, 300);
  check_sums();
  qzi_tree_free(tree);
}

int main(void) {
  one_after_the_other();
  through_a_pipe();
  gaps();
  what_is_lost();
  return 0;
}
