/* Which process's profile it is, while processes run: the launched program's, or that of the one that does the work. */
#include "sampler/control/follow.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "test/support/check.h"
#include "test/support/fake_session.h"

#define MS UINT64_C(1000000)

/* A program that worked, then started the other one, and waits for it. In ms. */
struct course {
  unsigned threads;      /* of the launched program */
  uint64_t before;       /* how long it was alone, */
  uint64_t used, waited; /* what its threads used then, for how long they waited for CPUs, and */
  uint64_t since;        /* what they used later */
  uint64_t lived, works; /* for how long the other one is recorded, and what it uses */
  uint64_t late, idle;   /* how long after its begin its recording begins, and for how long it waited for CPUs */
  uint32_t sockets;      /* the launched program's */
};

/* Returns 1 if the profile is that of the other one. */
static int is_worker(struct course of) {
  static pid_t launched = 100;
  struct qz_profile heads[2];
  struct qzi_target targets[2];
  struct fake session = fake_make(1, 64, 1, 8);
  char path[] = "worker.quartz", line[64];
  const char *why;
  int ends[2];
  memset(heads, 0, sizeof heads);
  memset(targets, 0, sizeof targets);
  CHECK_IS(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  __atomic_store_n(&session.head->thread_high, of.threads, __ATOMIC_RELEASE);
  for (unsigned k = 0; k < of.threads; k++) fake_thread(&session, k)->os_tid = 1 + k;
  for (int k = 0; k < 2; k++) {
    CHECK(!qz_session_open(&targets[k].recording.view, session.fd, &why));
    targets[k].pid = launched + k;
    targets[k].message_fd = k ? -1 : ends[1];
    targets[k].recording.file.head = &heads[k];
    qzi_targets[k] = &targets[k];
  }
  qzi_target_count = 2;
  targets[0].recording.cpu_time.run_ns = (of.used + of.since) * MS;
  targets[0].recording.cpu_time.wait_ns = of.waited * MS;
  targets[1].recording.cpu_time.wait_ns = of.idle * MS;
  targets[0].recording.sockets.found = of.sockets;
  targets[1].recording.cpu_time.run_ns = of.works * MS;
  targets[1].recording.file.path = path;
  targets[1].launched_ns = 1 + of.used * MS;
  heads[0].first_ns = 1000 * MS;
  heads[0].elapsed_ns = (of.before + of.late + of.lived) * MS;
  heads[1].first_ns = heads[0].first_ns + (of.before + of.late) * MS;
  session.head->start_ns = heads[0].first_ns + of.before * MS;
  heads[1].elapsed_ns = of.lived * MS;
  qzi_follow_begin("program", launched);
  qzi_follow_look();
  int reported = read(ends[0], line, sizeof line) > 0;
  qzi_target_count = 0;
  for (int k = 0; k < 2; k++) qz_session_close(&targets[k].recording.view);
  fake_free(&session);
  close(ends[0]);
  close(ends[1]);
  launched += 2; /* what was reported of one is not reported again */
  return reported;
}

int main(void) {
  /* It waited after a start of its own; what it did before was a fifteenth of the run, or half. */
  CHECK_IS(is_worker((struct course){.threads = 1, .before = 170, .used = 150, .lived = 2500, .works = 60}), 1);
  CHECK_IS(is_worker((struct course){.threads = 1, .before = 2500, .used = 150, .lived = 2500, .works = 60}), 0);
  /* The same beside other programs: it had a tenth of a CPU. */
  CHECK_IS(
    is_worker((struct course){.threads = 1, .before = 1500, .used = 150, .waited = 1340, .lived = 2900, .works = 60}),
    1);
  /* Four threads that waited for CPUs a quarter of the time each, and worked or slept for the rest. */
  CHECK_IS(
    is_worker((struct course){.threads = 4, .before = 2000, .used = 150, .waited = 2000, .lived = 2000, .works = 60}),
    0);
  CHECK_IS(
    is_worker((struct course){.threads = 4, .before = 2000, .used = 150, .waited = 6400, .lived = 2000, .works = 60}),
    1);
  /* Its work was as much as the other one's, each with a fifth of a CPU. */
  CHECK_IS(is_worker((struct course){
             .threads = 1, .before = 2000, .used = 400, .waited = 1600, .lived = 1500, .works = 300, .idle = 1200}),
           0);
  /* The other one's recording begins late, because the sampler had no CPU. */
  CHECK_IS(
    is_worker((struct course){.threads = 1, .before = 170, .used = 150, .lived = 1500, .late = 1000, .works = 60}), 1);
  /* It went on working. */
  CHECK_IS(
    is_worker((struct course){.threads = 1, .before = 170, .used = 150, .since = 20, .lived = 2500, .works = 60}), 0);
  /* A server's start may take long. */
  CHECK_IS(is_worker((struct course){
             .threads = 1, .before = 2500, .used = 150, .lived = 2500, .works = 60, .sockets = QZ_SOCKETS_LISTENS}),
           1);
  return 0;
}
