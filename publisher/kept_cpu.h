/* Whether the kernel has taken the CPU away from the calling kernel thread since it last asked. When it does that to a
 * thread that is not inside the critical section to which rseq_cs points, it clears rseq_cs (uapi linux/rseq.h). So
 * rseq_cs is set to a section that is never executed.
 *
 * Owns:    qzi_kept_section. Writer: none. A thread's rseq_cs is the C library's, which registers it (glibc 2.35 and
 *          later); the kernel, and code with critical sections of its own, set it, too.
 * Must not: be used inside a critical section.
 */
#ifndef QZI_KEPT_CPU_H
#define QZI_KEPT_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define QZI_HAS_KEPT 1
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned __rseq_size __attribute__((weak));
extern char qzi_kept_section[] __attribute__((visibility("hidden")));
/* Of rseq_cs from the thread pointer; 0, where another word is that never contains the section's address: not known to
 * work. */
extern ptrdiff_t qzi_kept_at __attribute__((visibility("hidden")));

static inline uint64_t *qzi_kept_word_at(ptrdiff_t at) {
  return (uint64_t *)(void *)((char *)__builtin_thread_pointer() + at);
}
/* qzi_kept_ask only after qzi_kept_works() has returned true (before, it would write to the thread pointer); elsewhere
 * qzi_kept returns false. */
static inline uint64_t *qzi_kept_word(void) { return qzi_kept_word_at(qzi_kept_at); }
static inline void qzi_kept_ask(void) {
  __atomic_store_n(qzi_kept_word(), (uint64_t)(uintptr_t)qzi_kept_section, __ATOMIC_RELAXED);
}
static inline bool qzi_kept(void) {
  return __atomic_load_n(qzi_kept_word(), __ATOMIC_RELAXED) == (uint64_t)(uintptr_t)qzi_kept_section;
}
#else
#define QZI_HAS_KEPT 0
#endif

/* Whether the kernel does all that: sleeps for up to 10 ms. */
bool qzi_kept_works(void) __attribute__((visibility("hidden")));

#endif
