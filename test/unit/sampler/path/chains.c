/* Chains of a run of an hour, in which four processors meet at a barrier once a millisecond: the path goes through the
 * last one of each round, with exact sums; memory stays bounded, and nothing is lost. A lock that is handed over
 * between two snapshots. And the contents of hostile sessions: crumbs in circles, from the future, of actors that do
 * not exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sampler/path/chains.h"
#include "test/support/fake_path.h"

enum { ACTORS = 4 };
#define BASE UINT64_C(1000)
#define TICK UINT64_C(61) /* times of the clock page in a millisecond */

struct task {
  uint64_t time, waited, by[ACTORS + 1];
};
static void add(void *to, const struct qzi_link *link) {
  struct task *task = to;
  CHECK(link->begin == task->time && link->begin <= link->since && link->since <= link->end);
  uint64_t sum = link->waiting.time;
  for (uint32_t k = 0; k < link->pieces_count; k++) {
    sum += link->pieces[k].time;
    CHECK(link->pieces[k].thread <= ACTORS);
    task->by[link->pieces[k].thread] += link->pieces[k].time;
  }
  CHECK(sum == link->end - link->begin);
  task->time = link->end;
}

static void add_held(void *to, const struct qzi_link *link) {
  struct task *task = to;
  add(to, link);
  for (uint32_t k = 0; k < link->pieces_count; k++)
    if (link->pieces[k].state == QZ_STATE_BLOCKED) task->waited += link->pieces[k].time;
}

static void see_all(struct qzi_chains *chains, uint64_t now) {
  for (uint32_t k = 0; k < ACTORS; k++) {
    struct qzi_observation seen = {now, k + 1, k + 1, QZ_STATE_USEFUL, 0};
    qzi_chains_seen(chains, k, &seen);
  }
}

/* The memory of the chains, in bytes. */
static uint64_t bytes_of(const struct qzi_chains *chains) {
  uint64_t bytes = chains->room * sizeof *chains->links + (chains->index.mask + 1) * sizeof *chains->index.slots;
  bytes += QZI_LINK_SCRATCH * sizeof *chains->pieces;
  for (uint32_t k = 0; k < chains->count; k++) bytes += chains->links[k].pieces_count * sizeof(struct qzi_piece);
  for (uint32_t k = 0; k < chains->actors; k++)
    bytes += sizeof *chains->counts + sizeof *chains->logs + chains->logs[k].room * sizeof *chains->logs[k].at;
  return bytes;
}

static void an_hour(void) {
  struct qzi_chains chains;
  struct task task = {0};
  make_session(ACTORS);
  CHECK(!qzi_chains_open(&chains, &view, qz_session_path, BASE, add, &task));
  uint64_t rounds = 3600 * 1000, most = 0, most_bytes = 0;
  for (uint64_t round = 1; round <= rounds; round++) {
    uint64_t now = round * TICK;
    unsigned last = round % 3;
    see_all(&chains, now);
    qzi_chains_read(&chains, ACTORS, now, NULL);
    clock_now = QZ_CHAIN(BASE + now, 0, 0);
    for (unsigned k = 0; k < ACTORS; k++) hands_on(k);
    for (unsigned k = 0; k < ACTORS; k++)
      if (k != last) goes_on(k, actor_at(last)->word, QZ_KEY(QZ_KIND_BARRIER, 1));
    if (chains.count <= most && round % 50000) continue; /* most links, or now and then */
    if (chains.count > most) most = chains.count;
    if (most % 1024 && round % 50000) continue;
    uint64_t bytes = bytes_of(&chains);
    if (bytes > most_bytes) most_bytes = bytes;
  }
  see_all(&chains, rounds * TICK + 1);
  qzi_chains_read(&chains, ACTORS, rounds * TICK + 1, NULL);
  ((struct qz_session *)(void *)memory)->path_end = actor_at(0)->word | QZ_ARRIVAL_OWN;
  qzi_chains_end(&chains);
  CHECK(chains.crumbs >= rounds && chains.lost == 0);
  CHECK(task.time == rounds * TICK + 1);
  CHECK(task.by[0] == 0 && task.by[4] == 0); /* never through the one that always arrives early */
  for (unsigned k = 1; k <= 3; k++)
    CHECK(task.by[k] >= rounds / 3 * TICK - TICK && task.by[k] <= rounds / 3 * TICK + TICK);
  CHECK(most <= 400000 && most_bytes <= UINT64_C(64) << 20);
  printf("an hour: at most %llu links, %llu bytes\n", (unsigned long long)most, (unsigned long long)most_bytes);
  qzi_chains_close(&chains);
}

