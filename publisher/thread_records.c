/* Thread records: taking, initializing and releasing them; removal from the middle of a profile stack.
 *
 * Owns:    the pools of free thread records (one per processor, and a common one) and the high-water mark.
 * Writer:  the processor that runs or holds the thread. Reader: the sampler.
 * Must not: reset a change count: a reader that copied an earlier use of the record could mistake it for this one.
 */
#include <pthread.h>
#include <string.h>
#include "private.h"
#include "publisher.h"

#ifdef QZI_PUB_ONE_THREAD /* the pthread layer: a publisher has one thread */
#define CHUNK 1
#else
#define CHUNK 64 /* number of indices that are moved between a processor's pool and the common pool at a time */
#endif
#define MANY 512 /* number of records above which the pages of further ones are populated before use, */
#define MADE 256 /* for so many records at a time */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the common pool */
static uint32_t *free_all;                               /* stack of free indices */
static uint32_t free_all_count;
static uint32_t high;        /* records below this index have been used */
static uint32_t first_limit; /* initial limit of a record in the thread table */
static uint64_t dropped;

int qzi_threads_make(void) {
  if (!free_all) free_all = qzi_pub_reserve((size_t)qzi_session.threads * sizeof *free_all);
  return free_all ? 0 : -1;
}

void qzi_threads_forked(void) { lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; }

void qzi_threads_mapped(void) {
#ifndef QZI_PUB_ONE_THREAD
  qzi_pub_records = (struct qzi_pub_records){qzi_session.thread_base, qzi_session.long_base, qzi_session.thread_stride,
                                             qzi_session.long_stride};
#endif
  uint32_t last = QZ_WORD_EMPTY + qzi_session.short_limit * (uint32_t)sizeof(struct qz_entry);
  first_limit = qzi_session.long_base ? last : qzi_pub_hook_limit;
  qzi_session.head->thread_high = high;
  qzi_session.head->threads_dropped = dropped;
}

void qzi_threads_pool_publisher(struct qzi_publisher *p) {
  if (!p->free) p->free = qzi_pub_reserve(QZI_PUB_POOL * sizeof *p->free);
}

static bool refill(struct qzi_publisher *p) {
  if (!p->free) return false;
  pthread_mutex_lock(&lock);
  while (p->free_count < CHUNK && free_all_count) p->free[p->free_count++] = free_all[--free_all_count];
  if (!p->free_count) {
    uint32_t fresh = qzi_session.threads - high < CHUNK ? qzi_session.threads - high : CHUNK;
    for (uint32_t k = fresh; k > 0; k--) p->free[p->free_count++] = high + k - 1;
    if (CHUNK > 1 && high >= MANY && high % MADE == 0 && qzi_session.threads - high >= MADE)
      qzi_session_populate(qzi_session_thread(high), MADE * qzi_session.thread_stride);
    high += fresh;
    __atomic_store_n(&qzi_session.head->thread_high, high, __ATOMIC_RELEASE);
  }
  if (!p->free_count) qzi_pub_store(&qzi_session.head->threads_dropped, ++dropped);
  pthread_mutex_unlock(&lock);
  return p->free_count != 0;
}

static void spill(struct qzi_publisher *p, uint32_t keep) {
  pthread_mutex_lock(&lock);
  while (p->free_count > keep) free_all[free_all_count++] = p->free[--p->free_count];
  pthread_mutex_unlock(&lock);
}

void qzi_threads_return_pool(struct qzi_publisher *p) {
  if (p->free_count) spill(p, 0);
}

static __attribute__((noinline)) struct qz_thread *other_record(struct qz_thread *record, uint32_t index) {
  if (record->limit == QZ_LIMIT_LONG) return qzi_session_long(index);
  record->limit = first_limit; /* the record was never used */
  return record;
}
static inline struct qz_thread *own_record(uint32_t index) {
  struct qz_thread *record = qzi_session_thread(index);
  return __builtin_expect(record->limit == first_limit, 1) ? record : other_record(record, index);
}

static struct qz_entry *entry_at(const struct qz_thread *record, uint64_t word) {
  return (struct qz_entry *)((char *)(uintptr_t)&record->word + QZ_WORD_TOP(word));
}

/* Marks the stack as being rewritten; returns the word to continue from. */
static inline uint64_t flux(struct qz_thread *record) {
  uint64_t word = (__atomic_load_n(&record->word, __ATOMIC_RELAXED) | QZ_WORD_FLUX) + QZ_WORD_CHANGE;
  __atomic_store_n(&record->word, word, __ATOMIC_RELAXED);
  qzi_pub_fence();
  return word;
}
static inline void settle(struct qz_thread *record, uint64_t word, uint32_t top) {
  word = (word & ~(QZ_WORD_FLUX | UINT32_MAX)) + QZ_WORD_CHANGE;
  QZI_TRACE(stack(record, word | top));
  __atomic_store_n(&record->word, word | top, __ATOMIC_RELEASE);
}

