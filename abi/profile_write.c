/* See profile_write.h. */
#include "profile_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct part { const void *data; uint64_t count, stride; };

static int put(FILE *file, const void *data, uint64_t bytes) {
  return bytes && fwrite(data, 1, bytes, file) != bytes ? -1 : 0;
}

int qz_profile_store(const struct qz_profile_copy *copy, const char *path) {
  const struct part parts[QZ_SECTION_COUNT] = {
      [QZ_SECTION_STRINGS] = {copy->strings, copy->strings_bytes, 1},
      [QZ_SECTION_ENTITIES] = {copy->entities, copy->entities_count, sizeof *copy->entities},
      [QZ_SECTION_STACKS] = {copy->stacks, copy->stacks_count, sizeof *copy->stacks},
      [QZ_SECTION_TUPLES] = {copy->tuples, copy->tuples_count, sizeof *copy->tuples},
      [QZ_SECTION_BALANCE] = {copy->balance, copy->balance_count, sizeof *copy->balance},
      [QZ_SECTION_OBJECTS] = {copy->objects, copy->objects_count, sizeof *copy->objects},
      [QZ_SECTION_BLAME] = {copy->blame, copy->blame_count, sizeof *copy->blame},
      [QZ_SECTION_CALLS] = {copy->calls, copy->calls_count, sizeof *copy->calls},
      [QZ_SECTION_THREADS] = {copy->threads, copy->threads_count, sizeof *copy->threads},
      [QZ_SECTION_MODULES] = {copy->modules, copy->modules_count, sizeof *copy->modules},
      [QZ_SECTION_TIMELINE] = {copy->timeline, copy->timeline_count, sizeof *copy->timeline},
      [QZ_SECTION_PROCESSORS] = {copy->processors, copy->processors_count, sizeof *copy->processors},
      [QZ_SECTION_MEANWHILE] = {copy->meanwhile, copy->meanwhile_count, sizeof *copy->meanwhile},
  };
  struct qz_profile head = copy->head;
  if (head.status == QZ_PROFILE_RECORDING) {
    head.status = QZ_PROFILE_CUT;
    head.end_reason = QZ_END_INTERRUPTED;
  }
  uint64_t at = (sizeof head + 63) & ~UINT64_C(63);
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    head.sections[s] = (struct qz_section){.offset = at, .capacity = parts[s].count, .count = parts[s].count, .stride = parts[s].stride};
    at = (at + parts[s].count * parts[s].stride + 63) & ~UINT64_C(63);
  }

  size_t length = strlen(path) + 8;
  char *temporary = malloc(length);
  if (!temporary) return -1;
  snprintf(temporary, length, "%s.XXXXXX", path);
  int fd = mkstemp(temporary);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
  int failed = !file;
  if (file) {
    static const char gap[64];
    failed = put(file, &head, sizeof head);
    uint64_t written = sizeof head;
    for (unsigned s = 0; s < QZ_SECTION_COUNT && !failed; s++) {
      failed = put(file, gap, head.sections[s].offset - written) || put(file, parts[s].data, parts[s].count * parts[s].stride);
      written = head.sections[s].offset + parts[s].count * parts[s].stride;
    }
    mode_t mask = umask(0);
    umask(mask);
    failed |= fchmod(fd, 0666 & ~mask) != 0;
    int error = failed ? errno : 0;
    if (fclose(file) && !failed) failed = 1, error = errno;
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
