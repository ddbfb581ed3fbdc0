/* Hooks that the compiler puts at the entry and exit of procedures (-finstrument-functions), and the slow paths of all
 * hooks.
 *
 * Owns:    the procedures on the profile stack of the running thread.
 * Writer:  the thread itself. Reader: the sampler.
 * Must not: be instrumented; call anything on the fast path; do anything in a kernel thread that is not ours.
 *
 * An entry is {procedure, mark}. The mark holds the level of its frame, which falls with every call, and in the upper bits of
 * marks that are made here some bits of the call site and of the place of the hook. Frames that ended without an exit hook
 * (longjmp, exceptions, exit of the thread) leave stale entries: they lay below the level of a later frame, or level with
 * it but for another call. (A procedure that is inlined is level with the one around it.) The next entry or exit drops
 * them. Immediate recursion is not pushed. On a signal's alternate stack addresses say nothing about older entries, so
 * none are dropped.
 * The level is an address that separates a frame from its caller's:
 * x86-64   where the return address stands. It is found once for each (call site, procedure), by its value, and kept as a
 *          distance from the hook's own stack pointer beside the call count; each call checks that it is still there.
 * aarch64  where the caller's frame record is: the return address lies anywhere in a frame here. The function's own record
 *          (x29: caller's x29, return address) tells. gcc and clang make one in each function that calls another, unless
 *          they are told to omit frame pointers.
 */
#include <pthread.h>
#include "publish_private.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#pragma GCC visibility push(default)
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
void quartz_hooks_module_1(intptr_t offset, int begins);
#pragma GCC visibility pop
#if defined(__x86_64__)
extern const uint64_t qzi_go_on[3] __attribute__((visibility("hidden"))); /* hooks_x86_64.S */
#endif

_Thread_local uint64_t *qzi_hot; /* its attributes: publish.h */

struct qz_thread qzi_attend = {.word = QZ_WORD_EMPTY, .bottom = {0, QZI_SP_FIXED}, .calls = (uintptr_t)qzi_no_calls,
#if defined(__x86_64__)
                               .go_on = (uintptr_t)qzi_go_on,
#endif
};

#define RECORD(hot) ((struct qz_thread *)((char *)(hot)-offsetof(struct qz_thread, word)))
#define TOP(record, word) ((struct qz_entry *)((char *)&(record)->word + QZ_WORD_TOP(word)))
#define FIXED(entry) ((entry)->sp == QZI_SP_FIXED)

/* Marks: bits 0-47 the level; bit 63 and, below it, bits of the call site and of the place of the hook: 0 in marks of
 * hooks after inlining by gcc, which compare the stack pointer with marks as signed numbers, so that one of the other
 * kind sends them on their slow path. */
#define LEVEL(mark) ((mark) & UINT64_C(0xffffffffffff))
/* A shorter way to LEVEL(a) > LEVEL(b) on x86-64, where addresses have 47 bits. */
#if defined(__x86_64__)
#define ABOVE(a, b) ((int64_t)(((a) - (b)) << 16) > 0)
#else
#define ABOVE(a, b) ((a) << 16 > (b) << 16)
#endif
#define SITE_PART(site) (UINT64_C(1) << 63 | ((site) & 0xff) << 55)
#define SITE_OF(mark) ((mark) & UINT64_C(0xff80000000000000))
#define PLACE_PART(pc) ((pc) << 57 >> 9)
#define MARK(level, site, pc) ((level) | SITE_PART(site) | PLACE_PART(pc))
/* What the hook now running knows of the function that calls it, or ends by jumping to it. */
struct place {
  uint64_t sp; /* lowest place where its return address may stand: where the hook's own stands, if it has jumped */
#if defined(__aarch64__)
  uint64_t pc;    /* where the hook returns to */
  uint64_t frame; /* x29 */
#endif
};
#define ADDRESS_OF(pointer) ((uint64_t)(uintptr_t)(pointer))
#if defined(__x86_64__)
#define HERE() {.sp = ADDRESS_OF(__builtin_dwarf_cfa()) - 8}
#define PC(here) (*(const volatile uint64_t *)(uintptr_t)(here).sp)
#else
#pragma GCC diagnostic ignored "-Wframe-address" /* the caller of a hook has a frame record, or x29 is checked */
#define PC(here) ((here).pc)
#define HERE() \
  {.sp = ADDRESS_OF(__builtin_dwarf_cfa()), .pc = ADDRESS_OF(__builtin_return_address(0)), \
   .frame = ADDRESS_OF(__builtin_frame_address(1))}
#endif
#define SCAN_BYTES 65536 /* frames that are searched for their return address */
#define REPEATS 12       /* a procedure inlined into itself is pushed that often */

/* ---- the thread ---- */

/* The thread whose record the hook found; NULL: a foreign one. */
QZI_HOOK static struct qzi_pub_thread *owner_of(struct qz_thread *record) {
  struct qzi_publisher *publisher;
  struct qzi_pub_thread *thread = qzi_sched_current(&publisher);
  return thread && thread->record == record ? thread : NULL;
}

/* Publishing began while this thread ran: it gets its record now. */
QZI_HOOK static struct qz_thread *attend(void) {
  struct qzi_publisher *publisher;
  struct qzi_pub_thread *thread = qzi_sched_current(&publisher);
  qzi_hot = NULL;
  if (!thread) return NULL;
  qzi_pub_run(publisher, thread);
  return qzi_hot ? RECORD(qzi_hot) : NULL;
}

QZI_HOOK static bool on_stack(const struct qzi_pub_thread *thread, uint64_t sp) {
  return !thread || !thread->stack_high || (sp >= thread->stack_low && sp <= thread->stack_high);
}

QZI_HOOK static uint64_t drop(struct qz_thread *record, uint64_t word) {
  word += QZ_WORD_POP;
  QZI_TRACE(stack(record, word));
  __atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
  return word;
}

QZI_HOOK static inline void push(struct qz_thread *record, uint64_t word, struct qz_entry *top, uint64_t key, uint64_t mark) {
  qzi_pub_fence(); /* an earlier pop is seen before its entry is used again */
  qzi_pub_store(&top[1].key, key);
  qzi_pub_store(&top[1].sp, mark);
  QZI_TRACE(stack(record, word + QZ_WORD_PUSH));
  __atomic_store_n(&record->word, word + QZ_WORD_PUSH, __ATOMIC_RELEASE);
}

/* Takes out the entries after `from` up to `end`, from below the objects that stand on them up to `top`. */
QZI_HOOK static void take_out(struct qz_thread *record, uint64_t word, struct qz_entry *from, struct qz_entry *end,
                              struct qz_entry *top) {
  ptrdiff_t removed = end - from;
  if (!removed) return;
  word = (word | QZ_WORD_FLUX) + QZ_WORD_CHANGE;
  __atomic_store_n(&record->word, word, __ATOMIC_RELAXED);
  qzi_pub_fence();
  for (struct qz_entry *entry = end + 1; entry <= top; entry++) {
    qzi_pub_store(&entry[-removed].key, entry->key);
    qzi_pub_store(&entry[-removed].sp, entry->sp);
  }
  word = (word & ~QZ_WORD_FLUX) + QZ_WORD_CHANGE - (uint64_t)removed * sizeof *top;
  QZI_TRACE(stack(record, word));
  __atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

/* Where the return address `site` of the function stands that called a hook with stack pointer sp; 0: not found. */
QZI_HOOK static uint64_t find_return(const struct qz_thread *record, const struct qzi_pub_thread *thread, uint64_t sp,
                                     uint64_t site) {
  uint64_t end = sp + SCAN_BYTES, limit = (sp | 4095) + 1; /* of an unknown stack only this page is sure to be there */
  if (thread && sp >= thread->stack_low && sp < thread->stack_high) limit = thread->stack_high;
  if (end > limit) end = limit;
  for (uint64_t at = sp; at < end; at += 8)
    if (*(const volatile uint64_t *)(uintptr_t)at == site) return at;
  return 0;
}

/* Level of the frame of the function at `here`, called from `site`; 0: not found. */
#if defined(__x86_64__)
QZI_HOOK static uint64_t level_of(const struct qz_thread *record, const struct qzi_pub_thread *thread, struct place here,
                                  uint64_t site) {
  return find_return(record, thread, here.sp, site);
}
#else
/* From the frame record alone; 0: the function has none. Reads nothing but the stack, for x29 may hold anything then. */
QZI_HOOK static inline uint64_t level_by_record(const struct qz_thread *record, struct place here, uint64_t site) {
  uint64_t frame = here.frame;
  if (here.pc == site) return frame; /* jumped to: the record is gone, x29 is the caller's */
  uint64_t end = here.sp < record->high ? record->high : here.sp + SCAN_BYTES; /* signal stack */
  if (frame < here.sp || frame + 16 > end || frame & 7) return 0;
  const volatile uint64_t *at = (const volatile uint64_t *)(uintptr_t)frame;
  uint64_t saved = at[1], parent = at[0];
  if (saved != site) { /* signed (pointer authentication)? */
    register uint64_t address __asm__("x30") = saved;
    __asm__("hint #7" : "+r"(address)); /* xpaclri */
    if (address != site) return 0;
  }
  return parent > frame ? parent : frame + 8; /* the chain ends here, or goes on on another stack */
}
QZI_HOOK static uint64_t level_of(const struct qz_thread *record, const struct qzi_pub_thread *thread, struct place here,
                                  uint64_t site) {
  uint64_t level = level_by_record(record, here, site);
  return level ? level : find_return(record, thread, here.sp, site);
}
#endif

/* Drops what is stale from the point of view of a live frame of that level. */
QZI_HOOK static uint64_t drop_below(struct qz_thread *record, uint64_t word, const struct qzi_pub_thread *thread,
                                    uint64_t level) {
  for (;;) {
    const struct qz_entry *top = TOP(record, word);
    if (FIXED(top) || (LEVEL(top->sp) >= level && on_stack(thread, LEVEL(top->sp)))) return word;
    word = drop(record, word);
  }
}

QZI_HOOK static void push_within(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t mark) {
  if (QZ_WORD_TOP(word) >= qzi_pub_hook_limit) qzi_pub_store(&record->overflows, record->overflows + 1);
  else push(record, word, TOP(record, word), key, mark);
}

/* Anything but a plain push: a call counted for the first time, stale entries, inlined procedures, full stack, publishing
 * just begun, blocking region, alternate stack. */
QZI_HOOK __attribute__((noinline, cold)) static void enter_slow(uint64_t key, uint64_t site, uint64_t *hot,
                                                                struct place here, bool counted) {
  struct qz_thread *record = RECORD(hot);
  if (record == &qzi_attend && !(record = attend())) return;
  const struct qzi_pub_thread *thread = owner_of(record);
  struct qz_call *call = counted ? qzi_call_slot(record->calls, site, key)
                                 : qzi_call_count(record->calls, qzi_pub_slot(site, key), site, key);
  uint64_t sp = here.sp, at = level_of(record, thread, here, site);
  if (call && at && !call->reserved) call->reserved = (at - sp) | SITE_PART(site);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED), mark = MARK(at ? at : sp, site, PC(here));
  if (on_stack(thread, sp)) {
    word = drop_below(record, word, thread, LEVEL(mark));
    /* Level: stale if it was another call, or this very one repeated; else it is the procedure around this one. */
    for (const struct qz_entry *top; !FIXED(top = TOP(record, word)) && LEVEL(top->sp) == LEVEL(mark);) {
      if (SITE_OF(top->sp) == SITE_OF(mark) && (top->sp != mark || top->key != key)) break;
      word = drop(record, word);
    }
  }
  const struct qz_entry *top = TOP(record, word), *same = top;
  while (same->key == key && !FIXED(same) && LEVEL(same->sp) == LEVEL(mark)) same--;
  if (top->key == key && (same == top || top - same >= REPEATS)) return; /* immediate recursion */
  push_within(record, word, key, mark);
}

/* Takes a procedure out from below the objects on top of it (locks that it still holds), with what is stale there. */
QZI_HOOK static void leave_below(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t site, uint64_t level) {
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  while (end->key & QZ_KEY_OBJECT) end--; /* the objects are end + 1 .. top */
  for (from = end; !FIXED(from); from--) {
    if (LEVEL(from->sp) < level) continue;
    if (LEVEL(from->sp) == level && from->key == key && SITE_OF(from->sp) == SITE_PART(site)) from--;
    break;
  }
  take_out(record, word, from, end, top);
}

QZI_HOOK __attribute__((noinline, cold)) static void leave_slow(struct qz_thread *record, uint64_t key, uint64_t site,
                                                                struct place here) {
  if (record == &qzi_attend) {
    attend();
    return; /* it was entered before anybody looked */
  }
  const struct qzi_pub_thread *thread = owner_of(record);
  uint64_t sp = here.sp, at = level_of(record, thread, here, site), level = at ? at : sp;
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (on_stack(thread, sp)) word = drop_below(record, word, thread, level);
  struct qz_entry *top = TOP(record, word), *entry = top;
  if (top->key & QZ_KEY_OBJECT) {
    leave_below(record, word, key, site, level);
    return;
  }
  if (!at && !FIXED(top) && top->key == key && SITE_OF(top->sp) == SITE_PART(site)) {
    drop(record, word); /* the frame is gone already: the function jumped to the hook, on a stack that is not the thread's */
    return;
  }
  /* Its own entry: on top, or below level ones that were inlined into it and have had no exit. */
  while (!FIXED(entry) && entry->key != key && LEVEL(entry->sp) == level) entry--;
  if (FIXED(entry) || entry->key != key || LEVEL(entry->sp) != level || SITE_OF(entry->sp) != SITE_PART(site)) return;
  for (; top >= entry; top--) word = drop(record, word);
}

