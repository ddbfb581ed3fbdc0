/* Hooks that the compiler puts at the entry and exit of procedures (-finstrument-functions), and the slow paths of all
 * hooks.
 *
 * Owns:    the procedures on the profile stack of the running thread.
 * Writer:  the thread itself. Reader: the sampler.
 * Must not: be instrumented; call anything on the fast path; do anything in a kernel thread that is not ours.
 *
 * An entry is {function, sp << 16 | low bits of the call site}: sp is where the return address of the hook stands, so it
 * falls with every call. Frames that ended without an exit hook (longjmp, exceptions, exit of the thread) leave stale
 * entries: below the stack pointer of a later hook, or level with it but called from elsewhere (an inlined procedure is
 * level with the one around it and has the same call site). The next entry or exit drops them. Immediate recursion is
 * not pushed. On a signal's alternate stack the stack pointer says nothing about older entries, so none are dropped.
 */
#include "publish_private.h"

#pragma GCC visibility push(default)
void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);
#pragma GCC visibility pop

_Thread_local uint64_t *qzi_hot __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct qz_thread qzi_attend = {.word = QZ_WORD_EMPTY, .limit = 0, .bottom = {0, UINT64_MAX}};

#define RECORD(hot) ((struct qz_thread *)((char *)(hot)-offsetof(struct qz_thread, word)))
#define TOP(record, word) ((struct qz_entry *)((char *)&(record)->word + QZ_WORD_TOP(word)))
#define SP_OF(entry) ((entry)->sp >> 16)
#define FIXED(entry) ((entry)->sp == UINT64_MAX)
#define SITE_BITS(value) ((uint16_t)(value))

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
  __atomic_thread_fence(__ATOMIC_RELEASE); /* an earlier pop is seen before its entry is used again */
  qzi_pub_store(&top[1].key, key);
  qzi_pub_store(&top[1].sp, mark);
  QZI_TRACE(stack(record, word + QZ_WORD_PUSH));
  __atomic_store_n(&record->word, word + QZ_WORD_PUSH, __ATOMIC_RELEASE);
}

/* Anything but a plain push: stale entries, full stack, publishing just begun, blocking region, alternate stack.
 * exact: sp is the place of the function's own return address, so that no two live frames have the same. */
QZI_HOOK __attribute__((noinline, cold)) static void enter_slow(struct qz_thread *record, uint64_t key, uint64_t site,
                                                                uint64_t sp, uint64_t mark, bool exact) {
  if (record == &qzi_attend && !(record = attend())) return;
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  const struct qzi_pub_thread *thread = owner_of(record);
  if (on_stack(thread, sp)) {
    while (!FIXED(top) && (SP_OF(top) < sp || (SP_OF(top) == sp && (exact || SITE_BITS(top->sp) != SITE_BITS(mark))) ||
                           !on_stack(thread, SP_OF(top)))) {
      word = drop(record, word);
      top--;
    }
  }
  qzi_call_count(record->calls, site, key);
  if (top->key == key && top->sp != mark) return; /* level and from the same site: inlined into itself, has its own exit */
  if (QZ_WORD_TOP(word) >= qzi_pub_hook_limit) qzi_pub_store(&record->overflows, record->overflows + 1);
  else push(record, word, top, key, mark);
}