/* Fills the fields that are constant in all uses of a record during an epoch. */
static inline void fill_first(struct qz_thread *record) {
  record->epoch = qzi_pub_epoch;
  record->bottom.key = 0;
  record->bottom.sp = QZI_SP_FIXED;
}

/* Fills the record, whose serial is 0: identity, then the creator's procedures, then the start routine. Objects are
 * omitted: the creator may hold them, but the new thread does not. */
static inline __attribute__((always_inline)) void
fill_life(struct qz_thread *record, uint64_t word, const struct qzi_pub_thread *t, const struct qz_thread *creator) {
  record->start = t->start;
  record->create_site = t->create_site;
  record->name = t->name;
  record->creator = t->creator;
#ifdef QZI_PUB_ONE_THREAD
  record->os_tid = t->os_tid;
#else
  record->filled = 0;
  record->made = 0;
#endif
  record->high = t->stack_high ? (uint64_t)t->stack_high : QZI_STACK_UNKNOWN;
  record->go_on = qzi_attend.go_on;
  if (__builtin_expect(record->overflows != 0, 0)) qzi_pub_store(&record->overflows, 0);
  struct qz_entry *to = &record->bottom;
  uint64_t last = 0; /* key of `to` */
  if (creator) {
    const struct qz_entry *from = creator->stack, *end = entry_at(creator, qzi_pub_top(creator));
    for (; from <= end; from++) {
      uint64_t key = from->key;
      if (key & QZ_KEY_OBJECT || key == last) continue;
      to++;
      last = key;
      qzi_pub_store(&to->key, key);
      qzi_pub_store(&to->sp, QZI_SP_FIXED);
    }
  }
  uint32_t base = (uint32_t)(to - &record->bottom);
  record->base = base;
  if (t->start && last != t->start) {
    if (base + QZI_PUB_RESERVED_ENTRIES < qzi_session.stack_limit) {
      to++;
      qzi_pub_store(&to->key, t->start);
      qzi_pub_store(&to->sp, QZI_SP_FIXED);
    } else {
      qzi_pub_store(&record->overflows, 1);
    }
  }
  uint32_t top = QZ_WORD_EMPTY + (uint32_t)(to - &record->bottom) * (uint32_t)sizeof *to;
#ifndef QZI_PUB_ONE_THREAD
  record->first_top = top;
#endif
  if (t->serial) QZI_TRACE(thread(record, QZI_ORACLE_BEGIN, t->serial));
  __atomic_store_n(&record->serial, t->serial, __ATOMIC_RELEASE);
  settle(record, word, top);
#ifdef QZI_PUB_ONE_THREAD
  qzi_session_mark(t->index_plus_1);
#endif
}

static void fill(struct qz_thread *record, const struct qzi_pub_thread *t, const struct qz_thread *creator) {
  uint64_t word = flux(record);
  qzi_pub_store(&record->serial, 0);
  qzi_pub_fence();
  fill_first(record);
  record->calls = (uint64_t)(uintptr_t)qzi_no_calls; /* until it runs */
  fill_life(record, word, t, creator);
}

static struct qz_thread *take(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  if (!t->record) {
    if (__builtin_expect(!p->free_count, 0) && !refill(p)) {
      __atomic_store_n(&t->index_plus_1, 0, __ATOMIC_RELAXED);
      return NULL;
    }
    __atomic_store_n(&t->index_plus_1, p->free[--p->free_count] + 1, __ATOMIC_RELAXED); /* atomic: joiners read it */
  }
  return t->record = own_record(t->index_plus_1 - 1); /* the session may have been made again */
}

/* Moves the contents of a short record to the long one. Hooks of a signal handler may run at any point in between,
 * and may even do the same: they leave the stack as they found it. The packed word continues from its old value, so
 * that no value occurs again with another stack. */
