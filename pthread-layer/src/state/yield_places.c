/* See yield_places.h. */
#include "yield_places.h"
#include "abi/hash.h"

#define PLACES   64u /* a power of two */
/* Libraries yield a few times before they sleep. A place that yields more often in a row waits in that way alone. */
#define ROW_MOST 32u

static struct place {
  _Atomic uint64_t site, words[QZL_YIELD_WORDS]; /* the last one first */
  _Atomic bool polls;
  _Atomic uint32_t let_go; /* yields during which somebody let go, */
  _Atomic uint32_t futile; /* and those of them after which the thread still waits */
} places[PLACES];
_Atomic uint32_t qzl_attended;

/* Less than this between two yields, in ticks of the processor's clock (about a microsecond). After one in which the
 * thread was without a CPU for long, that look alone may take ten times as long: what it touches has left the caches.
 */
#if defined(__x86_64__)
#define SOON 2500
#else
#define SOON 50
#endif
#define LONG (100 * SOON)
#define COLD (10 * SOON)

static struct place *place_of(uint64_t site) { return &places[site * QZ_HASH_FACTOR >> 58 & (PLACES - 1)]; }

bool qzl_has_just_yielded(const struct qzl_thread *me) { return qz_cycles() - me->yields.ended <= me->yields.soon; }
bool qzl_has_just_tried(const struct qzl_thread *me) { return qz_cycles() - me->yields.tried <= SOON; }
void qzl_tries(struct qzl_thread *me) { me->yields.tried = qz_cycles(); }
void qzl_yield_waits(int change) {
  atomic_fetch_add_explicit(&qzl_attended, (uint32_t)change * QZL_ATTENDED_YIELD, memory_order_seq_cst);
}
void qzl_attend_holds(void) {
  if (qzi_pub_exact_hold & QZI_HOLD_EXACT) atomic_fetch_or(&qzl_attended, QZL_ATTENDED_HOLD);
}

/* Whoever kept its CPU while it yielded had to wait for nobody; whom nobody let go has only looked whether there is
 * work (threads of TBB do). */
#define LEAST_NS UINT64_C(20000)
static void write_waited(struct qzl_thread *me) {
  uint32_t index = me->yields.index;
  me->yields.index = 0;
  uint64_t ns = index ? qzi_pub_ticks_ns(me->yields.begin, me->yields.until) : 0;
  if (ns >= LEAST_NS && me->yields.let_go) qzi_pub_waited(index, ns, 0);
}
void qzl_yield_waited(struct qzl_thread *me, uint32_t index, uint64_t begin) {
  if (!me->yields.index) me->yields.begin = begin;
  me->yields.index = index;
  me->yields.until = qzi_pub_ticks();
}

/* Two threads that do this at a time may lose a word. */
static void learn(struct qzl_thread *me, const uint32_t *word) {
  struct place *place = place_of(me->yields.site);
  uint64_t address = (uint64_t)(uintptr_t)word, moved = address;
  me->yields.word = address;
  if (atomic_load_explicit(&place->site, memory_order_relaxed) != me->yields.site) {
    for (unsigned k = 0; k < QZL_YIELD_WORDS; k++) atomic_store_explicit(&place->words[k], 0, memory_order_relaxed);
    atomic_store_explicit(&place->polls, false, memory_order_relaxed);
    atomic_store_explicit(&place->let_go, 0, memory_order_relaxed);
    atomic_store_explicit(&place->futile, 0, memory_order_relaxed);
    atomic_store_explicit(&place->site, me->yields.site, memory_order_relaxed);
  }
  for (unsigned k = 0; k < QZL_YIELD_WORDS && moved; k++) {
    uint64_t here = atomic_load_explicit(&place->words[k], memory_order_relaxed);
    if (here == moved && !k) return;
    atomic_store_explicit(&place->words[k], moved, memory_order_relaxed);
    moved = here == address ? 0 : here;
  }
}

/* Who has yielded several times in a row waits already; the first wait at a place of the program also binds its call of
 * `syscall`, reads pages in, and makes the word's record. */
static bool still_waits(const struct qzl_thread *me) {
  return qz_cycles() - me->yields.ended <= (me->yields.row ? LONG : me->yields.soon);
}
uint64_t qzl_yields_before(struct qzl_thread *me, const uint32_t *word) {
  if (!still_waits(me)) {
    write_waited(me);
    return 0;
  }
  if (me->yields.let_go) atomic_fetch_add_explicit(&place_of(me->yields.site)->futile, 1, memory_order_relaxed);
  me->yields.let_go = false;
  uint64_t since = me->yields.index ? me->yields.begin : 0;
  me->yields.index = 0;
  learn(me, word);
  return since;
}

unsigned qzl_yield_begin(struct qzl_thread *me, uint64_t site, uint32_t words[QZL_YIELD_WORDS]) {
  struct place *place = place_of(site);
  bool again = me->yields.site == site;
  me->yields.row = again && qzl_has_just_yielded(me) ? me->yields.row + 1 : 0;
  if (!again) me->yields.word = 0;
  if (!me->yields.row)
    write_waited(me);
  else if (me->yields.let_go)
    atomic_fetch_add_explicit(&place->futile, 1, memory_order_relaxed);
  me->yields.let_go = false;
  me->yields.site = site;
  if (atomic_load_explicit(&place->site, memory_order_relaxed) != site) return 0;
  if (me->yields.row >= ROW_MOST) atomic_store_explicit(&place->polls, true, memory_order_relaxed);
  if (atomic_load_explicit(&place->polls, memory_order_relaxed)) return 0;
  unsigned count = 0;
  uint32_t own = me->yields.word ? qzl_known_word((const void *)(uintptr_t)me->yields.word) : 0;
  if (own) words[count++] = own;
  for (unsigned k = 0; k < QZL_YIELD_WORDS && count < QZL_YIELD_WORDS; k++) {
    uint64_t word = atomic_load_explicit(&place->words[k], memory_order_relaxed);
    uint32_t index = word ? qzl_known_word((const void *)(uintptr_t)word) : 0;
    if (index && index != own) words[count++] = index;
  }
  return count;
}

#define KNOWN 16u
bool qzl_yields_are_futile(uint64_t site) {
  struct place *place = place_of(site);
  uint32_t all = atomic_load_explicit(&place->let_go, memory_order_relaxed);
  return all >= KNOWN && atomic_load_explicit(&place->futile, memory_order_relaxed) > all / 2;
}
void qzl_yield_let_go(struct qzl_thread *me) {
  struct place *place = place_of(me->yields.site);
  me->yields.let_go = true;
  if (atomic_fetch_add_explicit(&place->let_go, 1, memory_order_relaxed) < 2 * KNOWN) return;
  atomic_store_explicit(&place->let_go, KNOWN, memory_order_relaxed); /* of what was lately */
  atomic_store_explicit(&place->futile, atomic_load_explicit(&place->futile, memory_order_relaxed) / 2,
                        memory_order_relaxed);
}

void qzl_yield_end(struct qzl_thread *me, uint64_t began) {
  me->yields.ended = qz_cycles();
  me->yields.soon = me->yields.ended - began >= LONG ? COLD : SOON;
}
