/* What a thread executed on the span, of which it executed another procedure before: of the first snapshot after a
 * strand began it is not known whether it saw that strand; the later ones did. Where no snapshot saw it at work, it is
 * what the thread's newest sample shows. */
#include <stdlib.h>
#include "sampler/path/span.h"
#include "test/support/fake_path.h"

enum { ACTORS = 1, BEFORE = 7, STRAND = 8, THREAD = 1 };
#define BASE UINT64_C(1000)
#define TICK UINT64_C(61) /* times of the clock page in a millisecond */

static struct qzi_span_sums sums;
static uint64_t now, length;

static void begin(void) {
  make_session(ACTORS);
  view.span_table = view.path_table;
  view.span_path_table = view.path_table;
  CHECK(!qzi_span_sums_open(&sums, &view, NULL, BASE, NULL) && sums.on);
  now = length = 0;
}
/* A snapshot sees the actor. */
static void see(uint32_t stack, unsigned state) {
  struct qzi_observation seen = {now += TICK, stack, THREAD, (uint8_t)state, 0};
  qzi_chains_seen(&sums.chains, 0, &seen);
  qzi_chains_read(&sums.chains, ACTORS, now, NULL);
  clock_now = QZ_CHAIN(BASE + now, 0, 0);
}
/* A strand of so many ticks ends, and writes its crumb. */
static void ends(uint64_t ticks) {
  actor_at(0)->key = length += ticks;
  hands_on(0);
}
static uint64_t on_span(uint32_t stack) {
  uint64_t ns = 0;
  for (uint32_t k = 0; k < sums.rows_count; k++)
    if (sums.rows[k].stack == stack) ns += sums.rows[k].ns;
  return ns;
}
static void end(void) {
  qzi_chains_read(&sums.chains, ACTORS, now, NULL);
  struct qz_crumb last = {.prev = actor_at(0)->word, .since = actor_at(0)->word, .key = length};
  qzi_chains_end_with(&sums.chains, &last, 0);
  CHECK(sums.length == length && sums.chains.lost == 0);
  CHECK(on_span(BEFORE) + on_span(STRAND) == length);
}

static void first_of_several(void) {
  begin();
  for (unsigned k = 0; k < 5; k++) see(BEFORE, QZ_STATE_USEFUL);
  ends(500);
  see(BEFORE, QZ_STATE_USEFUL); /* a sample of before */
  see(STRAND, QZ_STATE_USEFUL);
  see(STRAND, QZ_STATE_USEFUL);
  ends(300);
  end();
  CHECK(on_span(BEFORE) == 500 && on_span(STRAND) == 300);
  qzi_span_sums_close(&sums);
}

/* Nothing else shows what a strand of one snapshot is. */
static void one_alone(void) {
  begin();
  see(BEFORE, QZ_STATE_USEFUL);
  see(BEFORE, QZ_STATE_USEFUL);
  ends(200);
  see(STRAND, QZ_STATE_USEFUL);
  ends(100);
  end();
  CHECK(on_span(BEFORE) == 200 && on_span(STRAND) == 100);
  qzi_span_sums_close(&sums);
}

/* While it waits for a CPU it does nothing, however long that takes; if it was not seen at work at all, it did what it
 * was seen doing last. */
static void not_seen_at_work(void) {
  begin();
  see(BEFORE, QZ_STATE_USEFUL);
  see(BEFORE, QZ_STATE_USEFUL);
  ends(200);
  for (unsigned k = 0; k < 9; k++) see(BEFORE, QZ_STATE_READY);
  see(STRAND, QZ_STATE_USEFUL);
  ends(300);
  CHECK(on_span(BEFORE) == 0);
  for (unsigned k = 0; k < 3; k++) see(STRAND, QZ_STATE_READY);
  ends(50);
  end();
  CHECK(on_span(BEFORE) == 200 && on_span(STRAND) == 350);
  qzi_span_sums_close(&sums);
}

int main(void) {
  first_of_several();
  one_alone();
  not_seen_at_work();
  return 0;
}