static struct qz_thread *lengthen(struct qz_thread *record, uint32_t index) {
  struct qz_thread *longer = qzi_session_long(index);
  uint64_t word = flux(record);
  longer->start = record->start;
  longer->create_site = record->create_site;
  longer->name = record->name;
  longer->creator = record->creator;
  longer->base = record->base;
#ifndef QZI_PUB_ONE_THREAD
  longer->filled = record->filled;
  longer->made = record->made;
  longer->first_top = record->first_top;
#endif
  longer->go_on = record->go_on;
  longer->overflows = record->overflows;
  longer->state = record->state;
  longer->calls = record->calls;
  longer->limit = qzi_pub_hook_limit;
  longer->epoch = qzi_pub_epoch;
  longer->high = record->high;
  uint64_t entries = 1 + (QZ_WORD_TOP(word) >= QZ_WORD_EMPTY ? QZ_WORD_DEPTH(word) : 0);
  memcpy(&longer->bottom, &record->bottom, entries * sizeof longer->bottom);
#ifndef QZI_PUB_ONE_THREAD
  record->made = 0;
#endif
  longer->serial = record->serial;
  longer->word = (word & ~QZ_WORD_FLUX) + QZ_WORD_CHANGE;
  __atomic_store_n(&record->limit, QZ_LIMIT_LONG, __ATOMIC_RELEASE);
  __atomic_store_n(&record->epoch, UINT32_MAX, __ATOMIC_RELAXED); /* see qzi_pub_pop_fast */
  return longer;
}

struct qz_thread *qzi_pub_lengthen(struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  if (!record || !qzi_session_is_short(record)) return NULL;
  struct qz_thread *longer = lengthen(record, t->index_plus_1 - 1);
  if (__atomic_load_n(&qzi_hot, __ATOMIC_RELAXED) == &record->word) qzi_hot_set(&longer->word);
  return t->record = longer;
}

struct qz_thread *qzi_pub_room(struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record, *longer = qzi_pub_lengthen(t);
  if (longer) return longer;
  if (qzi_pub_top(record) < qzi_pub_limit) return record;
  qzi_pub_store(&record->overflows, record->overflows + 1);
  return NULL;
}

/* For a thread that existed before publishing began: from now on its stack contains what it enters. */
struct qz_thread *qzi_pub_begin(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  (void)qzi_publishing(); /* a hook gets here because of a store that the channel made before it set the flag; this load
                             shows TSan that order */
  struct qz_thread *record = take(p, t);
  if (record) fill(record, t, NULL);
  return record;
}

/* For a thread that starts with more procedures than its record has room for. Others may be created at the same
 * place. */
static struct qz_thread *lengthen_new(struct qzi_pub_thread *t) {
  uint32_t index = t->index_plus_1 - 1;
  if (index >= MANY && index % CHUNK == 0 && index + CHUNK <= qzi_session.threads)
    qzi_session_populate(qzi_session_long(index), CHUNK * qzi_session.long_stride);
  return t->record = lengthen(t->record, index);
}

void qzi_pub_created_slow(struct qzi_publisher *p, struct qzi_pub_thread *t, const struct qzi_pub_thread *creator) {
  struct qz_thread *from = creator ? creator->record : NULL;
  if (from && from->epoch != qzi_pub_epoch) from = NULL;
  t->creator = from ? creator->index_plus_1 : 0;
  struct qz_thread *record = take(p, t);
  if (record) {
    if (from && qzi_pub_top(from) >= first_limit && qzi_session_is_short(record)) record = lengthen_new(t);
    fill(record, t, from);
    QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
    qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  }
  qzi_path_give(p, t, QZ_ARRIVAL_CREATED);
  if (!t->create_site) return;
  if (p->calls)
    qzi_pub_count_now(p, t->create_site, t->start);
  else
    qzi_call_count_shared(t->create_site, t->start);
}

static __attribute__((noinline)) void queued_unusual(struct qzi_publisher *p, struct qzi_pub_thread *t,
                                                     const struct qzi_pub_thread *creator) {
  qzi_pub_created_slow(p, t, creator);
  qzi_pub_thread_state(p, t, QZ_STATE_READY, 0);
}

void qzi_pub_queued_slow(struct qzi_publisher *p, struct qzi_pub_thread *t, const struct qzi_pub_thread *creator) {
  qzi_pub_store(&p->record->spawns, p->spawns);
  qzi_pub_store(&p->record->enqueued, p->spawns + p->woken);
  const struct qz_thread *from = creator->record;
  struct qz_call *call = NULL;
  uint32_t epoch = qzi_pub_epoch, free_count = p->free_count;
  if (__builtin_expect(p->calls && free_count && from && from->epoch == epoch, 1))
    call = qzi_pub_near_slot(p->calls, t->create_site, t->start);
  if (__builtin_expect(!call, 0)) {
    queued_unusual(p, t, creator);
    return;
  }
  uint32_t index = p->free[free_count - 1];
  struct qz_thread *record = qzi_session_thread(index);
  if (__builtin_expect(record->limit == QZ_LIMIT_LONG, 0))
    record = qzi_session_long(index);
  else if (__builtin_expect(qzi_pub_top(from) >= first_limit, 0))
    record = NULL;
  if (__builtin_expect(!record || record->epoch != epoch, 0)) {
    queued_unusual(p, t, creator);
    return;
  }
  p->free_count = free_count - 1;
  t->record = record;
  t->creator = creator->index_plus_1;
  __atomic_store_n(&t->index_plus_1, index + 1, __ATOMIC_RELAXED);
  fill_life(record, flux(record), t, from);
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_READY));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_READY, 0));
  qzi_path_give(p, t, QZ_ARRIVAL_CREATED);
  qzi_pub_store(&call->count, call->count + 1);
}

