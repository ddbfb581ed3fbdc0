/* Hooks that the compiler inserts at the entry and exit of procedures with -finstrument-functions.
 *
 * Owns:    nothing; profile_stack.h describes what hooks do to the profile stack.
 * Writer:  the thread itself. Reader: the sampler.
 * Must not: be instrumented; call a function on the fast path; do anything in a foreign kernel thread.
 *
 * The level of a frame is an address that separates it from its caller's frame. On x86-64 it is the address of the
 * return address. That is searched once for each pair of call site and procedure, by its value, and stored beside the
 * call count as a distance from the hook's own stack pointer; each call checks that it is still there. On aarch64 it is
 * the address of the caller's frame record, because the return address can be anywhere in a frame. The function's own
 * record (x29: caller's x29, return address) leads to it; gcc and clang make one in each function that calls another,
 * unless frame pointers are omitted.
 */
#include "asked.h"

#pragma GCC visibility push(default)
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
#pragma GCC visibility pop

#define ADDRESS_OF(pointer) ((uint64_t)(uintptr_t)(pointer))
/* What the running hook knows of the function that calls it, or that ends by jumping to it. */
struct place {
  uint64_t sp; /* lowest address at which its return address can be: that of the hook's own, if it has jumped */
#if defined(__aarch64__)
  uint64_t pc;    /* return address of the hook */
  uint64_t frame; /* x29 */
#endif
};
#if defined(__x86_64__)
#define HERE() \
  { .sp = ADDRESS_OF(__builtin_dwarf_cfa()) - 8 }
#define PC(here) (*(const volatile uint64_t *)(uintptr_t)(here).sp)
#else
#pragma GCC diagnostic ignored "-Wframe-address" /* the caller of a hook has a frame record, or x29 is checked */
#define PC(here) ((here).pc)
#define HERE()                                                                              \
  {                                                                                         \
    .sp = ADDRESS_OF(__builtin_dwarf_cfa()), .pc = ADDRESS_OF(__builtin_return_address(0)), \
    .frame = ADDRESS_OF(__builtin_frame_address(1))                                         \
  }
#endif
#define SCAN_BYTES 65536 /* maximum size of a frame in which the return address is searched */
#define REPEATS    12    /* how often a procedure that is inlined into itself is pushed */

/* Returns the address of the function's return address `site`, searching from the hook's stack pointer `sp` upwards;
 * 0: not found. */
QZI_HOOK static uint64_t find_return(const struct qz_thread *record, const struct qzi_pub_thread *thread, uint64_t sp,
                                     uint64_t site) {
  uint64_t end = sp + SCAN_BYTES, limit = (sp | 4095) + 1; /* of an unknown stack, only this page is certain to exist */
  if (thread && sp >= thread->stack_low && sp < thread->stack_high) limit = thread->stack_high;
  if (end > limit) end = limit;
  for (uint64_t at = sp; at < end; at += 8)
    if (*(const volatile uint64_t *)(uintptr_t)at == site) return at;
  return 0;
}

/* Returns the level of the frame of the function at `here`, called from `site`; 0: not found. */
#if defined(__x86_64__)
QZI_HOOK static uint64_t level_of(const struct qz_thread *record, const struct qzi_pub_thread *thread,
                                  struct place here, uint64_t site) {
  return find_return(record, thread, here.sp, site);
}
#else
/* Determines the level from the frame record alone; 0: the function has none. It reads only from the stack, since x29
 * may hold any value.
 */
QZI_HOOK static inline uint64_t level_by_record(const struct qz_thread *record, struct place here, uint64_t site) {
  uint64_t frame = here.frame;
  if (here.pc == site) return frame; /* by a jump: the function's record is gone, and x29 is the caller's */
  uint64_t end = here.sp < record->high ? record->high : here.sp + SCAN_BYTES; /* on a signal stack */
  if (frame < here.sp || frame + 16 > end || frame & 7) return 0;
  const volatile uint64_t *at = (const volatile uint64_t *)(uintptr_t)frame;
  uint64_t saved = at[1], parent = at[0];
  if (saved != site) { /* is it signed (pointer authentication)? */
    register uint64_t address __asm__("x30") = saved;
    __asm__("hint #7" : "+r"(address)); /* xpaclri */
    if (address != site) return 0;
  }
  return parent > frame ? parent : frame + 8; /* at the end the chain stops, or continues on another stack */
}
QZI_HOOK static uint64_t level_of(const struct qz_thread *record, const struct qzi_pub_thread *thread,
                                  struct place here, uint64_t site) {
  uint64_t level = level_by_record(record, here, site);
  return level ? level : find_return(record, thread, here.sp, site);
}
#endif

