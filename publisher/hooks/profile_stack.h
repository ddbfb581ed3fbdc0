/* What all hooks do to the profile stack of the running thread.
 *
 * Owns:    the procedures on that stack.
 * Writer:  the thread itself. Reader: the sampler.
 * Must not: be instrumented; use a vector register.
 *
 * An entry is {procedure, mark}. The mark contains the level of its frame, which decreases with every call; marks of
 * -finstrument-functions (instrument.c) also contain, in the upper bits, some bits of the call site and of the place of
 * the hook. Frames that ended without an exit hook (longjmp, exceptions, exit of the thread) leave stale entries: their
 * level is below that of a later frame, or the same but from another call. (A procedure that is inlined has the level
 * of the one around it.) The next entry or exit drops them. Immediate recursion is not pushed. On a signal's alternate
 * stack, addresses cannot be compared with those of older entries, so none are dropped.
 */
#ifndef QZI_PUBLISH_PROFILE_STACK_H
#define QZI_PUBLISH_PROFILE_STACK_H

#include "publisher/private.h"
#include "publisher/publisher.h"

#define RECORD(hot)         ((struct qz_thread *)((char *)(hot)-offsetof(struct qz_thread, word)))
#define TOP(record, packed) ((struct qz_entry *)((char *)&(record)->word + QZ_WORD_TOP(packed)))
#define FIXED(entry)        ((entry)->sp == QZI_SP_FIXED)

/* Marks: bits 0-47 hold the level; bit 63 and the bits below it hold bits of the call site and of the place of the
 * hook. These are 0 in marks of hooks after inlining; such hooks compare the stack pointer with marks as signed
 * numbers, so that a mark of the other kind makes them take their slow path. */
#define LEVEL(mark)         ((mark)&UINT64_C(0xffffffffffff))
/* A faster form of LEVEL(a) > LEVEL(b) on x86-64, where addresses have 47 bits. */
#if defined(__x86_64__)
#define ABOVE(a, b) ((int64_t)(((a) - (b)) << 16) > 0)
#else
#define ABOVE(a, b) ((a) << 16 > (b) << 16)
#endif
#define SITE_PART(site)       (UINT64_C(1) << 63 | ((site)&0xff) << 55)
#define SITE_OF(mark)         ((mark)&UINT64_C(0xff80000000000000))
#define PLACE_PART(pc)        ((pc) << 57 >> 9)
#define MARK(level, site, pc) ((level) | SITE_PART(site) | PLACE_PART(pc))

#pragma GCC visibility push(hidden)
/* Returns the thread whose record the hook found; NULL: a foreign thread. */
struct qzi_pub_thread *qzi_hook_owner(struct qz_thread *record);
/* Publishing began while this thread was running: assigns it its record now. */
struct qz_thread *qzi_hook_attend(void);
#pragma GCC visibility pop

/* Called on slow paths only, which the first call from a place always takes. */
QZI_HOOK static inline bool stop_in_copy(void) {
  if (!qzi_pub_copied()) return false;
  qzi_hot_set(NULL);
  return true;
}

QZI_HOOK static inline bool on_stack(const struct qzi_pub_thread *thread, uint64_t sp) {
  return !thread || !thread->stack_high || (sp >= thread->stack_low && sp <= thread->stack_high);
}

QZI_HOOK static inline uint64_t drop(struct qz_thread *record, uint64_t word) {
  word -= sizeof(struct qz_entry);
  QZI_TRACE(stack(record, word));
  qzi_pub_popped(record, QZ_WORD_TOP(word));
  return word;
}

/* The mark is stored first: the hooks of a signal handler that interrupts this store their own entries in the same
 * slot; a wrong mark is lower than that of any live frame, so that the next hook drops the entry. */
QZI_HOOK static inline void push(struct qz_thread *record, uint64_t word, struct qz_entry *top, uint64_t key,
                                 uint64_t mark) {
  qzi_pub_fence(); /* an earlier pop becomes visible before its slot is reused */
  qzi_pub_store(&top[1].sp, mark);
  __atomic_signal_fence(__ATOMIC_RELEASE);
  qzi_pub_store(&top[1].key, key);
  QZI_TRACE(stack(record, word + sizeof *top));
  qzi_pub_pushed(record, QZ_WORD_TOP(word) + (uint32_t)sizeof *top);
}

/* Removes the entries after `from` up to `end`, which are below the objects up to `top`. */
QZI_HOOK static inline void take_out(struct qz_thread *record, uint64_t word, struct qz_entry *from,
                                     struct qz_entry *end, struct qz_entry *top) {
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

/* Drops entries that are stale as seen from a live frame of that level. */
QZI_HOOK static inline uint64_t drop_below(struct qz_thread *record, uint64_t word, const struct qzi_pub_thread *thread,
                                           uint64_t level) {
  for (;;) {
    const struct qz_entry *top = TOP(record, word);
    if (FIXED(top) || (LEVEL(top->sp) >= level && on_stack(thread, LEVEL(top->sp)))) return word;
    word = drop(record, word);
  }
}

/* Pushes an entry, in a longer record if this one is full. `thread`: the thread that owns the record; NULL: unknown. */
QZI_HOOK static inline void push_within(struct qz_thread *record, uint64_t word, uint64_t key, uint64_t mark,
                                        struct qzi_pub_thread *thread) {
  if (QZ_WORD_TOP(word) >= record->limit) {
    struct qz_thread *longer = thread ? qzi_pub_lengthen(thread) : NULL;
    if (!longer) {
      qzi_pub_store(&record->overflows, record->overflows + 1);
      return;
    }
    record = longer;
    word = __atomic_load_n(&record->word, __ATOMIC_RELAXED);
  }
  push(record, word, TOP(record, word), key, mark);
}

#endif
