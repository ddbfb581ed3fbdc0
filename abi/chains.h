/* The chains of a session: which thread let which other one continue, from the beginning of the recording on; and work
 * and span, which are carried along the same chains (docs/reference/path.md).
 *
 * Owns:    the layout of crumbs, of the actors that write them, of their work and span, and of the clock page.
 * Writer:  of crumbs, work and span the application, as all else in the session; of the clock page the sampler.
 * Reader:  the sampler (sampler/path); of the clock page the application.
 */
#ifndef QZ_ABI_CHAINS_H
#define QZ_ABI_CHAINS_H

#include <stdint.h>
#include "layout.h"

/* What if something took only a part of its time, or a multiple of it (docs/reference/path.md, "What if")? So many such
 * questions are answered in one run. */
#define QZ_WHAT_IFS    2u
#define QZ_WHAT_IF_ONE (UINT64_C(1) << 16) /* factor by which nothing changes */

/* Lengths of the longest chains of strands to the end of the program, in ticks (docs/reference/path.md). */
struct qz_span_end {
  uint64_t tick_scale; /* ns in a tick * 2^32 */
  uint64_t length;     /* stored last; 0: the program has not ended in order */
  uint64_t burdened, typical;
  uint64_t crumb;  /* last crumb of the chain that `length` is of */
  uint64_t burden; /* what a spawn adds to the burdened length, ticks */
  uint64_t what_if[QZ_WHAT_IFS];
  uint64_t what_if_seen;   /* bit k: what the k-th question is about did run, or had to be waited for */
  uint64_t what_if_missed; /* bit k: some of it could not be separated from the rest */
  /* Where nothing was asked: the places that were chosen, as return addresses (0: none), and when, by the clock page */
  uint64_t what_if_place[QZ_WHAT_IFS], what_if_since;
};

/* The time path (docs/reference/path.md): who let whom go on. A chain is named by its last crumb, a word:
 *   bits 28-63 when it was written, by the clock page; bits 12-27 whose it is, index into path_table; bits 4-11 which
 * one of those at that time; bits 0-3: 0 where it is a name, else enum qz_arrival. 0 is the beginning of the recording.
 */
#define QZ_CHAIN_TIME(word)           ((word) >> 28)
#define QZ_CHAIN_ACTOR(word)          ((uint32_t)((word) >> 12) & 0xffff)
#define QZ_CHAIN_ARRIVAL(word)        ((unsigned)((word)&15))
#define QZ_CHAIN(time, actor, number) ((uint64_t)(time) << 28 | (uint64_t)(actor) << 12 | (uint64_t)(number) << 4)
#define QZ_CRUMBS_AT_ONCE             255u /* of one actor between two looks at the clock that differ */
/* The unit of the clock page: 2^14 ns. */
#define QZ_PATH_TIME_SHIFT            14

/* How a chain came to who goes on with it. */
enum qz_arrival {
  QZ_ARRIVAL_SAME = 0,    /* it has been there since its last crumb */
  QZ_ARRIVAL_CREATED = 1, /* by the thread that created this one */
  QZ_ARRIVAL_WOKEN = 2,   /* by the thread that let this one go on */
  QZ_ARRIVAL_JOINED = 3,  /* by a thread that ended and was waited for */
  QZ_ARRIVAL_OWN = 4,     /* it gave way to others, or its wait ended by time: nobody let it go on */
  QZ_ARRIVAL_IO = 5,      /* it was in a declared blocking region */
  QZ_ARRIVAL_COUNT = 6
};

/* Written at most once between two snapshots for each thread that works or lets another continue. */
struct qz_crumb {
  uint64_t id;    /* its name */
  uint64_t prev;  /* that of the crumb before it in the chain */
  uint64_t since; /* when the chain came to this actor, shifted as in a name; bits 0-3 enum qz_arrival */
  uint64_t key;   /* top of the stack then: the object that it came by, where QZ_KEY_OBJECT is set */
};

/* An actor of the time path: a processor; pthread layer: a thread. Writer: the kernel thread that is it. */
struct qz_path {
  QZ_ALIGN(64) uint64_t word; /* the chain that it is on, as a name */
  uint64_t since, key;        /* as in the next crumb */
  uint64_t count;             /* crumbs written, stored after them; the n-th lies at n % crumbs_limit */
  uint64_t lost;              /* crumbs that were not written: there were too many at once */
  uint64_t reserved[3];
  struct qz_crumb ring[];
};

