/* What if. See what_if.h. */
#include "what_if.h"

#include <string.h>

bool qzi_what_if_any, qzi_what_if_locks, qzi_what_if_calls;
uint64_t qzi_what_if_factor[QZ_WHAT_IFS];
static struct qz_what_if asked_now[QZ_WHAT_IFS];
static uint32_t name_of[QZ_WHAT_IFS]; /* of a lock */

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
    name_of[k] = one->kind == QZ_WHAT_IF_LOCK ? qzi_pub_name(one->name) : 0;
  }
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

uint8_t qzi_what_if_created(const struct qzi_pub_thread *t) {
  unsigned bits = 0;
  for (unsigned k = 0; k < QZ_WHAT_IFS; k++) {
    const struct qz_what_if *one = &asked_now[k];
    if (one->kind != QZ_WHAT_IF_PROCEDURE && one->kind != QZ_WHAT_IF_SITE) continue;
    if (!has_entry(one, t->start)) continue;
    if (one->kind == QZ_WHAT_IF_SITE && !has_place(one, t->create_site - 1)) continue;
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