/* Handles everything except a plain push: a call counted for the first time, stale entries, inlined procedures, a
 * full stack, publishing that has just begun, a blocking region, an alternate stack. */
QZI_HOOK __attribute__((noinline, cold)) static void enter_slow(uint64_t key, uint64_t site, uint64_t *hot,
                                                                struct place here, bool counted) {
  struct qz_thread *record = RECORD(hot);
  if (stop_in_copy()) return;
  if (record == &qzi_attend && !(record = qzi_hook_attend())) return;
  struct qzi_pub_thread *thread = qzi_hook_owner(record);
  struct qz_call *call = counted ? qzi_call_slot(record->calls, site, key)
                                 : qzi_call_count(record->calls, asked_slot(qzi_pub_slot(site, key), key), site, key);
  uint64_t sp = here.sp, at = level_of(record, thread, here, site);
  if (call && at && !call->reserved) call->reserved = (at - sp) | SITE_PART(site);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED), mark = MARK(at ? at : sp, site, PC(here));
  if (on_stack(thread, sp)) {
    word = drop_below(record, word, thread, LEVEL(mark));
    /* An entry at the same level is stale if it belongs to another call, or is this very one repeated; otherwise it
     * is the procedure that this one is inlined into. */
    for (const struct qz_entry *top; !FIXED(top = TOP(record, word)) && LEVEL(top->sp) == LEVEL(mark);) {
      if (SITE_OF(top->sp) == SITE_OF(mark) && (top->sp != mark || top->key != key)) break;
      word = drop(record, word);
    }
  }
  qzi_asked_left(record);
  word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  const struct qz_entry *top = TOP(record, word), *same = top;
  while (same->key == key && !FIXED(same) && LEVEL(same->sp) == LEVEL(mark)) same--;
  if (top->key == key && (same == top || top - same >= REPEATS)) return; /* immediate recursion */
  push_within(record, word, key, mark, thread);
  if (asked(key)) qzi_asked_entered(thread ? thread->record : record, key);
}

/* Removes a procedure from below the objects on top of it (locks that it still holds), together with stale entries
 * there. */
QZI_HOOK static void leave_below(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t site, uint64_t level) {
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  while (end->key & QZ_KEY_OBJECT) end--; /* the objects are entries end + 1 to top */
  for (from = end; !FIXED(from); from--) {
    if (LEVEL(from->sp) < level) continue;
    if (LEVEL(from->sp) == level && from->key == key && SITE_OF(from->sp) == SITE_PART(site)) from--;
    break;
  }
  take_out(record, word, from, end, top);
}

QZI_HOOK static void leave(struct qz_thread *record, uint64_t key, uint64_t site, struct place here,
                           const struct qzi_pub_thread *thread) {
  uint64_t sp = here.sp, at = level_of(record, thread, here, site), level = at ? at : sp;
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  if (on_stack(thread, sp)) word = drop_below(record, word, thread, level);
  struct qz_entry *top = TOP(record, word), *entry = top;
  if (top->key & QZ_KEY_OBJECT) {
    leave_below(record, word, key, site, level);
    return;
  }
  if (!at && !FIXED(top) && top->key == key && SITE_OF(top->sp) == SITE_PART(site)) {
    drop(record,
         word); /* the frame is gone already: the function jumped to the hook, on a stack that is not the thread's */
    return;
  }
  /* Its own entry is on top, or below those at the same level that were inlined into it and had no exit hook. */
  while (!FIXED(entry) && entry->key != key && LEVEL(entry->sp) == level) entry--;
  if (FIXED(entry) || entry->key != key || LEVEL(entry->sp) != level || SITE_OF(entry->sp) != SITE_PART(site)) return;
  for (; top >= entry; top--) word = drop(record, word);
}

QZI_HOOK __attribute__((noinline, cold)) static void leave_slow(struct qz_thread *record, uint64_t key, uint64_t site,
                                                                struct place here) {
  if (record == &qzi_attend) {
    qzi_hook_attend();
    return; /* the procedure was entered before publishing began */
  }
  leave(record, key, site, here, qzi_hook_owner(record));
  qzi_asked_left(record);
}

