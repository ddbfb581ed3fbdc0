/* Opening a session and copying from it, trusting nothing.
 *
 * Owns:    the reader's view of a session: a read-only mapping and a checked copy of what is constant in it.
 * Writer:  whoever opened the view. Reader: the sampler, tests.
 * Must not: write to the session, believe an offset, an index or a count in it, or read past its end.
 *
 * Every function is bounded in time and memory whatever the session holds. The functions on an open view may
 * be called by several threads at once; none is for signal handlers. Reading a page of a session that nobody
 * has touched makes the kernel provide one: callers stay below thread_high and object_high.
 */
#ifndef QZ_ABI_SESSION_READ_H
#define QZ_ABI_SESSION_READ_H

#include <stddef.h>
#include <stdint.h>
#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A word that another process writes. */
#define QZ_LOAD(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define QZ_LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)

#define QZ_PROCESSORS_MAX   4096u /* more are refused */
#define QZ_COPY_RETRIES     3     /* copies repeated because they were torn, then accepted as they are */

struct qz_session_view {
  const unsigned char *base; /* mapping */
  size_t bytes;              /* of the mapping */
  int fd;                    /* owned duplicate, or -1 */
  /* checked copies of what does not change */
  uint32_t publisher, pid, flags;
  uint32_t processors;
  uint32_t call_slots, stack_limit, short_limit, crumbs_limit;
  uint64_t start_ns;
  struct qz_cost hook, lock;
  uint64_t hook_inside_ps, spawn_ps, wait_ps;
  uint64_t start_low, start_high;
  struct qz_table processor_table, thread_table, long_table, object_table, call_table, mark_table, string_table,
    path_table, span_path_table, span_table, creation_table;
  const unsigned char *long_low; /* records of threads from here on have stack_limit entries */
};

/* Maps the session in `fd` (which stays the caller's) and checks every table against the real size. The file must
 * be sealed against shrinking, so that no later read can fault. 0, or -1 with one clause in *why (static). */
int qz_session_open(struct qz_session_view *view, int fd, const char **why);
/* The same for a session in memory, which stays the caller's; it must be aligned to 128 bytes. */
int qz_session_open_memory(struct qz_session_view *view, const void *memory, size_t bytes, const char **why);
void qz_session_close(struct qz_session_view *view);

/* NULL where the index is out of range (of paths also where the program publishes none). A thread's record may become
 * another one: ask again each time. Call tables that are in use: of the thread package one for each processor, and the
 * one for threads in blocking regions, if any; of the pthread layer all (go on until NULL). */
const struct qz_processor *qz_session_processor(const struct qz_session_view *view, uint32_t index);
/* Where creation `number` is, or was; only where the table has room for any. */
const struct qz_creation *qz_session_creation(const struct qz_session_view *view, uint64_t number);
/* QZ_MARKS bytes; NULL: the session has none. */
const unsigned char *qz_session_marks(const struct qz_session_view *view);
const struct qz_thread *qz_session_thread(const struct qz_session_view *view, uint32_t index);
const struct qz_object *qz_session_object(const struct qz_session_view *view, uint32_t index);
const struct qz_path *qz_session_path(const struct qz_session_view *view, uint32_t index);
/* The same for the chains of the span; and what the actor counts of work and span. */
const struct qz_path *qz_session_span_path(const struct qz_session_view *view, uint32_t index);
const struct qz_span *qz_session_span(const struct qz_session_view *view, uint32_t index);
const struct qz_call *qz_session_calls(const struct qz_session_view *view, uint32_t index);

/* Fields that change, never more than the tables hold. */
static inline const struct qz_session *qz_session_head(const struct qz_session_view *view) {
  return (const struct qz_session *)(const void *)view->base;
}
uint32_t qz_session_thread_high(const struct qz_session_view *view);
uint32_t qz_session_object_high(const struct qz_session_view *view);

/* Copies the string at `offset`, at most bytes - 1 of it, always NUL-terminated, and returns its length. An offset
 * out of range, and 0, give the empty string. */
size_t qz_session_string(const struct qz_session_view *view, uint32_t offset, char *text, size_t bytes);

/* A copied profile stack. */
struct qz_stack_copy {
  uint64_t word;   /* packed word that the copy belongs to */
  uint32_t depth;  /* keys copied */
  uint32_t common; /* the first `common` keys are what `keys` held before */
  uint8_t invalid; /* the word made no sense: depth is 0 */
};

/* Copies the keys of the profile stack of `thread` into keys[0..], bottom first; `keys` has room for
 * view->stack_limit, and its first `held` elements are what an earlier call left there. Returns 1 if the copy is
 * consistent: the packed word was the same before and after, with QZ_WORD_FLUX clear. Else 0: the caller repeats it
 * up to QZ_COPY_RETRIES times and then accepts and flags it, since leaving it out would bias against code that
 * calls much. (Anderson & Lazowska 1990, section 3.3) */
int qz_session_copy_stack(const struct qz_session_view *view, const struct qz_thread *thread, uint64_t *keys,
                          uint32_t held, struct qz_stack_copy *copy);

#ifdef __cplusplus
}
#endif
#endif
