/* Work and span: the length of the longest chain of strands that leads to a thread (docs/reference/path.md, "Work and
 * span").
 *
 * Owns:    struct qzi_span of a thread, struct qzi_span_actor of a processor.
 * Writer:  the processor that runs or holds the thread; the kernel thread that is the processor.
 * Reader:  the same; the sampler reads what is in the session.
 * Must not: cost anything while --span is off: the functions are called from branches that the time path needs anyway
 * (a publisher whose `path` is NULL), or from slow paths.
 *
 * A strand is what a thread does between two events. Its length, by a clock that stops while the kernel runs other
 * threads, is added to the lengths of its thread. At a spawn the child starts with its parent's lengths; where a thread
 * waited for others, the longest continues. Source: Oyama, Taura, Yonezawa, "Online computation of critical paths for
 * multithreaded languages"; Schardl et al., "The Cilkprof scalability profiler", SPAA 2015 (work and span of sites).
 */
#ifndef QZI_PUBLISH_SPAN_H
#define QZI_PUBLISH_SPAN_H

#include "base.h"
#include "span_data.h"

/* Bit of the flag: publishing is on, and work and span are recorded. */
#define QZI_SPANNING 2u
#ifdef QZI_WITHOUT_CHAINS
#define qzi_spanning() 0
#else
#define qzi_spanning() \
  __builtin_expect((atomic_load_explicit(&qzi_publishing_flag, QZI_PUBLISHING_ORDER) & QZI_SPANNING) != 0, 0)
#endif

#pragma GCC visibility push(hidden)
#ifndef QZI_PUB_ONE_THREAD
/* qzi_span_spawned: the running thread, or task, spawns one (what follows in the usual case: span_tasks.h).
 * qzi_span_becomes: t is the thread that a task becomes. qzi_span_became: so have all those that the caller's processor
 * runs. These two are async-signal-safe. qzi_span_became_since: the running thread was the task with these data until a
 * signal handler's hook made a thread of it; they were changed meanwhile, and are its data. */
void qzi_span_spawned(struct qzi_publisher *p, uint32_t index, uint64_t start, uint64_t site);
void qzi_span_becomes(const struct qzi_pub_thread *t);
void qzi_span_became(struct qzi_publisher *p);
void qzi_span_became_since(struct qzi_publisher *p, const struct qzi_span *task);
#endif

/* Used by qzi_path_give (the first one for a thread that is being created), qzi_path_take and qzi_path_turns if p->path
 * is NULL; they update both chains. The last one reads the clock once: the switch counts as `to`'s. */
void qzi_span_created(struct qzi_publisher *p, struct qzi_pub_thread *to);
void qzi_span_give(struct qzi_publisher *p, struct qzi_pub_thread *to, unsigned arrival);
void qzi_span_take(struct qzi_publisher *p, const struct qzi_pub_thread *t);
void qzi_span_turns(struct qzi_publisher *p, struct qzi_pub_thread *from, const struct qzi_pub_thread *to);

/* The running thread begins to spin, and stops: the time between is neither work nor span. */
void qzi_span_spins(struct qzi_publisher *p);
void qzi_span_goes_on(struct qzi_publisher *p);
/* The same as the second, for a thread that was in a library meanwhile, which may have waited without its processor. */
void qzi_span_waited_busy(struct qzi_publisher *p);
/* The running thread has slept for so long; or its wait timed out, and its span grows by the time until the deadline.
 * From then on it waited for a processor. */
void qzi_span_slept(struct qzi_publisher *p, uint64_t ns);
void qzi_span_timed_out(struct qzi_publisher *p, uint64_t deadline_ns);
/* The thread's blocking region is over: its span will grow by the time since its beginning. Called by the kernel thread
 * that was in it. */
void qzi_span_io_over(const struct qzi_pub_thread *t);
/* Between the two calls the package has worked for itself: that time is not part of work and span, only of the
 * burdened span. */
uint64_t qzi_span_aside_begins(struct qzi_publisher *p);
void qzi_span_aside(struct qzi_publisher *p, uint64_t since);

/* Between the two calls, by the same kernel thread, the caller has waited for another kernel thread to execute a few
 * instructions. That takes long only if the other one waits for a CPU, so it is counted as waiting for a CPU, too. */
uint64_t qzi_span_stands_since(void);
void qzi_span_stood(uint64_t since);

/* The running thread begins to run spawned calls on its own stack, or to wait for them, in a call that returns to
 * `site`. */
