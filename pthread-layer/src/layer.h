/* What the files of the pthread layer know of each other.
 *
 * Owns:    the layer's side of a thread and of a synchronization object.
 * Writer:  threads.c and object_table.c; through the calls of publisher.h, the thread itself.
 * Reader:  every file of the layer.
 * Must not: call a function that the layer stands in front of by its plain name (real.h); add a locked instruction, a
 *          system call or an allocation to an operation that does not wait, but for an object's first use.
 */
#ifndef QZL_LAYER_H
#define QZL_LAYER_H

#include <stdbool.h>
#include "pthread-layer/src/libc/real.h"
#include "publisher/publisher.h"

#pragma GCC visibility push(hidden)

#define QZL_EXPORT __attribute__((visibility("default")))
#define QZL_SITE() ((uint64_t)(uintptr_t)__builtin_return_address(0))

/* A lock on the stack. Bit 0 of the address is set if that is under the key of its place: it has no record of its own,
 * or had none when it was asked for. */
struct qzl_placed {
  uint64_t address, key;
};
#define QZL_PLACED     16 /* further ones of crowds at the same time are counted, and not shown as held */
#define QZL_PLACED_OWN 12 /* further ones with records of their own are looked up */

/* What a place that takes locks took not long ago. Good as long as the era is the same. */
struct qzl_taking {
  uint64_t site;
  uint64_t address; /* of the lock; QZL_CROWD: any that has no record of its own */
  uint64_t key;
  uint32_t call; /* where it is counted: slot of the thread's `counts` */
  uint32_t era;
};
#define QZL_CROWD   1
#define QZL_TAKINGS 256

/* A thread: publisher and published in one. */
struct qzl_thread {
  struct qzi_publisher pub;
  struct qzi_pub_thread thread;
  struct qz_processor processor; /* nobody's: what a processor of the thread package would publish */
  uint32_t free[2];              /* for pub.free */
  uint32_t slot;                 /* of the pool */
  uint32_t next_free;            /* slot + 1 */
  uint64_t **hot;                /* its qzi_hot; NULL: it does not run */
  pthread_t id;
  void *(*start)(void *);
  int (*start_c11)(void *);
  void *argument;
  size_t stack_bytes;     /* 0: as many as by default */
  unsigned rounds;        /* destructor rounds gone by */
  struct qz_call *counts; /* its call table: pub.calls, or a small one */
  uint32_t marked;        /* loop that the program marked and it is in, 0: none (spin_loop.c) */
  uint64_t marked_ns;     /* since when */
  uint64_t yielded;       /* processor's clock when its last sched_yield returned */
  uint32_t placed_count, placed_epoch;
  uint32_t unknown; /* locks that were taken at places of which nothing was known */
  struct qzl_placed placed[QZL_PLACED];
  struct qzi_pub_site_slot
    sites[QZI_PUB_SITES];                 /* places that join; places that lock, if what they lock is of a crowd */
  struct qzl_taking takings[QZL_TAKINGS]; /* last: they go over to the next thread that has this place */
};
extern _Thread_local struct qzl_thread *qzl_self __attribute__((tls_model("initial-exec")));

/* The calling thread where something is published and it has a place; else NULL, and the real function does it all. */
struct qzl_thread *qzl_adopt(void);
static inline struct qzl_thread *qzl_here(void) {
  struct qzl_thread *me = qzl_self;
  return __builtin_expect(me != NULL, 1) ? me : qzl_adopt();
}

/* The thread has this name from now on. */
void qzl_named(pthread_t id, const char *name);
/* Address of what a thread runs that begins with `start`: the start routine, or what it calls (std_thread.c). */
uint64_t qzl_callable(void *(*start)(void *), void *argument);
/* The place from which the C++ library was called, where `site` is in it; else `site`. frame_end: CFA of the function
 * that returns to `site`. */
uint64_t qzl_site_beyond(uint64_t site, const void *frame_end);

/* A synchronization object that has a record of its own, found by its address (object_table.c). */
struct qzl_object {
  uint64_t address; /* 0: free; 1: was removed */
  uint32_t index;
  uint32_t reserved;
};
extern struct qzl_object *qzl_objects;
#define QZL_OBJECT_BITS 15
#define QZL_PROBES      16u

