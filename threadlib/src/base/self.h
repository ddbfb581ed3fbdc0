/* The caller's thread and processor, and the part of a processor that all files may access.
 *
 * Owns:    two thread-local words, struct qzi_processor_head.
 * Writer:  code that switches threads (qzi_current_set); a kernel thread that takes a processor or gives it up.
 * Reader:  every file of threadlib/src.
 */
#ifndef QZI_SELF_H
#define QZI_SELF_H

#include "thread.h"

#pragma GCC visibility push(hidden)

/* The processor that runs the caller; NULL: not a kernel thread of the package. To be read again after every
 * operation that may switch. */
extern _Thread_local struct qzi_processor *qzi_tls_processor __attribute__((tls_model("initial-exec")));

/* The thread that runs: `current` of that processor. NULL in the scheduler, in a blocking region, in a foreign
 * kernel thread, and in a call in place that is not a thread yet (thread/in_place.h). It is a copy, because
 * instructions after a locked one wait for their operands: with one load less, a mutex operation takes 5 cycles
 * less. */
extern _Thread_local struct qzi_thread *qzi_tls_thread __attribute__((tls_model("initial-exec")));

/* In assembly, so that the compiler cannot keep the variable's address across a switch to another kernel thread. */
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
/* Sets the variable to 0; `value` is what it was. */
#define QZI_TLS_CLEAR(variable, value)                                                                    \
  do {                                                                                                    \
    uint64_t offset_;                                                                                     \
    __asm__ volatile("movq " #variable "@gottpoff(%%rip), %1\n\tmovq %%fs:(%1), %0\n\tmovq $0, %%fs:(%1)" \
                     : "=&r"(value), "=&r"(offset_)                                                       \
                     :                                                                                    \
                     : "memory");                                                                         \
  } while (0)
#elif defined(__aarch64__)
#define QZI_TLS_CLEAR(variable, value) \
  do {                                 \
    QZI_TLS_LOAD(variable, value);     \
    QZI_TLS_STORE(variable, NULL);     \
  } while (0)
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

/* The first part of a processor, which all files may access; the rest is in processor.h. */
struct qzi_processor_head {
  struct qzi_thread *current; /* the thread that it runs; NULL in its scheduler */
  struct qzi_publisher pub;
  const void *left_from; /* return address of the wait that was left last (struct qzi_back) */
};
static inline struct qzi_processor_head *qzi_head(struct qzi_processor *processor) {
  return (struct qzi_processor_head *)processor;
}
/* Sets the thread that the caller's processor continues with; NULL: none. */
static inline void qzi_current_set(struct qzi_processor *processor, struct qzi_thread *thread) {
  __atomic_store_n(&qzi_head(processor)->current, thread, __ATOMIC_RELAXED);
  QZI_TLS_STORE(qzi_tls_thread, thread);
}
/* Hides the current thread while a call in place runs that is not a thread yet (thread/in_place.h), and shows it again.
 * qzi_current_hide returns what qzi_current_show expects. */
static inline struct qzi_thread *qzi_current_hide(void) {
  struct qzi_thread *thread;
  QZI_TLS_CLEAR(qzi_tls_thread, thread);
  return thread;
}
static inline void qzi_current_show(struct qzi_thread *thread) { QZI_TLS_STORE(qzi_tls_thread, thread); }
static inline struct qzi_publisher *qzi_pub_of(struct qzi_processor *processor) { return &qzi_head(processor)->pub; }

/* qzi_processor_checked returns the processor that runs the caller. If main has not started, it initializes the
 * package. If the caller is a foreign kernel thread or is inside a blocking region, it aborts the program with a
 * message. */
struct qzi_processor *qzi_foreign(void);
struct qzi_thread *qzi_self_slow(void);
static inline struct qzi_processor *qzi_processor_checked(void) {
  struct qzi_processor *p = qzi_processor_self();
  return QZI_LIKELY(p != NULL) ? p : qzi_foreign();
}

/* Returns the running thread. */
static inline struct qzi_thread *qzi_self(void) {
  struct qzi_thread *thread = qzi_thread_self();
  return QZI_LIKELY(thread != NULL) ? thread : qzi_self_slow();
}
/* Returns the publisher of the running thread's processor. */
static inline struct qzi_publisher *qzi_publisher_self(void) { return &qzi_head(qzi_processor_checked())->pub; }

unsigned qzi_processor_count(void);
/* What is published has changed (nothing, everything, work and span too): the tasks in the deques of processors become
 * threads before others are put in or called in place. */
void qzi_sched_close(void);
struct qzi_processor *qzi_processor_at(unsigned index);
uint64_t qzi_spin_limit_ns(void); /* QUARTZ_SPIN_NS, in ns */

#pragma GCC visibility pop
#endif
