/* The publisher's private data about processors, threads and objects, which is not published.
 *
 * Owns:    struct qzi_publisher, qzi_pub_thread and qzi_pub_object: the host embeds them in its processors, threads
 *          and synchronization objects.
 * Writer:  publisher/, and the host where the struct says so.
 * Must not: be included by any file except publisher.h.
 */
#ifndef QZI_EMBEDDED_H
#define QZI_EMBEDDED_H

#include <stdint.h>
#include "abi/session.h"

struct qzi_pub_pairs;

/* An entry of a small cache: the record of the joins or sleeps with call site `site`, and the number of joins there
 * that are not in the record yet. */
struct qzi_pub_site_slot {
  uint64_t site;
  uint32_t kind;
  uint32_t index;
  int32_t left;     /* how many more joins until they are written; 0: all are written */
  uint32_t written; /* joins written by this processor: `left` begins with qzi_pub_joins_kept(written) */
};
#define QZI_PUB_SITES 64
/* An entry of a small cache: a place at which tasks are spawned (tasks.h). */
struct qzi_pub_spawns {
  uint64_t site, start;
  uint64_t named; /* name << 32 | epoch: `call` is of that epoch */
  uint64_t path;  /* name of the creator's path (qzi_pub_path_name) */
  uint64_t made;  /* qz_thread.made of the records that are filled for all this; unique in the process */
  struct qz_call *call;
  uint64_t reserved[2];
};
/* Number of free thread records that a processor keeps, by index. */
#ifdef QZI_PUB_ONE_THREAD
#define QZI_PUB_POOL 2u
#else
#define QZI_PUB_POOL 256u
#endif

/* The publisher of a processor. Initially zero; qzi_pub_processor() fills it. Its kernel thread writes it. Counters
 * also count while nothing is published, so that they are right when publishing begins. */
struct qzi_publisher {
  struct qz_processor *record; /* NULL before the first session */
  struct qz_path
    *path; /* NULL before the first session, without memory for it, or (thread package) while `span` is set */
  struct qz_path *time_path; /* the same, also while `span` is set */
  struct qz_call *calls;     /* its part of the call table */
  uint64_t now;              /* change count and thread of the `now` that was published last; state 0 */
  /* Threads it created, and other threads it made ready; their sum is `enqueued` of the record. A task is counted,
   * among the latter, when it becomes a thread in a queue. */
  uint64_t spawns, woken;
  uint64_t dequeued, switches, steals, parks;
  struct qzi_pub_site_slot *sites;
  struct qzi_pub_pairs *pairs; /* call_tables.c; NULL: the number of slots for objects of a call site is not limited */
  uint64_t sites_joined;       /* one bit for each of them: it has joins that are not written */
  struct qzi_pub_spawns *places; /* QZI_PUB_SITES of them; pthread layer: NULL */
  uint32_t *free;                /* indices of free thread records */
  uint32_t free_count;
  uint32_t index;
  uint32_t os_tid;
  uint32_t cpu;
  struct qzi_span_actor *span;      /* NULL: work and span are not recorded */
  struct qzi_span_actor *span_room; /* the same, kept for the next recording */
};

/* The publisher's data of a thread. The scheduler fills the second part, whether or not publishing is on, before
 * qzi_pub_created(). */
struct qzi_pub_thread {
  struct qz_thread *record; /* NULL: none. Must be zeroed before qzi_pub_created() */
  uint32_t index_plus_1;    /* of the record */
  uint32_t creator;         /* index + 1 of the creator's record */

  uint32_t name; /* qzi_pub_name() or 0 */
  union {
    uint32_t loop;   /* fork_join.c: it runs a part of a parallel loop, whose body is `start` */
    uint32_t os_tid; /* pthread layer: kernel thread ID; 0: not known yet */
  };
  uint64_t serial;                 /* unique, never 0 */
  uint64_t start;                  /* start routine (main's: the address of main) */
  uint64_t create_site;            /* return address of the call that created it, 0 for main */
  uintptr_t stack_low, stack_high; /* bounds of its stack; 0, 0: unknown */
  uint64_t chain; /* path.h: while it does not run, the chain that it will continue, and the kind of arrival */
};

/* The publisher's data of a synchronization object; all zero is valid for a statically initialized one. */
struct qzi_pub_object {
  uint64_t site;  /* code address that made it; 0: taken from its first published use */
  uint32_t name;  /* qzi_pub_name() or 0 */
  uint32_t index; /* index of its record; 0: none yet. QZI_PUB_SHARED: the record is shared */
};
#define QZI_PUB_SHARED UINT32_C(0x80000000)

#endif
