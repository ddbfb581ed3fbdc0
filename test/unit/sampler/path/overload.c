/* What is too much for the chains is counted, and the path continues nevertheless: crumbs for which their ring had no
 * room until it was read, and a chain that was dropped while no known thread had it. */
#include <string.h>
#include "sampler/path/settled.h"
#include "test/support/fake_path.h"

enum { ACTORS = 2 };
#define BASE   UINT64_C(1000)
#define TICK   UINT64_C(61) /* times of the clock page in a millisecond */
#define SECOND (1000 * TICK)

static struct qzi_chains chains;
static struct qzi_settled settled;

static void begin(void) {
  make_session(ACTORS);
  qzi_settled_open(&settled, NULL);
  CHECK(!qzi_chains_open(&chains, &view, qz_session_path, BASE, qzi_settle, &settled));
}
static void see(uint64_t now) {
  for (uint32_t k = 0; k < ACTORS; k++) {
    struct qzi_observation seen = {now, k + 1, k + 1, QZ_STATE_USEFUL, 0};
    qzi_chains_seen(&chains, k, &seen);
  }
}
/* All of the time is on the path, known or unknown. */
static void end(uint64_t now) {
  qzi_chains_read(&chains, ACTORS, now, NULL);
  ((struct qz_session *)(void *)memory)->path_end = actor_at(0)->word | QZ_ARRIVAL_OWN;
  qzi_chains_end(&chains);
  CHECK(settled.time == now);
  uint64_t sum = 0;
  for (uint32_t k = 0; k < settled.sums_count; k++) sum += settled.sums[k].ns;
  CHECK(sum == now);
  qzi_settled_free(&settled);
  qzi_chains_close(&chains);
}

/* The capacity of the ring; three times as many crumbs are written before it is read. */
static void ring_wraps(void) {
  begin();
  for (uint64_t k = 1; k <= 3 * CRUMBS; k++) {
    clock_now = QZ_CHAIN(BASE + k * TICK, 0, 0);
    hands_on(0);
  }
  uint64_t now = (3 * CRUMBS + 1) * TICK;
  see(now);
  qzi_chains_read(&chains, ACTORS, now, NULL);
  CHECK(chains.lost == 2 * CRUMBS && chains.crumbs == CRUMBS);
  end(now);
}

/* A sleeping thread of the package keeps its chain in its descriptor, which the sampler does not read. */
static uint64_t cut_after(uint64_t seconds) {
  begin();
  clock_now = QZ_CHAIN(BASE + TICK, 0, 0);
  uint64_t asleep = hands_on(0), now = TICK;
  while (now < seconds * SECOND) {
    now += TICK;
    see(now);
    qzi_chains_read(&chains, ACTORS, now, NULL);
    clock_now = QZ_CHAIN(BASE + now, 0, 0);
    uint64_t word = hands_on(1);
    goes_on(0, word, 0);
    goes_on(1, hands_on(0), 0);
  }
  goes_on(0, asleep, 0);
  now += TICK;
  see(now);
  qzi_chains_read(&chains, ACTORS, now, NULL);
  ((struct qz_session *)(void *)memory)->path_end = actor_at(0)->word | QZ_ARRIVAL_OWN;
  qzi_chains_end(&chains);
  CHECK(settled.time == now && chains.lost == 0);
  uint64_t cut = settled.cut;
  qzi_settled_free(&settled);
  qzi_chains_close(&chains);
  return cut;
}

int main(void) {
  ring_wraps();
  CHECK(cut_after(20) == 0); /* fewer crumbs than are kept */
  CHECK(cut_after(400) > 0);
  return 0;
}
