/* The hooks against what a profile stack must hold at each place of a program, and exact call counts.
 *
 * Owns:    a session of one processor, one thread and one lock, published in-process; the expectations.
 * Writer:  main. Reader: itself.
 * Must not: depend on the scheduler: only publisher/ is under test here.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include "abi/session_read.h"
#include "hooked.h"
#include "publisher/private.h"
#include "publisher/publisher.h"

static struct qzi_publisher processor;
static struct qzi_pub_thread thread;
static struct qzi_pub_object lock_object;
static uint64_t lock_key;
static _Thread_local bool ours;
static struct qz_session_view view;
static int failures;

struct qzi_pub_thread *qzi_sched_in_region(void) {
  return NULL;
}
struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  *publisher = &processor;
  return ours ? &thread : NULL;
}
bool qzi_sched_busy(unsigned index) { return true; }
void qzi_sched_close(void) {}
void qzi_sched_publish_unplaced(void) {}

static void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  failures++;
}

/* Hooks that run before anything is set up. */
void *early_result;
__attribute__((constructor(101))) static void early(void) { early_result = hooked_in_foreign_thread(&early_result); }

void expect_stack(const char *what, int count, ...) {
  uint64_t keys[4096];
  struct qz_stack_copy copy;
  if (!qzi_publishing()) return;
  int consistent = qz_session_copy_stack(&view, thread.record, keys, 0, &copy);
  if (copy.invalid || !consistent) fail("%s: the copy is not valid", what);
  va_list arguments;
  va_start(arguments, count);
  int at = 1; /* above the start routine */
  bool right = copy.depth > 0 && keys[0] == thread.start;
  for (int k = 0; k < count; k++) {
    while (at < (int)copy.depth && keys[at] & QZ_KEY_OBJECT) at++;
    if (at >= (int)copy.depth || keys[at++] != (uint64_t)(uintptr_t)va_arg(arguments, void *)) right = false;
  }
  va_end(arguments);
  while (at < (int)copy.depth && keys[at] & QZ_KEY_OBJECT) at++;
  if (at != (int)copy.depth) right = false;
  if (right) return;
  fail("%s: %d procedures expected; the stack holds:", what, count);
  va_start(arguments, count);
  for (int k = 0; k < count; k++) fprintf(stderr, "  expected %#lx\n", (unsigned long)va_arg(arguments, void *));
  va_end(arguments);
  for (uint32_t k = 0; k < copy.depth; k++) fprintf(stderr, "  %#lx\n", (unsigned long)keys[k]);
}

void expect_overflow(const char *what) {
  if (qzi_publishing() && thread.record->overflows == 0) fail("%s: no overflow counted", what);
}

void take_lock(void) {
  qzi_pub_push(&processor, &thread, lock_key);
  qzi_pub_acquired(lock_object.index, &thread);
}
void release_lock(void) {
  qzi_pub_released(lock_object.index);
  qzi_pub_pop(&thread, lock_key);
}

static void to_stack(void (*function)(int), bool above) {
  /* Both sides of the thread's own stack: stack pointers do not define an order there. */
  size_t bytes = 256 << 10;
  char *room = NULL;
  if (above) {
    room = (char *)thread.stack_high + (8u << 20);
    room = mmap(room, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (room == MAP_FAILED) return;
  } else {
    room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  stack_t alternate = {.ss_sp = room, .ss_size = bytes}, before;
  sigaltstack(&alternate, &before);
  struct sigaction action = {.sa_handler = function, .sa_flags = SA_ONSTACK}, old;
  sigaction(SIGUSR1, &action, &old);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &old, NULL);
  sigaltstack(&before, NULL);
  munmap(room, bytes);
}
void on_signal_stack(void (*function)(int)) {
  to_stack(function, false);
  to_stack(function, true);
}

static uint64_t count_of(void *callee) {
  uint64_t sum = 0;
  const struct qz_call *calls;
  for (uint32_t table = 0; (calls = qz_session_calls(&view, table)); table++)
    for (uint32_t k = 0; k < view.call_slots; k++)
      if (calls[k].site && calls[k].key == (uint64_t)(uintptr_t)callee) sum += calls[k].count;
  return sum;
}

static uint64_t calls_lost(void) {
  uint64_t sum = 0;
  for (uint32_t k = 0; k < qzi_session.processors; k++) sum += qzi_session.processor_base[k].calls_lost;
  return sum;
}

static uint32_t depth(void) { return (uint32_t)QZ_WORD_DEPTH(thread.record->word); }

/* A handler with hooks interrupts the hooks anywhere: counts remain exact, and the stack is correct when its procedures
 * have returned. */
static void with_signals(void) {
  struct sigaction action = {.sa_handler = hooked_handler, .sa_flags = SA_RESTART}, old;
  sigaction(SIGALRM, &action, &old);
  struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
  uint64_t fibs = count_of(hooked_fib_address), handlers = count_of((void *)hooked_handler), runs = 0;
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarm, NULL); /* here alone: see main */
  setitimer(ITIMER_REAL, &often, NULL);
  for (; hooked_signals < 200 && runs < 100000; runs++) {
    hooked_count(12);
    if (depth() > 1) fail("depth %u with signals", depth());
  }
  setitimer(ITIMER_REAL, &never, NULL);
  sigaction(SIGALRM, &old, NULL);
  hooked_count(1);
  if (depth() != 1) fail("depth %u after signals", depth());
  fibs = count_of(hooked_fib_address) - fibs, handlers = count_of((void *)hooked_handler) - handlers;
  if (fibs != 465 * runs + 1)
    fail("calls of fib among signals: %lu in %lu runs", (unsigned long)fibs, (unsigned long)runs);
  if (handlers != hooked_signals)
    fail("%lu signals, %lu calls of the handler", (unsigned long)hooked_signals, (unsigned long)handlers);
  if (calls_lost()) fail("calls were lost");
}

