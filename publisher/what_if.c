/* What-if queries. See what_if.h. */
#include "what_if.h"

#include <string.h>
#include "crumbs.h"
#include "object_records.h"
#include "span_sites.h"

#define CHOICE_NS 100000000u /* how long votes are collected before the choice */

bool qzi_what_if_any, qzi_what_if_locks, qzi_what_if_calls;
uint64_t qzi_what_if_factor[QZ_WHAT_IFS];
static struct qz_what_if asked_now[QZ_WHAT_IFS];
static uint32_t name_of[QZ_WHAT_IFS]; /* name offset of a lock */

/* ---- choice of a query if the user makes none ---- */

/* A thread that makes the longest chain longer votes, with the amount, for all sites at which it and its ancestors
 * were spawned: this approximates how much of the span belongs to each site. It only decides what is reported; the
 * reported numbers are exact, whatever was chosen. */
bool qzi_what_if_choosing;
static _Atomic uint64_t longest, votes[QZ_SPAN_SITES];
static _Atomic bool chosen;
static _Atomic uint64_t begun; /* time of the clock page; 0: not begun */

static void begin_choice(void) {
  qzi_what_if_choosing = !qzi_what_if_any;
  qzi_what_if_any = true;
  atomic_store(&longest, 0);
  atomic_store(&chosen, false);
  for (unsigned k = 0; k < QZ_SPAN_SITES; k++) atomic_store(&votes[k], 0);
  begun = 0;
}

/* The two sites with the most votes become the queries. */
static void choose(uint64_t time) {
  struct qz_span_end *end = &qzi_session.head->span_end;
  unsigned best[QZ_WHAT_IFS] = {0};
  for (unsigned n = 1; n < QZ_SPAN_SITES; n++) {
    uint64_t its = atomic_load_explicit(&votes[n], memory_order_relaxed);
    if (its > (best[0] ? votes[best[0]] : 0)) {
      best[1] = best[0];
      best[0] = n;
    } else if (its > (best[1] ? votes[best[1]] : 0)) {
      best[1] = n;
    }
  }
  if (!best[0] || atomic_exchange(&chosen, true)) return;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    uint64_t site = best[k] ? qzi_site_address(best[k]) : 0;
    if (!site) continue;
    asked_now[k].creators = 1;
    asked_now[k].creator[0].low = site - 1;
    asked_now[k].creator[0].high = site;
    qzi_pub_store(&end->what_if_place[k], site);
    qzi_what_if_factor[k] = 0;
    __atomic_store_n(&asked_now[k].kind, QZ_WHAT_IF_PLACE, __ATOMIC_RELEASE);
  }
  qzi_pub_store(&end->what_if_since, time);
  qzi_what_if_choosing = false;
}

void qzi_what_if_choose(const struct qzi_span *span) {
  uint64_t length = span->now.length, before = atomic_load_explicit(&longest, memory_order_relaxed);
  while (length > before && !atomic_compare_exchange_weak(&longest, &before, length)) {}
  for (uint64_t bits = length > before ? span->sites : 0; bits; bits &= bits - 1)
    atomic_fetch_add_explicit(&votes[__builtin_ctzll(bits)], length - before, memory_order_relaxed);
  uint64_t time = QZ_CHAIN_TIME(qzi_path_time());
  if (!begun) begun = time;
  if (time - begun >= CHOICE_NS >> QZ_PATH_TIME_SHIFT) choose(time);
}

void qzi_what_if_prepare(const struct qz_what_if *asked) {
  memcpy(asked_now, asked, sizeof asked_now);
  qzi_what_if_any = qzi_what_if_locks = qzi_what_if_calls = false;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    struct qz_what_if *one = &asked_now[k];
    if (one->entries > QZ_WHAT_IF_PLACES || one->creators > QZ_WHAT_IF_PLACES) one->entries = one->creators = 0;
    one->name[QZ_WHAT_IF_NAME - 1] = 0;
    qzi_what_if_factor[k] = one->factor;
    qzi_what_if_any |= one->kind != QZ_WHAT_IF_NONE;
    qzi_what_if_locks |= one->kind == QZ_WHAT_IF_LOCK;
    qzi_what_if_calls |= one->kind == QZ_WHAT_IF_PROCEDURE && one->entries;
    if (one->kind == QZ_WHAT_IF_NONE) qzi_what_if_factor[k] = QZ_WHAT_IF_ONE;
    name_of[k] = one->kind == QZ_WHAT_IF_LOCK ? qzi_pub_name(one->name) : 0;
  }
  begin_choice();
}

QZI_HOOK static void set(uint64_t *word, unsigned bits) {
  if (bits & ~__atomic_load_n(word, __ATOMIC_RELAXED)) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
}
QZI_HOOK void qzi_what_if_seen(unsigned bits) { set(&qzi_session.head->span_end.what_if_seen, bits); }
QZI_HOOK void qzi_what_if_missed(unsigned bits) { set(&qzi_session.head->span_end.what_if_missed, bits); }

QZI_HOOK static bool has_entry(const struct qz_what_if *one, uint64_t address) {
  for (uint32_t n = 0; n < one->entries; n++)
    if (one->entry[n] == address) return true;
  return false;
}
static bool has_place(const struct qz_what_if *one, uint64_t address) {
  for (uint32_t n = 0; n < one->creators; n++)
    if (address >= one->creator[n].low && address < one->creator[n].high) return true;
  return false;
}

uint8_t qzi_what_if_created(uint64_t start, uint64_t site) {
  unsigned bits = 0;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    const struct qz_what_if *one = &asked_now[k];
    uint32_t kind = __atomic_load_n(&one->kind, __ATOMIC_ACQUIRE);
    if (kind != QZ_WHAT_IF_PROCEDURE && kind != QZ_WHAT_IF_SITE && kind != QZ_WHAT_IF_PLACE) continue;
    if (kind != QZ_WHAT_IF_PLACE && !has_entry(one, start)) continue;
    if (kind != QZ_WHAT_IF_PROCEDURE && !has_place(one, site - 1)) continue;
    bits |= 1u << k;
  }
  qzi_what_if_seen(bits);
  return (uint8_t)bits;
}

QZI_HOOK uint8_t qzi_what_if_called(uint64_t entry) {
  unsigned bits = 0;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++)
    if (asked_now[k].kind == QZ_WHAT_IF_PROCEDURE && has_entry(&asked_now[k], entry)) bits |= 1u << k;
  return (uint8_t)bits;
}

uint8_t qzi_what_if_lock(uint32_t object) {
  unsigned bits = 0;
  object &= ~QZI_PUB_SHARED;
  if (!object) return 0;
  const struct qz_object *record = QZI_PUB_OBJECT(object);
  if (!qz_kind_is_lock(__atomic_load_n(&record->kind, __ATOMIC_RELAXED))) return 0;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    if (asked_now[k].kind != QZ_WHAT_IF_LOCK) continue;
    if (!(name_of[k] && record->name == name_of[k]) && !has_place(&asked_now[k], record->address)) continue;
    bits |= 1u << k;
  }
  qzi_what_if_seen(bits);
  return (uint8_t)bits;
}
