/* Names: equal strings are stored once and identified by their offset in the session's string table.
 *
 * Owns:    the strings. They are in private memory and, once there is a session, at the same offsets in its string
 *          table, so names can be created before a sampler connects.
 * Writer:  any kernel thread, under `lock`. Reader: any kernel thread, without a lock; the sampler.
 * Must not: free or change a string that was handed out.
 */
#include <pthread.h>
#include <string.h>
#include "private.h"
#include "publisher.h"

#define CAPACITY QZI_PUB_STRING_BYTES
#define SLOTS    (1u << 18) /* of the hash table, which holds offsets; at most half of the slots are used */
#define NAMES    (SLOTS / 2)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(char *) strings; /* offset 0 is the empty string */
static _Atomic uint32_t *slots;
static uint32_t used = 1, names;
static uint64_t dropped;
static struct qz_session
  *mapped; /* the session that has the strings, and its string table; copies of their own, under the lock */
static char *mapped_strings;
static _Thread_local uint32_t last __attribute__((tls_model("initial-exec"))); /* most calls repeat the previous name */

static uint32_t hash_of(const char *name, size_t *bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  size_t k = 0;
  for (; name[k]; k++) hash = (hash ^ (unsigned char)name[k]) * 0x100000001b3u;
  *bytes = k + 1;
  return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t find(uint32_t hash, const char *name, uint32_t *slot) {
  char *text = atomic_load_explicit(&strings, memory_order_acquire);
  for (uint32_t k = hash & (SLOTS - 1);; k = (k + 1) & (SLOTS - 1)) {
    uint32_t offset = atomic_load_explicit(&slots[k], memory_order_acquire);
    if (offset && strcmp(text + offset, name)) continue;
    *slot = k;
    return offset;
  }
}

/* With the lock held. */
static void mirror(uint32_t from, uint32_t bytes) {
  if (!mapped) return;
  memcpy(mapped_strings + from, atomic_load_explicit(&strings, memory_order_relaxed) + from, bytes);
  __atomic_store_n(&mapped->string_bytes, from + bytes, __ATOMIC_RELEASE);
}

static uint32_t add(uint32_t hash, const char *name, size_t bytes) {
  uint32_t offset = 0, slot;
  pthread_mutex_lock(&lock);
  if (!atomic_load_explicit(&strings, memory_order_relaxed)) {
    char *text = qzi_pub_reserve(CAPACITY + SLOTS * sizeof *slots);
    if (!text) goto out;
    slots = (_Atomic uint32_t *)(text + CAPACITY);
    atomic_store_explicit(&strings, text, memory_order_release);
  }
  offset = find(hash, name, &slot);
  if (offset) goto out;
  if (bytes > CAPACITY - used || names == NAMES) {
    dropped++;
    if (mapped) qzi_pub_store(&mapped->strings_dropped, dropped);
    goto out;
  }
  offset = used;
  memcpy(atomic_load_explicit(&strings, memory_order_relaxed) + offset, name, bytes);
  mirror(offset, (uint32_t)bytes);
  used += (uint32_t)bytes;
  names++;
  atomic_store_explicit(&slots[slot], offset, memory_order_release);
out:
  pthread_mutex_unlock(&lock);
  return offset;
}

uint32_t qzi_pub_name(const char *name) {
  if (!name || !*name) return 0;
  char *text = atomic_load_explicit(&strings, memory_order_acquire);
  if (text && last && !strcmp(text + last, name)) return last;
  size_t bytes;
  uint32_t hash = hash_of(name, &bytes), slot, offset = text ? find(hash, name, &slot) : 0;
  if (!offset) offset = add(hash, name, bytes);
  return last = offset;
}

const char *qzi_pub_name_text(uint32_t name) {
  char *text = atomic_load_explicit(&strings, memory_order_acquire);
  return name && text ? text + name : "";
}

/* Called when a session has been made: copies the existing strings into it. */
void qzi_names_mapped(void) {
  pthread_mutex_lock(&lock);
  mapped = qzi_session.head;
  mapped_strings = qzi_session.string_base;
  mapped_strings[0] = 0;
  if (used > 1)
    mirror(1, used - 1);
  else
    mapped->string_bytes = 1;
  mapped->strings_dropped = dropped;
  pthread_mutex_unlock(&lock);
}

/* Runs in a forked child: a kernel thread that no longer exists may have held the lock. */
void qzi_names_forked(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }
