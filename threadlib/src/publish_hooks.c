/* Hooks that the compiler puts at the entry and exit of procedures (-finstrument-functions), and the slow paths of all
 * hooks.
 *
 * Owns:    the procedures on the profile stack of the running thread.
 * Writer:  the thread itself. Reader: the sampler.
 * Must not: be instrumented; call anything on the fast path; do anything in a kernel thread that is not ours.
 *
 * An entry is {procedure, mark}. The mark holds the level of its frame, which falls with every call, and below that some
 * bits of the call site and of the place of the hook. Frames that ended without an exit hook (longjmp, exceptions, exit of
 * the thread) leave stale entries: they lay below the level of a later frame, or level with it but for another call. (A
 * procedure that is inlined is level with the one around it.) The next entry or exit drops them. Immediate recursion is
 * not pushed. On a signal's alternate stack addresses say nothing about older entries, so none are dropped.
 * The level is an address that separates a frame from its caller's:
 * x86-64   where the return address stands. It is found once for each (call site, procedure), by its value, and kept as a
 *          distance from the hook's own stack pointer beside the call count; each call checks that it is still there.
 * aarch64  where the caller's frame record is: the return address lies anywhere in a frame here. The function's own record
 *          (x29: caller's x29, return address) tells. gcc and clang make one in each function that calls another, unless
 *          they are told to omit frame pointers.
 */
#include "publish_private.h"
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#pragma GCC visibility push(default)
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
#pragma GCC visibility pop

_Thread_local uint64_t *qzi_hot __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct qz_thread qzi_attend = {.word = QZ_WORD_EMPTY, .limit = 0, .bottom = {0, UINT64_MAX}};

#define RECORD(hot) ((struct qz_thread *)((char *)(hot)-offsetof(struct qz_thread, word)))
#define TOP(record, word) ((struct qz_entry *)((char *)&(record)->word + QZ_WORD_TOP(word)))
#define FIXED(entry) ((entry)->sp == UINT64_MAX)

/* Marks: bits 16 and up the level, a multiple of 8; so 19 bits are free below. */
#define LOW_BITS UINT64_C(0x7ffff)
#define LEVEL(mark) ((mark) & ~LOW_BITS)
#define AT(address) ((address) << 16)
#define ADDRESS(mark) (LEVEL(mark) >> 16)
#define SITE_PART(site) (((site) & 0x1ff) << 10)
#define SITE_OF(mark) ((mark) & UINT64_C(0x7fc00))
#define MARK(address, site, pc) (AT(address) | SITE_PART(site) | ((pc) & 0x3ff))
/* What the hook now running knows of the function that calls it, or ends by jumping to it. */
struct place {
  uint64_t sp; /* lowest place where its return address may stand: where the hook's own stands, if it has jumped */
  uint64_t pc; /* where the hook returns to */
#if defined(__aarch64__)
  uint64_t frame; /* x29 */
#endif
};
#define ADDRESS_OF(pointer) ((uint64_t)(uintptr_t)(pointer))
#if defined(__x86_64__)
#define HERE() {.sp = ADDRESS_OF(__builtin_dwarf_cfa()) - 8, .pc = ADDRESS_OF(__builtin_return_address(0))}
#else
#define HERE() \
  {.sp = ADDRESS_OF(__builtin_dwarf_cfa()), .pc = ADDRESS_OF(__builtin_return_address(0)), \
   .frame = ADDRESS_OF(__builtin_frame_address(1))}
#endif
#define SCAN_BYTES 65536 /* frames that are searched for their return address */
#define REPEATS 12       /* a procedure inlined into itself is pushed that often */

#define PROBES 64 /* slots of a call table that are tried for a pair */

/* The slot of a pair, or a free one near its first taken for it; NULL: none. */
QZI_HOOK static struct qz_call *slot_in(struct qz_call *table, uint64_t site, uint64_t key) {
  uint32_t first = qzi_pub_slot(site, key);
  for (uint32_t k = 0; k < PROBES; k++) {
    struct qz_call *call = &table[(first + k) & (QZI_CALL_SLOTS - 1)];
    uint64_t taken = __atomic_load_n(&call->site, __ATOMIC_RELAXED);
    if (!taken) {
      qzi_pub_store(&call->key, key);
      __atomic_store_n(&call->site, site, __ATOMIC_RELEASE);
      return call;
    }
    if (taken == site && call->key == key) return call;
  }
  return NULL;
}

