/* A checked copy of a profile in memory.
 *
 * Owns:    the type alone. Writer: qz_profile_load (profile_read.h). Reader: reports, the live screen, tests.
 */
#ifndef QZ_ABI_PROFILE_COPY_H
#define QZ_ABI_PROFILE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include "profile.h"

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
  const struct qz_cpu_limits *cpu_limits;
  size_t cpu_limits_count;
  void *memory; /* the memory of everything above */
};

/* Never returns NULL; the string is valid as long as the copy. */
static inline const char *qz_profile_string(const struct qz_profile_copy *profile, uint32_t offset) {
  return offset < profile->strings_bytes ? profile->strings + offset : "";
}

#ifdef __cplusplus
}
#endif
#endif
