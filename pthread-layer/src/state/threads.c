/* Threads of the program: their places in the layer, their beginning and end, and what publishing asks about them.
 *
 * Owns:    the pool of struct qzl_thread.
 * Writer:  creators and ending threads, under `lock`; a place in use belongs to its thread.
 * Reader:  session.c and hot_line.c, through the functions that private.h names.
 * Must not: fail or delay a thread for want of a place: it then runs unpublished.
 */
#include "creation.h"
#include "path.h"
#include "pthread-layer/src/libc/fast_mutex.h"
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/launcher.h"
#include "abi/note.h"
#include "pthread-layer/src/libc/bypass.h"
#include "publisher/private.h"

#define THREADS 16384u     /* places; */
#define LEAST   1024u      /* where addresses are short (RLIMIT_AS) */
#define TABLES  255u       /* call tables with one writer; threads beyond these have small ones */
#define NAMES   64u        /* names given to threads that have not begun */
#ifdef __SANITIZE_THREAD__ /* which is gone after the last */
#define LAST_ROUND (PTHREAD_DESTRUCTOR_ITERATIONS - 1)
#else
#define LAST_ROUND PTHREAD_DESTRUCTOR_ITERATIONS
#endif

_Thread_local struct qzl_thread *qzl_self __attribute__((tls_model("initial-exec")));

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct qzl_thread *pool;
static uint32_t pool_size, pool_high, pool_free; /* places there are, used so far; chain of free ones, slot + 1 */
static pthread_key_t end_key;
static bool ready;
static bool attachable; /* publishing may begin at any time: threads have their places before that */
static uint64_t serials;
static uint64_t main_start; /* address of main, 0: not known yet */
static struct {
  pthread_t id;
  uint32_t name;
} names[NAMES];
static uint32_t starting, names_next; /* threads created that have not begun; next of `names` */
static uint32_t process;              /* number of the process, and of its first thread */
static size_t stack_bytes;            /* of a thread created without saying how many */

/* ---- places ---- */

/* Where the thread counts; the session is mapped. */
static void give_table(struct qzl_thread *place, uint32_t slot) {
  uint32_t tables = qzi_session.call_tables;
  place->pub.calls = slot < tables ? qzi_session.call_base + (size_t)slot * QZI_CALL_SLOTS : NULL;
  place->counts = slot < tables ? place->pub.calls : qzi_small_table(slot - tables);
}

/* A thread that is to begin at `start`, created at `site`. NULL: none free. */
static struct qzl_thread *take(uint64_t start, uint64_t site) {
  pthread_mutex_lock(&lock);
  struct qzl_thread *place = NULL;
  if (pool_free) {
    place = &pool[pool_free - 1];
    pool_free = place->next_free;
  } else if (pool_high < pool_size) {
    place = &pool[pool_high++];
  }
  if (place) {
    uint32_t slot = (uint32_t)(place - pool);
    memset(place, 0, offsetof(struct qzl_thread, cached_locks));
    place->slot = slot;
    place->pub.free = place->free;
    place->pub.sites = place->sites;
    place->pub.cpu = UINT32_MAX;
    if (qzi_session.head) {
      place->pub.record = &place->processor;
      give_table(place, slot);
    }
    place->thread.serial = ++serials;
    place->thread.start = start;
    place->thread.create_site = site;
  }
  pthread_mutex_unlock(&lock);
  return place;
}

static void give(struct qzl_thread *place) {
  qzi_threads_return_pool(&place->pub);
  pthread_mutex_lock(&lock);
  place->next_free = pool_free;
  pool_free = place->slot + 1;
  pthread_mutex_unlock(&lock);
}

/* Bounds of the calling thread's stack, for the hooks. A C library's thread stands at the top of its own stack. Nothing
 * is allocated: the thread may be in the middle of an allocator that uses locks, with those locks held. */
static void find_stack(struct qzi_pub_thread *thread, bool is_main, size_t bytes) {
  extern void *__libc_stack_end;
  thread->stack_high = (uintptr_t)pthread_self();
  if (is_main) {
    struct rlimit limit;
    uintptr_t page = 4095;
    bytes = (size_t)1 << 30;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < bytes) bytes = (size_t)limit.rlim_cur;
    thread->stack_high = ((uintptr_t)__libc_stack_end + page) & ~page;
  }
  thread->stack_low = thread->stack_high > bytes ? thread->stack_high - bytes : 0;
}

