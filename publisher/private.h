/* What the files of publisher/ share.
 *
 * Owns:    the description of the session of this process and its private book-keeping.
 * Writer:  session.c (the description), each file its own tables.
 * Reader:  publisher/ and nothing else.
 * Must not: be included by the scheduler or the objects; publisher.h is for them.
 */
#ifndef QZI_PUBLISH_PRIVATE_H
#define QZI_PUBLISH_PRIVATE_H

#include <stdarg.h>
#include "port.h"
#include "publisher.h"

#pragma GCC visibility push(hidden)

/* Entries at the top of a profile stack that only objects may use, so that a lock shows even where procedures overflow.
 */
#define QZI_PUB_RESERVED_ENTRIES 6
/* Of a short record, 256 bytes: what a thread that waits needs; there may be a million of those. Hooks in the program
 * know it: when an entry finds the top where it was before, there must be room, in a record of either kind
 * (quartz/hooks.h). */
#define QZI_PUB_SHORT_ENTRIES    8

/* The session of this process. The address stays the same once made: a forked child maps its own there. */
struct qzi_session {
  struct qz_session *head; /* NULL before the first one */
  size_t bytes;
  int fd; /* its memory file, -1: none (not made, or lost by fork) */
  uint32_t processors;
  uint32_t threads; /* capacity */
  uint32_t objects; /* capacity */
  uint32_t strings; /* capacity, bytes */
  uint32_t stack_limit, short_limit;
  uint64_t thread_stride, long_stride;
  char *thread_base, *long_base; /* without long records: NULL */
  struct qz_processor *processor_base;
  struct qz_call *call_base; /* call_tables of them, and one more for whoever has none of its own */
  uint32_t call_tables;      /* tables with one writer each */
  uint32_t small_tables;     /* after all these: tables of QZI_SMALL_SLOTS, with one writer each; a multiple of
                                QZI_CALL_SLOTS / QZI_SMALL_SLOTS */
  char *string_base;
  char *path_base; /* NULL: no memory was asked for it */
  uint64_t path_stride;
  char *span_path_base;      /* NULL: likewise */
  struct qz_span *span_base; /* NULL: likewise */
  uint32_t crumbs_limit;
  unsigned char *marks; /* NULL: none */
  struct qz_creation *creations;
  bool calibrated;              /* the costs below, as in struct qz_session */
  struct qz_cost hook[2], lock; /* hooks that are called, and expanded ones */
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
/* The thread's state has changed (qz_mark_at). Only the thread itself marks, or who makes it. */
static inline void qzi_session_mark(uint32_t index_plus_1) {
  if (!index_plus_1 || !qzi_session.marks) return;
  unsigned char *mark = &qzi_session.marks[qz_mark_at(index_plus_1 - 1)];
  __atomic_store_n(mark, (unsigned char)(*mark + 1), __ATOMIC_RELEASE);
}
/* Its stack may still be moved to a longer record. */
static inline bool qzi_session_is_short(const struct qz_thread *record) {
  return qzi_session.long_base && (const char *)record < qzi_session.long_base &&
         (const char *)record >= qzi_session.thread_base;
}

/* The program has limited its system calls, and any of ours may kill it: descriptors are left alone, and nobody looks
 * whether the sampler is still there. */
extern _Atomic(bool) qzi_no_system_calls;

/* session.c. Makes the session or, in a forked child, a new one in its place. 0 or an error number. */
int qzi_session_make(void);
/* Whether its descriptor still names it: the program may have closed it, and the number may be another file's. */
bool qzi_session_fd_valid(void);
/* Closes it; the next qzi_session_make makes another. */
void qzi_session_forget_file(void);
/* Makes the pages of a part of the session, which would else be made one by one when they are touched. */
void qzi_session_populate(const void *from, size_t bytes);
/* Publishing on and off; by one kernel thread at a time (the channel's, or main before it). */
void qzi_session_on(void);
void qzi_session_off(void);
/* Publishing is on, and the clock page there: work and span are recorded from now on, if that is wanted. */
void qzi_session_span(void);
/* Writes what the kernel counts of this process, where it may be asked. */
void qzi_session_usage(struct qz_usage *usage);
/* One line on stderr. */
__attribute__((format(printf, 1, 2))) void qzi_pub_complain(const char *format, ...);
/* Addresses that the session may take: a quarter of what the process may have (RLIMIT_AS), none where that is little:
 * a program that is short of them would fail in our stead. */
uint64_t qzi_pub_space(void);
/* Zeroed private memory of which only touched pages exist; NULL: none. */
void *qzi_pub_reserve(size_t bytes);
/* Number from the environment, `otherwise` where it is not set; outside of low..high: complaint and the nearer bound.
 */
uint64_t qzi_pub_setting(const char *name, uint64_t otherwise, uint64_t low, uint64_t high);

/* channel.c */
void qzi_channel_look(void);
void qzi_channel_start(const char *follower);
void qzi_channel_stop(void);
void qzi_channel_forked(void);
/* Hands the sampler a descriptor, which stays the caller's. false: none records this process. Any thread. */
bool qzi_channel_pass(uint32_t type, int fd);

/* path.c */
struct qz_path *qzi_path_actor(uint32_t index);
/* The sampler's clock page, whose descriptor stays the caller's; a bad one is left alone. */
void qzi_path_clock_map(int fd);

/* span.c. Whether work and span are to be recorded, from now on. */
bool qzi_span_prepare(void);
/* By the host: all publishers do (qzi_span_connect). */
void qzi_publishers_span(void);
/* The actor of that index, made in *room or kept there; false: not recorded, or no memory. since: clock of the thread
 * that it runs; 0: it begins a new one. os_tid: its kernel thread, where that may run threads already; 0: it does not.
 */
bool qzi_span_connect(struct qzi_span_actor **room, uint32_t index, uint64_t since, uint32_t os_tid);

/* thread_records.c */
int qzi_threads_make(void);
void qzi_threads_forked(void);
void qzi_threads_mapped(void);
void qzi_threads_pool_publisher(struct qzi_publisher *publisher);
void qzi_threads_return_pool(struct qzi_publisher *publisher);

/* call_tables.c. Counts in the table that a hot line names, from the first slot on, and returns the slot, where the
 * caller may keep something beside the count. NULL: it has none. */
struct qz_call *qzi_call_count(uint64_t calls, uint32_t first, uint64_t site, uint64_t key);
/* The slot that qzi_pub_slot() leads to, without counting. */
struct qz_call *qzi_call_slot(uint64_t calls, uint64_t site, uint64_t key);
extern const size_t qzi_pairs_bytes; /* of struct qzi_publisher.pairs */
/* Counts for those that have no table, or a small one: in that, where it has room, else in the table for them all. */
void qzi_call_count_shared(uint64_t site, uint64_t key);
/* The slot of a pair in a small table, or a free one taken for it; NULL: none. */
struct qz_call *qzi_call_small(struct qz_call *table, uint64_t site, uint64_t key);
static inline struct qz_call *qzi_small_table(uint32_t index) {
  return qzi_session.call_base + ((size_t)qzi_session.call_tables + 1) * QZI_CALL_SLOTS +
         (size_t)index * QZI_SMALL_SLOTS;
}

/* object_records.c */
/* First record of the object's place, of which there is one for each; the record that objects of that place share. */
uint32_t qzi_object_place(uint32_t index);
uint32_t qzi_object_shared(uint32_t index);
int qzi_objects_make(void);
void qzi_objects_forked(void);
void qzi_objects_mapped(void);

/* names.c */
void qzi_names_forked(void);
void qzi_names_mapped(void);

/* calibrate.c */
void qzi_calibrate(void);
/* Least time of a number of batches, picoseconds for each of the `count` rounds of one: what was interrupted does not
 * count. */
uint64_t qzi_least_ps(void (*batch)(void), uint64_t count);
/* What `with` takes longer than `without`, likewise, from batches of both in turn. `certain`: it adds something for
 * sure, so it is tried for longer where nothing shows; 0 then says that this machine let nothing be measured. */
uint64_t qzi_added_ps(void (*with)(void), void (*without)(void), uint64_t count, bool certain);
/* Of what an operation adds between work that waits and between work that keeps the processor busy. */
struct qz_cost qzi_cost(uint64_t waiting, uint64_t busy);
/* calibration.c: the results as text for the next process; its length, 0: there are none. And such results, from the
 * environment, in place of qzi_calibrate: true: they are in qzi_session now. */
size_t qzi_calibration_text(char *text, size_t bytes);
bool qzi_calibration_take(void);
/* Writes what hooks cost into the session: expanded ones, where a module has them. */
void qzi_calibrated(void);

/* hot_line.c. A hot line that holds nothing: makes the next hook of a kernel thread look for its record. */
extern struct qz_thread qzi_attend;
/* A table in which nothing is found and nothing is put: calls are counted in the one for all others. */
extern struct qz_call qzi_no_calls[QZI_CALL_SLOTS];
#if defined(__x86_64__)
#define QZI_STACK_UNKNOWN UINT64_C(0x7ffffffff000) /* where the stacks of a process end at the latest */
#else
#define QZI_STACK_UNKNOWN UINT64_C(0xfffffffff000)
#endif
void qzi_hooks_init(void);
/* 1: a module of the program has its hooks expanded in it. */
extern bool qzi_hooks_expanded;

/* When publishing begins and ends, for a kernel thread whose qzi_hot is at `own` and its copies: the next hook looks
 * for its record, unless the thread has found it already; hooks do nothing. Under the lock of the list of kernel
 * threads. */
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
