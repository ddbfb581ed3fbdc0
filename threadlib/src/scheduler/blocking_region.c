/* Blocking regions: the kernel thread stays with its thread, and the processor becomes available to others.
 *
 * Owns:    qzi_kernel.io_thread, .io_processor; the status QZI_IN_IO; qzi_runtime.in_io.
 * Writer:  the kernel thread inside the region.
 * Reader:  idle.c.
 * Must not: start a kernel thread if nothing is ready: a short region costs a few atomic operations.
 *
 * At its start, the region marks the processor as available. A processor that queues work wakes a spare kernel thread
 * for it; other processors can steal from its queue. At its end, the thread takes back its processor or another
 * available one; otherwise it waits for one.
 *
 * A processor that goes to sleep executes a barrier on all CPUs before it looks for work for the last time (idle.c).
 * That would be too expensive for a short region. So from the first region on, code that queues work executes a fence
 * instead (QZI_FENCED_WAKES).
 */
#include "processor.h"
#include "exceptions.h"
#include "sanitizers.h"
#include "worker.h"

static _Atomic(bool) all_fenced; /* all processors have seen that wake-ups are fenced */

void qz_blocking_begin(const char *name) {
  struct qzi_processor *p = qzi_processor_self();
  if (!p) {
    struct qzi_kernel *inside = qzi_kernel_self();
    if (inside && inside->io_thread) { /* nested */
      inside->io_thread->io++;
      return;
    }
    p = qzi_foreign();
  }
  struct qzi_kernel *kernel = p->kernel;
  struct qzi_thread *self = qzi_self();
  qzi_start();
  if (QZI_UNLIKELY(!atomic_load_explicit(&all_fenced, memory_order_acquire)) && qzi_runtime.processor_count > 1) {
    atomic_fetch_or(&qzi_runtime.idle, QZI_FENCED_WAKES);
    qzi_heavy_fence();
    atomic_store_explicit(&all_fenced, true, memory_order_release);
  }
  self->io = 1;
  qzi_pub_io(&p->head.pub, &self->pub);
  qzi_pub_leave_io(&p->head.pub);
  kernel->io_thread = self;
  kernel->io_processor = p;
  qzi_current_set(p, NULL);
  qzi_kernel_release(kernel);
  atomic_fetch_add_explicit(&qzi_runtime.in_io, 1, memory_order_seq_cst);
  atomic_store_explicit(&p->status, QZI_IN_IO, memory_order_seq_cst);
  atomic_fetch_add_explicit(&qzi_runtime.idle, 1, memory_order_seq_cst);
  if (qzi_idle_wanted()) qzi_wake_one(p);
}

static void inject_after(void *arg) {
  qzi_pub_io_over(&((struct qzi_thread *)arg)->pub);
  qzi_inject(arg);
  atomic_fetch_sub_explicit(&qzi_runtime.in_io, 1, memory_order_seq_cst);
  qzi_wake_one(&qzi_runtime.processors[0]);
}

void qz_blocking_end(void) {
  struct qzi_kernel *kernel = qzi_kernel_self();
  struct qzi_thread *self = kernel ? kernel->io_thread : NULL;
  if (!self)
    qzi_die("qz_blocking_end at %p without qz_blocking_begin; correct the program", __builtin_return_address(0));
  if (self->io > 1) {
    self->io--;
    return;
  }
  if (qzi_spanning()) qzi_span_io_over(&self->pub);
  struct qzi_processor *p = kernel->io_processor;
  if (!qzi_claim_this(p, QZI_IN_IO)) {
    p = qzi_claim_processor(QZI_VACANT, p->index);
    if (!p) p = qzi_claim_processor(QZI_IN_IO, kernel->io_processor->index);
  }
  self->io = 0;
  kernel->io_thread = NULL;
  if (p) {
    qzi_kernel_take(kernel, p);
    qzi_current_set(p, self);
    qzi_pub_go_on(&p->head.pub, &self->pub);
    atomic_fetch_sub_explicit(&qzi_runtime.in_io, 1, memory_order_seq_cst);
    return;
  }
  /* every processor is running, or sleeps with a kernel thread of its own: queue the thread; this kernel thread
   * becomes spare */
  qzi_sanitize_to_scheduler(&self->sanitizer_stack, kernel);
  struct qzi_exceptions *here = qzi_exceptions_here(), exceptions = here ? *here : (struct qzi_exceptions){0};
  struct qzi_passed passed = qzi_switch(qzi_fp_leave(), &self->context, kernel->context, inject_after, self);
  qzi_sanitize_arrived(self->sanitizer_stack);
  qzi_exceptions_restore(exceptions);
  qzi_leave(qzi_processor_self());
  if (passed.after) passed.after(passed.arg);
}