/* The calling thread's number. The C library knows it, and writes it into what the thread locks: no system call, which
 * a sandbox might forbid. */
static uint32_t own_tid(void) {
  pthread_mutex_lock(&lock);
  uint32_t tid = (uint32_t)lock.__data.__owner;
  pthread_mutex_unlock(&lock);
  return tid;
}

/* The calling thread has this place from now on. */
static void begin(struct qzl_thread *me) {
  me->id = pthread_self();
  me->pub.os_tid = me->thread.os_tid = own_tid();
  find_stack(&me->thread, me->thread.os_tid == process, me->stack_bytes ? me->stack_bytes : stack_bytes);
  struct qz_thread *record = me->thread.record;
  if (record) {
    __atomic_store_n(&record->os_tid, me->thread.os_tid, __ATOMIC_RELAXED);
    if (me->thread.stack_high) record->high = (uint64_t)me->thread.stack_high;
  }
  pthread_mutex_lock(&lock);
  me->hot = &qzi_hot;
  if (me->start || me->start_c11) starting--;
  for (uint32_t k = 0; k < NAMES; k++)
    if (names[k].name && pthread_equal(names[k].id, me->id)) {
      me->thread.name = names[k].name;
      if (record) __atomic_store_n(&record->name, names[k].name, __ATOMIC_RELAXED);
      names[k].name = 0;
    }
  qzl_self = me;
  pthread_mutex_unlock(&lock);
  pthread_setspecific(end_key, me);
  qzi_pub_run(&me->pub, &me->thread);
  if (qzi_publishing()) qzl_path_begins(me);
}

/* Destructor of end_key. Other destructors may still lock and wait: the thread ends for us in the last round. */
static void end(void *argument) {
  struct qzl_thread *me = argument;
  if (++me->rounds < LAST_ROUND) {
    pthread_setspecific(end_key, me);
    return;
  }
  qzl_path_ends(me);
  qzl_write_waited(me);
  pthread_mutex_lock(&lock);
  me->hot = NULL;
  qzl_self = NULL;
  pthread_mutex_unlock(&lock);
  qzi_hot_set(NULL);
  qzi_pub_ended(&me->pub, &me->thread);
  give(me);
}

struct qzl_thread *qzl_adopt(void) {
  static _Thread_local bool no_slot __attribute__((tls_model("initial-exec"))); /* looked for one without success */
  if (!ready || no_slot || (!qzi_publishing() && !attachable)) return NULL;
  int error = errno;
  bool is_main = own_tid() == process;
  if (is_main && !main_start) return NULL; /* it begins with main */
  struct qzl_thread *me = take(is_main ? main_start : 0, 0);
  if (me)
    begin(me);
  else
    no_slot = true;
  errno = error;
  return me;
}

/* ---- what publishing asks ---- */

const uint32_t qzi_publishers_kind = QZ_PUBLISHER_PTHREAD;
const uint32_t qzi_publishers_short = 0; /* kernel threads are few */
const bool qzi_publishers_own_thread = false;
const ptrdiff_t qzi_span_offset = offsetof(struct qzl_thread, span) - offsetof(struct qzl_thread, thread);
const ptrdiff_t qzi_current_offset = offsetof(struct qzl_thread, thread) - offsetof(struct qzl_thread, pub);
const ptrdiff_t qzi_current_pub = 0;

bool qzi_publishers_make(void) {
  if (!qzi_session.call_tables) qzi_session.call_tables = TABLES; /* later fewer, where addresses are short */
  qzi_session.small_tables = pool_size;
  return pool && qzl_aggregates_make();
}
QZI_HOOK struct qz_call *qzi_publishers_small(void) {
  const struct qzl_thread *me = qzl_self;
  return me && !me->pub.calls ? me->counts : NULL;
}
void qzi_publishers_head(struct qz_session *head) {
  pthread_mutex_lock(&lock);
  qzi_session.head = head;
  pthread_mutex_unlock(&lock);
}

void qzi_publishers_mapped(void) {
  for (uint32_t k = 0; k < qzi_session.processors; k++) qzi_session.processor_base[k].cpu = UINT32_MAX;
}
/* A thread that runs already gets its record now, for it may compute or wait for long; what it does is seen from
 * outside until it calls the layer. Nothing is published yet, so it does not touch its record, and it can't end while
 * the lock is held. */