#ifndef QZI_PUB_ONE_THREAD
struct qzi_pub_records qzi_pub_records;

bool qzi_pub_task_make(struct qzi_publisher *p, uint64_t start, uint32_t name, uint64_t site,
                       struct qzi_pub_task *task) {
  uint32_t epoch = qzi_pub_epoch;
  struct qz_thread *creator = qzi_pub_running(epoch);
  if (!creator) return false;
  const struct qzi_pub_spawns *place =
    qzi_pub_spawns_at(p, start, (uint64_t)name << 32 | epoch, site, qzi_pub_path_name(creator));
  if (!place) return false;
  struct qzi_pub_thread t = {.creator = qzi_pub_runs(p),
                             .name = name,
                             .start = start,
                             .create_site = site,
                             .stack_high = (uintptr_t)creator->high};
  struct qz_thread *record = take(p, &t);
  if (!record) return false;
  if (record->made != place->made || qzi_pub_top(record) != record->first_top || record->epoch != epoch) {
    if (qzi_pub_top(creator) >= first_limit && qzi_session_is_short(record)) record = lengthen_new(&t);
    if (record->epoch == epoch)
      fill_life(record, flux(record), &t, creator);
    else
      fill(record, &t, creator);
    record->made = place->made;
  }
  (void)qzi_path_now(p->time_path);
  *task = (struct qzi_pub_task){record, creator, place->call, t.index_plus_1 - 1};
  return true;
}
#endif

void qzi_pub_spill(struct qzi_publisher *p) { spill(p, QZI_PUB_POOL - CHUNK); }

void qzi_pub_give_back(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qz_thread *record = t->record;
  qzi_path_give(p, t, QZ_ARRIVAL_JOINED); /* for the thread that waits for its end */
  if (__atomic_load_n(&qzi_hot, __ATOMIC_RELAXED) == &record->word) qzi_hot_set(NULL);
  QZI_TRACE(thread(record, QZI_ORACLE_END, 0));
  qzi_pub_store(&record->serial, 0);
  qzi_pub_store(&record->state, QZ_STATE_IDLE);
#ifdef QZI_PUB_ONE_THREAD
  qzi_session_mark(t->index_plus_1);
#endif
  if (__builtin_expect(p->free_count == QZI_PUB_POOL, 0)) qzi_pub_spill(p);
  p->free[p->free_count++] = t->index_plus_1 - 1;
  t->record = NULL;
  __atomic_store_n(&t->index_plus_1, 0, __ATOMIC_RELAXED);
}

/* Makes hooks take their slow path, which counts in the table for threads that have none of their own. */
void qzi_pub_no_table(struct qz_thread *record) { record->calls = (uint64_t)(uintptr_t)qzi_no_calls; }

/* During a blocking region the processor runs other threads, so this thread can no longer use its call table. */
void qzi_pub_io_slow(struct qzi_publisher *p, struct qzi_pub_thread *t) {
  struct qz_thread *record = qzi_pub_record(p, t);
  if (!record) return;
  qzi_path_give(p, t, QZ_ARRIVAL_IO);
  QZI_TRACE(thread(record, QZI_ORACLE_STATE, QZ_STATE_IO));
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_IO, 0));
  qzi_pub_no_table(record);
}

static void remove_from(struct qz_thread *record, uint64_t key) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = entry_at(record, word), *entry = top;
  while (entry > &record->bottom && entry->key != key) entry--;
  if (entry == &record->bottom) return;
  word = flux(record);
  for (; entry < top; entry++) {
    qzi_pub_store(&entry->key, entry[1].key);
    qzi_pub_store(&entry->sp, entry[1].sp);
  }
  settle(record, word, QZ_WORD_TOP(word) - (uint32_t)sizeof *entry);
}

void qzi_pub_remove(struct qz_thread *record, uint64_t key) {
  if (record->limit != QZ_LIMIT_LONG) remove_from(record, key);
  if (record->limit != QZ_LIMIT_LONG) return;
  /* Since the caller's test, hooks of a signal handler have moved the stack. */
  uint64_t index = (uint64_t)((char *)record - qzi_session.thread_base) / qzi_session.thread_stride;
  remove_from(qzi_session_long((uint32_t)index), key);
}
