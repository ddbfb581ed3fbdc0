/* Kernel threads: creation, pinning, assignment of processors, sleeping.
 *
 * Owns:    struct qzi_kernel, the list of spare kernel threads, the thread-local variables.
 * Writer:  each kernel thread for itself; qzi_kernel_start_for assigns a processor to another.
 * Reader:  idle.c, blocking_region.c, runtime.c.
 * Must not: run threads.
 */
#define _GNU_SOURCE
#include "worker.h"
#include "processor.h"
#include "exceptions.h"
#include "sanitizers.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local struct qzi_processor *qzi_tls_processor __attribute__((tls_model("initial-exec")));
_Thread_local struct qzi_thread *qzi_tls_thread __attribute__((tls_model("initial-exec")));
_Thread_local struct qzi_kernel *qzi_tls_kernel __attribute__((tls_model("initial-exec")));

__attribute__((noinline)) struct qzi_kernel *qzi_kernel_self(void) {
  __asm__ volatile("");
  return qzi_tls_kernel;
}

static void set_processor(struct qzi_processor *p) { qzi_tls_processor = p; }

/* Returns a set with that CPU alone; NULL: no memory. */
static cpu_set_t *only(uint32_t cpu, size_t *bytes) {
  cpu_set_t *set = CPU_ALLOC(cpu + 1);
  *bytes = CPU_ALLOC_SIZE(cpu + 1);
  if (!set) return NULL;
  CPU_ZERO_S(*bytes, set);
  CPU_SET_S(cpu, *bytes, set);
  return set;
}

/* Pins a kernel thread to the CPU of processor p. Called by the kernel thread itself, or by its waker before it may
 * continue: otherwise it would first have to get its old CPU, which its waker usually occupies. */
static void pin(struct qzi_kernel *kernel, const struct qzi_processor *p) {
  if (p->cpu == UINT32_MAX || kernel->cpu == p->cpu) return;
  size_t bytes;
  cpu_set_t *set = only(p->cpu, &bytes);
  if (!set) return;
  kernel->cpu = sched_setaffinity(kernel->tid, bytes, set) == 0 ? p->cpu : UINT32_MAX;
  CPU_FREE(set);
}

/* The kernel thread takes processor p, which is claimed already (its status is QZI_RUNNING). */
__attribute__((noinline)) void qzi_kernel_take(struct qzi_kernel *kernel, struct qzi_processor *p) {
  kernel->processor = p;
  p->kernel = kernel;
  set_processor(p);
  p->exceptions = qzi_exceptions_here();
  pin(kernel, p);
  qzi_pub_processor(&p->head.pub, p->index, kernel->cpu);
}

/* The kernel thread gives up its processor (in a blocking region). */
__attribute__((noinline)) void qzi_kernel_release(struct qzi_kernel *kernel) {
  kernel->processor = NULL;
  set_processor(NULL);
}

