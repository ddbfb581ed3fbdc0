/* Heads of synchronization objects, queues of waiters, spinning, misuse.
 *
 * Owns:    the functions that all kinds of object share.
 * Writer, reader: the files of this folder.
 * Must not: access fields that only one kind of object has.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include "sync.h"

#if !QZI_TSAN
bool qzi_alone;
#endif
bool qzi_oversubscribed;
unsigned qzi_at_once;

void qzi_sync_start(unsigned processors) {
#if !QZI_TSAN
  qzi_alone = processors == 1;
#endif
  cpu_set_t cpus;
  unsigned count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? (unsigned)CPU_COUNT(&cpus) : 1;
  qzi_oversubscribed = count < processors;
  qzi_at_once = qzi_oversubscribed ? count : processors;
}

static const char *const kind_names[QZ_KIND_COUNT] = {
  [QZ_KIND_NONE] = "object",         [QZ_KIND_MUTEX] = "mutex",         [QZ_KIND_RWLOCK] = "rwlock",
  [QZ_KIND_CONDITION] = "condition", [QZ_KIND_SEMAPHORE] = "semaphore", [QZ_KIND_BARRIER] = "barrier",
  [QZ_KIND_CHANNEL] = "channel",     [QZ_KIND_JOIN] = "future",
};

static const char *kind_name(unsigned kind) {
  const char *name = kind < QZ_KIND_COUNT ? kind_names[kind] : NULL;
  return name ? name : "object";
}

void qzi_object_init(struct qzi_object *object, unsigned kind, const char *name, qz_policy policy, uint64_t place) {
  *object = (struct qzi_object){
    .pub = {.site = place, .name = qzi_pub_name(name)},
    .kind = (uint8_t)kind,
    .policy = (uint8_t)policy,
  };
}

void qzi_object_destroy(struct qzi_object *object, unsigned kind, uint64_t place) {
  qzi_pub_destroyed(&object->pub);
  object->pub.index = kind; /* kept for the message */
  object->pub.site = place;
  object->kind = QZI_KIND_DESTROYED;
}

void qzi_object_dead(const struct qzi_object *object, uint64_t place) {
  char destroyed[256], used[256];
  const char *name = object->pub.name ? qzi_pub_name_text(object->pub.name) : NULL;
  qzi_place_text(object->pub.site, destroyed, sizeof destroyed);
  qzi_place_text(place, used, sizeof used);
  qzi_die("%s %s%s%sat %p is used at %s after it was destroyed at %s; destroy it when nobody uses it any more",
          kind_name(object->pub.index), name ? "\"" : "", name ? name : "", name ? "\" " : "", (const void *)object,
          used, destroyed);
}

void qz_misuse(const void *address, const char *what, int error) {
  const struct qzi_object *object = address; /* every object begins with this head */
  uint64_t place = QZI_CALLER();
  qzi_object_check(object, place);
  char made[256], used[256];
  const char *name = object->pub.name ? qzi_pub_name_text(object->pub.name) : NULL;
  qzi_place_text(object->pub.site ? object->pub.site : (uintptr_t)object, made, sizeof made);
  qzi_place_text(place, used, sizeof used);
  qzi_die("%s of %s %s%s%sat %p (made at %s) failed at %s: %s; correct the program", what, kind_name(object->kind),
          name ? "\"" : "", name ? name : "", name ? "\" " : "", address, made, used, strerror(error));
}

void qzi_wait_describe(const struct qzi_thread *thread, char *text, size_t bytes) {
  const struct qzi_object *object = thread->wait_object;
  unsigned kind = (unsigned)thread->waiter.kind;
  const char *name = object->pub.name ? qzi_pub_name_text(object->pub.name) : NULL;
  char place[256], label[160];
  int length;
  if (name)
    length = snprintf(text, bytes, "%s \"%s\"", kind_name(kind), name);
  else if (object->pub.site)
    length =
      snprintf(text, bytes, "%s made at %s", kind_name(kind), qzi_place_text(object->pub.site, place, sizeof place));
  else
    length = snprintf(text, bytes, "%s at %s", kind_name(kind), qzi_place_text((uintptr_t)object, place, sizeof place));
  const struct qzi_thread *holder = NULL;
  if (kind == QZ_KIND_MUTEX)
    holder = qzi_mutex_holder(object);
  else if (kind == QZ_KIND_RWLOCK)
    holder = qzi_rwlock_holder(object);
  if (holder && length > 0 && (size_t)length < bytes)
    snprintf(text + length, bytes - (size_t)length, " held by %s", qzi_thread_label(holder, label, sizeof label));
}

/* The pause doubles up to MAX_PAUSES, because each look at the word costs its holder a cache miss. A thread that
 * spins without limit yields every YIELD_NS, because the thread that it waits for may be ready on the same
 * processor. */
enum { MAX_PAUSES = 64, YIELD_NS = 50000 };

void qzi_spin_begin(struct qzi_spin *spin, struct qzi_object *object, qz_policy policy, uint64_t deadline_ns) {
  spin->index = qzi_object_index(object);
  qzi_pub_spinning(qzi_publisher_self(), &qzi_self()->pub, spin->index);
  spin->start_ns = spin->now_ns = qzi_now_ns();
  spin->limit_ns = policy == QZ_SPIN ? deadline_ns : spin->now_ns + qzi_spin_limit_ns();
  if (spin->limit_ns > deadline_ns) spin->limit_ns = deadline_ns;
  spin->yield_ns = spin->now_ns + YIELD_NS;
  spin->pauses = 4;
}

/* Aligned, because the position of its loop determines how long a look takes: with an offset of 16 bytes, 8 threads
 * that share a lock on 2 CPUs took 27 ns per operation instead of 15 (AMD Zen 5). */
__attribute__((aligned(64))) bool qzi_spin_more(struct qzi_spin *spin) {
  for (unsigned i = 0; i < spin->pauses; i++) qzi_pause();
  if (spin->pauses < MAX_PAUSES) {
    spin->pauses *= 2;
    return true;
  }
  if (QZI_UNLIKELY(qzi_oversubscribed)) sched_yield(); /* the processor of the lock's holder may have no CPU */
  spin->now_ns = qzi_now_ns();
  if (spin->now_ns >= spin->limit_ns) return false;
  if (spin->now_ns >= spin->yield_ns) {
    qzi_yield();
    qzi_pub_spinning(qzi_publisher_self(), &qzi_self()->pub, spin->index);
    spin->yield_ns = qzi_now_ns() + YIELD_NS;
  }
  return true;
}

uint64_t qzi_spin_end(struct qzi_spin *spin) {
  qzi_pub_spun(qzi_publisher_self(), &qzi_self()->pub);
  return qzi_now_ns() - spin->start_ns;
}