static void met(struct qzl_thread *place) {
  struct qz_thread *record = qzi_pub_begin(&place->pub, &place->thread);
  if (!record) return;
  qzi_pub_store(&record->state, QZ_STATE_WORD(QZ_STATE_USEFUL, 0));
  place->pub.path = qzi_path_actor(place->thread.index_plus_1 - 1);
}
void qzi_publishers_prepare(void) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high; k++) {
    give_table(&pool[k], k);
    __atomic_store_n(&pool[k].pub.record, &pool[k].processor, __ATOMIC_RELEASE);
    pool[k].pub.span = NULL;
    if (pool[k].hot) met(&pool[k]);
  }
  pthread_mutex_unlock(&lock);
}
/* Threads that run already, the caller among them, are in a strand from now on. */
void qzi_publishers_span(void) {
  if (!qzl_span_make()) return;
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high; k++) {
    clockid_t clock;
    struct timespec used;
    if (pool[k].hot && pool[k].thread.record && !pthread_getcpuclockid(pool[k].id, &clock) &&
        !clock_gettime(clock, &used))
      qzl_span_connect(&pool[k], (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec);
  }
  pthread_mutex_unlock(&lock);
}
void qzi_publishers_on(void) {
  qzl_generation_ends();
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high; k++) {
    if (pool[k].hot) qzi_hot_attend(pool[k].hot);
  }
  pthread_mutex_unlock(&lock);
}
void qzi_publishers_attend(intptr_t gone) {
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high; k++) {
    if (!pool[k].hot) continue;
    qzi_hot_gone(pool[k].hot, gone);
    if (qzi_publishing()) qzi_hot_attend(pool[k].hot);
  }
  pthread_mutex_unlock(&lock);
}
void qzi_publishers_off(void) {
  qzl_generation_ends();
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high; k++)
    if (pool[k].hot) qzi_hot_clear(pool[k].hot);
  pthread_mutex_unlock(&lock);
}
/* The only thread of a forked child is the one that called fork. */
void qzi_publishers_forked(void) {
  attachable = false;
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
  starting = 0;
  pool_free = 0;
  for (uint32_t k = pool_high; k-- > 0;) {
    struct qzl_thread *place = &pool[k];
    if (place == qzl_self) continue;
    place->hot = NULL;
    place->next_free = pool_free;
    pool_free = k + 1;
  }
  process = own_tid();
  if (qzl_self) qzl_self->pub.os_tid = qzl_self->thread.os_tid = process;
  qzl_objects_forked();
}
void qzi_publishers_started_again(void) {}

struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher) {
  struct qzl_thread *me = qzi_publishing() ? qzl_here() : qzl_self;
  if (!me) return NULL;
  *publisher = &me->pub;
  return &me->thread;
}

void qzl_count_shared(uint64_t site, uint64_t key) { qzi_call_count_shared(site, key); }

/* ---- creation ---- */

/* In a section of its own, so that its call of the start routine is not taken for another call (abi/session.h): a call
 * from here, not a jump that returns to the C library. */
__attribute__((section("quartz_start"), noinline)) static void *run(void *argument) {
  struct qzl_thread *me = argument;
  begin(me);
  void *result = me->start(me->argument);
  __asm__ volatile("");
  return result;
}
__attribute__((section("quartz_start"), noinline)) static int run_c11(void *argument) {
  struct qzl_thread *me = argument;
  begin(me);
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
  if (!qzi_publishing() && !attachable) return NULL;
  /* A program that begins without the C library (Go's, with C in it): its main thread is known from its entry on. */
  if (!main_start && own_tid() == process && dl_iterate_phdr(is_programs, &site) == 1) main_start = getauxval(AT_ENTRY);
  struct qzl_thread *me = qzl_here(), *child = me ? take(start, site) : NULL;
  if (!child) {
    if (qzi_publishing()) __atomic_fetch_add(&qzi_session.head->threads_dropped, 1, __ATOMIC_RELAXED);
    return NULL;
  }
  qzi_pub_created(&me->pub, &child->thread, &me->thread);
  if (qzi_spanning()) qzi_span_give(&me->pub, &child->thread, QZ_ARRIVAL_CREATED);
  if (qzi_publishing()) qzl_creation_note(me, child, &from);
  if (qzi_publishing()) __atomic_fetch_add(&qzi_session.processor_base[0].spawns, 1, __ATOMIC_RELAXED);
  pthread_mutex_lock(&lock);
  starting++;
  pthread_mutex_unlock(&lock);
  return child;
}
static void not_created(struct qzl_thread *child) {
  pthread_mutex_lock(&lock);
  starting--;
  pthread_mutex_unlock(&lock);
  qzi_pub_ended(&child->pub, &child->thread);
  give(child);
}

