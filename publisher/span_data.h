/* The data of work and span (span.h): of a thread, and where the host has it.
 *
 * Owns:    the types alone. Writer and reader: as span.h says.
 */
#ifndef QZI_PUBLISH_SPAN_DATA_H
#define QZI_PUBLISH_SPAN_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/session.h"

/* Lengths of chains that lead to one point, in ticks; each is the maximum by its own measure. */
struct qzi_lanes {
  uint64_t length;   /* sum of strands */
  uint64_t burdened; /* plus the package's own time, and the delay until a thread starts on another processor */
  uint64_t typical;  /* each strand limited to the length that is usual for its kind */
  uint64_t crumb;    /* of `length`: name of the last crumb on that chain */
  uint64_t what_if[QZ_WHAT_IFS]; /* like `length`, with the strands' weights in each query (what_if.h) */
};

/* The span data of a thread. */
struct qzi_span {
  struct qzi_lanes now; /* lengths at the end of its last strand, and of the threads that ended its wait */
  uint64_t work;        /* its strands and those of the threads that it has waited for */
  uint64_t start;       /* `length` at its start */
  uint64_t away;        /* when it gave up its processor; `back`: for how many ticks it had none */
  uint64_t sites;       /* one bit per site at which it, or one of its ancestors, was spawned */
  union {
    uint64_t word; /* the following together */
    struct {
      uint32_t epoch;     /* epoch in which these fields were initialized */
      uint8_t inside;     /* bit k: it is in the code of query k, */
      uint8_t called : 2; /* because its hooks have seen a call of that procedure */
      bool top : 1;       /* none of its ancestors was spawned at its site */
      bool before : 1;    /* `away` is when the recording began: it may have waited for longer */
      bool back : 1;      /* its blocking region is over; it may still wait for a processor */
      uint8_t site;       /* number of the site at which it was spawned */
      uint8_t kind;       /* of a task: the kind of the strands that end with it (strands.h) */
    };
  };
};
/* `inside` and `top` in their places in `word`. */
#define QZI_SPAN_INSIDE(bits) ((uint64_t)(bits) << 32)
#define QZI_SPAN_TOP(bit)     ((uint64_t)(bit) << 42)
_Static_assert(sizeof(struct qzi_span) <= 128 && QZ_WHAT_IFS <= 2, "two cache lines; `called`");
#ifndef QZI_PUB_ONE_THREAD
/* Tasks of the thread package (tasks.h) have no descriptor: while they have none, their data are kept by the index of
 * their record. NULL: there is no room for that. */
struct qzi_span_task {
  QZ_ALIGN(64) struct qzi_span span;
};
extern struct qzi_span_task *qzi_span_tasks __attribute__((visibility("hidden")));
extern uint64_t qzi_span_tasks_bytes __attribute__((visibility("hidden")));
#endif
/* Chains of threads that are waited for together, to compute their distances from the longest. */
struct qzi_merge {
  uint64_t chains, sum;   /* number of chains, sum of their lengths */
  uint64_t first, second; /* lengths of the longest two */
};
/* Results of threads that have ended, for the thread that continues after them. */
struct qzi_span_sync {
  struct qzi_lanes most;
  uint64_t work;
  struct qzi_merge merge;
};
/* Where a thread is, for one that begins a task after that point. */
struct qzi_span_origin {
  struct qzi_lanes lanes;
  uint64_t sites;
  uint8_t inside;
};
/* The span data of a processor (its published words are in the session). */
struct qzi_span_actor;

/* Offsets in the host's data: from a thread's struct qzi_pub_thread to its struct qzi_span; from a publisher to the
 * pointer to the thread that it runs (pthread layer: to its own struct qzi_pub_thread); and from that thread to its
 * struct qzi_pub_thread. */
extern const ptrdiff_t qzi_span_offset __attribute__((visibility("hidden")));
extern const ptrdiff_t qzi_current_offset __attribute__((visibility("hidden")));
extern const ptrdiff_t qzi_current_pub __attribute__((visibility("hidden")));

#endif
