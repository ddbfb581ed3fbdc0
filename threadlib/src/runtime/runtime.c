/* Start-up, and the state of the child after fork().
 *
 * Owns:    qzi_runtime, the array of processors.
 * Writer:  a constructor, which runs before main and before the program's own constructors; qz_init; the child after
 *          fork().
 * Reader:  all files of the package.
 * Must not: start kernel threads before the program creates its first thread: a program that is only linked with the
 * package must not pay for it.
 *
 * The process's first kernel thread is processor 0, and main is a thread of the package on the initial stack of the
 * process. What other kernel threads need is set up when the first thread is created.
 */
#define _GNU_SOURCE
#include "publisher/port.h"
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/scheduler/sanitizers.h"
#include "threadlib/src/scheduler/worker.h"
#include "threadlib/src/sync/sync.h"
#include "threadlib/src/thread/in_place.h"
#include "threadlib/src/thread/spawn.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCHEDULER_STACK_BYTES  (256u << 10)
#define MAIN_STACK_SPARE_BYTES (256u << 10) /* for arguments, environment and the kernel's guard gap */
#define MAIN_STACK_MOST_BYTES  (64u << 20)

struct qzi_runtime qzi_runtime;
uint64_t qzi_fp_usual;

int main(int, char **, char **) __attribute__((weak));

static void make_processors(void) {
  size_t bytes = qzi_runtime.processor_count * sizeof(struct qzi_processor);
  struct qzi_processor *processors = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (processors == MAP_FAILED)
    qzi_die("no memory for %u processors; lower QUARTZ_PROCESSORS", qzi_runtime.processor_count);
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) {
    struct qzi_processor *p = &processors[k];
    p->index = k;
    p->serial = k;
    p->cpu = qzi_runtime.pin && qzi_runtime.cpus ? qzi_runtime.cpus[k % qzi_runtime.cpu_count] : UINT32_MAX;
    p->timer_first_ns = QZI_NEVER;
    p->status = k ? QZI_VACANT : QZI_RUNNING;
    qzi_deque_make(&p->deque, qzi_runtime.membarrier ? QZI_TASK_ROOM : 0);
    qzi_ring_make(&p->fifo);
  }
  qzi_runtime.processors = processors;
  atomic_store(&qzi_runtime.idle, (qzi_runtime.processor_count - 1) | (qzi_runtime.membarrier ? 0 : QZI_FENCED_WAKES));
}

static void find_main_stack(struct qzi_thread *thread) {
  struct rlimit limit;
  size_t bytes = 8u << 20;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < MAIN_STACK_MOST_BYTES) bytes = limit.rlim_cur;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  thread->pub.stack_high = (here | (qzi_runtime.page_bytes - 1)) + 1; /* may be a little too low, which is harmless */
  thread->pub.stack_low = here - (bytes > 2 * MAIN_STACK_SPARE_BYTES ? bytes - MAIN_STACK_SPARE_BYTES : bytes / 2);
}

static void forked(void);

static void set_up(void) {
  qzi_config(NULL);
  qzi_runtime.membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  make_processors();
  static struct qzi_kernel kernel;
  kernel.cpu = UINT32_MAX;
  kernel.tid = (int)syscall(SYS_gettid);
  qzi_tls_kernel = &kernel;
  struct qzi_processor *p = &qzi_runtime.processors[0];
  struct qzi_thread *self = &qzi_main_thread;
  qzi_life_set(self, QZI_ALIVE);
  self->pub.serial = p->serial += QZI_SERIAL_STEP;
  self->pub.start = main ? (uintptr_t)main : 0;
  find_main_stack(self);
#ifdef QZI_TSAN
  self->sanitizer_fiber = __tsan_get_current_fiber();
#endif
  qzi_current_set(p, self);
  p->kernel = &kernel;
  qzi_pub_init(qzi_runtime.processor_count, qzi_runtime.max_threads);
  self->pub.name = qzi_pub_name("main");
  uint32_t cpu = p->cpu;
  p->cpu = UINT32_MAX; /* main is pinned only when there are other kernel threads */
  qzi_kernel_take(&kernel, p);
  p->cpu = cpu;
  qzi_pub_created(&p->head.pub, &self->pub, NULL);
  qzi_pub_run(&p->head.pub, &self->pub);
  qzi_sync_start(qzi_runtime.processor_count);
  pthread_atfork(NULL, NULL, forked);
}

