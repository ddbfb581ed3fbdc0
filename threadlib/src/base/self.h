/* Who runs: the thread and the processor of the caller, and the part of a processor that all files may touch.
 *
 * Owns:    two thread-local words, struct qzi_processor_head.
 * Writer:  whoever switches (qzi_current_set); a kernel thread that takes a processor or gives it up.
 * Reader:  every file of threadlib/src.
 */
#ifndef QZI_SELF_H
#define QZI_SELF_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* The processor that runs the caller. Read again after anything that may switch. NULL: not a kernel thread of ours. */
extern _Thread_local struct qzi_processor *qzi_tls_processor __attribute__((tls_model("initial-exec")));

/* The thread that the caller runs: current of that processor; NULL: in its scheduler, or in a blocking region, or none
 * of ours, or a call in place that is no thread yet (thread/in_place.h). Twice, since a locked instruction makes what
 * follows wait: an address less to look up is 5 cycles less for a mutex. */
extern _Thread_local struct qzi_thread *qzi_tls_thread __attribute__((tls_model("initial-exec")));

/* By assembly, so that a compiler cannot keep the address of the variable over a switch to another kernel thread. */
#if defined(__x86_64__)
#define QZI_TLS_LOAD(variable, value) \
  __asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(value))
#define QZI_TLS_STORE(variable, value)                                              \
  do {                                                                              \
    uint64_t offset_;                                                               \
    __asm__ volatile("movq " #variable "@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)" \
                     : "=&r"(offset_)                                               \
                     : "re"(value)                                                  \
                     : "memory");                                                   \
  } while (0)
#elif defined(__aarch64__)
#define QZI_TLS_LOAD(variable, value)                                  \
  do {                                                                 \
    uint64_t offset_;                                                  \
    __asm__ volatile("mrs %0, tpidr_el0\n\t"                           \
                     "adrp %1, :gottprel:" #variable "\n\t"            \
                     "ldr %1, [%1, #:gottprel_lo12:" #variable "]\n\t" \
                     "ldr %0, [%0, %1]"                                \
                     : "=&r"(value), "=&r"(offset_));                  \
  } while (0)
#define QZI_TLS_STORE(variable, value)                                 \
  do {                                                                 \
    uint64_t base_, offset_;                                           \
    __asm__ volatile("mrs %0, tpidr_el0\n\t"                           \
                     "adrp %1, :gottprel:" #variable "\n\t"            \
                     "ldr %1, [%1, #:gottprel_lo12:" #variable "]\n\t" \
                     "str %2, [%0, %1]"                                \
                     : "=&r"(base_), "=&r"(offset_)                    \
                     : "r"(value)                                      \
                     : "memory");                                      \
  } while (0)
#else
#error "Quartz knows x86-64 and aarch64"
#endif

static inline struct qzi_processor *qzi_processor_self(void) {
  struct qzi_processor *processor;
  QZI_TLS_LOAD(qzi_tls_processor, processor);
  return processor;
}
static inline struct qzi_thread *qzi_thread_self(void) {
  struct qzi_thread *thread;
  QZI_TLS_LOAD(qzi_tls_thread, thread);
  return thread;
}

/* The first part of a processor, all that other files may touch; the rest is in processor.h. */
struct qzi_processor_head {
  struct qzi_thread *current; /* thread that it runs; NULL in its scheduler */
  struct qzi_publisher pub;
  const void *left_from; /* where the thread returns to that was left last by waiting (struct qzi_back) */
};
static inline struct qzi_processor_head *qzi_head(struct qzi_processor *processor) {
  return (struct qzi_processor_head *)processor;
}
/* The caller's processor goes on with another thread, or none. */
static inline void qzi_current_set(struct qzi_processor *processor, struct qzi_thread *thread) {
  __atomic_store_n(&qzi_head(processor)->current, thread, __ATOMIC_RELAXED);
  QZI_TLS_STORE(qzi_tls_thread, thread);
}
/* What runs is no thread yet (thread/in_place.h). */
static inline void qzi_current_hide(void) { QZI_TLS_STORE(qzi_tls_thread, NULL); }
static inline void qzi_current_show(struct qzi_processor *processor) {
  QZI_TLS_STORE(qzi_tls_thread, qzi_head(processor)->current);
}
static inline struct qzi_publisher *qzi_pub_of(struct qzi_processor *processor) { return &qzi_head(processor)->pub; }

/* The processor that runs the caller; sets the package up where main has not begun; ends the program with a line where
 * a foreign kernel thread calls, or one inside a blocking region. */
struct qzi_processor *qzi_foreign(void);
struct qzi_thread *qzi_self_slow(void);
static inline struct qzi_processor *qzi_processor_checked(void) {
  struct qzi_processor *p = qzi_processor_self();
  return QZI_LIKELY(p != NULL) ? p : qzi_foreign();
}

/* The running thread. */
static inline struct qzi_thread *qzi_self(void) {
  struct qzi_thread *thread = qzi_thread_self();
  return QZI_LIKELY(thread != NULL) ? thread : qzi_self_slow();
}
/* Through which the running thread publishes. */
static inline struct qzi_publisher *qzi_publisher_self(void) { return &qzi_head(qzi_processor_checked())->pub; }

unsigned qzi_processor_count(void);
struct qzi_processor *qzi_processor_at(unsigned index);
uint64_t qzi_spin_limit_ns(void); /* QUARTZ_SPIN_NS */

#pragma GCC visibility pop
#endif
