/* What the files of publisher/ share.
 *
 * Owns:    the description of this process's session and its private bookkeeping.
 * Writer:  session.c (the description), each file its own tables.
 * Reader:  publisher/ and nothing else.
 * Must not: be included by the scheduler or the objects, which use publisher.h; include more of that than base.h.
 */
#ifndef QZI_PUBLISH_PRIVATE_H
#define QZI_PUBLISH_PRIVATE_H

#include <stdarg.h>
#include "base.h"
#include "port.h"

#pragma GCC visibility push(hidden)

/* Number of entries at the end of a profile stack that only objects may use, so that a lock is visible even if
 * procedures overflow the stack.
 */
#define QZI_PUB_RESERVED_ENTRIES 6
/* Number of entries of a short record, 256 bytes: as many as a waiting thread needs, since there may be a million of
 * those. Hooks in the program depend on it: if an entry finds the top where it guessed, a record of either kind must
 * have room (quartz/hooks.h). */
#define QZI_PUB_SHORT_ENTRIES    8

/* The session of this process. Its address does not change: a forked child maps its own session there. */
struct qzi_session {
  struct qz_session *head; /* NULL before the first session */
  size_t bytes;
  int fd; /* its memory file; -1: none (not made, or lost by fork) */
  uint32_t processors;
  uint32_t threads; /* capacity */
  uint32_t objects; /* capacity */
  uint32_t strings; /* capacity, bytes */
  uint32_t stack_limit, short_limit;
  uint64_t thread_stride, long_stride;
  char *thread_base, *long_base; /* NULL without long records */
  struct qz_processor *processor_base;
  struct qz_call *call_base; /* call_tables tables, and one that kernel threads without a table share */
  uint32_t call_tables;      /* tables with one writer each */
  uint32_t small_tables;     /* tables of QZI_SMALL_SLOTS after all these, with one writer each; a multiple of
                                QZI_CALL_SLOTS / QZI_SMALL_SLOTS */
  char *string_base;
  char *path_base; /* NULL: not requested */
  uint64_t path_stride;
  char *span_path_base;      /* NULL: not requested */
  struct qz_span *span_base; /* NULL: not requested */
  uint32_t crumbs_limit;
  unsigned char *marks; /* NULL: none */
  struct qz_creation *creations;
  bool calibrated;              /* the costs below are known; as in struct qz_session */
  struct qz_cost hook[2], lock; /* hook: called hooks, expanded hooks */
  uint64_t hook_inside_ps[2], spawn_ps, wait_ps;
};
#define QZI_PUB_STRING_BYTES (4u << 20)
#define QZI_SMALL_SLOTS      64u
extern struct qzi_session qzi_session;

static inline struct qz_thread *qzi_session_thread(uint32_t index) {
  return (struct qz_thread *)(qzi_session.thread_base + index * qzi_session.thread_stride);
}
static inline struct qz_thread *qzi_session_long(uint32_t index) {
  return (struct qz_thread *)(qzi_session.long_base + index * qzi_session.long_stride);
}
/* Marks the thread's state as changed (qz_mark_at). Only the thread itself or its creator may mark it. */
static inline void qzi_session_mark(uint32_t index_plus_1) {
  if (!index_plus_1 || !qzi_session.marks) return;
  unsigned char *mark = &qzi_session.marks[qz_mark_at(index_plus_1 - 1)];
  __atomic_store_n(mark, (unsigned char)(*mark + 1), __ATOMIC_RELEASE);
}
/* Returns whether the stack can still be moved to a longer record. */
static inline bool qzi_session_is_short(const struct qz_thread *record) {
  return qzi_session.long_base && (const char *)record < qzi_session.long_base &&
         (const char *)record >= qzi_session.thread_base;
}

/* The program has restricted its system calls, and any call by Quartz may kill it: descriptors are not used any
 * more, and the sampler's presence is not checked. */
extern _Atomic(bool) qzi_no_system_calls;