__attribute__((constructor(101))) static void constructor(void) {
  if (!qzi_runtime.processors) set_up();
}

struct qzi_processor *qzi_foreign(void) {
  if (!qzi_runtime.processors) { /* another constructor called a function of the package first */
    set_up();
    return qzi_processor_self();
  }
  struct qzi_kernel *kernel = qzi_kernel_self();
  if (kernel && kernel->io_thread)
    qzi_die("a function of the package was called inside a blocking region; call qz_blocking_end first");
  qzi_die("a function of the package was called from a kernel thread that is not the package's; create threads with "
          "qz_create");
}

struct qzi_thread *qzi_self_slow(void) {
  struct qzi_processor *p = qzi_processor_checked();
  if (p->head.current && qzi_in_place_become(p)) qzi_pub_run(&p->head.pub, &p->head.current->pub);
  return p->head.current;
}

/* The first kernel thread's scheduler loop needs a stack of its own, because main may move to another kernel thread. */
static void scheduler_entry(void (*after)(void *), void *arg) {
  struct qzi_kernel *kernel = qzi_kernel_self();
  qzi_sanitize_arrived(NULL);
  if (kernel->processor) qzi_leave(kernel->processor);
  if (after) after(arg);
  if (!kernel->processor) qzi_kernel_spare(kernel);
  qzi_schedule(kernel);
}

void qzi_start(void) {
  if (QZI_LIKELY(qzi_runtime.started)) return;
  qzi_runtime.started = true;
  qzi_fp_usual = qzi_fp_control();
  struct qzi_kernel *kernel = qzi_kernel_self();
  char *stack = mmap(NULL, SCHEDULER_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack == MAP_FAILED) qzi_die("no memory for the scheduler's stack; raise the limit of memory");
  kernel->stack_low = stack;
  kernel->stack_bytes = SCHEDULER_STACK_BYTES;
  kernel->context = qzi_context_make(stack + SCHEDULER_STACK_BYTES, scheduler_entry);
#ifdef QZI_TSAN
  kernel->sanitizer_fiber = __tsan_create_fiber(0);
#endif
  qzi_overflow_start();
  if (qzi_runtime.processor_count > 1) qzi_kernel_take(kernel, kernel->processor);
}

unsigned qzi_processor_count(void) { return qzi_runtime.processor_count; }
struct qzi_processor *qzi_processor_at(unsigned index) {
  return &qzi_runtime.processors[index];
}
uint64_t qzi_spin_limit_ns(void) { return qzi_runtime.spin_ns; }
unsigned qz_processors(void) { return qzi_runtime.processor_count; }
unsigned qz_processor_self(void) { return qzi_processor_checked()->index; }

int qz_init(const qz_options *options) {
  qzi_processor_checked();
  if (qzi_runtime.started) return EBUSY;
  if (!options) return 0;
  struct qzi_processor *before = qzi_runtime.processors;
  unsigned count = qzi_runtime.processor_count;
  size_t max_threads = qzi_runtime.max_threads;
  int error = qzi_config(options);
  if (error) return error;
  if (qzi_runtime.processor_count != count || qzi_runtime.max_threads != max_threads) {
    make_processors();
    struct qzi_processor *p = &qzi_runtime.processors[0];
    qzi_current_set(p, before->head.current);
    p->head.pub = before->head.pub;
    p->serial = before->serial;
    p->kernel = before->kernel;
    qzi_pub_init(qzi_runtime.processor_count, qzi_runtime.max_threads);
    qzi_sync_start(qzi_runtime.processor_count);
    qzi_kernel_take(p->kernel, p);
    qzi_pub_run(&p->head.pub, &p->head.current->pub);
  }
  return 0;
}