/* Counts, and returns the slot where the caller may keep something beside the count. */
QZI_HOOK static struct qz_call *count(uint64_t calls, uint64_t site, uint64_t key) {
  struct qz_call *table = (struct qz_call *)(uintptr_t)calls, *call = NULL;
  if (!table) return NULL;
  uint32_t which = (uint32_t)((table - qzi_session.call_base) / QZI_CALL_SLOTS);
  if (which != qzi_session.call_tables) {
    call = slot_in(table, site, key);
    if (call) {
      qzi_pub_store(&call->count, call->count + 1);
      return call;
    }
  } else {
    /* Several kernel threads are in blocking regions. A signal handler must not wait for the code it interrupted. */
    static _Atomic uint32_t taken;
    unsigned tries = 0;
    which = 0;
    while (atomic_exchange_explicit(&taken, 1, memory_order_acquire))
      if (tries++ == 1000) goto lost;
    call = slot_in(table, site, key);
    if (call) qzi_pub_store(&call->count, call->count + 1);
    atomic_store_explicit(&taken, 0, memory_order_release);
    if (call) return NULL;
  }
lost:
  __atomic_fetch_add(&qzi_session.processor_base[which % qzi_session.processors].calls_lost, 1, __ATOMIC_RELAXED);
  return NULL;
}

QZI_HOOK void qzi_call_count(uint64_t calls, uint64_t site, uint64_t key) { count(calls, site, key); }

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
  uint64_t end = AT(here.sp) < record->high ? record->high >> 16 : here.sp + SCAN_BYTES; /* signal stack */
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

/* Drops what is stale from the point of view of a live frame of that level (AT). */
QZI_HOOK static uint64_t drop_below(struct qz_thread *record, uint64_t word, const struct qzi_pub_thread *thread,
                                    uint64_t level) {
  for (;;) {
    const struct qz_entry *top = TOP(record, word);
    if (FIXED(top) || (LEVEL(top->sp) >= level && on_stack(thread, ADDRESS(top->sp)))) return word;
    word = drop(record, word);
  }
}

QZI_HOOK static void push_within(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t mark) {
  if (QZ_WORD_TOP(word) >= qzi_pub_hook_limit) qzi_pub_store(&record->overflows, record->overflows + 1);
  else push(record, word, TOP(record, word), key, mark);
}

/* Anything but a plain push: a call counted for the first time, stale entries, inlined procedures, full stack, publishing
 * just begun, blocking region, alternate stack. */
QZI_HOOK __attribute__((noinline, cold)) static void enter_slow(struct qz_thread *record, uint64_t key, uint64_t site,
                                                                struct place here) {
  if (record == &qzi_attend && !(record = attend())) return;
  const struct qzi_pub_thread *thread = owner_of(record);
  struct qz_call *call = count(record->calls, site, key);
  uint64_t sp = here.sp, at = level_of(record, thread, here, site);
  if (call && at && !call->reserved) call->reserved = at - sp;
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED), mark = MARK(at ? at : sp, site, here.pc);
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
  uint64_t sp = here.sp, at = level_of(record, thread, here, site), level = LEVEL(AT(at ? at : sp));
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

/* The level that the fast paths go by; 0: the slow path must find it. */
#if defined(__x86_64__)
QZI_HOOK static inline uint64_t entered_level(const struct qz_thread *record, const struct qz_call *call,
                                              struct place here, uint64_t site) {
  uint64_t at = here.sp + call->reserved;
  return AT(at) < record->high && *(const uint64_t *)(uintptr_t)at == site ? at : 0;
}
#else
QZI_HOOK static inline uint64_t entered_level(const struct qz_thread *record, const struct qz_call *call,
                                              struct place here, uint64_t site) {
  return level_by_record(record, here, site);
}
#endif

