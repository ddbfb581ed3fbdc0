/* Threads that rest are added up, not visited: the profile is the same as if all were visited, tuple by tuple. Sessions
 * of many kernel threads that sleep, wake and sleep elsewhere at times that the test chooses, once with marks of
 * changes and once without, so that each is visited. */
#include "test/support/fake_session.h"
#include "sampler/snapshot/snapshot.h"
#include "abi/profile_read.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
enum { THREADS = 900, OBJECTS = 5, MAIN = 0x1000, START = 0x2000, ROUNDS = 600 };

struct sums {
  uint64_t count, ns, tuples, visits;
  uint64_t by_object[OBJECTS + 1];
  int unseen;
};

static pid_t sleeper;
static uint32_t random_state;
static uint32_t draw(uint32_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (random_state >> 8) % below;
}

static struct sums take(int marks, uint32_t changes) {
  static struct qzi_file file;
  static struct qzi_sampler sampler;
  struct qz_session_view view;
  const char *clause = NULL;
  char why[256], path[] = "/tmp/quartz-resting-XXXXXX";
  uint64_t keys[OBJECTS + 1], now = 1000;
  uint32_t waits[THREADS] = {0};
  struct fake fake = fake_make(4, THREADS, 64, 16);
  close(mkstemp(path));
  fake.head->publisher = QZ_PUBLISHER_PTHREAD;
  fake.head->pid = (uint32_t)sleeper;
  if (marks) fake_marks(&fake);
  for (uint32_t o = 1; o <= OBJECTS; o++) keys[o] = fake_make_object(&fake, o, QZ_KIND_CONDITION, NULL, 0x5000 + o);
  for (uint32_t t = 0; t < THREADS; t++) {
    fake_create(&fake, t, t + 1, NULL, START, -1);
    fake_push(&fake, t, START);
    fake_thread(&fake, t)->os_tid = (uint32_t)sleeper; /* the kernel's information on it is the same for all */
    waits[t] = 1 + t % OBJECTS;
    fake_push(&fake, t, keys[waits[t]]);
    fake_state(&fake, t, QZ_STATE_BLOCKED, waits[t]);
    fake_mark(&fake, t);
  }
  CHECK(!qz_session_open(&view, fake.fd, &clause));
  CHECK(!qzi_file_create(&file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  CHECK(!qzi_sampler_open(&sampler, &view, &file, now) && !qzi_sampler_base(&sampler, 1));
  random_state = 7;
  for (uint32_t k = 0; k < ROUNDS; k++) {
    for (uint32_t n = 0; n < changes; n++) {
      uint32_t t = draw(THREADS);
      fake_state(&fake, t, QZ_STATE_USEFUL, 0);
      fake_pop(&fake, t);
      waits[t] = 1 + draw(OBJECTS);
      fake_push(&fake, t, keys[waits[t]]);
      fake_state(&fake, t, QZ_STATE_BLOCKED, waits[t]);
      fake_mark(&fake, t);
    }
    now += 50 * MS + draw(100 * MS); /* slowly, so that threads also rest on far slower machines, under a sanitizer */
    CHECK(!qzi_snapshot(&sampler, now));
  }
  sampler.threading->settle(&sampler);
  struct sums sums = {.tuples = qzi_file_count(&file, QZ_SECTION_TUPLES), .visits = file.head->visits};
  for (uint64_t k = 0; k < sums.tuples; k++) {
    const struct qz_tuple *tuple = &file.tuples[k];
    if (tuple->state != QZ_STATE_BLOCKED) continue;
    sums.count += tuple->count;
    sums.ns += tuple->ns;
    uint64_t key = sampler.in.node_keys[tuple->stack];
    if (key & QZ_KEY_OBJECT) sums.by_object[QZ_KEY_INDEX(key)] += tuple->ns;
  }
  /* A change without a mark is not detected at once while other threads rest. */
  fake_state(&fake, THREADS - 1, QZ_STATE_USEFUL, 0);
  fake_pop(&fake, THREADS - 1);
  CHECK(!qzi_snapshot(&sampler, now + MS));
  sums.unseen = sampler.in.node_keys[sampler.threading->node(&sampler, THREADS - 1)] == keys[waits[THREADS - 1]];
  printf("marks %d, %u changes: %llu tuples, %llu observations\n", marks, changes, (unsigned long long)sums.tuples,
         (unsigned long long)sums.count);
  CHECK(sums.ns == (now - 1000) * THREADS);
  qzi_sampler_close(&sampler);
  qzi_file_close(&file);
  qz_session_close(&view);
  fake_free(&fake);
  unlink(path);
  return sums;
}

/* A child that has been made just now may not have run yet, or be at the beginning of its pause. */
static void until_asleep(pid_t pid) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  for (int seen = 0; seen < 10; seen = state == 'S' ? seen + 1 : 0) {
    usleep(10000);
    FILE *stat = fopen(path, "r");
    CHECK(stat && fscanf(stat, "%*d (%*[^)]) %c", &state) == 1);
    fclose(stat);
  }
}

int main(void) {
  static const uint32_t changes[] = {0, 1, 20, 400};
  if (!(sleeper = fork())) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  until_asleep(sleeper); /* then it takes no more processor time */
  for (unsigned k = 0; k < sizeof changes / sizeof *changes; k++) {
    struct sums all = take(0, changes[k]), some = take(1, changes[k]);
    CHECK(all.count == some.count && all.ns == some.ns && all.tuples == some.tuples && all.visits == some.visits);
    CHECK(!all.unseen);
#ifndef __SANITIZE_THREAD__ /* there, asking the kernel may take so long that no thread is known to rest */
    CHECK(some.unseen || changes[k] > 1);
#endif
    for (unsigned o = 1; o <= OBJECTS; o++) CHECK(all.by_object[o] == some.by_object[o]);
  }
  kill(sleeper, SIGKILL);
  waitpid(sleeper, NULL, 0);
  return 0;
}