/* session.c. Makes the session or, in a forked child, a new one in its place. Returns 0 or an error number. */
int qzi_session_make(void);
/* Returns whether the descriptor still refers to the session: the program may have closed it and reused the number. */
bool qzi_session_fd_valid(void);
/* Closes the session's file; the next qzi_session_make makes another. */
void qzi_session_forget_file(void);
/* Populates the pages of a part of the session, to avoid a page fault for each. */
void qzi_session_populate(const void *from, size_t bytes);
/* Switch publishing on and off; called by one kernel thread at a time (the channel's, or main before it). */
void qzi_session_on(void);
void qzi_session_off(void);
/* Starts recording of work and span, if it is requested. Publishing must be on, and the clock page mapped. */
void qzi_session_span(void);
/* Writes the kernel's resource usage of this process, unless system calls are restricted. */
void qzi_session_usage(struct qz_usage *usage);
/* The same when publishing or the program ends, with what its child processes have used. */
void qzi_session_usage_end(void);
/* Writes one line to stderr. */
__attribute__((format(printf, 1, 2))) void qzi_pub_complain(const char *format, ...);
/* The kernel refused the program a thread with that error: where Quartz's own threads may be why, says so, once. */
void qzi_pub_thread_refused(int error);
/* Returns the bytes of address space that the session may use: a quarter of the process's limit (RLIMIT_AS), 0 if
 * that is small: a program that is short of address space would fail because of Quartz. */
uint64_t qzi_pub_space(void);
/* Returns zeroed private memory in which only touched pages exist; NULL: none. */
void *qzi_pub_reserve(size_t bytes);
/* Returns a number from the environment, `otherwise` if the variable is not set. A value outside low..high is reported,
 * and the nearer bound is used.
 */
uint64_t qzi_pub_setting(const char *name, uint64_t otherwise, uint64_t low, uint64_t high);

/* channel.c */
void qzi_channel_look(void);
void qzi_channel_start(const char *follower);
void qzi_channel_stop(void);
void qzi_channel_forked(void);
/* Sends the sampler a descriptor, which the caller keeps. Returns false if no sampler records this process. Any
 * thread. */
bool qzi_channel_pass(uint32_t type, int fd);

/* crumbs.c */
struct qz_path *qzi_path_actor(uint32_t index);
/* Maps the sampler's clock page; the caller keeps the descriptor. An invalid one is ignored. */
void qzi_path_clock_map(int fd);

/* span.c. Returns whether work and span are to be recorded from now on. */
bool qzi_span_prepare(void);
/* Implemented by the host: connects all publishers (qzi_span_connect). */
void qzi_publishers_span(void);
/* Makes the actor of that index in *room, or keeps the one there; returns false if nothing is recorded or there is no
 * memory. since: the clock of the thread that it runs; 0: it starts a new one. os_tid: its kernel thread if it may
 * already run threads, else 0.
 */
bool qzi_span_connect(struct qzi_span_actor **room, uint32_t index, uint64_t since, uint32_t os_tid);

/* thread_records.c */
int qzi_threads_make(void);
void qzi_threads_forked(void);
void qzi_threads_mapped(void);
void qzi_threads_pool_publisher(struct qzi_publisher *publisher);
void qzi_threads_return_pool(struct qzi_publisher *publisher);

/* call_tables.c. Counts in the table that a hot line refers to, searching from slot `first` on. Returns the slot, in
 * which the caller may store something beside the count; NULL: it has none. */
struct qz_call *qzi_call_count(uint64_t calls, uint32_t first, uint64_t site, uint64_t key);
/* Returns the slot that qzi_pub_slot() leads to, without counting. */
struct qz_call *qzi_call_slot(uint64_t calls, uint64_t site, uint64_t key);
extern const size_t qzi_pairs_bytes; /* size of struct qzi_publisher.pairs */
/* Counts for a kernel thread without a table, or with a small one: in the small one if it has room, else in the
 * shared table. */