QZI_HOOK void __cyg_profile_func_enter(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_enter);
  struct qz_thread *record = RECORD(hot);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  if (__builtin_expect(QZ_WORD_TOP(word) >= record->limit, 0)) goto slow;
  struct qz_call *call = (struct qz_call *)(uintptr_t)record->calls + ((site ^ key >> 4) & (QZI_CALL_SLOTS - 1));
  if (__builtin_expect(call->site != site || call->key != key, 0)) goto slow;
  uint64_t at = entered_level(record, call, here, site), mark = MARK(at, site, here.pc);
  if (__builtin_expect(!at || top->sp <= (mark | LOW_BITS), 0)) goto slow;
  qzi_pub_store(&call->count, call->count + 1);
  if (top->key != key) push(record, word, top, key, mark);
  return;
slow:
  enter_slow(record, key, site, here);
}

QZI_HOOK void __cyg_profile_func_exit(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_exit);
  struct qz_thread *record = RECORD(hot);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
#if defined(__x86_64__)
  if (__builtin_expect(top->key == key && top->sp >= AT(here.sp) && top->sp <= record->high, 1)) {
    if (__builtin_expect(*(const uint64_t *)(uintptr_t)ADDRESS(top->sp) == site, 1)) {
#else
  uint64_t at = level_by_record(record, here, site);
  if (__builtin_expect(at && top->key == key && top->sp >= AT(at) && !FIXED(top), 1)) {
    if (__builtin_expect(LEVEL(top->sp) == AT(at) && SITE_OF(top->sp) == SITE_PART(site), 1)) {
#endif
      QZI_TRACE(stack(record, word + QZ_WORD_POP));
      __atomic_store_n(&record->word, word + QZ_WORD_POP, __ATOMIC_RELEASE);
      return;
    }
    if (SITE_OF(top->sp) != SITE_PART(site)) return; /* end of an immediate recursion */
  }
  leave_slow(record, key, site, here);
}

#if defined(__x86_64__)

/* ---- slow paths of hooks_x86_64.S ---- */

#pragma GCC visibility push(hidden)
uint32_t qzi_xsave_bytes; /* room that xsave needs for vector and x87 state; 0: the processor knows fxsave only */
uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark);
void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark);
uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark);
void qzi_return_third(struct qz_thread *record, uint64_t mark);
#pragma GCC visibility pop

/* 0 where it was one of the cases that happen all the time: a call that shares its first slot, a full stack. This file
 * is compiled for general registers only, so nothing need be saved for that; 1: the third stage is needed, which
 * calls the scheduler. */
QZI_HOOK uint32_t qzi_fentry_second(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  if (!record->limit || top->sp <= mark) return 1;
  qzi_call_count(record->calls, site, key);
  if (top->key == key) return 0;
  if (QZ_WORD_TOP(word) >= record->limit) qzi_pub_store(&record->overflows, record->overflows + 1);
  else push(record, word, top, key, mark);
  return 0;
}

QZI_HOOK void qzi_fentry_third(struct qz_thread *record, uint64_t key, uint64_t site, uint64_t mark) {
  if (record == &qzi_attend && !(record = attend())) return;
  const struct qzi_pub_thread *thread = owner_of(record);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (on_stack(thread, ADDRESS(mark))) word = drop_below(record, word, thread, LEVEL(mark) + LOW_BITS + 1);
  qzi_call_count(record->calls, site, key);
  if (TOP(record, word)->key != key) push_within(record, word, key, mark);
}

/* 0: the function returns with objects on top of it (locks that it leaves to its caller); 1: third stage. */
QZI_HOOK uint32_t qzi_return_second(struct qz_thread *record, uint64_t mark) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  if (record == &qzi_attend || !FIXED(top)) return 1;
  while (end->key & QZ_KEY_OBJECT) end--;
  for (from = end; !FIXED(from) && from->sp < mark; from--) continue;
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
  if (!on_stack(thread, ADDRESS(mark))) return;
  uint64_t word = drop_below(record, __atomic_load_n(&record->word, __ATOMIC_RELAXED), thread, LEVEL(mark));
  const struct qz_entry *top = TOP(record, word);
  if (top->sp == mark) drop(record, word);
  else if (top->key & QZ_KEY_OBJECT) qzi_return_second(record, mark);
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
void qzi_hooks_init(void) {}
#endif