/* Takes a procedure out from below the objects on top of it (locks that it still holds), with what is stale there. */
QZI_HOOK static void leave_below(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t sp, uint64_t mark) {
  struct qz_entry *top = TOP(record, word), *end = top, *from;
  while (end->key & QZ_KEY_OBJECT) end--; /* the objects are end + 1 .. top */
  for (from = end; !FIXED(from); from--) {
    if (SP_OF(from) < sp) continue;
    if (from->key == key && SITE_BITS(from->sp) == SITE_BITS(mark)) from--;
    break;
  }
  uint32_t removed = (uint32_t)(end - from);
  if (!removed) return;
  word = (word | QZ_WORD_FLUX) + QZ_WORD_CHANGE;
  __atomic_store_n(&record->word, word, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  for (struct qz_entry *entry = end + 1; entry <= top; entry++) {
    qzi_pub_store(&entry[-(ptrdiff_t)removed].key, entry->key);
    qzi_pub_store(&entry[-(ptrdiff_t)removed].sp, entry->sp);
  }
  word = (word & ~QZ_WORD_FLUX) + QZ_WORD_CHANGE - removed * (uint64_t)sizeof *top;
  QZI_TRACE(stack(record, word));
  __atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

QZI_HOOK __attribute__((noinline, cold)) static void leave_slow(struct qz_thread *record, uint64_t key, uint64_t sp,
                                                                uint64_t mark) {
  if (record == &qzi_attend) {
    attend();
    return; /* it was entered before anybody looked */
  }
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  struct qz_entry *top = TOP(record, word);
  const struct qzi_pub_thread *thread = owner_of(record);
  if (on_stack(thread, sp)) {
    while (!FIXED(top) && (SP_OF(top) < sp || !on_stack(thread, SP_OF(top)))) {
      word = drop(record, word);
      top--;
    }
  }
  if (top->key & QZ_KEY_OBJECT) {
    leave_below(record, word, key, sp, mark);
    return;
  }
  /* Its own entry: here (perhaps pushed when the stack pointer stood elsewhere), or below level ones that have no exit. */
  struct qz_entry *entry = top;
  while (!FIXED(entry) && entry->key != key && SP_OF(entry) == sp) entry--;
  if (FIXED(entry) || entry->key != key || SITE_BITS(entry->sp) != SITE_BITS(mark)) return;
  for (; top >= entry; top--) word = drop(record, word);
}

/* A plain push; but the call's first slot is not its own. */
QZI_HOOK __attribute__((noinline)) static void enter_probe(struct qz_thread *record, uint64_t key, uint64_t site,
                                                           uint64_t word, uint64_t mark) {
  struct qz_entry *top = TOP(record, word);
  qzi_call_count(record->calls, site, key);
  if (top->key != key) push(record, word, top, key, mark);
}

#define MARK(sp, site) ((sp) << 16 | SITE_BITS(site))

QZI_HOOK static inline __attribute__((always_inline)) void enter(struct qz_thread *record, uint64_t key, uint64_t site,
                                                                 uint64_t sp) {
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED), mark = MARK(sp, site);
  struct qz_entry *top = TOP(record, word);
  if (__builtin_expect(top->sp <= (mark | 0xffff) || QZ_WORD_TOP(word) >= record->limit, 0)) {
    enter_slow(record, key, site, sp, mark, false);
    return;
  }
  struct qz_call *call = (struct qz_call *)(uintptr_t)record->calls + ((site ^ key >> 4) & (QZI_CALL_SLOTS - 1));
  if (__builtin_expect(call->site != site || call->key != key, 0)) {
    enter_probe(record, key, site, word, mark);
    return;
  }
  qzi_pub_store(&call->count, call->count + 1);
  if (top->key != key) push(record, word, top, key, mark);
}

QZI_HOOK void __cyg_profile_func_enter(void *function, void *site) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot != NULL, 0))
    enter(RECORD(hot), (uint64_t)(uintptr_t)function, (uint64_t)(uintptr_t)site, (uint64_t)(uintptr_t)__builtin_dwarf_cfa());
}

QZI_HOOK void __cyg_profile_func_exit(void *function, void *site) {
  uint64_t *hot = qzi_hot;
  if (__builtin_expect(hot == NULL, 1)) return;
  struct qz_thread *record = RECORD(hot);
  uint64_t word = __atomic_load_n(&record->word, __ATOMIC_RELAXED), key = (uint64_t)(uintptr_t)function;
  uint64_t sp = (uint64_t)(uintptr_t)__builtin_dwarf_cfa(), mark = MARK(sp, (uint64_t)(uintptr_t)site);
  struct qz_entry *top = TOP(record, word);
  if (__builtin_expect(top->key == key, 1)) {
    if (__builtin_expect(top->sp == mark, 1)) {
      QZI_TRACE(stack(record, word + QZ_WORD_POP));
      __atomic_store_n(&record->word, word + QZ_WORD_POP, __ATOMIC_RELEASE);
      return;
    }
    if (top->sp > (mark | 0xffff) && SITE_BITS(top->sp) != SITE_BITS(mark)) return; /* end of an immediate recursion */
  }
  leave_slow(record, key, sp, mark);
}