/* For the pthread layer when a thread package takes its place: calls that package's hooks. */
#ifdef QZI_PUB_ONE_THREAD
#define NOTHING_HERE(next)              \
  do {                                  \
    if (next) (next)(function, caller); \
    return;                             \
  } while (0)
#else
#define NOTHING_HERE(next) return
#endif

/* Returns the mark that the fast path uses, without PLACE_PART; 0: the slow path must determine it. */
QZI_HOOK static inline uint64_t entered_mark(const struct qz_thread *record, const struct qz_call *call,
                                             struct place here, uint64_t site) {
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
#define COUNT(call) __asm__("incq %0" : "+m"((call)->count)) /* a single store, as the reader requires */
#else
#define COUNT(call) qzi_pub_store(&(call)->count, (call)->count + 1)
#endif

/* Returns 1 if the top entry belongs to this exit, 0 if it cannot (at the end of an immediate recursion), -1 if that
 * is unknown. */
QZI_HOOK static inline int is_mine(const struct qz_thread *record, const struct qz_entry *top, struct place here,
                                   uint64_t key, uint64_t site) {
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

QZI_HOOK static inline __attribute__((always_inline)) void enter(struct qz_call *call, uint64_t key, uint64_t site,
                                                                 uint64_t *hot, struct place here) {
  struct qz_thread *record = RECORD(hot);
  COUNT(call);
  uint64_t mark = entered_mark(record, call, here, site);
  uint32_t at = qzi_pub_top(record);
  struct qz_entry *top = TOP(record, at);
  if (__builtin_expect(!mark || !ABOVE(top->sp, mark), 0)) {
    /* At the same level: is it the procedure that this one is inlined into? */
    if (!mark || LEVEL(top->sp ^ mark) || SITE_OF(top->sp ^ mark) || top->key == key) goto slow;
  }
  if (top->key == key) return;
  if (__builtin_expect(at >= record->limit, 0)) goto slow;
  push(record, at, top, key, mark + PLACE_PART(PC(here)));
  return;
slow:
  enter_slow(key, site, hot, here, true);
}

/* For a call that shares its first slot with another one: searches the slots that follow. */
QZI_HOOK static __attribute__((noinline)) void enter_elsewhere(uint64_t key, uint64_t site, uint64_t *hot,
                                                               struct place here) {
  struct qz_call *table = (struct qz_call *)(uintptr_t)RECORD(hot)->calls;
  uint32_t first = qzi_pub_slot(site, key & ~QZ_KEY_OBJECT);
  for (uint32_t k = 1; k <= 4; k++) {
    struct qz_call *call = &table[(first + k) & (QZI_CALL_SLOTS - 1)];
    if (call->site == site && call->key == key) {
      enter(call, key, site, hot, here);
      return;
    }
  }
  enter_slow(key, site, hot, here, false);
}

/* The two begin a cache line each, so that what else is linked does not move them across one: a call costs up to 0.3 ns
 * more in some places than in others. */
QZI_HOOK __attribute__((aligned(64))) void __cyg_profile_func_enter(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_enter);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  struct qz_call *call = (struct qz_call *)(uintptr_t)RECORD(hot)->calls + qzi_pub_slot(site, key & ~QZ_KEY_OBJECT);
  if (__builtin_expect(call->site == site && call->key == key, 1))
    enter(call, key, site, hot, here);
  else
    enter_elsewhere(key, site, hot, here);
}

QZI_HOOK __attribute__((aligned(64))) void __cyg_profile_func_exit(void *function, void *caller) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) NOTHING_HERE(qzl_next_exit);
  struct qz_thread *record = RECORD(hot);
  uint64_t key = ADDRESS_OF(function), site = ADDRESS_OF(caller);
  struct place here = HERE();
  uint32_t top = qzi_pub_top(record);
  int mine = is_mine(record, TOP(record, top), here, key, site);
  if (__builtin_expect(mine > 0, 1)) {
    top -= (uint32_t)sizeof(struct qz_entry);
    QZI_TRACE(stack(record, top));
    qzi_pub_popped(record, top);
  } else if (mine < 0) {
    leave_slow(record, key, site, here);
  }
}
