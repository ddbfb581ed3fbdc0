/* Stacks, and the thread descriptors in their top pages.
 *
 * Owns:    all stack mappings; the common lists of free descriptors.
 * Writer:  a thread that creates another one while its processor's free list is empty.
 * Reader:  thread.c, fork_join.c; deadlock.c iterates over all descriptors.
 * Must not: unmap a descriptor, because stale handles read its serial number.
 *
 * A slab is one mapping of many stacks, each above a guard page. From top to bottom a stack consists of: colour (unused
 * cache lines, so that the descriptors of many threads do not compete for the same cache sets), descriptor, stack,
 * guard. A thread that has only started and blocked uses one page. Guards are markers in the page table if the kernel
 * supports them (MADV_GUARD_INSTALL: no extra mapping). Otherwise they are made by mprotect until the process reaches
 * its limit of mappings; stacks that are made after that have no guard.
 */
#define _GNU_SOURCE
#include "stack.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef PIDFD_SELF
#define PIDFD_SELF (-10000)
#endif
#define NO_ADVICE      9999 /* an advice that no kernel defines */
#define COLOURS        24u
#define BATCH          32u
#define CLASS_MIN_LOG2 13u
#define CLASSES        40u
#define RAID_NS        2000000000u
#define MANY           512u /* number of stacks above which further ones are populated in advance */

struct slab {
  struct slab *next;
  char *memory;
  size_t stride;
  uint32_t count, used;
};

static qzi_spinlock lock;
static struct slab *slabs;        /* all slabs, youngest first */
static struct slab *open_slab;    /* the slab of class 0 that has unused stacks */
static struct qzi_thread **spare; /* free descriptors of class 0 that belong to no processor */
static size_t spare_count, spare_room;
static struct qzi_thread *spare_sized[CLASSES]; /* free descriptors of the other classes */
static size_t total;                            /* number of descriptors ever made */
static _Atomic(int) guard_kind; /* 0: unknown, 1: markers, 2: mprotect, 3: none, the limit of mappings is reached */

struct qzi_thread qzi_main_thread;

static void *map(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Gives one advice for one page of each of several stacks with a single system call; `at` is the page's distance
 * from the lower end of the guard, in bytes. Works where the kernel accepts advice of a process for itself (Linux
 * 6.15). */
static bool advise_together(const struct slab *slab, uint32_t first, uint32_t count, size_t at, int advice) {
  struct iovec pages[BATCH];
  for (uint32_t k = 0; k < count; k++)
    pages[k] = (struct iovec){slab->memory + (first + k) * slab->stride + at, qzi_runtime.page_bytes};
  return syscall(SYS_process_madvise, PIDFD_SELF, pages, count, advice, 0) == (long)(count * qzi_runtime.page_bytes);
}
static bool guard_together(const struct slab *slab, uint32_t first, uint32_t count) {
  return count >= 2 && atomic_load_explicit(&guard_kind, memory_order_relaxed) == 1 &&
         advise_together(slab, first, count, 0, MADV_GUARD_INSTALL);
}

static void guard(char *page) {
  int kind = atomic_load_explicit(&guard_kind, memory_order_relaxed);
  if (kind == 0) /* an emulator may accept any advice and ignore it, so test with an invalid one */
    kind = madvise(page, qzi_runtime.page_bytes, NO_ADVICE) == 0 ? 2 : 1;
  if (kind == 1 && madvise(page, qzi_runtime.page_bytes, MADV_GUARD_INSTALL) != 0) kind = 2;
  if (kind == 2 && mprotect(page, qzi_runtime.page_bytes, PROT_NONE) != 0) kind = 3;
  atomic_store_explicit(&guard_kind, kind, memory_order_relaxed);
}

/* Returns a slab with room for `count` stacks; NULL: no memory. */
static struct slab *slab_new(size_t stack_bytes, uint32_t count) {
  struct slab *slab = malloc(sizeof *slab);
  if (!slab) return NULL;
  slab->stride = stack_bytes + qzi_runtime.page_bytes;
  slab->count = count;
  slab->used = 0;
  slab->memory =
    mmap(NULL, slab->stride * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab->memory == MAP_FAILED) {
    free(slab);
    return NULL;
  }
  madvise(slab->memory, slab->stride * count, MADV_NOHUGEPAGE); /* with huge pages each stack could take 2 MiB */
  return slab;
}

static struct qzi_thread *descriptor_at(const struct slab *slab, uint32_t k) {
  char *high = slab->memory + (k + 1) * slab->stride;
  return (struct qzi_thread *)(high - sizeof(struct qzi_thread) - (k * 7 % COLOURS) * 64);
}

/* Enlarges the common list to hold all descriptors of class 0; returns false if there is no memory. Under the lock. */
static bool make_room(size_t descriptors) {
  size_t room = spare_room ? spare_room : 512;
  while (room < descriptors) room *= 2;
  if (room != spare_room) {
    struct qzi_thread **more = map(room * sizeof *more);
    if (!more) return false;
    if (spare_count) memcpy(more, spare, spare_count * sizeof *more);
    struct qzi_thread **less = spare;
    size_t less_room = spare_room;
    spare = more; /* a child that is forked now finds either the old list or the new one */
    spare_room = room;
    if (less) munmap(less, less_room * sizeof *less);
  }
  return true;
}

/* Takes free descriptors from another processor's list, when no more may be created. Returns their number. */
static uint32_t raid(struct qzi_processor *p, struct qzi_thread **into) {
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) {
    struct qzi_processor *victim = &qzi_runtime.processors[k];
    if (victim == p) continue;
    uint64_t until = qzi_now_ns() + RAID_NS; /* a thief may hold the lock, or the owner may have lost its CPU */
    bool revoked;
    while (!(revoked = qzi_revoke(victim)) && qzi_now_ns() < until) sched_yield();
    if (!revoked) continue;
    uint32_t count = 0;
    uint32_t keep = (uint32_t)qzi_tasks_most(&victim->deque);
    while (count < BATCH && victim->free_count > keep) into[count++] = victim->free[--victim->free_count];
    qzi_give_back(victim);
    if (count) return count;
  }
  return 0;
}

