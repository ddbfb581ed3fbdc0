/* Work and span: strands and their lengths. See span.h.
 *
 * All of it is out of line: where it is not wanted, the fast paths do not know of it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "private.h"

#define KINDS       64u   /* of strands, by where they end */
#define KIND_RENEW  256u  /* strands after which the cap of a kind is found anew */
#define BURDEN_NS   5000u /* from spawned to running on another processor */
#define LEVEL_LEAST 10u   /* a level is 2^this ticks at first */

/* Strands of one kind: how their time is distributed, and above which length next to nothing of it lies. */
struct kind {
  uint64_t cap, seen;
  uint64_t work[64]; /* by power of two */
};
struct qzi_span_actor {
  struct qz_span *record;
  struct qz_path *crumbs; /* of the span */
  struct qz_path *path;   /* the time path's */
  uint64_t index;
  uint64_t since; /* when the strand that runs began, by the clock below */
  uint64_t seen;  /* the clock page's time then, or when the strand was looked at last */
  uint64_t begun; /* for a thread that runs then: when recording began */
  uint32_t epoch; /* in which `since` was set, */
  uint32_t made;  /* and all this */
  struct kind kinds[KINDS];
};

static uint64_t cost;   /* of reading the clock, which is in each strand */
static uint64_t burden; /* ticks */