static int futex(_Atomic(uint32_t) *word, int operation, uint32_t value, const struct timespec *until) {
  return (int)syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Returns when woken, at the deadline, or (rarely) spuriously. Uses exchanges with acquire order: if it consumes a
 * wake-up, the caller sees the stores that preceded it. */
void qzi_kernel_wait(struct qzi_kernel *kernel, uint64_t deadline_ns) {
  struct timespec until = {(time_t)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
  if (!atomic_exchange_explicit(&kernel->wake, 0, memory_order_acquire))
    futex(&kernel->wake, FUTEX_WAIT_BITSET, 0, deadline_ns == QZI_NEVER ? NULL : &until);
  atomic_exchange_explicit(&kernel->wake, 0, memory_order_acquire);
}

/* Wakes the kernel thread, so that it looks for work again. */
void qzi_kernel_nudge(struct qzi_kernel *kernel) {
  atomic_store_explicit(&kernel->wake, 1, memory_order_release);
  futex(&kernel->wake, FUTEX_WAKE, 1, NULL);
}

/* Wakes a kernel thread whose processor the caller has claimed for it. */
void qzi_kernel_wake(struct qzi_kernel *kernel) {
  atomic_store_explicit(&kernel->claimed, 1, memory_order_release);
  qzi_kernel_nudge(kernel);
}

/* A kernel thread without a processor sleeps until it is assigned one. */
static struct qzi_processor *wait_for_processor(struct qzi_kernel *kernel) {
  struct qzi_processor *p;
  while (!(p = atomic_exchange_explicit(&kernel->given, NULL, memory_order_acquire)))
    qzi_kernel_wait(kernel, QZI_NEVER);
  return p;
}

void qzi_kernel_spare(struct qzi_kernel *kernel) {
  qzi_spin_lock(&qzi_runtime.lock);
  kernel->link = qzi_runtime.spare;
  qzi_runtime.spare = kernel;
  qzi_spin_unlock(&qzi_runtime.lock);
  struct qzi_processor *p = wait_for_processor(kernel);
  kernel->searching = true;
  qzi_kernel_take(kernel, p);
}

#ifdef QZI_ASAN
static void note_stack(struct qzi_kernel *kernel) {
  pthread_attr_t attr;
  void *low;
  if (pthread_getattr_np(pthread_self(), &attr) == 0) {
    pthread_attr_getstack(&attr, &low, &kernel->stack_bytes);
    kernel->stack_low = low;
    pthread_attr_destroy(&attr);
  }
}
#endif

static void *kernel_thread(void *arg) {
  struct qzi_kernel *kernel = arg;
  qzi_tls_kernel = kernel;
#ifdef QZI_TSAN
  kernel->sanitizer_fiber = __tsan_get_current_fiber();
#endif
#ifdef QZI_ASAN
  note_stack(kernel);
#endif
  kernel->tid = (int)syscall(SYS_gettid);
  qzi_overflow_kernel();
  kernel->searching = true;
  qzi_kernel_take(kernel, wait_for_processor(kernel));
  qzi_schedule(kernel);
}

static struct qzi_kernel *new_kernel(void) {
  struct qzi_kernel *kernel = aligned_alloc(64, (sizeof *kernel + 63) / 64 * 64);
  if (!kernel) return NULL;
  memset(kernel, 0, sizeof *kernel);
  kernel->cpu = UINT32_MAX;
  kernel->search_seed = (uint64_t)(uintptr_t)kernel;
  return kernel;
}

/* Creates the kernel thread on the processor's CPU; by default it would start on its creator's. */
static bool begin(struct qzi_kernel *kernel, const struct qzi_processor *p) {
  pthread_t thread;
  pthread_attr_t attr;
  if (pthread_attr_init(&attr) != 0) return false;
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  size_t bytes;
  cpu_set_t *set = p->cpu != UINT32_MAX ? only(p->cpu, &bytes) : NULL;
  if (set && pthread_attr_setaffinity_np(&attr, bytes, set) == 0) kernel->cpu = p->cpu;
  int error = pthread_create(&thread, &attr, kernel_thread, kernel);
  if (error && kernel->cpu != UINT32_MAX) { /* the process may no longer use that CPU */
    kernel->cpu = UINT32_MAX;
    pthread_attr_setaffinity_np(&attr, 0, set); /* clears the affinity */
    error = pthread_create(&thread, &attr, kernel_thread, kernel);
  }
  if (set) CPU_FREE(set);
  pthread_attr_destroy(&attr);
  return error == 0;
}

void qzi_kernel_start_for(struct qzi_processor *p) {
  qzi_spin_lock(&qzi_runtime.lock);
  struct qzi_kernel *kernel = qzi_runtime.spare;
  if (kernel) qzi_runtime.spare = kernel->link;
  qzi_spin_unlock(&qzi_runtime.lock);
  if (kernel) {
    pin(kernel, p);
    atomic_store_explicit(&kernel->given, p, memory_order_release);
    qzi_kernel_nudge(kernel);
    return;
  }
  kernel = new_kernel();
  if (kernel) {
    atomic_store_explicit(&kernel->given, p, memory_order_release);
    if (begin(kernel, p)) return;
    free(kernel);
  }
  static _Atomic(bool) said;
  if (!atomic_exchange(&said, true))
    fprintf(stderr, "quartz: processor %u gets no kernel thread, fewer run; raise the limit of processes (ulimit -u)\n",
            p->index);
  atomic_fetch_sub(&qzi_runtime.searching, 1);
  atomic_store(&p->status, QZI_VACANT);
  atomic_fetch_add(&qzi_runtime.idle, 1);
}
