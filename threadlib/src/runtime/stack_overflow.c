/* Stack overflow: reports which thread has overflowed its stack before the program dies of it.
 *
 * Owns:    the SIGSEGV handler, if the program has none when its first thread is created; an alternate signal stack for
 *          each kernel thread that has none.
 * Must not: change how the program ends: the fault happens again, with the default action.
 */
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/thread/in_place.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIGNAL_STACK_BYTES (64u << 10)

#if !defined(QZI_ASAN) && !defined(QZI_TSAN) /* the sanitizers have handlers of their own */
static void handler(int signal, siginfo_t *info, void *context) {
  uintptr_t at = (uintptr_t)info->si_addr;
  struct qzi_processor *p = qzi_processor_self();
  if (p && p->head.current && !qzi_thread_self()) qzi_in_place_become(p);
  struct qzi_thread *self = p ? p->head.current : NULL;
  if (self && at < self->pub.stack_low && self->pub.stack_low - at <= qzi_runtime.page_bytes) {
    char label[160], line[320];
    int length =
      snprintf(line, sizeof line, "quartz: the stack of %s is used up (%zu KiB); raise stack_bytes or QUARTZ_STACK\n",
               qzi_thread_label(self, label, sizeof label), (size_t)(self->pub.stack_high - self->pub.stack_low) >> 10);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
  }
  sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
}
#endif

void qzi_overflow_kernel(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  void *memory = mmap(NULL, SIGNAL_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  sigaltstack(&(stack_t){.ss_sp = memory, .ss_size = SIGNAL_STACK_BYTES}, NULL);
}

void qzi_overflow_start(void) {
#if !defined(QZI_ASAN) && !defined(QZI_TSAN)
  struct sigaction before;
  if (sigaction(SIGSEGV, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) || before.sa_handler != SIG_DFL) return;
  sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER},
            NULL);
#endif
  qzi_overflow_kernel();
}
