/* Whether publishing is on, and where to publish: the flag that every call tests first, and the hot line of the calling
 * kernel thread, which the hooks read.
 *
 * Owns:    nothing; session.c has the flag, hooks/hot_line.c the line.
 * Writer:  the channel; the line is also written by code that switches threads (publisher.h).
 * Reader:  all of publisher/ and its hosts.
 */
#ifndef QZI_PUBLISHER_FLAG_H
#define QZI_PUBLISHER_FLAG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "abi/session.h"

/* Of a variable that is read by nearly every call and hardly ever written: they are together in one or two lines of
 * the cache. */
#define QZI_READ_OFTEN __attribute__((section("quartz_read_often")))

/* 1 while a sampler is connected. Only the channel writes it. */
extern _Atomic uint32_t qzi_publishing_flag __attribute__((visibility("hidden")));
/* The last value of the flag in this process or in the one that it is a copy of: in a copy the flag itself is 0. */
extern bool qzi_pub_on __attribute__((visibility("hidden")));
/* Number of times that publishing was switched on; a thread record of an earlier epoch is initialized again before
 * it is used. */
extern _Atomic uint32_t qzi_pub_epoch __attribute__((visibility("hidden")));
/* Object records (element 0 is never used); NULL before the first session. */
extern struct qz_object *qzi_pub_objects __attribute__((visibility("hidden")));
/* Byte offset, relative to `word`, of the last entry of a profile stack and of the last one that procedures may use;
 * constant during the life of the process. The limits of short records are lower (private.h). */
extern uint32_t qzi_pub_limit __attribute__((visibility("hidden")));
extern uint32_t qzi_pub_hook_limit __attribute__((visibility("hidden")));
/* Which hold times of locks are measured: all (QUARTZ_EXACT_HOLD=1), or the processor time of a random sample
 * (pthread layer, while work and span are recorded). */
#define QZI_HOLD_EXACT 1u
#define QZI_HOLD_CPU   2u
extern uint32_t qzi_pub_exact_hold __attribute__((visibility("hidden")));

/* Orders earlier stores to a record before those that follow. TSan does not support fences, and does not need this one,
 * since the stores are atomic.
 */
static inline void qzi_pub_fence(void) {
#ifdef __SANITIZE_THREAD__
  __atomic_signal_fence(__ATOMIC_RELEASE);
#else
  __atomic_thread_fence(__ATOMIC_RELEASE);
#endif
}

/* Relaxed is sufficient: the channel executes a barrier on all CPUs between its preparations and setting the flag.
 * TSan does not know of that. */
#ifdef __SANITIZE_THREAD__
#define QZI_PUBLISHING_ORDER memory_order_acquire
#else
#define QZI_PUBLISHING_ORDER memory_order_relaxed
#endif
#define qzi_publishing() __builtin_expect(atomic_load_explicit(&qzi_publishing_flag, QZI_PUBLISHING_ORDER) != 0, 0)

/* Returns whether this process is a copy with its own memory that was not made by fork(), so that no at-fork handler
 * ran: it must not publish into its parent's session. */
static inline bool qzi_pub_copied(void) { return qzi_pub_on && !qzi_publishing(); }

/* Address of the hot line in the record of the thread that this kernel thread runs, for the hooks; NULL: nothing to
 * publish. Written by qzi_pub_run() and qzi_pub_leave(), and by the channel when publishing begins and ends. Hooks
 * that are expanded in the program (quartz/hooks.h) are linked to it by the name QZI_HOT_NAME. Where that is
 * impossible (the pthread layer is preloaded into a program that is already linked; libraries hide their symbols),
 * they read a copy of their own, at a fixed distance that is the same in all kernel threads; the copies are kept up
 * to date. */
#ifdef QZI_PUB_ONE_THREAD
#define QZI_HOT_NAME       "qzi_hot"
#define QZI_HOT_VISIBILITY "hidden"
#else
#define QZI_HOT_NAME       "quartz_hot_2"
#define QZI_HOT_VISIBILITY "default"
#endif
extern _Thread_local uint64_t *qzi_hot __asm__(QZI_HOT_NAME)
  __attribute__((tls_model("initial-exec"), visibility(QZI_HOT_VISIBILITY)));
#define QZI_HOT_COPIES 8
extern intptr_t qzi_hot_distance[QZI_HOT_COPIES] __attribute__((visibility("hidden"))); /* 0: not used */
extern uint32_t qzi_hot_copies __attribute__((visibility("hidden")));                   /* number of copies in use */

/* Sets the copies that belong to the variable at `own`. */
static inline void qzi_hot_set_copies(uint64_t **own, uint64_t *hot) {
  for (uint32_t k = 0; k < QZI_HOT_COPIES; k++)
    if (qzi_hot_distance[k]) __atomic_store_n((uint64_t **)((char *)own + qzi_hot_distance[k]), hot, __ATOMIC_RELAXED);
}

/* Both in assembly, because a compiler may keep the address of a thread-local variable across a switch to another
 * kernel thread. */
static inline void qzi_hot_set(uint64_t *hot) {
#if defined(__x86_64__)
  uint64_t offset;
  __asm__ volatile("movq " QZI_HOT_NAME "@gottpoff(%%rip), %0\n\tmovq %1, %%fs:(%0)"
                   : "=&r"(offset)
                   : "r"(hot)
                   : "memory");
  if (__builtin_expect(qzi_hot_copies != 0, 0)) {
    uint64_t **own;
    __asm__ volatile("movq %%fs:0, %0" : "=r"(own));
    qzi_hot_set_copies((uint64_t **)((char *)own + offset), hot);
  }
#elif defined(__aarch64__)
  uint64_t base, offset;
  __asm__ volatile("mrs %0, tpidr_el0\n\t"
                   "adrp %1, :gottprel:" QZI_HOT_NAME "\n\t"
                   "ldr %1, [%1, #:gottprel_lo12:" QZI_HOT_NAME "]\n\t"
                   "str %2, [%0, %1]"
                   : "=&r"(base), "=&r"(offset)
                   : "r"(hot)
                   : "memory");
#else
#error "Quartz knows x86-64 and aarch64"
#endif
}
static inline uint64_t *qzi_hot_get(void) {
  uint64_t *hot;
#if defined(__x86_64__)
  __asm__ volatile("movq " QZI_HOT_NAME "@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(hot));
#else
  uint64_t offset;
  __asm__ volatile("mrs %0, tpidr_el0\n\t"
                   "adrp %1, :gottprel:" QZI_HOT_NAME "\n\t"
                   "ldr %1, [%1, #:gottprel_lo12:" QZI_HOT_NAME "]\n\t"
                   "ldr %0, [%0, %1]"
                   : "=&r"(hot), "=&r"(offset));
#endif
  return hot;
}

#endif
