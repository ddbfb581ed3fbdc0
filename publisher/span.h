/* Work and span: how long the longest chain of strands to a thread is (docs/reference/path.md, "Work and span").
 *
 * Owns:    struct qzi_span of a thread, struct qzi_span_actor of a processor.
 * Writer:  who runs or holds the thread; the kernel thread that is the processor.
 * Reader:  the same; the sampler reads what stands in the session.
 * Must not: cost anything while --span is off: calls come from branches that are there for the time path anyway (a
 * publisher whose `path` is NULL), or from slow paths.
 *
 * A strand is what a thread does between two events. Its length, by a clock that stands still while the kernel runs
 * others, is added to the lengths of its thread; at a spawn the child begins with its parent's, where a thread waited
 * for others the longest goes on. Source: Oyama, Taura, Yonezawa, "Online computation of critical paths for
 * multithreaded languages"; Schardl et al., "The Cilkprof scalability profiler", SPAA 2015 (work and span of sites).
 */
#ifndef QZI_PUBLISH_SPAN_H
#define QZI_PUBLISH_SPAN_H

#ifndef QZI_PUBLISHER_H
#error "include publisher.h"
#endif

/* Lengths of chains to one point, each the longest by its own measure, in ticks. */
struct qzi_lanes {
  uint64_t length;               /* strands */
  uint64_t burdened;             /* and what the package does for itself, and what it takes to begin elsewhere */
  uint64_t typical;              /* no strand longer than is usual for its kind */
  uint64_t crumb;                /* of `length`: name of the last crumb on it */
  uint64_t what_if[QZ_WHAT_IFS]; /* strands, if they took what is asked (what_if.h) */
};

/* Of a thread. */
struct qzi_span {
  struct qzi_lanes now; /* to the end of its last strand */
  struct qzi_lanes in;  /* of those that let it go on, while it waits */
  uint64_t work;        /* its strands and those of the threads that it has waited for */
  uint64_t start;       /* length where it began */
  uint64_t away;        /* while it does not run: when it gave up its processor; then: for how long, ticks */
  uint64_t sites;       /* one bit for each site that it, or one that it descends from, was spawned at */
  uint32_t epoch;       /* in which all this was begun */
  uint8_t site;         /* number of the site that it was spawned at */
  uint8_t top;          /* 1: none that it descends from was spawned there */
  uint8_t inside;       /* bit k: what it does belongs to what the k-th question is about, */
  uint8_t called;       /* for it has called that, by its hooks */
};
/* Of a processor (publishing, its words in the session). */
struct qzi_span_actor;

/* Where things are with a host: from a thread's struct qzi_pub_thread to its struct qzi_span; from a publisher to the
 * pointer to the thread that it runs (pthread layer: to its own struct qzi_pub_thread), and from that thread on. */
extern const ptrdiff_t qzi_span_offset __attribute__((visibility("hidden")));
extern const ptrdiff_t qzi_current_offset __attribute__((visibility("hidden")));
extern const ptrdiff_t qzi_current_pub __attribute__((visibility("hidden")));

/* While publishing: work and span are recorded. */
#define QZI_SPANNING 2u
#ifdef QZI_WITHOUT_CHAINS
#define qzi_spanning() 0
#else
#define qzi_spanning() \
  __builtin_expect((atomic_load_explicit(&qzi_publishing_flag, QZI_PUBLISHING_ORDER) & QZI_SPANNING) != 0, 0)
#endif

#pragma GCC visibility push(hidden)
/* What qzi_path_give and qzi_path_take do where p->path is NULL: both chains. */
void qzi_span_give(struct qzi_publisher *p, struct qzi_pub_thread *to, unsigned arrival);
void qzi_span_take(struct qzi_publisher *p, const struct qzi_pub_thread *t);

/* The running thread spins, and no longer: that is neither work nor span. */
void qzi_span_spins(struct qzi_publisher *p);
void qzi_span_goes_on(struct qzi_publisher *p);
/* The running thread slept, or its wait ended by time: its span grows by how long it was away. */
void qzi_span_slept(struct qzi_publisher *p);
/* Since then (qzi_span_aside_begins) the package has worked for itself: no part of work and span, but of the burdened
 * span. */
uint64_t qzi_span_aside_begins(struct qzi_publisher *p);
void qzi_span_aside(struct qzi_publisher *p, uint64_t since);

/* Since then (qzi_span_stands_since, by the same kernel thread) the caller has watched for another kernel thread that
 * does a few instructions, which takes long only where that one waits for a CPU: a wait for a CPU, too. */
uint64_t qzi_span_stands_since(void);
void qzi_span_stood(uint64_t since);

/* Chains of threads that are waited for together: how far they are behind the longest. */
struct qzi_merge {
  uint64_t chains, sum;   /* how many, their lengths added up */
  uint64_t first, second; /* the longest two */
};
/* The running thread runs spawned calls on its own stack: `sync` is what it keeps until the last one has ended. */
struct qzi_span_sync {
  struct qzi_lanes most;
  uint64_t work;
  struct qzi_merge merge;
  uint64_t site;
};
void qzi_span_sync_begins(struct qzi_publisher *p, uint64_t site, struct qzi_span_sync *sync);
/* The call, which is the running thread now, has ended; the next strand begins. */
void qzi_span_call_ended(struct qzi_publisher *p, struct qzi_span_sync *sync);
/* The caller goes on. elsewhere: of calls that ended there, or NULL. */
void qzi_span_sync_ended(struct qzi_publisher *p, struct qzi_span_sync *sync, const struct qzi_span_sync *elsewhere);
/* Where the running thread is; by another thread, one of a pool: it begins something after that, and what it did until
 * now is no strand. */
struct qzi_span_origin {
  struct qzi_lanes lanes;
  uint64_t sites;
  uint8_t inside;
};
void qzi_span_origin(struct qzi_publisher *p, struct qzi_span_origin *origin);
void qzi_span_begins_after(struct qzi_publisher *p, const struct qzi_span_origin *origin);
/* The running thread, which ends, is added to `merged`. */
void qzi_span_merge(struct qzi_publisher *p, struct qzi_span_sync *merged);
/* The running thread has joined `ended`, by a call that returns to `site`. The same in two steps, for who keeps the
 * result. */
void qzi_span_joined(struct qzi_publisher *p, const struct qzi_pub_thread *ended, uint64_t site);
void qzi_span_result(const struct qzi_pub_thread *ended, struct qzi_span_sync *result);
void qzi_span_after(struct qzi_publisher *p, const struct qzi_span_sync *result, uint64_t site);
/* What the running thread has done until now happens before whatever `lanes` is given to; and the other way round, by
 * way of an object (0: none). */
void qzi_span_put(struct qzi_publisher *p, struct qzi_lanes *lanes);
void qzi_span_get(struct qzi_publisher *p, const struct qzi_lanes *lanes, uint32_t object);
/* The same, where `lanes` stand with the object's record. */
void qzi_span_leave_with(struct qzi_publisher *p, uint32_t object);
void qzi_span_take_from(struct qzi_publisher *p, uint32_t object);
/* The longest of both. */
void qzi_span_max(struct qzi_lanes *to, const struct qzi_lanes *from);
struct qzi_span *qzi_span_of(const struct qzi_pub_thread *t);

/* The running thread goes into what the questions of these bits are about, or has left it. */
void qzi_span_enters(struct qzi_publisher *p, uint8_t bits);
void qzi_span_leaves(struct qzi_publisher *p, uint8_t bits);

/* By the kernel thread that ends the program: its lengths are the run's. */
void qzi_span_ended(struct qzi_publisher *p);
#pragma GCC visibility pop

#endif