/* On a stack of its own with room below it, so that "above" exists. */
static void *run(void *unused) {
  pthread_attr_t attributes;
  void *low;
  size_t bytes;
  ours = true;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  thread.stack_low = (uintptr_t)low;
  thread.stack_high = (uintptr_t)low + bytes;
  thread.serial = 1;
  thread.start = (uint64_t)(uintptr_t)run;

  qzi_pub_processor(&processor, 0, UINT32_MAX);
  if (hooked_c()) fail("results are wrong with hooks that are off");
  int error = qzi_session_make();
  if (error) {
    fail("no session: %s", strerror(error));
    return NULL;
  }
  const char *why = "";
  if (qz_session_open(&view, qzi_session.fd, &why)) {
    fail("the session does not open: %s", why);
    return NULL;
  }
  qzi_session_on();

  /* The thread has not called the package since publishing began: its first hook detects it. */
  uint64_t fibs = count_of(hooked_fib_address), leaves = count_of(hooked_leaf_address);
  if (fibs || leaves) fail("calls were counted while nothing was published");
  hooked_count(1);
  if (!thread.record) {
    fail("a hook did not notice that publishing began");
    return NULL;
  }
  lock_key = QZI_PUB_KEY(QZ_KIND_MUTEX, qzi_pub_object(&lock_object, QZ_KIND_MUTEX, &lock_object, 1, 0));
  int wrong = hooked_c();
  if (wrong) fail("results are wrong with hooks: %d", wrong);
  if (depth() != 1) fail("depth %u after C", depth());
  if (thread.record->overflows == 0) fail("overflow not counted");
  if (hooked_cxx()) fail("C++ went wrong");
  if (depth() != 1) fail("depth %u after C++", depth());

  /* Otherwise a reader would take a copy with parts of several stacks for one stack. */
  uint64_t before = thread.record->word;
  hooked_count(1);
  if (thread.record->word == before) fail("calls have come and gone, and the stack's word is the same");

  fibs = count_of(hooked_fib_address), leaves = count_of(hooked_leaf_address);
  hooked_count(20);
  fibs = count_of(hooked_fib_address) - fibs, leaves = count_of(hooked_leaf_address) - leaves;
  if (fibs != 21891 || leaves != 10946)
    fail("calls of fib and leaf: %lu, %lu", (unsigned long)fibs, (unsigned long)leaves);

  for (int k = 0; k < 50; k++) hooked_many();
  for (int k = 0; k < 3; k++)
    if (count_of(hooked_many_address[k]) != 50000)
      fail("calls of %d: %lu", k, (unsigned long)count_of(hooked_many_address[k]));
  if (depth() != 1) fail("depth %u after many calls", depth());

  with_signals();

  /* A kernel thread created by the application: no record, no effect. */
  pthread_t foreign;
  uint64_t word = thread.record->word;
  leaves = count_of(hooked_leaf_address);
  pthread_create(&foreign, NULL, hooked_in_foreign_thread, &processor);
  pthread_join(foreign, NULL);
  if (thread.record->word != word) fail("a foreign kernel thread changed the stack");
  if (count_of(hooked_leaf_address) != leaves) fail("a foreign kernel thread was counted");

  /* Off: nothing changes; on again: the stack begins again. */
  qzi_session_off();
  word = thread.record->word;
  hooked_count(5);
  if (thread.record->word != word) fail("published after publishing ended");
  qzi_session_on();
  wrong = hooked_c();
  if (wrong || depth() != 1) fail("after switching on again: %d, depth %u", wrong, depth());
  if (thread.record->epoch != qz_session_head(&view)->epoch) fail("record of an old epoch");
  const struct qz_session *head = qz_session_head(&view);
  if (!head->hook.most_ps || head->hook.least_ps > head->hook.most_ps || head->hook_inside_ps > head->hook.most_ps)
    fail("calibration: hook %lu to %lu ps, inside %lu ps", (unsigned long)head->hook.least_ps,
         (unsigned long)head->hook.most_ps, (unsigned long)head->hook_inside_ps);
  qzi_pub_ended(&processor, &thread);
  if (thread.record || qzi_hot) fail("record not given back");
  qzi_pub_kernel_thread_end();
  return NULL;
}

int main(void) {
  if (early_result != &early_result) fail("hooks before the constructors");
  setenv("QUARTZ_ATTACH", "0", 1);
  qzi_pub_init(1, 1000);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256u << 20); /* recursions of 100,000 without optimization */
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, NULL);
  pthread_t own;
  if (pthread_create(&own, &attributes, run, NULL)) return 1;
  pthread_join(own, NULL);
  if (failures) return 1;
  const struct qz_session *head = qz_session_head(&view);
  printf("hook %.2f to %.2f ns, inside %.2f; lock %.2f to %.2f; spawn %.2f\n", head->hook.least_ps / 1e3,
         head->hook.most_ps / 1e3, head->hook_inside_ps / 1e3, head->lock.least_ps / 1e3, head->lock.most_ps / 1e3,
         head->spawn_ps / 1e3);
  return 0;
}