static inline uint32_t qzl_first(const void *address) {
  return (uint32_t)((uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u >> (64 - QZL_OBJECT_BITS));
}
/* Index of the object's own record; 0: it has none. */
static inline uint32_t qzl_known(const void *address) {
  struct qzl_object *all = qzl_objects;
  if (__builtin_expect(!all, 0)) return 0;
  uint32_t first = qzl_first(address);
  for (uint32_t k = 0; k < QZL_PROBES; k++) {
    struct qzl_object *object = &all[(first + k) & ((1u << QZL_OBJECT_BITS) - 1)];
    uint64_t at = __atomic_load_n(&object->address, __ATOMIC_ACQUIRE);
    if (at == (uint64_t)(uintptr_t)address) return __atomic_load_n(&object->index, __ATOMIC_RELAXED);
    if (!at) return 0;
  }
  return 0;
}
/* Of a crowd for certain: nothing with a record of its own has this bit of the filter. Neighbours in memory are
 * neighbours in the filter, which so takes little of the cache. */
#define QZL_FILTER_BITS 17
extern uint64_t qzl_filter[1u << (QZL_FILTER_BITS - 6)];
static inline uint32_t qzl_filter_bit(uint64_t address) {
  return (uint32_t)(((address >> 12) * 0x9e3779b97f4a7c15u >> (72 - QZL_FILTER_BITS) << 8) | (address >> 4 & 255));
}
static inline bool qzl_of_crowd(const void *address) {
  uint32_t bit = qzl_filter_bit((uint64_t)(uintptr_t)address);
  return !(__atomic_load_n(&qzl_filter[bit / 64], __ATOMIC_RELAXED) >> (bit & 63) & 1);
}
uint32_t qzl_index_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
/* Index of its record, made at first use; of one of a crowd, that of the place (QZI_PUB_SHARED). 0: none. */
static inline uint32_t qzl_index(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site) {
  uint32_t index = qzl_known(address);
  return __builtin_expect(index != 0, 1) ? index : qzl_index_slow(me, address, kind, site);
}
/* Index of a record of its own, for who is about to wait for it; where there is no room, that of the place. */
uint32_t qzl_own(const void *address, unsigned kind, uint64_t site, uint32_t capacity);
/* The object is made, or made anew, at this place; the object is destroyed. */
void qzl_initialized(const void *address, uint64_t site);
void qzl_destroyed(const void *address);
int qzl_objects_make(void);
/* When it is known how many objects the session has records for. false: no memory. */
bool qzl_crowds_make(void);
void qzl_objects_give_up(void);
/* exec.c. Takes the launcher's variables out of the environment; after the sampler was found by them. again: they are
 * for what the process starts or becomes, too; false: no program is looked at for that. */
void qzl_environment_take(bool again);
/* For calibrate.c: an element that gives the object some index; the caller clears it. */
struct qzl_object *qzl_calibrate_place(const void *address);
int qzl_mutex_lock(pthread_mutex_t *mutex); /* the layer's own */
int qzl_mutex_unlock(pthread_mutex_t *mutex);
void qzl_objects_forked(void);

/* Counts for a thread that has no call table of its own. */
void qzl_count_shared(uint64_t site, uint64_t key);
static inline void qzl_count(struct qzl_thread *me, uint64_t site, uint64_t key) {
  if (me->pub.calls)
    qzi_pub_count(&me->pub, site, key);
  else
    qzl_count_shared(site, key);
}
/* Changes when publishing begins and ends, and when a record gets free: what is known of places and locks is known no
 * more. Never 0. */
extern uint32_t qzl_era;
static inline void qzl_era_ends(void) {
  if (!__atomic_add_fetch(&qzl_era, 1, __ATOMIC_RELEASE)) __atomic_add_fetch(&qzl_era, 1, __ATOMIC_RELEASE);
}
/* Where that of a place and a lock is, or of a place and its crowd (QZL_CROWD). */
static inline struct qzl_taking *qzl_taking(struct qzl_thread *me, uint64_t site, uint64_t address) {
  return &me->takings[((address >> 3) + (site << 8)) * 0x9e3779b97f4a7c15u >> 56 & (QZL_TAKINGS - 1)];
}
/* The lock goes on the stack before it is asked for, the access is counted. */
void qzl_ask_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
__attribute__((always_inline)) static inline bool qzl_ask_fast(struct qzl_thread *me, const void *address,
                                                               unsigned kind, uint64_t site) {
  /* Without a branch: crowds and others come in no order that could be foreseen. */
  uint64_t at = (uint64_t)(uintptr_t)address, crowd = qzl_of_crowd(address), of = (at & (crowd - 1)) | crowd;
  const struct qzl_taking *taking = qzl_taking(me, site, of);
  if (__builtin_expect(
        taking->site != site || taking->address != of || taking->era != __atomic_load_n(&qzl_era, __ATOMIC_RELAXED), 0))
    return false;
  struct qz_thread *record = me->thread.record;
  uint64_t key = taking->key;
  uint32_t top = qzi_pub_top(record), count = me->placed_count;
  if (__builtin_expect(key >> 32 != QZ_KEY(kind, 0) >> 32 || top >= qzi_pub_limit || count >= QZL_PLACED_OWN, 0))
    return false;
  me->placed_count = count + 1; /* first: a signal handler may take locks, too */
  __atomic_signal_fence(__ATOMIC_ACQ_REL);
  me->placed[count] = (struct qzl_placed){at | crowd, key};
  struct qz_call *call = &me->counts[taking->call];
  qzi_pub_put(record, top, key);
  qzi_pub_store(&call->count, call->count + 1);
  return true;
}
__attribute__((always_inline)) static inline void qzl_ask(struct qzl_thread *me, const void *address, unsigned kind,
                                                          uint64_t site) {
  if (__builtin_expect(!qzl_ask_fast(me, address, kind, site), 0)) qzl_ask_slow(me, address, kind, site);
}
/* Before waiting for a lock that was asked for: it gets a record of its own, under which it then is on the stack. Its
 * index. */
uint32_t qzl_promote(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site);
/* The index and key under which a lock was asked for just now. */
uint64_t qzl_asked(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index);
/* A lock that was asked for, under that index, and not got. */
void qzl_in_vain(struct qzl_thread *me, uint32_t index, const void *address, unsigned kind);
/* Exact hold times, where they are wanted (QUARTZ_EXACT_HOLD). */
static inline void qzl_acquired(uint32_t index) {
  if (__builtin_expect(qzi_pub_exact_hold, 0) && index && !(index & QZI_PUB_SHARED))
    QZI_PUB_OBJECT(index)->line0_reserved[0] = qzi_pub_clock_ns();
}
static inline void qzl_released(uint32_t index) {
  if (__builtin_expect(qzi_pub_exact_hold, 0) && index) qzi_pub_held_slow(index, qzi_pub_clock_ns());
}

/* Under which key the calling thread has a lock on its stack, just before it lets it go; 0: it has not. *index: of the
 * lock's own record, 0: it is of a crowd. */
uint64_t qzl_held(struct qzl_thread *me, const void *address, unsigned kind, uint32_t *index);
/* The lock that was taken last is off the stack. false: that is another one. */
static inline bool qzl_release_fast(struct qzl_thread *me, const void *address) {
  uint32_t count = me->placed_count;
  if (__builtin_expect(!count, 0)) return false;
  const struct qzl_placed *last = &me->placed[count - 1];
  if (__builtin_expect((last->address & ~UINT64_C(1)) != (uint64_t)(uintptr_t)address, 0)) return false;
  if (__builtin_expect(!qzi_pub_pop_fast(&me->thread, last->key), 0)) return false;
  me->placed_count = count - 1;
  return true;
}
static inline void qzl_pop(struct qzl_thread *me, uint64_t key) {
  if (key && !qzi_pub_pop_fast(&me->thread, key)) qzi_pub_pop(&me->thread, key);
}
/* After qzl_held: it was not let go. */
void qzl_kept(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address);
/* It has it on the stack again, after qzl_held and qzl_pop. */
void qzl_hold_again(struct qzl_thread *me, uint32_t index, uint64_t key, const void *address);

/* Objects that are no locks: on the stack while the thread waits for them. The access is counted. */
static inline void qzl_show(struct qzl_thread *me, uint32_t index, uint64_t key, uint64_t site) {
  if (!index) return;
  qzl_count(me, site, key);
  qzi_pub_push(&me->pub, &me->thread, key);
}
static inline void qzl_hide(struct qzl_thread *me, uint32_t index, uint64_t key) {
  if (index) qzl_pop(me, key);
}

/* A wait for an object, from just before the real call to just after. */
struct qzl_wait {
  struct qzl_thread *me;
  uint64_t begin_ns;
  struct qz_frame frame; /* from which the sampler finds the callers */
  uint32_t index;
};
void qzl_wait_from(struct qzl_wait *wait, struct qzl_thread *me, uint32_t index, unsigned state);
/* Part of the function that waits: the frame must last as long as the wait. */
__attribute__((always_inline)) static inline void qzl_wait_begin(struct qzl_wait *wait, struct qzl_thread *me,
                                                                 uint32_t index, unsigned state) {
  uint64_t pc, sp, fp;
#if defined(__x86_64__)
  __asm__ volatile("leaq 0f(%%rip), %0\n0:\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#elif defined(__aarch64__)
  __asm__ volatile("adr %0, 0f\n0:\tmov %1, sp\n\tmov %2, x29" : "=&r"(pc), "=&r"(sp), "=&r"(fp));
#endif
  wait->frame = (struct qz_frame){.pc = pc, .sp = sp, .fp = fp};
  qzl_wait_from(wait, me, index, state);
}
/* counted: 1: it had to wait. */
void qzl_wait_end(struct qzl_wait *wait, int counted);
/* Of one that began with state SPINNING. */
void qzl_spin_end(struct qzl_wait *wait);

/* A try-lock failed, or did not. */
void qzl_tried_slow(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, int failed);
static inline void qzl_tried(struct qzl_thread *me, const void *address, unsigned kind, uint64_t site, int failed) {
  if (failed || (me->thread.record && me->thread.record->tries)) qzl_tried_slow(me, address, kind, site, failed);
}

/* Those of a thread package behind the layer; NULL: there is none (spin_loop.c). */
extern void (*qzl_next_spin_begin)(const void *), (*qzl_next_spin_end)(const void *);

#pragma GCC visibility pop
#endif
