/* End of a program in which nothing can run any more: either all threads have ended, or they wait for each other.
 *
 * Owns:    the report.
 * Writer:  the last processor that would have gone to sleep.
 * Reader:  users, on stderr.
 * Must not: take locks or allocate.
 */
#include "threadlib/src/scheduler/processor.h"
#include "threadlib/src/thread/life.h"
#include "threadlib/src/thread/stack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REPORTED 64u

struct count {
  unsigned blocked, reported;
};

/* Since no thread runs, a thread that is alive but not parked has called another thread on its own stack and waits
 * for it. */
static void count(struct qzi_thread *thread, void *arg) {
  if (qzi_life(thread) == QZI_ALIVE) ((struct count *)arg)->blocked++;
}

static void say(const char *text) {
  ssize_t written = write(STDERR_FILENO, text, strlen(text));
  (void)written;
}

static void report(struct qzi_thread *thread, void *arg) {
  struct count *counts = arg;
  if (qzi_life(thread) != QZI_ALIVE || counts->reported++ >= REPORTED) return;
  char label[160], object[320] = "", line[520];
  if (!thread->blocked)
    snprintf(object, sizeof object, "the end of a thread that it called, on its own stack");
  else if (thread->wait_object && thread->wait_describe)
    thread->wait_describe(thread, object, sizeof object);
  snprintf(line, sizeof line, "quartz:   %s waits for %s\n", qzi_thread_label(thread, label, sizeof label),
           *object ? object : "something without a name");
  say(line);
}

void qzi_deadlock(void) {
  /* two processors that go to sleep at the same time may both detect the deadlock */
  static _Atomic(bool) reporting;
  if (atomic_exchange(&reporting, true))
    for (;;) pause();
  struct count counts = {0, 0};
  qzi_stack_each(count, &counts);
  if (counts.blocked == 0) exit(0); /* the last thread has ended; main ended before it, by qz_exit */
  char line[160];
  if (counts.blocked == 1)
    snprintf(line, sizeof line, "the only thread is blocked, and nothing can wake it");
  else
    snprintf(line, sizeof line, "all %u threads are blocked, and nothing can wake them", counts.blocked);
  say("quartz: deadlock: ");
  say(line);
  say("; the program is aborted\n");
  qzi_stack_each(report, &counts);
  if (counts.reported > REPORTED) {
    snprintf(line, sizeof line, "quartz:   and %u more\n", counts.reported - REPORTED);
    say(line);
  }
  abort();
}