/* Makes stacks that were never used. If the process has many already, the new ones will probably be used soon: their
 * top pages are then populated by one system call, which avoids page faults. Returns their number; 0: *error says
 * why. */
static uint32_t make(struct qzi_thread **into, int *error) {
  qzi_spin_lock(&lock);
  size_t want = qzi_runtime.max_threads > total ? qzi_runtime.max_threads - total : 0;
  if (want > BATCH) want = total < BATCH ? 4 : BATCH; /* a program with few threads stays small */
  *error = want ? ENOMEM : EAGAIN;
  if (!make_room(total + want)) want = 0;
  if (want && (!open_slab || open_slab->used == open_slab->count)) {
    open_slab = slab_new(qzi_runtime.stack_bytes, 128);
    if (open_slab) {
      open_slab->next = slabs;
      slabs = open_slab;
    }
  }
  struct slab *slab = open_slab;
  if (!want || !slab) {
    qzi_spin_unlock(&lock);
    return 0;
  }
  uint32_t first = slab->used, count = slab->count - first < want ? slab->count - first : (uint32_t)want;
  bool many = total >= MANY;
  slab->used += count;
  total += count;
  qzi_spin_unlock(&lock);
  bool guarded = guard_together(slab, first, count);
  if (many) advise_together(slab, first, count, slab->stride - qzi_runtime.page_bytes, MADV_POPULATE_WRITE);
  for (uint32_t k = 0; k < count; k++) { /* in reverse order, since the last one is used first */
    if (!guarded) guard(slab->memory + (first + k) * slab->stride);
    into[count - 1 - k] = descriptor_at(slab, first + k);
  }
  return count;
}

/* Finds free descriptors that are in no processor's list, or makes some. Returns their number. */
static uint32_t find(struct qzi_processor *p, struct qzi_thread **found, int *error) {
  if (!p->free) {
    *error = ENOMEM;
    p->free = map(QZI_FREE_ROOM * sizeof *p->free);
    if (!p->free) return 0;
    p->free_room = QZI_FREE_ROOM;
  }
  qzi_spin_lock(&lock);
  uint32_t count = spare_count < BATCH ? (uint32_t)spare_count : BATCH;
  spare_count -= count;
  if (count) memcpy(found, spare + spare_count, count * sizeof *found);
  qzi_spin_unlock(&lock);
  return count ? count : make(found, error);
}