/* In the pthread layer, where it stands aside for a thread package behind it: that one's hooks. */
#ifdef QZI_PUB_ONE_THREAD
#define NOTHING_HERE(next) \
  do { \
    if (next) (next)(function, caller); \
    return; \
  } while (0)
#else
#define NOTHING_HERE(next) return
#endif

/* The mark that the fast path goes by, but for PLACE_PART; 0: the slow path must find it. */
QZI_HOOK static inline uint64_t entered_mark(const struct qz_thread *record, const struct qz_call *call, struct place here,
                                             uint64_t site) {
#if defined(__x86_64__)
  uint64_t reserved = call->reserved, at = here.sp + (uint32_t)reserved;
  if (__builtin_expect(at >= record->high || *(const uint64_t *)(uintptr_t)at != site, 0)) return 0;
  return here.sp + reserved;
#else
  uint64_t level = level_by_record(record, here, site);
  return level ? level | SITE_PART(site) : 0;
#endif
}

#if defined(__x86_64__)
#define COUNT(call) __asm__("incq %0" : "+m"((call)->count)) /* one store, as the reader wants it */
#else
#define COUNT(call) qzi_pub_store(&(call)->count, (call)->count + 1)
#endif

/* Whether the top entry is the one of this exit: 1; it can't be (the end of an immediate recursion): 0; else -1. */
QZI_HOOK static inline int is_mine(const struct qz_thread *record, const struct qz_entry *top, struct place here, uint64_t key,
                                   uint64_t site) {
  uint64_t mark = top->sp, at = LEVEL(mark);
#if defined(__x86_64__)
  if (__builtin_expect(top->key != key || at < here.sp || at > record->high, 0)) return -1;
  if (__builtin_expect(*(const uint64_t *)(uintptr_t)at == site, 1)) return 1;
#else
  uint64_t level = level_by_record(record, here, site);
  if (__builtin_expect(!level || top->key != key || at < level || FIXED(top), 0)) return -1;
  if (__builtin_expect(at == level && SITE_OF(mark) == SITE_PART(site), 1)) return 1;
#endif
  return (uint8_t)(mark >> 55) != (uint8_t)site ? 0 : -1;
}

QZI_HOOK void __cyg_profile_func_enter(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_enter);
  struct qz_thread *record = RECORD(hot);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  struct qz_call *call = (struct qz_call *)(uintptr_t)record->calls + qzi_pub_slot(site, key & ~QZ_KEY_OBJECT);
  if (__builtin_expect(call->site != site || call->key != key, 0)) {
    enter_slow(key, site, hot, here, false);
    return;
  }
  COUNT(call);
  uint64_t mark = entered_mark(record, call, here, site);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  if (__builtin_expect(!mark || !ABOVE(top->sp, mark), 0)) {
    /* Level with it: the procedure around this one, which is inlined into it? */
    if (!mark || LEVEL(top->sp ^ mark) || SITE_OF(top->sp ^ mark) || top->key == key) goto slow;
  }
  if (top->key == key) return;
  if (__builtin_expect(QZ_WORD_TOP(word) >= record->limit, 0)) goto slow;
  push(record, word, top, key, mark + PLACE_PART(PC(here)));
  return;
slow:
  enter_slow(key, site, hot, here, true);
}

QZI_HOOK void __cyg_profile_func_exit(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_exit);
  struct qz_thread *record = RECORD(hot);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  int mine = is_mine(record, TOP(record, word), here, key, site);
  if (__builtin_expect(mine > 0, 1)) {
    QZI_TRACE(stack(record, word + QZ_WORD_POP));
    __atomic_store_n(&record->word, word + QZ_WORD_POP, __ATOMIC_RELEASE);
  } else if (mine < 0) {
    leave_slow(record, key, site, here);
  }
}

#if defined(__x86_64__)

/* ---- slow paths of hooks_x86_64.S ---- */

#pragma GCC visibility push(hidden)
uint32_t qzi_xsave_bytes; /* room that xsave needs for vector and x87 state; 0: the processor knows fxsave only */
uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first);
void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first);
uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark);
void qzi_return_third(struct qz_thread *record, uint64_t mark);
#pragma GCC visibility pop

#define COUNTED (UINT64_C(1) << 63) /* in the key: the call has been counted */

/* 0 where it was one of the cases that happen all the time: a call that shares its first slot, a full stack. This file
 * is compiled for general registers only, so nothing need be saved for that; 1: the third stage is needed, which
 * calls the scheduler. */
