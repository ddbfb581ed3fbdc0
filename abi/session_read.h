/* Opening a session and copying from it, trusting nothing.
 *
 * Owns:    the reader's view of a session: a read-only mapping and a checked copy of its constant fields.
 * Writer:  the thread that opened the view. Reader: the sampler, tests.
 * Must not: write to the session, trust an offset, index or count in it, or read past its end.
 *
 * The time and memory of every function are bounded, whatever the session contains. Several threads may call the
 * functions on an open view at the same time; none is async-signal-safe. Reading a page of a session that was never
 * touched makes the kernel allocate it: callers stay below thread_high and object_high.
 */
#ifndef QZ_ABI_SESSION_READ_H
#define QZ_ABI_SESSION_READ_H

#include <stddef.h>
#include <stdint.h>
#include "session.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Loads of a word that another process writes. */
#define QZ_LOAD(at)         __atomic_load_n((at), __ATOMIC_RELAXED)
#define QZ_LOAD_ACQUIRE(at) __atomic_load_n((at), __ATOMIC_ACQUIRE)

#define QZ_PROCESSORS_MAX   4096u /* sessions with more are refused */
#define QZ_COPY_RETRIES     3     /* a torn copy is repeated so often, then accepted as it is */

struct qz_session_view {
  const unsigned char *base; /* mapping */
  size_t bytes;              /* of the mapping */
  int fd;                    /* owned duplicate, or -1 */
  /* checked copies of the constant fields */
  uint32_t publisher, pid, flags;
  uint32_t processors;
  uint32_t call_slots, stack_limit, short_limit, crumbs_limit;
  uint64_t start_ns;
  struct qz_cost hook, lock;
  uint64_t hook_inside_ps, spawn_ps, wait_ps;
  uint64_t start_low, start_high;
  struct qz_table processor_table, thread_table, long_table, object_table, call_table, mark_table, string_table,
    path_table, span_path_table, span_table, creation_table;
  const unsigned char *long_low; /* thread records from here on have stack_limit entries */
};

/* Maps the session in `fd` (which the caller keeps) and checks every table against the real size. The file must be
 * sealed against shrinking, so that no later read can fault. Returns 0, or -1 with a clause in *why (static). */
int qz_session_open(struct qz_session_view *view, int fd, const char **why);
/* The same for a session in memory, which the caller keeps; it must be aligned to 128 bytes. */
int qz_session_open_memory(struct qz_session_view *view, const void *memory, size_t bytes, const char **why);
void qz_session_close(struct qz_session_view *view);

/* These return NULL if the index is out of range (for paths also if the program publishes none). A thread's record
 * may change to another one: call the function again each time. qz_session_calls returns the call tables that are in
 * use: for the thread package one per processor, and the one for threads in blocking regions, if any; for the
 * pthread layer all (until NULL). */
const struct qz_processor *qz_session_processor(const struct qz_session_view *view, uint32_t index);
/* Returns the element of creation `number`, even if it has been overwritten. To be called only if the table has a
 * capacity. */
const struct qz_creation *qz_session_creation(const struct qz_session_view *view, uint64_t number);
/* Returns QZ_MARKS bytes; NULL: the session has none. */
const unsigned char *qz_session_marks(const struct qz_session_view *view);
const struct qz_thread *qz_session_thread(const struct qz_session_view *view, uint32_t index);
const struct qz_object *qz_session_object(const struct qz_session_view *view, uint32_t index);
const struct qz_path *qz_session_path(const struct qz_session_view *view, uint32_t index);
/* The same for the chains of the span, and for the actor's work and span. */
const struct qz_path *qz_session_span_path(const struct qz_session_view *view, uint32_t index);
const struct qz_span *qz_session_span(const struct qz_session_view *view, uint32_t index);
const struct qz_call *qz_session_calls(const struct qz_session_view *view, uint32_t index);

/* Fields that change; never more than the tables hold. */
static inline const struct qz_session *qz_session_head(const struct qz_session_view *view) {
  return (const struct qz_session *)(const void *)view->base;
}
uint32_t qz_session_thread_high(const struct qz_session_view *view);
uint32_t qz_session_object_high(const struct qz_session_view *view);

/* Copies the string at `offset`, at most bytes - 1 bytes of it, always NUL-terminated, and returns its length. An
 * offset of 0 or out of range gives the empty string. */
size_t qz_session_string(const struct qz_session_view *view, uint32_t offset, char *text, size_t bytes);

/* A copied profile stack. */
struct qz_stack_copy {
  uint64_t word;   /* the packed word to which the copy belongs */
  uint32_t depth;  /* number of keys copied */
  uint32_t common; /* the first `common` elements of `keys` were not changed */
  uint8_t invalid; /* the word was invalid: depth is 0 */
};

/* Copies the keys of the profile stack of `thread` into keys[0..], bottom first. `keys` has room for
 * view->stack_limit; its first `held` elements are from an earlier call. Returns 1 if the copy is consistent: the
 * packed word was the same before and after, with QZ_WORD_FLUX clear. Else 0: the caller repeats it up to
 * QZ_COPY_RETRIES times, and then accepts and flags it, because omitting it would bias against code with many calls.
 * (Anderson & Lazowska 1990, section 3.3) */
int qz_session_copy_stack(const struct qz_session_view *view, const struct qz_thread *thread, uint64_t *keys,
                          uint32_t held, struct qz_stack_copy *copy);

#ifdef __cplusplus
}
#endif
#endif
