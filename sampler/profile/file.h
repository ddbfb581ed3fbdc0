/* The profile file while it is written.
 *
 * Owns:    the file, its shared mapping, and which of its blocks exist. Each section has addresses for all that it may
 * hold; the file grows at its end by what one of them needs next. Writer:  the aggregating thread of one recording (and
 * its finishing, after that has ended). Reader:  the same; other processes read the file itself. Must not: know what
 * the sections mean, store to a block that may not exist (a full disk would kill us).
 *
 * Elements come into use by qzi_file_append; room for more is made in time, so that nothing else can fail.
 */
#ifndef QZI_FILE_H
#define QZI_FILE_H

#include <stddef.h>
#include <stdint.h>
#include "abi/profile.h"
#include "file_name.h"

struct qzi_file {
  int fd;
  char *path;                 /* changes where the name turns out to be another recording's */
  struct qzi_replaceable may; /* what it may replace, besides itself */
  unsigned char *base;
  uint64_t bytes;  /* addresses reserved */
  uint64_t end;    /* of the last extent; the file has room for the end mark behind it */
  uint64_t blocks; /* up to here it had blocks from the beginning */
  int touched;     /* qzi_file_touch was called */
  int old_fd;      /* of the file that it replaced, -1: none */
  struct qz_profile *head;
  uint64_t at[QZ_SECTION_COUNT];     /* where a section's addresses begin, from base */
  uint64_t mapped[QZ_SECTION_COUNT]; /* bytes of its extents */
  uint64_t ready[QZ_SECTION_COUNT];  /* elements whose blocks exist */
  int full;                          /* 1: the disk had no room */
  int lost;                          /* 1: some of what was written is not in the file */
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
  struct qz_shared_line *lines;
  struct qz_slice *slices;
  struct qz_unwinding *unwinding;
};

#define QZI_FILE_MIN_BYTES     (UINT64_C(1) << 20)
#define QZI_FILE_DEFAULT_BYTES (UINT64_C(1) << 30)

/* Makes the file and maps it; at most max_bytes. An old one of that name is replaced (only when the new one is there)
 * where it may be; else the new one gets a number: file->path. Status is QZ_PROFILE_RECORDING, all sections hold what
 * element 0 needs. 0, or -1 and one clause. */
int qzi_file_create(struct qzi_file *file, const char *path, const struct qzi_replaceable *may, uint64_t max_bytes,
                    char *why, size_t why_bytes);

/* Has the kernel map what there is of it, before a snapshot writes to it; from then on, whatever is added. */
void qzi_file_touch(struct qzi_file *file);

/* The file that was replaced is freed here rather than when it was replaced: file systems that tell the disk of each
 * block that is free take milliseconds for it. */
void qzi_file_free_old(struct qzi_file *file);

/* Makes sure that `more` elements can be appended. 0, or -1 with `full` or `exhausted` set. */
int qzi_file_room_slow(struct qzi_file *file, unsigned section, uint64_t more);
static inline int qzi_file_room(struct qzi_file *file, unsigned section, uint64_t more) {
  return file->head->sections[section].count + more <= file->ready[section] ? 0
                                                                            : qzi_file_room_slow(file, section, more);
}
static inline uint64_t qzi_file_count(const struct qzi_file *file, unsigned section) {
  return file->head->sections[section].count;
}
/* Shows the elements that the caller has filled after room was made. */
static inline void qzi_file_append(struct qzi_file *file, unsigned section, uint64_t count) {
  uint64_t *at = &file->head->sections[section].count;
  __atomic_store_n(at, *at + count, __ATOMIC_RELEASE);
}

/* Replaces the file by a finished one, as short as can be, with the given end. Where there is no room for that it is
 * finished where it lies. 0, or -1 and errno: it stays as it is, unfinished. */
int qzi_file_finish(struct qzi_file *file, uint32_t status, uint32_t end_reason, int32_t exit_status);
void qzi_file_close(struct qzi_file *file);

#endif
