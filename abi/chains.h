/* The chains of a session: which thread ended the wait of which other one, from the beginning of the recording on; and
 * work and span, which are carried along the same chains (docs/reference/path.md).
 *
 * Owns:    the layout of crumbs, of the actors that write them, of their work and span, and of the clock page.
 * Writer:  crumbs, work and span: the application, like the rest of the session; the clock page: the sampler.
 * Reader:  the sampler (sampler/path); the clock page: the application.
 */
#ifndef QZ_ABI_CHAINS_H
#define QZ_ABI_CHAINS_H

#include <stdint.h>
#include "layout.h"

/* What-if queries: the work and span if some code took a part or a multiple of its time (docs/reference/path.md,
 * "What if"). This is the number of queries that one run can answer. */
#define QZ_WHAT_IFS    2u
#define QZ_WHAT_IF_ONE (UINT64_C(1) << 16) /* the factor 1 */

/* Lengths of the longest chains of strands to the end of the program, in ticks (docs/reference/path.md). */
struct qz_span_end {
  uint64_t tick_scale; /* ns in a tick * 2^32 */
  uint64_t length;     /* stored last; 0: the program has not ended normally */
  uint64_t burdened, typical;
  uint64_t crumb;  /* last crumb of the chain whose length is `length` */
  uint64_t burden; /* ticks that a spawn adds to the burdened length */
  uint64_t what_if[QZ_WHAT_IFS];
  uint64_t what_if_seen;   /* bit k: the code of query k did run, or its lock had to be waited for */
  uint64_t what_if_missed; /* bit k: some of the code of query k could not be distinguished from other code */
  /* If the user gave no query: the chosen sites, as return addresses (0: none), and the time of the choice by the
   * clock page */
  uint64_t what_if_place[QZ_WHAT_IFS], what_if_since;
};

/* The time path (docs/reference/path.md): which thread ended the wait of which other one. A chain is named by its last
 * crumb, a word: bits 28-63: when it was written, by the clock page; bits 12-27: its actor, as index into path_table;
 * bits 4-11: which one of the actor's crumbs of that time; bits 0-3: 0 in a name, else enum qz_arrival. 0 is the
 * beginning of the recording.
 */
#define QZ_CHAIN_TIME(word)           ((word) >> 28)
#define QZ_CHAIN_ACTOR(word)          ((uint32_t)((word) >> 12) & 0xffff)
#define QZ_CHAIN_ARRIVAL(word)        ((unsigned)((word)&15))
#define QZ_CHAIN(time, actor, number) ((uint64_t)(time) << 28 | (uint64_t)(actor) << 12 | (uint64_t)(number) << 4)
#define QZ_CRUMBS_AT_ONCE             255u /* maximum number of an actor's crumbs with the same time */
/* The unit of the clock page: 2^14 ns. */
#define QZ_PATH_TIME_SHIFT            14

/* How a chain came to the thread that continues it. */
enum qz_arrival {
  QZ_ARRIVAL_SAME = 0,    /* it has been the thread's own since its last crumb */
  QZ_ARRIVAL_CREATED = 1, /* from the thread that created this one */
  QZ_ARRIVAL_WOKEN = 2,   /* from the thread that ended the wait of this one */
  QZ_ARRIVAL_JOINED = 3,  /* from a thread that ended and was waited for */
  QZ_ARRIVAL_OWN = 4,     /* the thread yielded, or its wait timed out: no other thread ended the wait */
  QZ_ARRIVAL_IO = 5,      /* the thread was in a blocking region */
  QZ_ARRIVAL_COUNT = 6
};

/* Written at most once between two snapshots for each thread that works or ends the wait of another. */
struct qz_crumb {
  uint64_t id;    /* its name */
  uint64_t prev;  /* the name of the preceding crumb in the chain */
  uint64_t since; /* when the chain came to this actor, shifted as in a name; bits 0-3: enum qz_arrival */
  uint64_t key;   /* top of the stack at that time; with QZ_KEY_OBJECT the object through which the chain came */
};

/* An actor of the time path: a processor; pthread layer: a thread. Writer: the kernel thread that is the actor. */
struct qz_path {
  QZ_ALIGN(64) uint64_t word; /* name of the chain that it is on */
  uint64_t since, key;        /* values for the next crumb */
  uint64_t count;             /* number of crumbs written, stored after each; number n is at ring[n % crumbs_limit] */
  uint64_t lost;              /* crumbs that were not written, because there were too many at once */
  /* Pthread layer: parallel regions that the thread has begun, and barriers that it has passed in these; about how long
   * the layer's own code took of it there. */
  uint64_t rounds, rounds_ns;
  uint64_t tasks_ns; /* the same of making, beginning and ending tasks of OpenMP and oneTBB, and threads */
  struct qz_crumb ring[];
};