void qzi_call_count_shared(uint64_t site, uint64_t key);
/* Returns the slot of a pair in a small table, or a free one taken for it; NULL: none. */
struct qz_call *qzi_call_small(struct qz_call *table, uint64_t site, uint64_t key);
static inline struct qz_call *qzi_small_table(uint32_t index) {
  return qzi_session.call_base + ((size_t)qzi_session.call_tables + 1) * QZI_CALL_SLOTS +
         (size_t)index * QZI_SMALL_SLOTS;
}

/* object_records.c */
/* Return the first record of the object's place, which identifies the place, and the record that objects of the
 * place share. */
uint32_t qzi_object_place(uint32_t index);
uint32_t qzi_object_shared(uint32_t index);
int qzi_objects_make(void);
void qzi_objects_forked(void);
bool qzi_objects_free(void); /* the calling thread does not have the lock of the objects' records */
void qzi_objects_mapped(void);

/* names.c */
void qzi_names_forked(void);
void qzi_names_mapped(void);

/* calibrate.c */
void qzi_calibrate(void);
/* Returns the minimum time over a number of batches, in ps per each of the `count` rounds of a batch; the minimum
 * excludes interruptions. */
uint64_t qzi_least_ps(void (*batch)(void), uint64_t count);
/* Returns by how much `with` takes longer than `without`, in ps per round, from alternating batches. `certain`:
 * there must be a difference, so it is measured for longer if none appears; 0 then means that measuring failed on
 * this machine. */
uint64_t qzi_added_ps(void (*with)(void), void (*without)(void), uint64_t count, bool certain);
/* Returns the range of costs of an operation between work that waits and work that keeps the CPU busy. */
struct qz_cost qzi_cost(uint64_t waiting, uint64_t busy);
/* calibration.c. Writes the results as text for the next process, and returns its length; 0: there are none.
 * qzi_calibration_take reads such results from the environment, in place of qzi_calibrate; true: they are now in
 * qzi_session. */
size_t qzi_calibration_text(char *text, size_t bytes);
bool qzi_calibration_take(void);
/* Writes the cost of hooks into the session: that of expanded ones if a module has them. */
void qzi_calibrated(void);

/* hot_line.c. A hot line without a thread: makes the next hook of a kernel thread look for its record. */
extern struct qz_thread qzi_attend;
/* A table in which nothing is found or inserted: calls are counted in the shared table. */
extern struct qz_call qzi_no_calls[QZI_CALL_SLOTS];
#if defined(__x86_64__)
#define QZI_STACK_UNKNOWN UINT64_C(0x7ffffffff000) /* upper bound of the stack addresses of a process */
#else
#define QZI_STACK_UNKNOWN UINT64_C(0xfffffffff000)
#endif
void qzi_hooks_init(void);
/* True if a module of the program has expanded hooks. */
extern bool qzi_hooks_expanded;

/* Called when publishing begins and ends, for a kernel thread whose qzi_hot is at `own`, and for its copies.
 * qzi_hot_attend: the next hook looks for its record, unless the thread has found it already. qzi_hot_clear: hooks
 * do nothing. Under the lock of the list of kernel threads. */
static inline void qzi_hot_attend(uint64_t **own) {
  for (uint32_t k = 0; k <= QZI_HOT_COPIES; k++) {
    intptr_t distance = k < QZI_HOT_COPIES ? qzi_hot_distance[k] : 0;
    uint64_t *none = NULL;
    if (distance || k == QZI_HOT_COPIES)
      __atomic_compare_exchange_n((uint64_t **)((char *)own + distance), &none, &qzi_attend.word, false,
                                  __ATOMIC_RELEASE, __ATOMIC_RELAXED);
  }
}
static inline void qzi_hot_gone(uint64_t **own, intptr_t gone) {
  if (gone) __atomic_store_n((uint64_t **)((char *)own + gone), NULL, __ATOMIC_RELEASE);
}
static inline void qzi_hot_clear(uint64_t **own) {
  __atomic_store_n(own, NULL, __ATOMIC_RELEASE);
  qzi_hot_set_copies(own, NULL);
}

#pragma GCC visibility pop
#endif
