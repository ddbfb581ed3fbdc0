/* Threads of the program: their beginning and end, and their names.
 *
 * Owns:    who the calling thread is (qzl_self), and names given to threads that have not begun.
 * Writer:  the thread itself; names: any, under the pool's lock.
 * Reader:  every file of the layer.
 * Must not: fail or delay a thread for want of a place: it then runs unpublished.
 */
#include "threads.h"

#include <errno.h>
#include <limits.h>
#include <sys/resource.h>
#include "path.h"
#include "pool.h"
#include "signal_samples.h"
#include "waits.h"
#include "pthread-layer/src/libc/bypass.h"
#include "pthread-layer/src/libc/real.h"
#include "publisher/private.h"

#define NAMES 64u          /* names given to threads that have not begun */
#ifdef __SANITIZE_THREAD__ /* which is gone after the last */
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

static pthread_key_t end_key;
static struct {
  pthread_t id;
  uint32_t name;
} names[NAMES];
static uint32_t names_next; /* next of `names` */

/* Bounds of the calling thread's stack, for the hooks. A C library's thread stands at the top of its own stack. Nothing
 * is allocated: the thread may be in the middle of an allocator that uses locks, with those locks held. */
static void find_stack(struct qzi_pub_thread *thread, bool is_main, size_t bytes) {
  thread->stack_high = (uintptr_t)pthread_self();
  if (is_main) {
    struct rlimit limit;
    uintptr_t page = 4095;
    bytes = (size_t)1 << 30;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < bytes) bytes = (size_t)limit.rlim_cur;
    /* A symbol of the dynamic linker, looked up: a library that is linked with the dynamic linker needs the glibc that
     * has all versions of symbols it knows of there, those of weak ones (publisher/kept_cpu.h) as well. */
    void *const *end = qzl_next("__libc_stack_end", NULL);
    thread->stack_high = end ? ((uintptr_t)*end + page) & ~page : 0;
  }
  thread->stack_low = thread->stack_high > bytes ? thread->stack_high - bytes : 0;
}

void qzl_thread_begin(struct qzl_thread *me) {
  uint64_t since = qzi_publishing() ? qzi_pub_ticks() : 0;
  me->id = pthread_self();
  me->team = NULL;
  me->job = NULL;
  me->idle_since = 0;
  me->pub.os_tid = me->thread.os_tid = qzl_own_tid();
  find_stack(&me->thread, me->thread.os_tid == qzl_process.tid,
             me->stack_bytes ? me->stack_bytes : qzl_process.stack_bytes);
  struct qz_thread *record = me->thread.record;
  if (record) {
    __atomic_store_n(&record->os_tid, me->thread.os_tid, __ATOMIC_RELAXED);
    if (me->thread.stack_high) record->high = (uint64_t)me->thread.stack_high;
  }
  pthread_mutex_lock(&qzl_pool.lock);
  me->hot = &qzi_hot;
  if (me->start || me->start_c11) qzl_pool.starting--;
  for (uint32_t k = 0; k < NAMES; k++)
    if (names[k].name && pthread_equal(names[k].id, me->id)) {
      me->thread.name = names[k].name;
      if (record) __atomic_store_n(&record->name, names[k].name, __ATOMIC_RELAXED);
      names[k].name = 0;
    }
  qzl_self = me;
  pthread_mutex_unlock(&qzl_pool.lock);
  pthread_setspecific(end_key, me);
  qzi_pub_run(&me->pub, &me->thread);
  if (qzi_publishing()) qzl_path_begins(me);
  qzl_sampled_begin(me);
  qzl_thread_took(qzi_publishing() ? me->pub.path : NULL, since);
}

/* Destructor of end_key. Other destructors may still lock and wait: the thread ends for us in the last round. */
static void end(void *argument) {
  struct qzl_thread *me = argument;
  if (++me->rounds < LAST_ROUND) {
    pthread_setspecific(end_key, me);
    return;
  }
  uint64_t since = qzi_publishing() ? qzi_pub_ticks() : 0;
  qzl_sampled_end(me);
  qzl_path_ends(me);
  qzl_write_waited(me);
  qzl_thread_took(qzi_publishing() ? me->pub.path : NULL, since);
  pthread_mutex_lock(&qzl_pool.lock);
  me->hot = NULL;
  qzl_self = NULL;
  pthread_mutex_unlock(&qzl_pool.lock);
  qzi_hot_set(NULL);
  qzi_pub_ended(&me->pub, &me->thread);
  qzl_place_give(me);
}

struct qzl_thread *qzl_adopt(void) {
  static _Thread_local bool no_slot __attribute__((tls_model("initial-exec"))); /* looked for one without success */
  if (!qzl_process.ready || no_slot || (!qzi_publishing() && !qzl_process.attachable)) return NULL;
  int error = errno;
  bool is_main = qzl_own_tid() == qzl_process.tid;
  if (is_main && !qzl_process.main_start) return NULL; /* it begins with main */
  struct qzl_thread *me = qzl_place_take(is_main ? qzl_process.main_start : 0, 0);
  if (me)
    qzl_thread_begin(me);
  else
    no_slot = true;
  errno = error;
  return me;
}

int qzl_threads_make(void) { return pthread_key_create(&end_key, end); }

struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : qzl_self;
  if (!me) return NULL;
  *publisher = &me->pub;
  return &me->thread;
}

struct qzi_pub_thread *qzi_sched_in_region(void) {
  return NULL;
} /* only the package has blocking regions */

void qzl_named(pthread_t id, const char *name) {
  if (!qzi_publishing() && !qzl_process.attachable) return;
  uint32_t offset = qzi_pub_name(name);
  bool found = false;
  pthread_mutex_lock(&qzl_pool.lock);
  for (uint32_t k = 0; k < qzl_pool.high && !found; k++) {
    struct qzl_thread *place = &qzl_pool.places[k];
    if (!place->hot || !pthread_equal(place->id, id)) continue;
    found = true;
    place->thread.name = offset;
    if (place->thread.record) __atomic_store_n(&place->thread.record->name, offset, __ATOMIC_RELAXED);
  }
  if (!found && qzl_pool.starting) { /* it takes its name when it begins */
    names[names_next % NAMES].id = id;
    names[names_next++ % NAMES].name = offset;
  }
  pthread_mutex_unlock(&qzl_pool.lock);
}
