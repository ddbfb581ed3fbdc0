/* Reading a profile file, trusting nothing.
 *
 * Owns:    a checked copy of a profile in memory.
 * Writer:  qz_profile_load. Reader: reports, the live screen, tests.
 * Must not: map the file (truncation of a mapped file would kill the reader), compute a metric, or return an index that
 * is out of range.
 *
 * After qz_profile_load has returned 0: every entity, stack node, string and module index in the copy is inside its
 * section; a node's parent has a lower index (parent < node); every string ends in NUL; states and kinds are known
 * values; all arrays are aligned. A qz_profile_copy must be used by one thread at a time; not async-signal-safe.
 */
#ifndef QZ_ABI_PROFILE_READ_H
#define QZ_ABI_PROFILE_READ_H

#include <stddef.h>
#include <stdint.h>
#include "profile.h"
#include "profile_fault.h"

#ifdef __cplusplus
extern "C" {
#endif

struct qz_profile_copy {
  struct qz_profile head; /* section offsets in it are those of the file; counts are those of the copy */
  int abandoned;          /* 1: status is QZ_PROFILE_RECORDING but the sampler has died */
  int half; /* 1: one snapshot is only partly added (the sampler died in it, or is faster than this copy) */
  const char *strings;
  size_t strings_bytes;
  const struct qz_entity *entities;
  size_t entities_count; /* [0] is zero */
  const struct qz_stack_node *stacks;
  size_t stacks_count; /* [0] is zero: the empty stack */
  const struct qz_tuple *tuples;
  size_t tuples_count;
  const struct qz_balance *balance;
  size_t balance_count;
  const struct qz_object_stats *objects;
  size_t objects_count;
  const struct qz_blame *blame;
  size_t blame_count;
  const struct qz_call_edge *calls;
  size_t calls_count;
  const struct qz_thread_stats *threads;
  size_t threads_count;
  const struct qz_module *modules;
  size_t modules_count;
  const struct qz_timeline *timeline;
  size_t timeline_count;
  const struct qz_processor_stats *processors;
  size_t processors_count;
  const struct qz_wait_overlap *wait_overlap;
  size_t wait_overlap_count;
  const struct qz_on_path *on_path;
  size_t on_path_count;
  const struct qz_path_segment *segments;
  size_t segments_count;
  const struct qz_on_span *on_span;
  size_t on_span_count;
  const struct qz_span_site *sites;
  size_t sites_count;
  const struct qz_level *levels;
  size_t levels_count;
  const struct qz_what_if_answer *what_if;
  size_t what_if_count;
  const struct qz_recent_path *recent_paths;
  size_t recent_paths_count;
  const struct qz_path_segment *recent_segments;
  size_t recent_segments_count;
  const struct qz_instruction *instructions;
  size_t instructions_count;
  const struct qz_slice *slices;
  size_t slices_count;
  const struct qz_unwinding *unwinding; /* row k: of module k - 1 */
  size_t unwinding_count;
  const struct qz_shared_line *lines;
  size_t lines_count;
  const struct qz_counted *counted;
  size_t counted_count;
  const struct qz_message_event *messages;
  size_t messages_count;
  void *memory; /* the memory of everything above */
};

/* Reads and checks the file. In a finished one every byte is checked, by checksums; in an unfinished one (`status`
 * is then QZ_PROFILE_RECORDING) only consistency. A file that is being recorded is read again, several times if
 * necessary, until the copy lies between two snapshots. Returns QZ_FAULT_NONE, 0; or what is wrong, with a
 * clause in `why` that says so (errno is then the system's error, or 0). */
enum qz_profile_fault qz_profile_load(struct qz_profile_copy *profile, const char *path, char *why, size_t why_bytes);
/* The same for a file in memory (which is copied). The sampler is assumed to have ended. */
enum qz_profile_fault qz_profile_load_memory(struct qz_profile_copy *profile, const void *bytes, size_t size, char *why,
                                             size_t why_bytes);
/* Writes everything that is wrong with a file to `clauses`, one clause per line; the first is that of
 * qz_profile_load, whose result is returned. */
enum qz_profile_fault qz_profile_damage(const char *path, char *clauses, size_t bytes);
void qz_profile_unload(struct qz_profile_copy *profile);

/* Never returns NULL; the string is valid as long as the copy. */
static inline const char *qz_profile_string(const struct qz_profile_copy *profile, uint32_t offset) {
  return offset < profile->strings_bytes ? profile->strings + offset : "";
}

#ifdef __cplusplus
}
#endif
#endif
