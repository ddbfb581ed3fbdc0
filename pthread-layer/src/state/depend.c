/* What tasks have left for those that depend on them. See depend.h. */
#include "depend.h"
#include "abi/hash.h"
#include "path.h"
#include "publisher/private.h"

#define PLACES 16384u /* a power of two */
#define NEAR   8u     /* places of an address */
/* Chains that lead to one point. */
struct left {
  struct qzi_lanes most;
  uint64_t word, ticks;
};
static struct depend {
  uint64_t family, address, used; /* used: when, in ticks; 0: never */
  struct left written;            /* by the last task that wrote there */
  struct left read;               /* by those that have read since then */
} * places;
static _Atomic uint32_t lock;

static struct depend *place_of(uint64_t family, uint64_t address, bool make) {
  if (!places && !(places = qzi_pub_reserve(PLACES * sizeof *places))) return NULL;
  uint64_t first = ((address ^ family * QZ_HASH_FACTOR) * QZ_HASH_FACTOR) >> 40;
  struct depend *oldest = NULL;
  for (unsigned k = 0; k < NEAR; k++) {
    struct depend *at = &places[(first + k) % PLACES];
    if (at->used && at->family == family && at->address == address) return at;
    if (!oldest || at->used < oldest->used) oldest = at;
  }
  if (!make) return NULL;
  *oldest = (struct depend){.family = family, .address = address};
  return oldest;
}

static void later(struct left *left, const struct qzl_ended *ended) {
  qzi_span_max(&left->most, &ended->span.most);
  if (ended->ticks < left->ticks) return;
  left->ticks = ended->ticks;
  left->word = ended->word;
}
static void follow(struct qzl_ended *after, const struct left *left) {
  qzi_span_max(&after->span.most, &left->most);
  if (left->ticks < after->ticks) return;
  after->ticks = left->ticks;
  after->word = left->word;
}

void qzl_depend_follow(uint64_t family, uint64_t address, bool writes, struct qzl_ended *after) {
  qzl_lock_words(&lock);
  const struct depend *at = place_of(family, address, false);
  if (at) follow(after, &at->written);
  if (at && writes) follow(after, &at->read);
  qzl_unlock_words(&lock);
}

void qzl_depend_leave(uint64_t family, uint64_t address, bool writes, const struct qzl_ended *ended) {
  qzl_lock_words(&lock);
  struct depend *at = place_of(family, address, true);
  if (at) {
    at->used = ended->ticks;
    if (writes) {
      /* Others that write there without an order among each other (mutexinoutset) do not precede it. */
      later(&at->written, ended);
      at->read = (struct left){0};
    } else {
      later(&at->read, ended);
    }
  }
  qzl_unlock_words(&lock);
}