#ifdef QZI_PUB_ONE_THREAD
/* Its events take microseconds, and not all waits are seen: so its threads have processor time alone. */
static uint64_t ticks_now(void) {
  struct timespec now;
  if (qzi_no_system_calls || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return 0;
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
static inline uint64_t tick_scale(void) { return 0; }
#else
static inline uint64_t ticks_now(void) { return qzi_pub_ticks(); }
static inline uint64_t tick_scale(void) { return qzi_pub_ticks_scale(); }
#endif

/* ---- the clock ------------------------------------------------------------------------------------------------ */

/* It stands still while the kernel lets others have the CPU. The kernel clears rseq_cs when it takes the CPU away from
 * a thread that is not in the section named there (uapi linux/rseq.h); so a section that nobody executes is named, and
 * where the name is gone, the kernel is asked how long the thread has waited for CPUs. */
static _Thread_local struct {
  uint64_t lost;      /* ticks */
  uint64_t waited_ns; /* what the kernel said last */
  bool known;
} cpu __attribute__((tls_model("initial-exec")));

#if defined(QZI_PUB_ONE_THREAD)
#define HAS_RSEQ 0
static bool has_cpu_waits(void) { return true; }
#elif defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define HAS_RSEQ 1
/* glibc 2.35 and newer register it; without, waits for CPUs stay in. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
/* The section, its abort address behind the signature that the kernel wants to see there; and its descriptor. */
__asm__(".pushsection .text\n"
        "0: ud2\n1:\n .byte 0x0f, 0xb9, 0x3d\n .long 0x53053053\n2: ud2\n"
        ".popsection\n"
        ".pushsection .data.rel.ro, \"aw\"\n .balign 32\n .hidden qzi_span_section\n .globl qzi_span_section\n"
        "qzi_span_section: .long 0, 0\n .quad 0b, 1b - 0b, 2b\n"
        ".popsection\n");
extern char qzi_span_section[] __attribute__((visibility("hidden")));
#define RSEQ_CS  8 /* offset of rseq_cs in struct rseq */

static inline uint64_t *rseq_word(void) {
  return (uint64_t *)(void *)((char *)__builtin_thread_pointer() + __rseq_offset + RSEQ_CS);
}

/* The kernel has taken the CPU away, or the thread is new. */
static __attribute__((noinline, cold)) void was_interrupted(void) {
  __atomic_store_n(rseq_word(), (uint64_t)(uintptr_t)qzi_span_section, __ATOMIC_RELAXED);
  if (qzi_no_system_calls) return;
  int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[96];
  ssize_t bytes = read(fd, text, sizeof text - 1);
  close(fd);
  unsigned long long run, waited;
  text[bytes > 0 ? bytes : 0] = 0;
  if (sscanf(text, "%llu %llu", &run, &waited) != 2) return;
  if (cpu.known && waited > cpu.waited_ns) {
    uint64_t ns = waited - cpu.waited_ns;
    cpu.lost += tick_scale() ? (uint64_t)(((unsigned __int128)ns << 32) / tick_scale()) : ns;
  }
  cpu.waited_ns = waited;
  cpu.known = true;
}

static bool has_cpu_waits(void) {
  if (!&__rseq_offset || !&__rseq_size || !__rseq_size || qzi_no_system_calls) return false;
  /* Whether the kernel does clear it: asleep, the thread loses its CPU. */
  was_interrupted();
  if (!cpu.known) return false;
  usleep(1);
  return __atomic_load_n(rseq_word(), __ATOMIC_RELAXED) == 0;
}
#else
#define HAS_RSEQ 0
static bool has_cpu_waits(void) { return false; }
#endif
static bool cpu_waits;

static inline uint64_t clock_now(void) {
  uint64_t now = ticks_now();
#if HAS_RSEQ
  if (__builtin_expect(cpu_waits, 1)) {
    if (__builtin_expect(__atomic_load_n(rseq_word(), __ATOMIC_RELAXED) != (uint64_t)(uintptr_t)qzi_span_section, 0)) {
      was_interrupted(); /* once: a library that uses rseq itself would make it a loop */
      now = ticks_now();
    }
  }
#endif
  return now - cpu.lost;
}

/* ---- lengths -------------------------------------------------------------------------------------------------- */

struct qzi_span *qzi_span_of(const struct qzi_pub_thread *t) {
  return (struct qzi_span *)(void *)((char *)(uintptr_t)t + qzi_span_offset);
}

void qzi_span_max(struct qzi_lanes *to, const struct qzi_lanes *from) {
  if (from->length > to->length) {
    to->length = from->length;
    to->crumb = from->crumb;
  }
  if (from->burdened > to->burdened) to->burdened = from->burdened;
  if (from->typical > to->typical) to->typical = from->typical;
}
static void lengthen(struct qzi_span *span, uint64_t ticks) {
  span->now.length += ticks;
  span->now.burdened += ticks;
  span->now.typical += ticks;
}

/* One that was there before recording began starts there. */
static inline struct qzi_span *of_epoch(const struct qzi_pub_thread *t) {
  struct qzi_span *span = qzi_span_of(t);
  if (__builtin_expect(span->epoch != qzi_pub_epoch, 0))
    *span = (struct qzi_span){.epoch = qzi_pub_epoch, .away = ticks_now()};
  return span;
}

/* The thread that the caller is; NULL: none. */
static inline struct qzi_pub_thread *current(struct qzi_publisher *p) {
  char *at = (char *)p + qzi_current_offset;
#ifdef QZI_PUB_ONE_THREAD
  return (struct qzi_pub_thread *)(void *)at;
#else
  char *thread = *(char **)(void *)at;
  return thread ? (struct qzi_pub_thread *)(void *)(thread + qzi_current_pub) : NULL;
#endif
}

/* The same, its strand under way. */
static inline struct qzi_span *running(struct qzi_publisher *p) {
  struct qzi_pub_thread *t = current(p);
  struct qzi_span_actor *actor = p->span;
  if (!t) return NULL;
  if (__builtin_expect(actor->epoch != qzi_pub_epoch, 0)) { /* it ran when recording began */
    actor->epoch = qzi_pub_epoch;
    actor->since = actor->begun - cpu.lost;
    actor->seen = 0;
  }
  return of_epoch(t);
}

/* Two levels as one, until `length` is below the last one. */
static __attribute__((noinline, cold)) uint64_t widen(struct qz_span *record, uint64_t length) {
  uint64_t shift = record->levels_shift;
  qzi_pub_store(&record->levels_shift, shift | QZ_SPAN_WIDENING);
  qzi_pub_fence();
  for (; length >> shift >= QZ_SPAN_LEVELS; shift++)
    for (unsigned k = 0; k < QZ_SPAN_LEVELS; k++)
      qzi_pub_store(&record->levels[k], 2 * k < QZ_SPAN_LEVELS ? record->levels[2 * k] + record->levels[2 * k + 1] : 0);
  __atomic_store_n(&record->levels_shift, shift, __ATOMIC_RELEASE);
  return shift;
}

/* Work that was done while the chain to it went from `from` to `to`. */
static inline void add_levels(struct qz_span *record, uint64_t from, uint64_t to) {
  uint64_t shift = record->levels_shift;
  if (__builtin_expect(to >> shift >= QZ_SPAN_LEVELS, 0)) shift = widen(record, to);
  uint64_t first = from >> shift, last = to >> shift;
  if (__builtin_expect(first == last, 1)) {
    qzi_pub_store(&record->levels[first], record->levels[first] + (to - from));
    return;
  }
  for (uint64_t k = first; k <= last; k++) {
    uint64_t low = k == first ? from : k << shift, high = k == last ? to : (k + 1) << shift;
    qzi_pub_store(&record->levels[k], record->levels[k] + (high - low));
  }
}

static __attribute__((noinline, cold)) void renew(struct kind *kind) {
  uint64_t all = 0, above = 0;
  for (unsigned k = 0; k < 64; k++) all += kind->work[k];
  unsigned k = 63;
  while (k > 0 && above + kind->work[k] <= all / 16) above += kind->work[k--];
  kind->cap = k >= 62 ? UINT64_MAX : UINT64_C(2) << k;
}

/* The strand's time as far as is usual where strands end at `key` (0: no such place). */
static inline uint64_t typical(struct qzi_span_actor *actor, uint64_t key, uint64_t ticks) {
  if (!key || !ticks) return ticks;
  struct kind *kind = &actor->kinds[key * UINT64_C(0x9e3779b97f4a7c15) >> 58];
  kind->work[63 - __builtin_clzll(ticks)] += ticks;
  if (__builtin_expect(++kind->seen % KIND_RENEW == 0, 0)) renew(kind);
  return kind->cap && ticks > kind->cap ? kind->cap : ticks;
}

/* A snapshot has been taken in this strand. */
static __attribute__((noinline, cold)) void crumb(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t time) {
  uint64_t id = qzi_path_write(actor->crumbs, actor->index, span->now.crumb, actor->seen, span->now.length);
  if (id) span->now.crumb = id;
  actor->seen = time;
  qzi_pub_store(&actor->crumbs->word, span->now.crumb);
}

/* The running thread's strand ends, and the next one begins. */
static inline void cut(struct qzi_span_actor *actor, struct qzi_span *span, uint64_t now, uint64_t key) {
  uint64_t ticks = now - actor->since, from = span->now.length;
  ticks = (int64_t)ticks > (int64_t)cost ? ticks - cost : 0;
  actor->since = now;
  span->now.length = from + ticks;
  span->now.burdened += ticks;
  span->now.typical += typical(actor, key, ticks);
  span->work += ticks;
  qzi_pub_store(&actor->record->work, actor->record->work + ticks);
  qzi_pub_store(&actor->record->strands, actor->record->strands + 1);
  add_levels(actor->record, from, from + ticks);
  uint64_t time = qzi_path_time();
  if (__builtin_expect(time != actor->seen, 0)) crumb(actor, span, time);
}

/* A strand of the thread begins. */
static inline void begin(struct qzi_span_actor *actor, const struct qzi_span *span, uint64_t now) {
  actor->since = now;
  actor->seen = qzi_path_time();
  actor->epoch = qzi_pub_epoch;
  qzi_pub_store(&actor->crumbs->word, span->now.crumb);
}

/* ---- sites ---------------------------------------------------------------------------------------------------- */

/* Numbers from 1, for the session; 0: there are too many. */
static _Atomic uint64_t numbered[QZ_SPAN_SITES];

static unsigned number_of(uint64_t site) {
  unsigned at = 1 + (unsigned)(site * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (QZ_SPAN_SITES - 1);
  for (unsigned n = 0; n < QZ_SPAN_SITES - 1; n++) {
    uint64_t there = atomic_load_explicit(&numbered[at], memory_order_relaxed);
    if (there == site) return at;
    if (!there && (atomic_compare_exchange_strong(&numbered[at], &there, site) || there == site)) return at;
    at = at + 1 < QZ_SPAN_SITES ? at + 1 : 1;
  }
  return 0;
}

static void count_site(struct qz_span *record, const struct qzi_span *span, const struct qzi_pub_thread *t) {
  struct qz_site *site = &record->sites[span->site];
  uint64_t length = span->now.length - span->start;
  if (!site->site) {
    qzi_pub_store(&site->start, t->start);
    qzi_pub_store(&site->site, span->site ? t->create_site : 1);
  }
  qzi_pub_store(&site->count, site->count + 1);
  qzi_pub_store(&site->work, site->work + span->work);
  qzi_pub_store(&site->span, site->span + length);
  if (!span->top) return;
  qzi_pub_store(&site->top_count, site->top_count + 1);
  qzi_pub_store(&site->top_work, site->top_work + span->work);
  qzi_pub_store(&site->top_span, site->top_span + length);
}

/* ---- events --------------------------------------------------------------------------------------------------- */

static void created(struct qzi_span *child, const struct qzi_span *self, const struct qzi_pub_thread *t) {
  unsigned number = number_of(t->create_site);
  uint64_t bit = number ? UINT64_C(1) << number : 0;
  child->now = self->now;
  child->now.burdened += burden;
  child->in = (struct qzi_lanes){0};
  child->work = 0;
  child->start = self->now.length;
  child->away = 0;
  child->sites = self->sites | bit;
  child->epoch = qzi_pub_epoch;
  child->site = (uint8_t)number;
  child->top = number && !(self->sites & bit);
}

__attribute__((noinline)) void qzi_span_give(struct qzi_publisher *p, struct qzi_pub_thread *to, unsigned arrival) {
  struct qzi_span_actor *actor = p->span;
  if (!actor) return;
  __atomic_store_n(&to->chain, qzi_path_now(actor->path) | arrival, __ATOMIC_RELAXED);
  struct qzi_span *its = qzi_span_of(to);
  if (arrival == QZ_ARRIVAL_JOINED && to != current(p)) return; /* called on its parent's stack: qzi_span_call_ended */
  struct qzi_span *self = running(p);
  if (!self) return;
  switch (arrival) {
  case QZ_ARRIVAL_CREATED:
    cut(actor, self, clock_now(), 0);
    created(its, self, to);
    break;
  case QZ_ARRIVAL_WOKEN:
    cut(actor, self, clock_now(), 0);
    qzi_span_max(&of_epoch(to)->in, &self->now);
    break;
  case QZ_ARRIVAL_JOINED:
    cut(actor, self, clock_now(), to->start);
    count_site(actor->record, self, to);
    break;
  default: /* it gives up its processor */
    cut(actor, self, clock_now(), 0);
    self->away = ticks_now();
    break;
  }
}

__attribute__((noinline)) void qzi_span_take(struct qzi_publisher *p, const struct qzi_pub_thread *t) {
  struct qzi_span_actor *actor = p->span;
  if (!actor) return;
  qzi_path_go_on(actor->path, t);
  struct qzi_span *span = of_epoch(t);
  uint64_t now = clock_now();
  if (span->away) span->away = now + cpu.lost - span->away;
  if (QZ_CHAIN_ARRIVAL(__atomic_load_n(&t->chain, __ATOMIC_RELAXED)) == QZ_ARRIVAL_IO) lengthen(span, span->away);
  qzi_span_max(&span->now, &span->in);
  span->in = (struct qzi_lanes){0};
  begin(actor, span, now);
}

void qzi_span_spins(struct qzi_publisher *p) {
  struct qzi_span *self = running(p);
  if (self) cut(p->span, self, clock_now(), 0);
}
void qzi_span_goes_on(struct qzi_publisher *p) {
  struct qzi_span *self = running(p);
  if (self) begin(p->span, self, clock_now());
}
void qzi_span_slept(struct qzi_publisher *p) {
  struct qzi_span *self = p->span ? running(p) : NULL;
  if (self) lengthen(self, self->away);
}

uint64_t qzi_span_aside_begins(struct qzi_publisher *p) { return p->span ? clock_now() : 0; }
void qzi_span_aside(struct qzi_publisher *p, uint64_t since) {
  struct qzi_span *self = p->span && since ? running(p) : NULL;
  if (!self) return;
  uint64_t ticks = clock_now() - since;
  if ((int64_t)ticks <= 0) return;
  p->span->since += ticks;
  self->now.burdened += ticks;
  qzi_pub_store(&p->span->record->aside, p->span->record->aside + ticks);
}

void qzi_span_sync_begins(struct qzi_publisher *p, uint64_t site, struct qzi_span_sync *sync) {
  struct qzi_span *self = running(p);
  *sync = (struct qzi_span_sync){0};
  if (!self) return;
  cut(p->span, self, clock_now(), site);
  sync->most = self->now;
}

void qzi_span_call_ended(struct qzi_publisher *p, struct qzi_span_sync *sync) {
  const struct qzi_pub_thread *t = current(p);
  struct qzi_span *self = running(p);
  if (!self) return;
  cut(p->span, self, clock_now(), t->start);
  count_site(p->span->record, self, t);
  qzi_span_max(&sync->most, &self->now);
  sync->work += self->work;
}

void qzi_span_sync_ended(struct qzi_publisher *p, const struct qzi_span_sync *sync,
                         const struct qzi_span_sync *merged) {
  struct qzi_span *self = running(p);
  if (!self) return;
  qzi_span_max(&self->now, &sync->most);
  self->work += sync->work;
  if (!merged) {
    /* the next strand has begun where the last call ended */
    qzi_pub_store(&p->span->crumbs->word, self->now.crumb);
    return;
  }
  qzi_span_max(&self->now, &merged->most);
  self->work += merged->work;
  begin(p->span, self, clock_now());
}

void qzi_span_merge(struct qzi_publisher *p, struct qzi_span_sync *merged) {
  struct qzi_span *self = running(p);
  if (!self) return;
  cut(p->span, self, clock_now(), 0);
  qzi_span_max(&merged->most, &self->now);
  merged->work += self->work;
}

void qzi_span_result(const struct qzi_pub_thread *ended, struct qzi_span_sync *result) {
  const struct qzi_span *its = qzi_span_of(ended);
  *result = its->epoch == qzi_pub_epoch ? (struct qzi_span_sync){its->now, its->work} : (struct qzi_span_sync){0};
}
void qzi_span_after(struct qzi_publisher *p, const struct qzi_span_sync *result) {
  struct qzi_span *self = p->span ? running(p) : NULL;
  if (!self) return;
  cut(p->span, self, clock_now(), 0);
  qzi_span_max(&self->now, &result->most);
  self->work += result->work;
  qzi_pub_store(&p->span->crumbs->word, self->now.crumb);
}
void qzi_span_joined(struct qzi_publisher *p, const struct qzi_pub_thread *ended) {
  struct qzi_span_sync result;
  qzi_span_result(ended, &result);
  qzi_span_after(p, &result);
}

void qzi_span_put(struct qzi_publisher *p, struct qzi_lanes *lanes) {
  struct qzi_span *self = p->span ? running(p) : NULL;
  if (!self) return;
  cut(p->span, self, clock_now(), 0);
  *lanes = self->now;
}
void qzi_span_get(struct qzi_publisher *p, const struct qzi_lanes *lanes) {
  struct qzi_span *self = p->span ? running(p) : NULL;
  if (!self) return;
  cut(p->span, self, clock_now(), 0);
  qzi_span_max(&self->now, lanes);
}

/* In the words that the pthread layer has its chains in. */
static struct qzi_lanes *lanes_at(uint32_t object) {
  _Static_assert(sizeof(struct qzi_lanes) == sizeof(uint64_t[4]) &&
                   offsetof(struct qz_object, path_ticks) ==
                     offsetof(struct qz_object, path_word) + sizeof(uint64_t[2]),
                 "room for lanes");
  return object & QZI_PUB_SHARED ? NULL : (struct qzi_lanes *)(void *)QZI_PUB_OBJECT(object)->path_word;
}
void qzi_span_leave_with(struct qzi_publisher *p, uint32_t object) {
  struct qzi_lanes *lanes = lanes_at(object);
  if (lanes) qzi_span_put(p, lanes);
}
void qzi_span_take_from(struct qzi_publisher *p, uint32_t object) {
  const struct qzi_lanes *lanes = lanes_at(object);
  if (lanes) qzi_span_get(p, lanes);
}

void qzi_span_ended(struct qzi_publisher *p) {
  struct qzi_span *self = running(p);
  if (!self) return;
  cut(p->span, self, clock_now(), 0);
  struct qz_span_end *end = &qzi_session.head->span_end;
  end->burdened = self->now.burdened;
  end->typical = self->now.typical;
  end->crumb = self->now.crumb;
  __atomic_store_n(&end->length, self->now.length, __ATOMIC_RELEASE);
}

/* ---- switching on --------------------------------------------------------------------------------------------- */

bool qzi_span_prepare(void) {
  struct qz_session *head = qzi_session.head;
  bool wanted = qzi_session.span_base && qzi_session.path_base && qzi_path_clock->wants & QZ_WANTS_SPAN;
  uint32_t flags = head->flags & ~(QZ_SESSION_SPAN | QZ_SESSION_CPU_WAITS);
  head->span_end = (struct qz_span_end){0};
  if (wanted) {
    cpu_waits = has_cpu_waits();
    flags |= QZ_SESSION_SPAN | (cpu_waits ? QZ_SESSION_CPU_WAITS : 0);
    cost = UINT64_MAX;
    for (unsigned n = 0; n < 64; n++) {
      uint64_t from = clock_now(), ticks = clock_now() - from;
      if (ticks < cost) cost = ticks;
    }
    uint64_t scale = tick_scale() ? tick_scale() : UINT64_C(1) << 32;
    burden = ((uint64_t)BURDEN_NS << 32) / scale;
    head->span_end.tick_scale = scale;
    head->span_end.burden = burden;
    uint32_t high = qzi_publishers_kind == QZ_PUBLISHER_PTHREAD ? head->thread_high : qzi_session.processors;
    for (uint32_t k = 0; k < high && k < head->span_table.capacity; k++) qzi_session.span_base[k] = (struct qz_span){0};
  }
  __atomic_store_n(&head->flags, flags, __ATOMIC_RELAXED);
  return wanted;
}

bool qzi_span_connect(struct qzi_span_actor **room, uint32_t index, uint64_t since) {
  const struct qz_session *head = qzi_session.head;
  if (!(head->flags & QZ_SESSION_SPAN) || index >= head->span_table.capacity) return false;
  if (!*room) *room = qzi_pub_reserve(sizeof **room);
  struct qzi_span_actor *actor = *room;
  if (!actor) return false;
  if (actor->made == qzi_pub_epoch && since) return true; /* another kernel thread takes it over */
  *actor = (struct qzi_span_actor){
    .record = &qzi_session.span_base[index], .index = index, .made = qzi_pub_epoch, .begun = since};
  actor->crumbs = (struct qz_path *)(void *)(qzi_session.span_path_base + index * qzi_session.path_stride);
  actor->path = qzi_path_actor(index);
  if (!actor->record->levels_shift) qzi_pub_store(&actor->record->levels_shift, LEVEL_LEAST);
  return true;
}
