/* Stacks, and the descriptors that lie in their top pages.
 *
 * Owns:    every stack mapping; the free lists beyond those of the processors.
 * Writer:  whoever creates a thread and finds its processor's list empty.
 * Reader:  thread.c, fork_join.c; deadlock.c walks all descriptors.
 * Must not: unmap a descriptor (stale handles read its serial).
 *
 * A slab is one mapping of many stacks, each above a guard page. Top to bottom: colour (unused lines, so that the
 * descriptors of many threads do not compete for the same cache sets), descriptor, stack, guard. A thread that has only
 * begun and blocked takes one page. Guards are markers in the page table where the kernel knows them
 * (MADV_GUARD_INSTALL: no extra mapping); else mprotect, until the process runs into its limit of mappings: stacks made
 * after that have none.
 */
#define _GNU_SOURCE
#include "processor.h"

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
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef PIDFD_SELF
#define PIDFD_SELF (-10000)
#endif
#define NO_ADVICE 9999 /* no kernel knows it */
#define COLOURS 24u
#define BATCH 32u
#define CLASS_MIN_LOG2 13u
#define CLASSES 40u
#define RAID_NS 2000000000u

struct slab {
  struct slab *next;
  char *memory;
  size_t stride;
  uint32_t count, used;
};

static qzi_spinlock lock;
static struct slab *slabs;                /* all, youngest first */
static struct slab *open_slab;            /* of class 0: has unused stacks */
static struct qzi_thread *spare[CLASSES]; /* free descriptors of no processor */
static uint32_t spare_count;              /* of class 0 */
static size_t total;                      /* descriptors ever made */
static _Atomic(int) guard_kind;           /* 0: not known, 1: markers, 2: mprotect, 3: none any more */

struct qzi_thread qzi_main_thread;

/* Markers for several stacks in one call, where the kernel takes that of a process for itself (Linux 6.15). */
static bool guard_together(const struct slab *slab, uint32_t first, uint32_t count) {
  struct iovec pages[BATCH];
  if (count < 2 || atomic_load_explicit(&guard_kind, memory_order_relaxed) != 1) return false;
  for (uint32_t k = 0; k < count; k++)
    pages[k] = (struct iovec){ slab->memory + (first + k) * slab->stride, qzi_runtime.page_bytes };
  return syscall(SYS_process_madvise, PIDFD_SELF, pages, count, MADV_GUARD_INSTALL, 0) ==
         (long)(count * qzi_runtime.page_bytes);
}

static void guard(char *page) {
  int kind = atomic_load_explicit(&guard_kind, memory_order_relaxed);
  if (kind == 0) /* an emulator may take any advice, and do nothing */
    kind = madvise(page, qzi_runtime.page_bytes, NO_ADVICE) == 0 ? 2 : 1;
  if (kind == 1 && madvise(page, qzi_runtime.page_bytes, MADV_GUARD_INSTALL) != 0) kind = 2;
  if (kind == 2 && mprotect(page, qzi_runtime.page_bytes, PROT_NONE) != 0) kind = 3;
  atomic_store_explicit(&guard_kind, kind, memory_order_relaxed);
}