/* Of all threads that were spawned, or created, at one place and have ended. Times in ticks. top_...: of those that
 * descend from none that was spawned there. Of a place that waits for others to end (join, sync): merges. */
struct qz_site {
  uint64_t site;  /* return address of the call; 0: not used */
  uint64_t start; /* start routine of the first one */
  uint64_t count, work, span;
  uint64_t top_count, top_work, top_span;
  uint64_t merges, merged, lost; /* waits, threads that they were for, those of them that were not the longest chain */
  uint64_t slack;                /* of those: how much shorter than the longest they were */
  uint64_t least_slack_plus_1;   /* 0: none has lost */
  uint64_t reserved[3];
};
#define QZ_SPAN_SITES  64u /* number 0: all that have no number of their own */
#define QZ_SPAN_LEVELS 256u

/* Work and span of what one actor executed. Writer: the kernel thread that is it. Its crumbs are in span_path_table:
 * the same as those of the time path, but for `key`, which is the length of the chain there, in ticks. */
struct qz_span {
  QZ_ALIGN(64) uint64_t work; /* of all strands, ticks */
  uint64_t waited;            /* left out: waits for CPUs, until the last crumb; pthread layer: 0 */
  uint64_t aside;             /* left out: the package's own work */
  uint64_t strands;
  uint64_t levels_shift; /* a level is 2^this ticks; QZ_SPAN_WIDENING while they are being joined */
  uint64_t reserved[3];
  uint64_t what_if_work[QZ_WHAT_IFS]; /* work, if that were so */
  uint64_t what_if[QZ_WHAT_IFS];      /* longest chain at a crumb of this actor, likewise */
  uint64_t reserved2[4];
  uint64_t levels[QZ_SPAN_LEVELS]; /* work by the length of the chain to it */
  struct qz_site sites[QZ_SPAN_SITES];
};
#define QZ_SPAN_WIDENING 64u

enum qz_what_if_kind {
  QZ_WHAT_IF_NONE = 0,
  QZ_WHAT_IF_PROCEDURE = 1, /* its calls, and the threads that begin with it; all that either calls and creates */
  QZ_WHAT_IF_SITE = 2,      /* the same of threads alone that a procedure spawns, or creates, to begin with it */
  QZ_WHAT_IF_LOCK = 3,      /* nobody goes on later because it was held */
  QZ_WHAT_IF_PLACE = 4,     /* threads that are spawned, or created, at one place; what these create */
  QZ_WHAT_IF_KINDS = 5
};
#define QZ_WHAT_IF_PLACES 6u
#define QZ_WHAT_IF_NAME   120u
/* A question, with what the sampler knows of the names in it. */
struct qz_what_if {
  uint32_t kind;     /* enum qz_what_if_kind */
  uint32_t entries;  /* procedures of that name, */
  uint32_t creators; /* places of what creates (lock: of variables) of that name */
  uint32_t reserved;
  uint64_t factor;                   /* in 1 / QZ_WHAT_IF_ONE */
  uint64_t entry[QZ_WHAT_IF_PLACES]; /* addresses where they begin */
  struct {
    uint64_t low, high;
  } creator[QZ_WHAT_IF_PLACES];
  char name[QZ_WHAT_IF_NAME]; /* as the user wrote it, without the factor; ends in NUL */
};

/* Made by the sampler, mapped read-only by the program: the one thing that the program reads of it. A file of its own,
 * one page, sealed against shrinking. */
struct qz_clock_page {
  uint64_t now;   /* time of the last snapshot, shifted as in a name; 0: no path is recorded. Never falls */
  uint64_t wants; /* QZ_WANTS_...; constant */
  struct qz_what_if what_if[QZ_WHAT_IFS]; /* constant */
  uint64_t crowded; /* 1: what a followed process starts now would not be recorded (docs/reference/command-line.md) */
};
#define QZ_WANTS_SPAN       1u
#define QZ_CLOCK_PAGE_BYTES 4096u

#endif
