/* The beginning of the program: whether the layer has anything to do, and its main; and that of a forked child.
 *
 * Must not: do more than look where nothing is to be recorded.
 */
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/launcher.h"
#include "abi/note.h"
#include "pthread-layer/src/libc/bypass.h"
#include "pthread-layer/src/libc/fast_mutex.h"
#include "pthread-layer/src/libc/fast_semaphore.h"
#include "pthread-layer/src/libc/readers.h"
#include "pthread-layer/src/state/object_table.h"
#include "pthread-layer/src/state/pool.h"
#include "pthread-layer/src/state/threads.h"
#include "publisher/private.h"

#define THREADS   16384u /* places; */
#define LEAST     1024u  /* where addresses are short (RLIMIT_AS) */
#define CPUS_MOST 4096

/* 1 if the object is, or contains, the thread package: then that publishes. */
static int has_note(struct dl_phdr_info *object, size_t bytes, void *unused) {
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[k];
    if (part->p_type == PT_NOTE && qz_note_among((const char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz))
      return 1;
  }
  return 0;
}

/* (Nothing is allocated here: the program's first object would lie elsewhere in its heap, and some programs run by a
 * fifth faster or slower by whether their objects begin in the middle of a cache line.) */
static unsigned cpus(void) {
  cpu_set_t set[CPUS_MOST / CPU_SETSIZE];
  int count = sched_getaffinity(0, sizeof set, set) ? 1 : CPU_COUNT_S(sizeof set, set);
  int shared = count > 0 && count == sysconf(_SC_NPROCESSORS_ONLN); /* nobody has chosen CPUs for the process */
  if (shared) count /= qz_launcher_processes_here();
  return count > 0 ? (unsigned)count : 1;
}

/* A child is recorded where that was asked for, or its parent is followed; else it goes its way without the layer. */
static void forked(void) {
  const char *children = getenv(QZ_CHILDREN_ENV), *sampler = qzl_follow_sampler();
  if (children && !strcmp(children, QZ_CHILDREN_ALL))
    qzi_pub_forked(cpus(), NULL);
  else if (sampler && qzl_follow_forked())
    qzi_pub_forked(cpus(), sampler);
}

/* Child handlers run in the order of their registration, and libraries are initialised before the layer: where one of
 * them registers its own, that which ends publishing in the child goes first. What its handler locks would else be
 * counted for the parent. Publishing begins again (forked) after them all: until an allocator's handler has run,
 * nothing may be allocated. */
#ifndef __SANITIZE_THREAD__ /* whose library registers before any instrumented function may run */
typedef int register_atfork(void (*)(void), void (*)(void), void (*)(void), void *);
QZL_EXPORT register_atfork __register_atfork;
QZL_EXPORT int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library) {
  static register_atfork *real;
  if (!real) real = (register_atfork *)qzl_next("__register_atfork", NULL);
  qzi_pub_at_fork();
  return real(prepare, parent, child, library);
}
#endif

void (*qzl_next_enter)(void *, void *), (*qzl_next_exit)(void *, void *), (*qzl_next_module)(long, int);
__attribute__((visibility("hidden"))) void *qzl_next_fentry, *qzl_next_return; /* hooks_x86_64.S */

/* The thread package is here: the layer stands aside. */
static void stand_aside(void) {
  qzl_next_enter = (void (*)(void *, void *))qzl_next("__cyg_profile_func_enter", NULL);
  qzl_next_exit = (void (*)(void *, void *))qzl_next("__cyg_profile_func_exit", NULL);
  qzl_next_module = (void (*)(long, int))qzl_next("quartz_hooks_module_2", NULL);
  qzl_next_fentry = qzl_next("__fentry__", NULL);
  qzl_next_return = qzl_next("__return__", NULL);
  qzl_next_spin_begin = (void (*)(const void *))qzl_next("qz_spin_begin", NULL);
  qzl_next_spin_end = (void (*)(const void *))qzl_next("qz_spin_end", NULL);
}

static void find_stack_bytes(void) {
  pthread_attr_t attributes;
  if (pthread_getattr_default_np(&attributes)) return;
  pthread_attr_getstacksize(&attributes, &qzl_process.stack_bytes);
  pthread_attr_destroy(&attributes);
}

__attribute__((constructor)) static void initialize(void) {
  if (dl_iterate_phdr(has_note, NULL)) {
    stand_aside();
    return;
  }
  if (!getenv("QUARTZ_SESSION") && !getenv("QUARTZ_ATTACH")) return;
  if (qzi_pub_forbidden()) {
    qzl_environment_take(false);
    return;
  }
  qzl_pool.size = THREADS;
  while (qzl_pool.size > LEAST && qzl_pool.size * sizeof *qzl_pool.places > qzi_pub_space() / 4) qzl_pool.size /= 2;
  qzl_pool.places = qzi_pub_reserve(qzl_pool.size * sizeof *qzl_pool.places);
  if (!qzl_pool.places || qzl_objects_make() || qzl_threads_make()) {
    qzl_environment_take(true);
    return;
  }
  find_stack_bytes();
  qzl_take_look();
  qzl_readers_look();
  qzl_units_look();
  qzl_process.tid = qzl_own_tid();
  qzl_process.ready = true;
  qzl_process.attachable = getenv("QUARTZ_ATTACH") && strcmp(getenv("QUARTZ_ATTACH"), "0");
  qzi_pub_init(cpus(), qzl_pool.size);
  if (!qzi_session.head && !getenv("QUARTZ_ATTACH")) { /* nobody to publish for, or too little address space */
    qzl_process.ready = false;
    munmap(qzl_pool.places, qzl_pool.size * sizeof *qzl_pool.places);
    qzl_pool.places = NULL;
    qzl_objects_give_up();
  }
  qzl_environment_take(true);
  pthread_atfork(qzl_follow_fork, NULL, forked);
}

typedef int start_main(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void),
                       void *);
QZL_EXPORT start_main __libc_start_main;
QZL_EXPORT int __libc_start_main(int (*program)(int, char **, char **), int argc, char **argv, void (*init)(void),
                                 void (*fini)(void), void (*unload)(void), void *stack_end) {
  start_main *real = (start_main *)qzl_next("__libc_start_main", NULL);
  qzl_process.main_start = (uint64_t)(uintptr_t)program;
  qzl_here();
  return real(program, argc, argv, init, fini, unload, stack_end);
}
