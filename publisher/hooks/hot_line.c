/* The hot line that the hooks of a kernel thread find: qzi_hot, and its copies in modules whose expanded hooks
 * (quartz/hooks.h) read a variable of their own.
 *
 * Owns:    qzi_hot, qzi_attend, and the distances of the copies.
 * Writer:  the kernel thread; when publishing begins and ends the channel; when a module is loaded or unloaded the
 *          thread that does so.
 * Reader:  hooks.
 * Must not: be instrumented, except for what a module's constructor calls.
 */
#include <pthread.h>
#include "profile_stack.h"

#pragma GCC visibility push(default)
void quartz_hooks_module_2(intptr_t offset, int begins);
#pragma GCC visibility pop
#if defined(__x86_64__)
extern const uint64_t qzi_go_on[3] __attribute__((visibility("hidden"))); /* hooks_x86_64.S */
#endif

_Thread_local uint64_t *qzi_hot; /* its attributes are in flag.h */

struct qz_thread qzi_attend = {
  .word = QZ_WORD_EMPTY,
  .bottom = {0, QZI_SP_FIXED},
  .calls = (uintptr_t)qzi_no_calls,
#if defined(__x86_64__)
  .go_on = (uintptr_t)qzi_go_on,
#endif
};

bool qzi_hooks_expanded;
intptr_t qzi_hot_distance[QZI_HOT_COPIES];
uint32_t qzi_hot_copies;

QZI_HOOK struct qzi_pub_thread *qzi_hook_owner(struct qz_thread *record) {
  struct qzi_publisher *publisher;
  struct qzi_pub_thread *thread = qzi_sched_current(&publisher);
  if (!thread) thread = qzi_sched_in_region();
  return thread && thread->record == record ? thread : NULL;
}

QZI_HOOK struct qz_thread *qzi_hook_attend(void) {
  struct qzi_publisher *publisher;
  struct qzi_pub_thread *thread = qzi_sched_current(&publisher);
  qzi_hot = NULL;
  if (!thread) return NULL;
  qzi_pub_run(publisher, thread);
  return qzi_hot ? RECORD(qzi_hot) : NULL;
}

#if defined(__x86_64__)
static int users[QZI_HOT_COPIES]; /* number of modules whose hooks read that copy */
static uint32_t copy_at(intptr_t distance) {
  uint32_t k = 0;
  while (k < QZI_HOT_COPIES && qzi_hot_distance[k] != distance) k++;
  return k;
}

/* Called when a module is initialized or finalized; `offset` is the distance from the thread pointer of the
 * thread-local variable that its hooks read. The module's constructor may call it before the package is initialized. */
void quartz_hooks_module_2(intptr_t offset, int begins) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#ifdef QZI_PUB_ONE_THREAD
  if (qzl_next_module) {
    qzl_next_module(offset, begins);
    return;
  }
#endif
  intptr_t own;
  __asm__("movq " QZI_HOT_NAME "@gottpoff(%%rip), %0" : "=r"(own));
  qzi_hooks_expanded = true;
  if (offset == own) {
    if (qzi_session.calibrated) qzi_calibrated();
    return;
  }
  pthread_mutex_lock(&lock);
  uint32_t k = copy_at(offset - own);
  if (begins && k == QZI_HOT_COPIES) {
    k = copy_at(0);
    if (k < QZI_HOT_COPIES) {
      qzi_hot_distance[k] = offset - own;
      qzi_hot_copies++;
    }
  }
  if (k < QZI_HOT_COPIES) users[k] += begins ? 1 : -1;
  intptr_t gone = 0;
  if (k < QZI_HOT_COPIES && !users[k]) {
    gone = qzi_hot_distance[k];
    qzi_hot_distance[k] = 0;
    qzi_hot_copies--;
  }
  pthread_mutex_unlock(&lock);
  qzi_publishers_attend(gone);
  if (qzi_session.calibrated) qzi_calibrated();
}

#else
void quartz_hooks_module_2(intptr_t offset, int begins) {} /* hooks are not expanded on this architecture */
#endif