void qzi_span_sync_begins(struct qzi_publisher *p, uint64_t site);
/* The call, which is still the running thread, has ended; the next strand begins. `parent` called it. */
void qzi_span_call_ended(struct qzi_publisher *p, const struct qzi_pub_thread *parent, struct qzi_merge *merge);
/* The same together with qzi_span_sync_ended, for a thread that was joined, in a call that returns to `site`. */
void qzi_span_join_ended(struct qzi_publisher *p, const struct qzi_pub_thread *joiner, uint64_t site);
/* The parent, which is the running thread, continues. merge: the calls that it ran itself. elsewhere: results of calls
 * that ended on other processors, or NULL. */
void qzi_span_sync_ended(struct qzi_publisher *p, uint64_t site, struct qzi_merge *merge,
                         const struct qzi_span_sync *elsewhere);
/* qzi_span_origin stores where the running thread is; qzi_span_begins_after is called by another thread, one of a
 * pool, that begins a task after that point: what it did until now is not counted as a strand. */
void qzi_span_origin(struct qzi_publisher *p, struct qzi_span_origin *origin);
void qzi_span_begins_after(struct qzi_publisher *p, const struct qzi_span_origin *origin);
/* Adds the running thread, which is ending, to `merged`. */
void qzi_span_merge(struct qzi_publisher *p, struct qzi_span_sync *merged);
/* The running thread has joined `ended`, in a call that returns to `site`. The other two do the same in two steps,
 * for a caller that stores the result. */
void qzi_span_joined(struct qzi_publisher *p, const struct qzi_pub_thread *ended, uint64_t site);
void qzi_span_result(const struct qzi_pub_thread *ended, struct qzi_span_sync *result);
void qzi_span_after(struct qzi_publisher *p, const struct qzi_span_sync *result, uint64_t site);
/* A task: a call that the running thread, which may be in one itself, leaves to whichever thread of its team has time.
 * qzi_span_task_made: by the thread that makes it; false: nothing is recorded. qzi_span_task_begins: the running thread
 * executes it, and is itself suspended, in `before`; the strand that it was in has been ended, or it waited.
 * qzi_span_task_ended: the task has ended; the thread goes on as it was before. qzi_span_precedes: a task that has not
 * begun does so after `lanes`. qzi_span_results adds results. */
bool qzi_span_task_made(struct qzi_publisher *p, struct qzi_span *task, uint64_t start, uint64_t site);
void qzi_span_task_begins(struct qzi_publisher *p, const struct qzi_span *task, struct qzi_span *before);
void qzi_span_task_ended(struct qzi_publisher *p, uint64_t start, uint64_t site, const struct qzi_span *before,
                         struct qzi_span_sync *result);
/* qzi_span_call_of_tasks: the running thread makes a call at `site` that makes tasks, the first of which begins with
 * `start`, and waits for them; false: nothing is recorded. For the site it counts as one task that contains them all.
 * qzi_span_call_of_tasks_ended: the thread goes on after them. */
bool qzi_span_call_of_tasks(struct qzi_publisher *p, struct qzi_span *call, uint64_t start, uint64_t site);
void qzi_span_call_of_tasks_ended(struct qzi_publisher *p, const struct qzi_span *call, uint64_t start, uint64_t site);
void qzi_span_precedes(struct qzi_span *task, const struct qzi_lanes *lanes);
void qzi_span_results(struct qzi_span_sync *to, const struct qzi_span_sync *from);
/* qzi_span_put: what the running thread has done until now precedes whatever receives `lanes`. qzi_span_get: what
 * `lanes` contains precedes what the running thread does next, because of an object (0: none). */
void qzi_span_put(struct qzi_publisher *p, struct qzi_lanes *lanes);
void qzi_span_get(struct qzi_publisher *p, const struct qzi_lanes *lanes, uint32_t object);
/* The same, with lanes in the object's record. */
void qzi_span_leave_with(struct qzi_publisher *p, uint32_t object);
void qzi_span_take_from(struct qzi_publisher *p, uint32_t object);
/* Sets each lane of `to` to the maximum of both. */
void qzi_span_max(struct qzi_lanes *to, const struct qzi_lanes *from);
struct qzi_span *qzi_span_of(const struct qzi_pub_thread *t);

/* The running thread enters or leaves code that the queries with these bits refer to. */
void qzi_span_enters(struct qzi_publisher *p, uint8_t bits);
void qzi_span_leaves(struct qzi_publisher *p, uint8_t bits);

/* To be called by the kernel thread that ends the program: its lengths become those of the run. */
void qzi_span_ended(struct qzi_publisher *p);
#pragma GCC visibility pop

#endif
