/* The profile file while it is written.
 *
 * Owns:    the file, its shared mapping, and the information which of its blocks exist. Each section has addresses for
 * its maximum size; the file grows at its end by what a section needs next.
 * Writer:  the aggregating thread of one recording (and the thread that finishes it afterwards). Reader:  the same;
 * other processes read the file itself.
 * Must not: know what the sections mean; store to a block that may not exist (a full disk would cause a fatal signal).
 *
 * Elements become visible by qzi_file_append; room for more is made before, so that nothing else can fail.
 */
#ifndef QZI_FILE_H
#define QZI_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "abi/profile.h"
#include "file_name.h"

struct qzi_file {
  int fd;
  char *path;                 /* changes if a file of another recording has the name */
  struct qzi_replaceable may; /* files that it may replace, besides itself */
  unsigned char *base;
  uint64_t bytes;  /* addresses reserved */
  uint64_t end;    /* end of the last extent; the file has room for the end mark after it */
  uint64_t blocks; /* blocks up to here exist from the beginning */
  int touched;     /* qzi_file_touch was called */
  int old_fd;      /* of the file that it replaced; -1: none */
  struct qz_profile *head;
  uint64_t at[QZ_SECTION_COUNT];     /* offset of each section's addresses from base */
  uint64_t mapped[QZ_SECTION_COUNT]; /* bytes of each section's extents */
  uint64_t ready[QZ_SECTION_COUNT];  /* elements of each section whose blocks exist */
  int full;                          /* 1: the disk is full */
  int lost;                          /* 1: some data that was written is not in the file */
  int exhausted;                     /* 1: a section has reached its capacity */
  /* sections */
  char *strings;
  struct qz_entity *entities;
  struct qz_stack_node *stacks;
  struct qz_tuple *tuples;
  struct qz_balance *balance;
  struct qz_object_stats *objects;
  struct qz_blame *blame;
  struct qz_call_edge *calls;
  struct qz_thread_stats *threads;
  struct qz_module *modules;
  struct qz_timeline *timeline;
  struct qz_processor_stats *processors;
  struct qz_wait_overlap *wait_overlap;
  struct qz_on_path *on_path;
  struct qz_path_segment *segments;
  struct qz_on_span *on_span;
  struct qz_span_site *sites;
  struct qz_level *levels;
  struct qz_what_if_answer *what_if;
  struct qz_recent_path *recent_paths;
  struct qz_path_segment *recent_segments;
  struct qz_instruction *instructions;
  struct qz_counted *counted;
  struct qz_message_event *messages;
  struct qz_cpu_limits *cpu_limits;
  struct qz_shared_line *lines;
  struct qz_slice *slices;
  struct qz_unwinding *unwinding;
};

#define QZI_FILE_MIN_BYTES     (UINT64_C(1) << 20)
#define QZI_FILE_DEFAULT_BYTES (UINT64_C(1) << 30)

/* Creates the file with room for at most max_bytes, and maps it. An existing file of that name is replaced, when the
 * new one is complete, if `may` permits that; otherwise the new one gets a number in its name: file->path. The status
 * is QZ_PROFILE_RECORDING; each section contains element 0 if it needs one. Returns 0, or -1 with the reason as a
 * clause in `why`. */
int qzi_file_create(struct qzi_file *file, const char *path, const struct qzi_replaceable *may, uint64_t max_bytes,
                    char *why, size_t why_bytes);

/* Makes the kernel map the existing blocks, so that snapshots cause no page faults; from then on also blocks that are
 * added. */
void qzi_file_touch(struct qzi_file *file);

/* Closes the file that was replaced, which frees its blocks. This takes milliseconds on file systems that report free
 * blocks to the disk, so it is not done when the file is replaced. */
void qzi_file_free_old(struct qzi_file *file);

/* Ensures that `more` elements can be appended. Returns 0, or -1 with `full` or `exhausted` set. */
int qzi_file_room_slow(struct qzi_file *file, unsigned section, uint64_t more);
static inline int qzi_file_room(struct qzi_file *file, unsigned section, uint64_t more) {
  return file->head->sections[section].count + more <= file->ready[section] ? 0
                                                                            : qzi_file_room_slow(file, section, more);
}
static inline uint64_t qzi_file_count(const struct qzi_file *file, unsigned section) {
  return file->head->sections[section].count;
}
/* Makes the elements visible that the caller has filled after making room. */
static inline void qzi_file_append(struct qzi_file *file, unsigned section, uint64_t count) {
  uint64_t *at = &file->head->sections[section].count;
  __atomic_store_n(at, *at + count, __ATOMIC_RELEASE);
}

/* Replaces the file by a finished one of minimum size, with the given end. If there is no room for that, finishes the
 * file in place. Returns 0, or -1 with errno; then the file is unchanged and unfinished. */
int qzi_file_finish(struct qzi_file *file, uint32_t status, uint32_t end_reason, int32_t exit_status);
void qzi_file_close(struct qzi_file *file);

#endif
