/* Precedence over real-time threads. See precedence.h. */
#include "precedence.h"

#include <sys/syscall.h>
#include <unistd.h>
#include "sampler/linux/futex_wait.h"
#include "sampler/linux/realtime.h"
#include "sampler/linux/schedstat.h"
#include "sampler/util/clock.h"

/* Interval between two looks; it grows by a quarter, up to the second value, while there are no new threads: threads
 * mostly get their class when they begin. */
#define LOOK_NS  UINT64_C(20000000)
#define RARER_NS UINT64_C(160000000)
#define MOST     16u /* threads in a look, besides main, whose class others get: some 10 us */

static unsigned highest(struct qzi_precedence *precedence) {
  uint32_t records = qzi_kernel_threads(precedence->view), count = records < MOST ? records : MOST;
  unsigned priority = qzi_realtime_of(precedence->pid);
  for (uint32_t k = 0; k < count; k++) {
    if (precedence->cursor >= records) precedence->cursor = 0;
    uint32_t tid = qzi_kernel_thread(precedence->view, precedence->cursor++);
    unsigned its = tid ? qzi_realtime_of((pid_t)tid) : 0;
    if (its > priority) priority = its;
  }
  return priority;
}

static void *look(void *argument) {
  struct qzi_precedence *precedence = argument;
  qzi_realtime_over(0, QZI_REALTIME_MOST);
  precedence->ready = 1;
  qzi_futex_wake(&precedence->ready);
  uint64_t wait_ns = LOOK_NS;
  for (uint32_t before = 0, records; !precedence->stop; before = records) {
    records = qzi_kernel_threads(precedence->view);
    wait_ns = records > before ? LOOK_NS : wait_ns < RARER_NS ? wait_ns + wait_ns / 4 : RARER_NS;
    uint64_t at_ns = qzi_clock_ns() + wait_ns;
    struct timespec at = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    qzi_futex_wait_until(&precedence->stop, 0, &at);
    unsigned priority = highest(precedence);
    if (priority > precedence->priority) {
      precedence->outranked = !qzi_realtime_over(precedence->sampling, priority);
      precedence->priority = priority;
    }
    precedence->cpu_ns = qzi_thread_cpu_ns();
  }
  return NULL;
}

void qzi_precedence_begin(struct qzi_precedence *precedence, const struct qz_session_view *view, pid_t pid) {
  precedence->view = view;
  precedence->pid = pid;
  precedence->sampling = (pid_t)syscall(SYS_gettid);
  precedence->begun = !pthread_create(&precedence->thread, NULL, look, precedence);
  while (precedence->begun && !precedence->ready) qzi_futex_wait(&precedence->ready, 0);
}

void qzi_precedence_end(struct qzi_precedence *precedence) {
  if (!precedence->begun) return;
  precedence->stop = 1;
  qzi_futex_wake(&precedence->stop);
  pthread_join(precedence->thread, NULL);
  precedence->begun = 0;
}
