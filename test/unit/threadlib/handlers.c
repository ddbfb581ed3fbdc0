/* Hooks in signal handlers make threads of calls in place between any two instructions of spawn and sync
 * (threadlib/src/thread/in_place.c). Here a handler does what a hook does that looks for the thread it runs in. All
 * calls must be made once, by whom and wherever they are made, and the caller must stay who it is.
 *
 *   core_handlers [published | spanned]
 * published: while everything is published; spanned: and work and span are recorded, which are plausible at the end.
 */
#define _GNU_SOURCE
#include <quartz/quartz.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include "publisher/publisher.h"
#include "publisher/port.h"
#include "test/support/attach.h"
#include "test/support/check.h"

static void handler(int number) {
  (void)number;
  struct qzi_publisher *publisher;
  (void)qzi_sched_current(&publisher);
}

#define CALLS 19 /* within one another */
struct fib {
  long n, value;
};
static void fib(void *argument) {
  struct fib *own = argument;
  if (own->n < 2) {
    own->value = own->n;
    return;
  }
  struct fib one = {own->n - 1, 0}, two = {own->n - 2, 0};
  qz_scope scope = QZ_SCOPE_INIT;
  qz_spawn(&scope, fib, &one);
  if (own->n % 4 == 0) {
    qz_spawn(&scope, fib, &two);
    qz_sync(&scope);
  } else {
    fib(&two);
    qz_sync(&scope);
  }
  own->value = one.value + two.value;
}

static const struct qz_span *span_of(unsigned processor) {
  return (const void *)(view.base + view.span_table.offset + processor * view.span_table.stride);
}

/* No processor has more work than there was time, and no site more than all of it. Slack of calls within one another
 * may come from the same work. */
static void work_and_span(uint64_t since_ns) {
  unsigned __int128 ns = qzi_pub_clock_ns() - since_ns;
  uint64_t passed = (uint64_t)((ns << 32) / qz_session_head(&view)->span_end.tick_scale), all = 0;
  for (unsigned k = 0; k < qz_processors(); k++) {
    CHECK(span_of(k)->work <= passed);
    all += span_of(k)->work;
  }
  CHECK(all > 0);
  for (unsigned k = 0; k < qz_processors(); k++)
    for (unsigned n = 0; n < QZ_SPAN_SITES; n++) {
      const struct qz_site *site = &span_of(k)->sites[n];
      CHECK(site->top_work <= passed * qz_processors() && site->top_span <= passed && site->slack / CALLS <= all);
    }
}

int main(int count, char **arguments) {
  bool spanned = count > 1 && !strcmp(arguments[1], "spanned");
  if (count > 1 && !strcmp(arguments[1], "published")) attach();
  uint64_t since_ns = qzi_pub_clock_ns();
  if (spanned) attach_for(BENCH_SPAN);
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGALRM, &action, NULL) == 0);
  struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  qz_thread_t me = qz_self();
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int k = 0; k < 20; k++) {
    struct fib all = {CALLS, 0};
    fib(&all);
    CHECK(all.value == 4181);
    CHECK(qz_equal(me, qz_self()));
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  if (spanned) work_and_span(since_ns);
  return 0;
}