/* Two actors take a lock by turns, for one and a half times between two snapshots each. Parts of a snapshot show until
 * when the next one still waited: up to then the path is the holder's, and nobody waits on it. */
static void within_a_snapshot(void) {
  enum { WAITS = 1, WORKS };
  struct qzi_chains chains;
  struct task task = {0};
  make_session(ACTORS);
  CHECK(!qzi_chains_open(&chains, &view, qz_session_path, BASE, add_held, &task));
  unsigned holder = 0;
  for (unsigned half = 2; half <= 600; half++) { /* a snapshot each second half */
    uint64_t now = half * TICK;
    for (unsigned k = 0; k < 2; k++) {
      struct qzi_observation seen = {now, k == holder ? WORKS : WAITS, k + 1,
                                     k == holder ? QZ_STATE_USEFUL : QZ_STATE_BLOCKED, 0};
      qzi_chains_seen(&chains, k, &seen);
    }
    if (half % 2 == 0) {
      clock_now = QZ_CHAIN(BASE + now, 0, 0);
      hands_on(holder); /* it notices the snapshot at an event of its own */
    }
    if (half % 3 == 2) {
      uint64_t word = hands_on(holder);
      holder = !holder;
      goes_on(holder, word, QZ_KEY(QZ_KIND_MUTEX, 1));
    }
    if (half % 2 == 0) qzi_chains_read(&chains, ACTORS, now, NULL);
  }
  ((struct qz_session *)(void *)memory)->path_end = actor_at(holder)->word | QZ_ARRIVAL_OWN;
  qzi_chains_end(&chains);
  CHECK(task.time == 600 * TICK && task.waited <= 2 * TICK);
  CHECK(task.by[1] >= 290 * TICK && task.by[2] >= 290 * TICK);
  qzi_chains_close(&chains);
}

/* Only that it ends, and does not add up to more than the time. */
static void listen(void *to, const struct qzi_link *link) {
  CHECK(link->begin <= link->since && link->since <= link->end);
  (*(unsigned *)to)++;
}
static void nonsense(void) {
  struct qzi_chains chains;
  unsigned task = 0;
  make_session(ACTORS);
  CHECK(!qzi_chains_open(&chains, &view, qz_session_path, BASE, listen, &task));
  uint64_t random = 88172645463325252u;
  for (unsigned round = 1; round < 20000; round++) {
    struct qz_path *actor = actor_at(round % ACTORS);
    for (unsigned k = 0; k < CRUMBS; k++)
      for (unsigned field = 0; field < 4; field++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t near = QZ_CHAIN(BASE + random % (round * TICK + 100), random >> 40 & 7, random >> 60);
        ((uint64_t *)&actor->ring[k])[field] = random % 4 ? near : random;
      }
    actor->count += random % 4 ? random % CRUMBS : random;
    actor->word = actor->ring[0].id;
    see_all(&chains, round * TICK);
    qzi_chains_read(&chains, ACTORS + 3, round * TICK, NULL);
    if (round % 200) continue;
    uint64_t from = round * TICK / 2; /* while it goes on */
    CHECK(qzi_chains_until_now(&chains, from, listen, &task) >= from);
  }
  ((struct qz_session *)(void *)memory)->path_end = random;
  qzi_chains_end(&chains);
  CHECK(task > 0);
  qzi_chains_close(&chains);
}

int main(void) {
  an_hour();
  within_a_snapshot();
  nonsense();
  return 0;
}
