/* Threads that the program creates and names: pthread_create, thrd_create, pthread_setname_np. */
#include <errno.h>
#include <link.h>
#include <sys/auxv.h>
#include <threads.h>
#include "pthread-layer/src/libc/bypass.h"
#include "pthread-layer/src/state/creation.h"
#include "pthread-layer/src/state/pool.h"
#include "pthread-layer/src/state/threads.h"
#include "pthread-layer/src/state/waits.h"
#include "publisher/private.h"

/* In a section of its own, so that its call of the start routine is not taken for another call (abi/session.h): a call
 * from here, not a jump that returns to the C library. */
__attribute__((section("quartz_start"), noinline)) static void *run(void *argument) {
  struct qzl_thread *me = argument;
  qzl_thread_begin(me);
  void *result = me->start(me->argument);
  __asm__ volatile("");
  return result;
}
__attribute__((section("quartz_start"), noinline)) static int run_c11(void *argument) {
  struct qzl_thread *me = argument;
  qzl_thread_begin(me);
  int result = me->start_c11(me->argument);
  __asm__ volatile("");
  return result;
}

/* 1: the address is in the program itself, which comes first; 2: in a library. */
static int is_programs(struct dl_phdr_info *object, size_t bytes, void *address) {
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[k];
    if (part->p_type == PT_LOAD && *(const uint64_t *)address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
      return 1;
  }
  return 2;
}

/* A place and a record for a thread that the caller, which stands there, is about to create. NULL: it runs unpublished.
 */
static struct qzl_thread *expect(uint64_t start, uint64_t site, struct qz_frame from) {
  if (!qzi_publishing() && !qzl_process.attachable) return NULL;
  uint64_t since = qzi_publishing() ? qzi_pub_ticks() : 0;
  /* A program that begins without the C library (Go's, with C in it): its main thread is known from its entry on. */
  if (!qzl_process.main_start && qzl_own_tid() == qzl_process.tid && dl_iterate_phdr(is_programs, &site) == 1)
    qzl_process.main_start = getauxval(AT_ENTRY);
  struct qzl_thread *me = qzl_here(), *child = me ? qzl_place_take(start, site) : NULL;
  if (!child) {
    if (qzi_publishing()) __atomic_fetch_add(&qzi_session.head->threads_dropped, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  qzi_pub_created(&me->pub, &child->thread, &me->thread);
  if (qzi_spanning()) qzi_span_created(&me->pub, &child->thread);
  if (qzi_publishing()) qzl_creation_note(me, child, &from);
  if (qzi_publishing()) __atomic_fetch_add(&qzi_session.processor_base[0].spawns, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&qzl_pool.lock);
  qzl_pool.starting++;
  pthread_mutex_unlock(&qzl_pool.lock);
  qzl_thread_took(qzi_publishing() ? me->pub.path : NULL, since);
  return child;
}
static void not_created(struct qzl_thread *child, int error) {
  pthread_mutex_lock(&qzl_pool.lock);
  qzl_pool.starting--;
  pthread_mutex_unlock(&qzl_pool.lock);
  qzi_pub_ended(&child->pub, &child->thread);
  qzl_place_give(child);
  if (qzi_publishing()) qzi_pub_thread_refused(error);
}

#undef pthread_create
QZL_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  struct qzl_thread *child =
    qzi_publishing() || qzl_process.attachable
      ? expect(qzl_callable(start, argument), qzl_site_beyond(QZL_SITE(), __builtin_dwarf_cfa()), qzl_frame_here())
      : NULL;
  if (!child) return qzl_real.pthread_create(id, attributes, start, argument);
  child->start = start;
  child->argument = argument;
  if (attributes) pthread_attr_getstacksize(attributes, &child->stack_bytes);
  int error = qzl_real.pthread_create(id, attributes, run, child);
  if (error) not_created(child, error);
  return error;
}

QZL_EXPORT int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
  static int (*real)(thrd_t *, thrd_start_t, void *);
  if (!real) real = (int (*)(thrd_t *, thrd_start_t, void *))qzl_next("thrd_create", NULL);
  struct qzl_thread *child = expect((uint64_t)(uintptr_t)start, QZL_SITE(), qzl_frame_here());
  if (!child) return real(id, start, argument);
  child->start_c11 = start;
  child->argument = argument;
  int error = real(id, run_c11, child);
  if (error != thrd_success) not_created(child, error == thrd_error ? EAGAIN : 0);
  return error;
}

#undef pthread_setname_np
QZL_EXPORT int pthread_setname_np(pthread_t id, const char *name) {
  int error = qzl_real.pthread_setname_np(id, name);
  if (!error) qzl_named(id, name);
  return error;
}
