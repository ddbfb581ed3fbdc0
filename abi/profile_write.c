/* See profile_write.h. */
#include "profile_write.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "checksum.h"

#define ALIGNMENT 64u
#define PART      (64u * 1024)

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

/* Writes all the bytes at that place. 0, or -1 and errno. */
static int write_all(int fd, const void *from, uint64_t bytes, uint64_t offset) {
  const unsigned char *at = from;
  while (bytes) {
    ssize_t done = pwrite(fd, at, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (!done) errno = ENOSPC;
      return -1;
    }
    at += done;
    offset += (uint64_t)done;
    bytes -= (uint64_t)done;
  }
  return 0;
}

/* Head, padded to head_bytes, and end mark; the file ends with them. */
static int close_up(int fd, struct qz_profile *head, uint64_t end) {
  static const unsigned char padding[ALIGNMENT];
  head->magic = QZ_PROFILE_MAGIC;
  struct qz_profile_end mark = {.magic = QZ_PROFILE_MAGIC_END, .file_bytes = end + sizeof mark};
  mark.head_checksum = qz_checksum(0, head, sizeof *head);
  for (uint64_t left = head->head_bytes - sizeof *head; left;) {
    uint64_t part = left < sizeof padding ? left : sizeof padding;
    mark.head_checksum = qz_checksum(mark.head_checksum, padding, part);
    left -= part;
  }
  mark.checksum = qz_checksum(0, &mark, offsetof(struct qz_profile_end, checksum));
  return write_all(fd, &mark, sizeof mark, end) || ftruncate(fd, (off_t)mark.file_bytes) ||
             write_all(fd, head, sizeof *head, 0)
           ? -1
           : 0;
}

int qz_profile_write(int fd, const struct qz_profile *head, const void *const data[QZ_SECTION_COUNT]) {
  static const unsigned char padding[ALIGNMENT];
  struct qz_profile finished = *head;
  finished.version = QZ_PROFILE_VERSION;
  uint64_t at = finished.head_bytes = (uint32_t)aligned(sizeof finished);
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    struct qz_section *section = &finished.sections[s];
    uint64_t bytes = section->count * section->stride, all = aligned(bytes);
    if (write_all(fd, data[s], bytes, at)) return -1; /* the padding is a hole, or written with what follows */
    *section = (struct qz_section){.capacity = section->count,
                                   .count = section->count,
                                   .stride = section->stride,
                                   .extents_count = 1,
                                   .checksum = qz_checksum(qz_checksum(0, data[s], bytes), padding, all - bytes),
                                   .extents = {{at, all}}};
    at += all;
  }
  return close_up(fd, &finished, at);
}

int qz_profile_seal(int fd, struct qz_profile *head, uint64_t end) {
  unsigned char *part = malloc(PART);
  if (!part) return -1;
  int failed = 0;
  for (unsigned s = 0; s < QZ_SECTION_COUNT && !failed; s++) {
    struct qz_section *section = &head->sections[s];
    section->checksum = 0;
    for (unsigned k = 0; k < section->extents_count && !failed; k++)
      for (uint64_t done = 0; done < section->extents[k].bytes && !failed;) {
        uint64_t left = section->extents[k].bytes - done;
        ssize_t got = pread(fd, part, left < PART ? left : PART, (off_t)(section->extents[k].offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;
        if (got <= 0)
          failed = 1;
        else
          section->checksum = qz_checksum(section->checksum, part, (size_t)got);
        done += (uint64_t)(got > 0 ? got : 0);
      }
  }
  free(part);
  return failed ? -1 : close_up(fd, head, end);
}

int qz_profile_store(const struct qz_profile_copy *copy, const char *path) {
  struct qz_profile head = copy->head;
  const void *data[QZ_SECTION_COUNT];
#define PART_OF(id, field, elements) \
  (data[id] = copy->field, head.sections[id].count = copy->elements, head.sections[id].stride = sizeof *copy->field)
  PART_OF(QZ_SECTION_STRINGS, strings, strings_bytes);
  PART_OF(QZ_SECTION_ENTITIES, entities, entities_count);
  PART_OF(QZ_SECTION_STACKS, stacks, stacks_count);
  PART_OF(QZ_SECTION_TUPLES, tuples, tuples_count);
  PART_OF(QZ_SECTION_BALANCE, balance, balance_count);
  PART_OF(QZ_SECTION_OBJECTS, objects, objects_count);
  PART_OF(QZ_SECTION_BLAME, blame, blame_count);
  PART_OF(QZ_SECTION_CALLS, calls, calls_count);
  PART_OF(QZ_SECTION_THREADS, threads, threads_count);
  PART_OF(QZ_SECTION_MODULES, modules, modules_count);
  PART_OF(QZ_SECTION_TIMELINE, timeline, timeline_count);
  PART_OF(QZ_SECTION_PROCESSORS, processors, processors_count);
  PART_OF(QZ_SECTION_WAIT_OVERLAP, wait_overlap, wait_overlap_count);
  PART_OF(QZ_SECTION_ON_PATH, on_path, on_path_count);
  PART_OF(QZ_SECTION_SEGMENTS, segments, segments_count);
  PART_OF(QZ_SECTION_COUNTED, counted, counted_count);
  PART_OF(QZ_SECTION_MESSAGES, messages, messages_count);
  PART_OF(QZ_SECTION_CPU_LIMITS, cpu_limits, cpu_limits_count);
  PART_OF(QZ_SECTION_ON_SPAN, on_span, on_span_count);
  PART_OF(QZ_SECTION_SITES, sites, sites_count);
  PART_OF(QZ_SECTION_LEVELS, levels, levels_count);
  PART_OF(QZ_SECTION_WHAT_IF, what_if, what_if_count);
  PART_OF(QZ_SECTION_RECENT_PATHS, recent_paths, recent_paths_count);
  PART_OF(QZ_SECTION_RECENT_SEGMENTS, recent_segments, recent_segments_count);
  PART_OF(QZ_SECTION_INSTRUCTIONS, instructions, instructions_count);
  PART_OF(QZ_SECTION_SLICES, slices, slices_count);
  PART_OF(QZ_SECTION_UNWINDING, unwinding, unwinding_count);
  PART_OF(QZ_SECTION_LINES, lines, lines_count);
#undef PART_OF
  if (head.status == QZ_PROFILE_RECORDING) {
    head.status = QZ_PROFILE_CUT;
    head.end_reason = QZ_END_INTERRUPTED;
  }

  size_t length = strlen(path) + 8;
  char *temporary = malloc(length);
  if (!temporary) return -1;
  snprintf(temporary, length, "%s.XXXXXX", path);
  int fd = mkstemp(temporary);
  int failed = fd < 0;
  if (!failed) {
    mode_t mask = umask(0);
    umask(mask);
    failed = qz_profile_write(fd, &head, data) || fchmod(fd, 0666 & ~mask);
    int error = failed ? errno : 0;
    if (close(fd) && !failed) failed = 1, error = errno;
    if (!failed && rename(temporary, path)) failed = 1, error = errno;
    if (failed) {
      unlink(temporary);
      errno = error;
    }
  }
  int error = errno;
  free(temporary);
  errno = error;
  return failed ? -1 : 0;
}