/* Functions that the publisher calls. */
struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  struct qzi_processor *p = qzi_processor_self();
  if (!p || !p->head.current) return NULL;
  /* If a signal handler calls this while the package accesses its queues (busy), the result is the thread on whose
   * stack the call in place runs. */
  if (!qzi_thread_self() && !atomic_load_explicit(&p->busy, memory_order_relaxed)) qzi_in_place_become(p);
  *publisher = &p->head.pub;
  return &p->head.current->pub;
}
struct qzi_pub_thread *qzi_sched_in_region(void) {
  struct qzi_kernel *kernel = qzi_kernel_self();
  struct qzi_thread *thread = kernel ? kernel->io_thread : NULL;
  return thread ? &thread->pub : NULL;
}
bool qzi_sched_busy(unsigned processor) {
  return processor < qzi_runtime.processor_count &&
         __atomic_load_n(&qzi_runtime.processors[processor].head.current, __ATOMIC_RELAXED) != NULL;
}
void qzi_sched_close(void) {
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) qzi_deque_close(&qzi_runtime.processors[k].deque);
}
void qzi_sched_publish_unplaced(void) {
  qzi_spin_lock(&qzi_runtime.lock);
  qzi_pub_unplaced(atomic_load_explicit(&qzi_runtime.injected_count, memory_order_relaxed));
  qzi_spin_unlock(&qzi_runtime.lock);
}

/* ---- fork() ---- */

static void forget(struct qzi_thread *thread, void *self) {
  if (thread == self || qzi_life(thread) == QZI_FREE) return;
  qzi_life_set(thread, QZI_FREE);
  thread->pub.serial = 0;
}

/* Runs in the child: only the calling thread remains, with one processor, its own. */
static void forked(void) {
  struct qzi_kernel *kernel = qzi_kernel_self();
  if (!kernel) return; /* forked by a foreign kernel thread: the package cannot be used in the child */
  struct qzi_processor *p = kernel->io_thread ? kernel->io_processor : kernel->processor;
  p->busy = p->revoked = p->answered = 0;
  if (!kernel->io_thread) qzi_in_place_become(p);
  struct qzi_thread *self = kernel->io_thread ? kernel->io_thread : p->head.current;
  qzi_runtime.processor_count = 1;
  qzi_runtime.processors = p;
  qzi_runtime.membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (kernel->cpu != UINT32_MAX && qzi_runtime.cpus) {
    size_t cpus = qzi_runtime.cpus[qzi_runtime.cpu_count - 1] + 1, bytes = CPU_ALLOC_SIZE(cpus);
    unsigned char mask[8192] = {0};
    if (bytes <= sizeof mask) {
      for (unsigned k = 0; k < qzi_runtime.cpu_count; k++) CPU_SET_S(qzi_runtime.cpus[k], bytes, (cpu_set_t *)mask);
      sched_setaffinity(0, bytes, (cpu_set_t *)mask);
    }
  }
  kernel->cpu = UINT32_MAX;
  kernel->tid = (int)syscall(SYS_gettid);
  kernel->link = NULL;
  kernel->processor = kernel->io_thread ? NULL : p;
  qzi_runtime.searching = qzi_runtime.keeper = qzi_runtime.injected_count = 0;
  uint32_t fenced = qzi_runtime.membarrier ? qzi_runtime.idle & QZI_FENCED_WAKES : QZI_FENCED_WAKES;
  qzi_runtime.in_io = kernel->io_thread ? 1 : 0;
  qzi_runtime.idle = qzi_runtime.in_io | fenced;
  qzi_runtime.spare = NULL;
  qzi_runtime.injected_first = qzi_runtime.injected_last = NULL;
  atomic_store(&qzi_runtime.lock.word, 0);
  p->index = 0;
  p->cpu = UINT32_MAX;
  p->kernel = kernel;
  p->status = kernel->io_thread ? QZI_IN_IO : QZI_RUNNING;
  p->next = NULL;
  p->free_count = 0;
  atomic_store(&p->thief.word, 0);
  atomic_store(&p->timer_lock.word, 0);
  p->timer_count = 0;
  p->timer_first_ns = QZI_NEVER;
  qzi_timer_count = 0;
  /* The old queues may be in an inconsistent state; their memory is not freed. No call in place remains: see above. */
  qzi_deque_make(&p->deque, qzi_runtime.membarrier ? QZI_TASK_ROOM : 0);
  qzi_ring_make(&p->fifo);
  qzi_stack_forked();
  qzi_stack_each(forget, self);
  qzi_sync_start(1);
  if (!kernel->io_thread) qzi_kernel_take(kernel, p);
  qzi_pub_forked(1, NULL);
}
