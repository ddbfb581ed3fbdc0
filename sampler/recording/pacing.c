/* Pacing. See pacing.h. */
#include "pacing.h"

#include <errno.h>
#include <sys/random.h>
#include "abi/hash.h"
#include "sampler/linux/futex_wait.h"
#include "sampler/util/clock.h"

#define SPIN_NS UINT64_C(150000) /* the final part of a wait is spent spinning, on a CPU of our own */

/* xorshift128+ */
static uint64_t draw(struct qzi_pacing *pacing) {
  uint64_t a = pacing->random[0], b = pacing->random[1];
  pacing->random[0] = b;
  a ^= a << 23;
  pacing->random[1] = a ^ b ^ a >> 17 ^ b >> 26;
  return pacing->random[1] + b;
}

static void choose(struct qzi_pacing *pacing) {
  uint64_t offset = (uint64_t)((unsigned __int128)draw(pacing) * pacing->interval_ns >> 64);
  pacing->instant_ns = pacing->start_ns + pacing->tick * pacing->interval_ns + offset;
}

void qzi_pacing_start(struct qzi_pacing *pacing, uint64_t rate_mhz, int spins, uint64_t now_ns, uint64_t seed) {
  uint64_t interval = UINT64_C(1000000000000) / rate_mhz;
  *pacing = (struct qzi_pacing){.interval_ns = interval ? interval : 1, .start_ns = now_ns, .spins = spins};
  if (seed || getrandom(pacing->random, sizeof pacing->random, GRND_NONBLOCK) != (ssize_t)sizeof pacing->random) {
    pacing->random[0] = seed ? seed : now_ns;
    pacing->random[1] = QZ_HASH_FACTOR; /* an arbitrary odd number */
  }
  pacing->random[1] |= 1;
  for (int k = 0; k < 8; k++) draw(pacing);
  choose(pacing);
}

/* The interval to which a snapshot at now_ns belongs: a slightly late wake-up shifts all instants alike. */
static uint64_t interval_of(const struct qzi_pacing *pacing, uint64_t now_ns) {
  uint64_t current = now_ns > pacing->start_ns ? (now_ns - pacing->start_ns) / pacing->interval_ns : 0;
  return current > pacing->tick + 1 ? current : pacing->tick;
}

uint64_t qzi_pacing_covered(const struct qzi_pacing *pacing, uint64_t now_ns) {
  return pacing->start_ns + (interval_of(pacing, now_ns) + 1) * pacing->interval_ns;
}

void qzi_pacing_next(struct qzi_pacing *pacing, uint64_t now_ns) {
  uint64_t next = interval_of(pacing, now_ns) + 1;
  pacing->skipped += next - pacing->tick - 1;
  pacing->tick = next;
  choose(pacing);
  while (pacing->instant_ns <= now_ns) {
    pacing->skipped++;
    pacing->tick++;
    choose(pacing);
  }
}

void qzi_pacing_change(struct qzi_pacing *pacing, uint64_t interval_ns) {
  pacing->start_ns += pacing->tick * pacing->interval_ns;
  pacing->tick = 0;
  pacing->interval_ns = interval_ns;
  choose(pacing);
}

uint64_t qzi_pacing_wait(const struct qzi_pacing *pacing, _Atomic uint32_t *stop) {
  for (;;) {
    uint64_t now = qzi_clock_ns();
    if (*stop) return 0;
    if (now >= pacing->instant_ns) return now;
    uint64_t left = pacing->instant_ns - now;
    if (pacing->spins && left <= SPIN_NS) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      continue;
    }
    if (pacing->spins) left -= SPIN_NS / 2;
    uint64_t until = now + left;
    struct timespec at = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
    qzi_futex_wait_until(stop, 0, &at);
  }
}
