/* The functions that the publisher requires of its host: the thread package or the pthread layer.
 *
 * Owns:    the interface that both hosts implement (threadlib/src/runtime/publisher_port.c,
 *          pthread-layer/src/state/publishing.c).
 * Used by: the files of publisher/. Each function says when it is called; all are called by one kernel thread at a
 * time, except qzi_sched_current, qzi_sched_in_region and qzi_publishers_small, which hooks call at any instruction of
 * the program.
 * Must not: be included by the program, the scheduler or the objects: they use publisher.h.
 */
#ifndef QZI_PUBLISHER_PORT_H
#define QZI_PUBLISHER_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Never instrumented, even if the host is compiled with instrumentation. */
#define QZI_HOOK __attribute__((no_instrument_function))

struct qz_call;
struct qz_session;
struct qzi_pub_thread;
struct qzi_publisher;

#pragma GCC visibility push(hidden)

/* ---- what the host is ---- */

extern const uint32_t qzi_publishers_kind;  /* enum qz_publisher */
extern const uint32_t qzi_publishers_short; /* entries of a thread's stack before it needs a longer record,
                                               QZI_PUB_SHORT_ENTRIES; 0: all that it may need */
/* false: the channel gets no kernel thread of its own; threads with spare time call qzi_channel_look() now and then
 * to see whether the sampler is still there. */
extern const bool qzi_publishers_own_thread;

/* ---- its scheduler ---- */

/* Returns the thread that the calling kernel thread is running and, in *publisher, its processor; NULL in a foreign
 * kernel thread or inside the scheduler. Called by hooks: async-signal-safe. */
struct qzi_pub_thread *qzi_sched_current(struct qzi_publisher **publisher);
/* Returns the thread in whose blocking region the calling kernel thread is; NULL: in none. Called by hooks, too. */
struct qzi_pub_thread *qzi_sched_in_region(void);
/* Returns whether that processor runs a thread. For any kernel thread. The scheduler changes this state before it
 * makes the qzi_pub_ call that publishes the change. */
bool qzi_sched_busy(unsigned processor);
/* Calls qzi_pub_unplaced with the current number, holding the scheduler's lock. */
void qzi_sched_publish_unplaced(void);

/* ---- its publishers: the kernel threads that publish ---- */

bool qzi_publishers_make(void); /* sets qzi_session.call_tables and small_tables; returns false if there is no memory */
/* Returns the small call table of the calling kernel thread if it has no other; NULL: none. Called by hooks:
 * async-signal-safe.
 */
QZI_HOOK struct qz_call *qzi_publishers_small(void);
void qzi_publishers_head(struct qz_session *); /* sets qzi_session.head, under the lock of its readers */
/* Measures what qzi_calibrate() cannot know of this host; called before anything is published. */
void qzi_publishers_calibrate(struct qz_session *);
void qzi_publishers_mapped(void);        /* a session has been made */
void qzi_publishers_prepare(void);       /* before the flag is set, and a barrier executed */
void qzi_publishers_spanning(void);      /* after the flag was set for work and span, and a barrier executed */
void qzi_publishers_on(void);            /* after the flag was set, and a barrier executed */
void qzi_publishers_off(void);           /* after the flag was cleared, and a barrier executed */
void qzi_publishers_sample(void);        /* the sampler asks for samples by signals; may be called again */
void qzi_publishers_forked(void);        /* in a forked child, before anything else */
void qzi_publishers_started_again(void); /* in a child, before its channel starts */
/* Calls qzi_hot_attend() for each kernel thread if publishing is on; clears its copy at the distance `gone` (0:
 * none), which is no longer updated. */
void qzi_publishers_attend(intptr_t gone);

#pragma GCC visibility pop
#endif
