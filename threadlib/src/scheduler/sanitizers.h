/* Informs ThreadSanitizer and AddressSanitizer of switches between stacks. Without them it does nothing.
 *
 * Owns:    nothing.
 * Must not: be needed for correctness.
 */
#ifndef QZI_SANITIZERS_H
#define QZI_SANITIZERS_H

#include "processor.h"

#ifdef QZI_TSAN
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
#define QZI_NO_TSAN __attribute__((no_sanitize("thread")))
#else
#define QZI_NO_TSAN
#endif
#ifdef QZI_ASAN
void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old, size_t *size_old);
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
#endif

/* To be called just before the switch to a thread. `from`: where the fake stack of the context that is left is saved;
 * NULL: that context has ended.
 */
static inline void qzi_sanitize_to_thread(void **from, struct qzi_thread *to) {
#ifdef QZI_TSAN
  if (!to->sanitizer_fiber) to->sanitizer_fiber = __tsan_create_fiber(0);
  __tsan_switch_to_fiber(to->sanitizer_fiber, 0);
#endif
#ifdef QZI_ASAN
  __sanitizer_start_switch_fiber(from, (const void *)to->pub.stack_low, to->pub.stack_high - to->pub.stack_low);
#endif
}
/* To be called just before the switch to a kernel thread's scheduler. */
static inline void qzi_sanitize_to_scheduler(void **from, struct qzi_kernel *to) {
#ifdef QZI_TSAN
  __tsan_switch_to_fiber(to->sanitizer_fiber, 0);
#endif
#ifdef QZI_ASAN
  __sanitizer_start_switch_fiber(from, to->stack_low, to->stack_bytes);
#endif
}
/* To be called first in the context that continues. */
static inline void qzi_sanitize_arrived(void *fake_stack) {
#ifdef QZI_ASAN
  __sanitizer_finish_switch_fiber(fake_stack, NULL, NULL);
#endif
}
/* A stack is reused: removes the poisoning that its previous thread left. */
static inline void qzi_sanitize_fresh(struct qzi_thread *thread) {
#ifdef QZI_ASAN
  char *low = qzi_own_low(thread);
  __asan_unpoison_memory_region(low, (size_t)((const char *)thread - low));
#endif
}
/* The descriptor will not be switched to until it is used for another thread. */
static inline void qzi_sanitize_ended(struct qzi_thread *thread) {
#ifdef QZI_TSAN
  if (thread->sanitizer_fiber) __tsan_destroy_fiber(thread->sanitizer_fiber);
  thread->sanitizer_fiber = NULL;
#endif
}

#endif