QZI_HOOK uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark,
                                    uint32_t first) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  if (record == &qzi_attend || LEVEL(top->sp) <= mark) return 1;
  if (!(key & COUNTED)) qzi_call_count(record->calls, first / sizeof(struct qz_call), site, key);
  key &= ~COUNTED;
  if (top->key == key) return 0;
  if (QZ_WORD_TOP(word) >= record->limit) qzi_pub_store(&record->overflows, record->overflows + 1);
  else push(record, word, top, key, mark);
  return 0;
}

QZI_HOOK void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark, uint32_t first) {
  if (record == &qzi_attend && !(record = attend())) return;
  const struct qzi_pub_thread *thread = owner_of(record);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (on_stack(thread, mark)) word = drop_below(record, word, thread, mark + 8); /* no two live frames are level */
  if (!(key & COUNTED)) qzi_call_count(record->calls, first / sizeof(struct qz_call), site, key);
  key &= ~COUNTED;
  if (TOP(record, word)->key != key) push_within(record, word, key, mark);
}

/* 0: the function returns with objects on top of it (locks that it leaves to its caller); 1: third stage. */
QZI_HOOK uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  if (record == &qzi_attend || !FIXED(top)) return 1;
  while (end->key & QZ_KEY_OBJECT) end--;
  for (from = end; !FIXED(from) && LEVEL(from->sp) < mark; from--) continue;
  if (from->sp == mark) from--;
  take_out(record, word, from, end, top);
  return 0;
}

QZI_HOOK void qzi_return_third(struct qz_thread *record, uint64_t mark) {
  if (record == &qzi_attend) {
    attend();
    return;
  }
  const struct qzi_pub_thread *thread = owner_of(record);
  if (!on_stack(thread, mark)) return;
  uint64_t word = drop_below(record, __atomic_load_n(&record->word, __ATOMIC_RELAXED), thread, mark);
  const struct qz_entry *top = TOP(record, word);
  if (top->sp == mark) drop(record, word);
  else if (top->key & QZ_KEY_OBJECT) qzi_return_second(record, mark);
}

/* ---- modules whose hooks are expanded in them (quartz/hooks.h) ---- */

bool qzi_hooks_expanded;
intptr_t qzi_hot_distance[QZI_HOT_COPIES];
uint32_t qzi_hot_copies;

/* A module begins or ends; its hooks read the thread-local variable at this distance from the thread pointer. By its
 * constructor, perhaps before the package is initialized. */
void quartz_hooks_module_1(intptr_t offset, int begins) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef QZI_PUB_ONE_THREAD
  if (qzl_next_module) {
    qzl_next_module(offset, begins);
    return;
  }
#endif
  intptr_t own;
  __asm__("movq " QZI_HOT_NAME "@gottpoff(%%rip), %0" : "=r"(own));
  qzi_hooks_expanded = true;
  if (offset == own) {
    if (qzi_session.calibrated) qzi_calibrated();
    return;
  }
  intptr_t from = begins ? 0 : offset - own, to = begins ? offset - own : 0;
  pthread_mutex_lock(&lock);
  uint32_t copies = 0;
  bool done = false;
  for (uint32_t k = 0; k < QZI_HOT_COPIES; k++) done |= begins && qzi_hot_distance[k] == to; /* modules that share it */
  for (uint32_t k = 0; k < QZI_HOT_COPIES; k++) {
    if (!done && qzi_hot_distance[k] == from) {
      qzi_hot_distance[k] = to;
      done = true;
    }
    copies += qzi_hot_distance[k] != 0;
  }
  qzi_hot_copies = copies;
  pthread_mutex_unlock(&lock);
  qzi_publishers_attend();
  if (qzi_session.calibrated) qzi_calibrated();
}

/* The room for the parts that the hooks keep: 0 to 2 (x87, SSE, AVX) and 5 to 7 (AVX-512), wherever they stand. */
void qzi_hooks_init(void) {
  uint32_t a, b, c, d, bytes = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return;
  bytes = 512 + 64;
  for (uint32_t part = 2; part < 8; part++) {
    if (part == 3 || part == 4) continue;
    __cpuid_count(0xd, part, a, b, c, d);
    if (a && a + b > bytes) bytes = a + b;
  }
  qzi_xsave_bytes = bytes;
}

#else
bool qzi_hooks_expanded;
intptr_t qzi_hot_distance[QZI_HOT_COPIES];
uint32_t qzi_hot_copies;
void quartz_hooks_module_1(intptr_t offset, int begins) {} /* no hooks are expanded on this machine */
void qzi_hooks_init(void) {}
#endif
