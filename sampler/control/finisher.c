/* The queue of recordings to be finished. See finisher.h. */
#include "finisher.h"

#include <pthread.h>

#define WAITING_MOST \
  32u /* if more are waiting, the control thread finishes them itself, because each keeps its session mapped */

struct task {
  struct qzi_target *target;
  uint32_t end_reason;
  int32_t exit_status;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct task waiting[WAITING_MOST]; /* a ring of `count` tasks from `first` on */
static unsigned first, count;
static int started, over;
static pthread_t thread;

static void *finish_main(void *unused) {
  (void)unused;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (!count && !over) pthread_cond_wait(&changed, &lock);
    if (!count) break;
    struct task task = waiting[first];
    first = (first + 1) % WAITING_MOST;
    count--;
    pthread_mutex_unlock(&lock);
    qzi_finish(task.target, task.end_reason, task.exit_status);
    pthread_mutex_lock(&lock);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

void qzi_finish_later(struct qzi_target *target, uint32_t end_reason, int32_t exit_status) {
  if (!started && !pthread_create(&thread, NULL, finish_main, NULL)) started = 1;
  pthread_mutex_lock(&lock);
  int room = started && count < WAITING_MOST;
  if (room) {
    waiting[(first + count++) % WAITING_MOST] = (struct task){target, end_reason, exit_status};
    pthread_cond_signal(&changed);
  }
  pthread_mutex_unlock(&lock);
  if (!room) qzi_finish(target, end_reason, exit_status);
}

void qzi_finish_all(void) {
  if (!started) return;
  pthread_mutex_lock(&lock);
  over = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  started = over = 0;
}