/* A slab with room for `count` stacks; NULL: no memory. */
static struct slab *slab_new(size_t stack_bytes, uint32_t count) {
  struct slab *slab = malloc(sizeof *slab);
  if (!slab) return NULL;
  slab->stride = stack_bytes + qzi_runtime.page_bytes;
  slab->count = count;
  slab->used = 0;
  slab->memory = mmap(NULL, slab->stride * count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (slab->memory == MAP_FAILED) {
    free(slab);
    return NULL;
  }
  madvise(slab->memory, slab->stride * count, MADV_NOHUGEPAGE); /* else each stack could take 2 MiB */
  return slab;
}

static struct qzi_thread *descriptor_at(const struct slab *slab, uint32_t k) {
  char *high = slab->memory + (k + 1) * slab->stride;
  return (struct qzi_thread *)(high - sizeof(struct qzi_thread) - (k * 7 % COLOURS) * 64);
}

static struct qzi_thread *carve(struct slab *slab, uint32_t k, unsigned class, bool guarded) {
  char *low = slab->memory + k * slab->stride;
  if (!guarded) guard(low);
  struct qzi_thread *thread = descriptor_at(slab, k);
  thread->own_low = low + qzi_runtime.page_bytes;
  thread->own_high = (char *)thread;
  thread->stack_class = (uint8_t)class;
  return thread;
}

/* Free descriptors that other processors keep, for when no more may be made. */
static struct qzi_thread *raid(struct qzi_processor *p) {
  for (unsigned k = 0; k < qzi_runtime.processor_count; k++) {
    struct qzi_processor *victim = &qzi_runtime.processors[k];
    if (victim == p) continue;
    uint64_t until = qzi_now_ns() + RAID_NS; /* a thief may be there, or its owner may have lost its CPU */
    bool revoked;
    while (!(revoked = qzi_revoke(victim)) && qzi_now_ns() < until) sched_yield();
    if (!revoked) continue;
    struct qzi_thread *list = victim->free;
    victim->free = NULL;
    victim->free_count = 0;
    qzi_give_back(victim);
    if (list) return list;
  }
  return NULL;
}

static struct qzi_thread *get_default(struct qzi_processor *p, int *error) {
  struct qzi_thread *list = NULL, *thread;
  uint32_t count = 0;
  qzi_spin_lock(&lock);
  while (count < BATCH && (thread = spare[0]) != NULL) {
    spare[0] = thread->link;
    spare_count--;
    thread->link = list;
    list = thread;
    count++;
  }
  if (!list) {
    size_t want = qzi_runtime.max_threads > total ? qzi_runtime.max_threads - total : 0;
    if (want > BATCH) want = total < BATCH ? 4 : BATCH; /* a program with few threads stays small */
    if (want && (!open_slab || open_slab->used == open_slab->count)) {
      open_slab = slab_new(qzi_runtime.stack_bytes, 128);
      if (open_slab) {
        open_slab->next = slabs;
        slabs = open_slab;
      }
    }
    struct slab *slab = open_slab;
    if (want && slab) {
      uint32_t first = slab->used, room = slab->count - first;
      if (want > room) want = room;
      slab->used += (uint32_t)want;
      total += want;
      qzi_spin_unlock(&lock);
      bool guarded = guard_together(slab, first, (uint32_t)want);
      for (uint32_t k = (uint32_t)want; k-- > 0;) {
        thread = carve(slab, first + k, 0, guarded);
        thread->link = list;
        list = thread;
      }
      count = (uint32_t)want;
      goto have;
    }
    qzi_spin_unlock(&lock);
    *error = want ? ENOMEM : EAGAIN;
    list = raid(p);
    if (!list) return NULL;
    for (thread = list; thread; thread = thread->link) count++;
    goto have;
  }
  qzi_spin_unlock(&lock);
have:
  thread = list->link;
  if (thread) {
    struct qzi_thread *last = thread;
    while (last->link) last = last->link;
    qzi_enter(p);
    last->link = p->free;
    p->free = thread;
    p->free_count += count - 1;
    qzi_leave(p);
  }
  return list;
}

static struct qzi_thread *get_sized(size_t stack_bytes, int *error) {
  unsigned class = 1;
  while (class < CLASSES && (size_t)1 << (class + CLASS_MIN_LOG2) < stack_bytes + sizeof(struct qzi_thread) + COLOURS * 64) class++;
  *error = ENOMEM;
  if (class == CLASSES) return NULL;
  qzi_spin_lock(&lock);
  struct qzi_thread *thread = spare[class];
  if (thread) {
    spare[class] = thread->link;
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
  return slab ? carve(slab, 0, class, false) : NULL;
}

struct qzi_thread *qzi_stack_get(struct qzi_processor *p, size_t stack_bytes, int *error) {
  struct qzi_thread *thread = stack_bytes ? get_sized(stack_bytes, error) : get_default(p, error);
  return thread;
}

/* Classes other than 0 are shared by all processors. */
void qzi_stack_put_slow(struct qzi_processor *p, struct qzi_thread *thread) {
  qzi_spin_lock(&lock);
  thread->link = spare[thread->stack_class];
  spare[thread->stack_class] = thread;
  qzi_spin_unlock(&lock);
}

/* Gives half of the processor's free descriptors to all. Not under the biased lock. */
void qzi_stack_trim(struct qzi_processor *p) {
  qzi_enter(p);
  uint32_t count = p->free_count / 2;
  struct qzi_thread *list = p->free, *last = list;
  for (uint32_t k = 1; k < count; k++) last = last->link;
  p->free = last->link;
  p->free_count -= count;
  qzi_leave(p);
  qzi_spin_lock(&lock);
  last->link = spare[0];
  spare[0] = list;
  spare_count += count;
  qzi_spin_unlock(&lock);
}

void qzi_stack_each(void (*visit)(struct qzi_thread *thread, void *arg), void *arg) {
  visit(&qzi_main_thread, arg);
  for (struct slab *slab = slabs; slab; slab = slab->next)
    for (uint32_t k = 0; k < slab->used; k++) visit(descriptor_at(slab, k), arg);
}

/* In the child after fork: other kernel threads may have been amid anything. What they held is left unused. */
void qzi_stack_forked(void) {
  atomic_store(&lock.word, 0);
  memset(spare, 0, sizeof spare);
  spare_count = 0;
  open_slab = NULL;
}