static struct qzi_thread *get_default(struct qzi_processor *p, int *error) {
  struct qzi_thread *found[BATCH];
  uint32_t count = find(p, found, error);
  if (!count && p->free) count = raid(p, found);
  if (!count) return NULL;
  qzi_enter(p);
  memcpy(p->free + p->free_count, found, (count - 1) * sizeof *found);
  p->free_count += count - 1;
  qzi_leave(p);
  return found[count - 1];
}

/* The youngest ones of the list have been used last: new ones go below them. */
bool qzi_stack_more(struct qzi_processor *p) {
  struct qzi_thread *found[BATCH];
  int error;
  uint32_t count = find(p, found, &error);
  if (!count) return false;
  qzi_enter(p);
  memmove(p->free + count, p->free, p->free_count * sizeof *p->free);
  memcpy(p->free, found, count * sizeof *found);
  p->free_count += count;
  qzi_leave(p);
  return true;
}

static struct qzi_thread *get_sized(size_t stack_bytes, int *error) {
  unsigned class = 1;
  while (class < CLASSES &&
         (size_t)1 << (class + CLASS_MIN_LOG2) < stack_bytes + sizeof(struct qzi_thread) + COLOURS * 64)
    class ++;
  *error = ENOMEM;
  if (class == CLASSES) return NULL;
  qzi_spin_lock(&lock);
  struct qzi_thread *thread = spare_sized[class];
  if (thread) {
    spare_sized[class] = thread->link;
    qzi_spin_unlock(&lock);
    return thread;
  }
  if (total >= qzi_runtime.max_threads) {
    qzi_spin_unlock(&lock);
    *error = EAGAIN;
    return NULL;
  }
  struct slab *slab = slab_new((size_t)1 << (class + CLASS_MIN_LOG2), 1);
  if (slab) {
    slab->used = 1;
    slab->next = slabs;
    slabs = slab;
    total++;
  }
  qzi_spin_unlock(&lock);
  if (!slab) return NULL;
  guard(slab->memory);
  thread = descriptor_at(slab, 0);
  thread->own_low = slab->memory + qzi_runtime.page_bytes;
  thread->stack_class = (uint8_t) class;
  return thread;
}

struct qzi_thread *qzi_stack_get(struct qzi_processor *p, size_t stack_bytes, int *error) {
  struct qzi_thread *thread = stack_bytes ? get_sized(stack_bytes, error) : get_default(p, error);
  return thread;
}

void qzi_stack_put_slow(struct qzi_processor *p, struct qzi_thread *thread) {
  qzi_spin_lock(&lock);
  if (thread->stack_class != 0) {
    thread->link = spare_sized[thread->stack_class];
    spare_sized[thread->stack_class] = thread;
  } else { /* give the older half of the processor's list to the common list, keep the recently used ones */
    uint32_t keep = p->free_count / 2, tasks = (uint32_t)qzi_tasks_most(&p->deque);
    if (keep < tasks) keep = tasks;
    uint32_t give = p->free_count > keep ? p->free_count - keep : 0;
    if (give) {
      memcpy(spare + spare_count, p->free, give * sizeof *spare);
      memmove(p->free, p->free + give, keep * sizeof *spare);
      spare_count += give;
      p->free_count = keep;
    }
    spare[spare_count++] = thread;
  }
  qzi_spin_unlock(&lock);
}

void qzi_stack_each(void (*visit)(struct qzi_thread *thread, void *arg), void *arg) {
  visit(&qzi_main_thread, arg);
  for (struct slab *slab = slabs; slab; slab = slab->next)
    for (uint32_t k = 0; k < slab->used; k++) visit(descriptor_at(slab, k), arg);
}

/* In the child after fork: other kernel threads may have been in the middle of any operation, so the memory that
 * they held is left unused. */
void qzi_stack_forked(void) {
  atomic_store(&lock.word, 0);
  memset(spare_sized, 0, sizeof spare_sized);
  spare_count = 0;
  open_slab = NULL;
}