/* Sums over all threads that were spawned or created at one call site and have ended. Times in ticks. top_...: of
 * the threads with no ancestor that was spawned there; inner_...: of the others. merges, merged, lost, slack: of a site
 * that waits for threads to end (join, sync). */
struct qz_site {
  uint64_t site;  /* return address of the call; 0: not used */
  uint64_t start; /* start routine of the first thread */
  uint64_t inner_count, inner_work, inner_span;
  uint64_t top_count, top_work, top_span;
  uint64_t merges, merged,
    lost;         /* number of waits, of threads waited for, and of those among them that were not the longest chain */
  uint64_t slack; /* sum of the distances of the latter from the longest chain */
  uint64_t least_slack_plus_1; /* least such distance + 1; 0: there is none */
  uint64_t reserved[3];
};
#define QZ_SPAN_SITES  64u /* number 0 stands for all sites without a number of their own */
#define QZ_SPAN_LEVELS 256u

/* Work and span of what one actor executed. Writer: the kernel thread that is the actor. Its crumbs are in
 * span_path_table; they are like those of the time path, except that `key` is the length of the chain there, in
 * ticks. */
struct qz_span {
  QZ_ALIGN(64) uint64_t work; /* of all strands, in ticks */
  uint64_t waited;            /* not counted: waits for CPUs, up to the last crumb; pthread layer: 0 */
  uint64_t aside;             /* not counted: the package's own work */
  uint64_t strands;
  uint64_t levels_shift; /* a level is 2^this ticks; QZ_SPAN_WIDENING while levels are being merged */
  uint64_t asleep;       /* by which chains grew without work: sleep, deadlines, blocking regions */
  uint64_t reserved[2];
  uint64_t what_if_less[QZ_WHAT_IFS]; /* how much less the work is with the weights of each query (modulo 2^64) */
  uint64_t what_if[QZ_WHAT_IFS];      /* the longest chain at a crumb of this actor, with the weights of each query */
  uint64_t reserved2[4];
  uint64_t levels[QZ_SPAN_LEVELS]; /* work by the length of the chain that leads to it */
  struct qz_site sites[QZ_SPAN_SITES];
};
#define QZ_SPAN_WIDENING 64u

enum qz_what_if_kind {
  QZ_WHAT_IF_NONE = 0,
  QZ_WHAT_IF_PROCEDURE =
    1,                 /* calls of the procedure, and threads that start with it; with all that these call and create */
  QZ_WHAT_IF_SITE = 2, /* only threads that a given procedure spawns or creates, and that start with the procedure */
  QZ_WHAT_IF_LOCK = 3, /* no thread waits because the lock was held */
  QZ_WHAT_IF_PLACE = 4, /* threads that are spawned or created at one call site, and those that they create */
  QZ_WHAT_IF_KINDS = 5
};
#define QZ_WHAT_IF_PLACES 6u
#define QZ_WHAT_IF_NAME   120u
/* A query, with the addresses that the sampler has found for the names in it. */
struct qz_what_if {
  uint32_t kind;     /* enum qz_what_if_kind */
  uint32_t entries;  /* number of procedures with that name, */
  uint32_t creators; /* and of address ranges of the creating procedures (lock: of variables) with that name */
  uint32_t reserved;
  uint64_t factor;                   /* in units of 1 / QZ_WHAT_IF_ONE */
  uint64_t entry[QZ_WHAT_IF_PLACES]; /* entry addresses */
  struct {
    uint64_t low, high;
  } creator[QZ_WHAT_IF_PLACES];
  char name[QZ_WHAT_IF_NAME]; /* as the user wrote it, without the factor; NUL-terminated */
};

/* Made by the sampler and mapped read-only by the program; it is all that the program reads of the sampler's. A file
 * of its own, one page, sealed against shrinking. */
struct qz_clock_page {
  uint64_t now;   /* time of the last snapshot, shifted as in a name; 0: no path is recorded. Never decreases */
  uint64_t wants; /* QZ_WANTS_...; constant */
  struct qz_what_if what_if[QZ_WHAT_IFS]; /* constant */
  uint64_t crowded;                       /* 1: processes that a followed process starts now would not be recorded
                                             (docs/reference/command-line.md) */
};
#define QZ_WANTS_SPAN       1u
#define QZ_WANTS_SAMPLES    2u /* by signals: the kernel gives none (signal_samples.h) */
#define QZ_CLOCK_PAGE_BYTES 4096u

#endif