#undef pthread_create
QZL_EXPORT int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument) {
  struct qzl_thread *child =
    qzi_publishing() || attachable ? expect(qzl_callable(start, argument), QZL_SITE(), qzl_frame_here()) : NULL;
  if (!child) return qzl_real.pthread_create(id, attributes, start, argument);
  child->start = start;
  child->argument = argument;
  if (attributes) pthread_attr_getstacksize(attributes, &child->stack_bytes);
  int error = qzl_real.pthread_create(id, attributes, run, child);
  if (error) not_created(child);
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
  if (error != thrd_success) not_created(child);
  return error;
}

void qzl_named(pthread_t id, const char *name) {
  if (!qzi_publishing() && !attachable) return;
  uint32_t offset = qzi_pub_name(name);
  bool found = false;
  pthread_mutex_lock(&lock);
  for (uint32_t k = 0; k < pool_high && !found; k++) {
    struct qzl_thread *place = &pool[k];
    if (!place->hot || !pthread_equal(place->id, id)) continue;
    found = true;
    place->thread.name = offset;
    if (place->thread.record) __atomic_store_n(&place->thread.record->name, offset, __ATOMIC_RELAXED);
  }
  if (!found && starting) { /* it takes its name when it begins */
    names[names_next % NAMES].id = id;
    names[names_next++ % NAMES].name = offset;
  }
  pthread_mutex_unlock(&lock);
}
#undef pthread_setname_np
QZL_EXPORT int pthread_setname_np(pthread_t id, const char *name) {
  int error = qzl_real.pthread_setname_np(id, name);
  if (!error) qzl_named(id, name);
  return error;
}

/* ---- beginning of the program ---- */

/* 1 if the object is, or contains, the thread package: then that publishes. */
static int has_note(struct dl_phdr_info *object, size_t bytes, void *unused) {
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[k];
    if (part->p_type == PT_NOTE && qz_note_among((const char *)(object->dlpi_addr + part->p_vaddr), part->p_memsz))
      return 1;
  }
  return 0;
}

static unsigned cpus(void) {
  cpu_set_t *set = CPU_ALLOC(4096);
  size_t bytes = CPU_ALLOC_SIZE(4096);
  int count = set && !sched_getaffinity(0, bytes, set) ? CPU_COUNT_S(bytes, set) : 1;
  if (set) CPU_FREE(set);
  int shared = count > 0 && count == sysconf(_SC_NPROCESSORS_ONLN); /* nobody has chosen CPUs for the process */
  if (shared) count /= qz_launcher_processes_here();
  return count > 0 ? (unsigned)count : 1;
}

/* A child is recorded only where that was asked for; else it goes its way without the layer. */
static void forked(void) {
  const char *children = getenv(QZ_CHILDREN_ENV);
  if (children && !strcmp(children, QZ_CHILDREN_ALL)) qzi_pub_forked(cpus());
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
  pthread_attr_getstacksize(&attributes, &stack_bytes);
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
  pool_size = THREADS;
  while (pool_size > LEAST && pool_size * sizeof *pool > qzi_pub_space() / 4) pool_size /= 2;
  pool = qzi_pub_reserve(pool_size * sizeof *pool);
  if (!pool || qzl_objects_make() || pthread_key_create(&end_key, end)) {
    qzl_environment_take(true);
    return;
  }
  find_stack_bytes();
  qzl_take_look();
  process = own_tid();
  ready = true;
  attachable = getenv("QUARTZ_ATTACH") && strcmp(getenv("QUARTZ_ATTACH"), "0");
  qzi_pub_init(cpus(), pool_size);
  if (!qzi_session.head && !getenv("QUARTZ_ATTACH")) { /* nobody to publish for, or too little address space */
    ready = false;
    munmap(pool, pool_size * sizeof *pool);
    pool = NULL;
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
  main_start = (uint64_t)(uintptr_t)program;
  qzl_here();
  return real(program, argc, argv, init, fini, unload, stack_end);
}
