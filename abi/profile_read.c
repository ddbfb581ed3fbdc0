/* Reading and checking of profile files. See profile_read.h. */
#include "profile_read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "profile_references.h"
#include "profile_sections.h"

#define COPY_MAX_BYTES (UINT64_C(1) << 34) /* a file that claims to contain more is not read */
#define LIVE_TRIES     50                  /* attempts to find a moment between two snapshots */

/* Sections that refer to others are read before them: in a growing file the latter are then complete. */
static const uint8_t read_order[QZ_SECTION_COUNT] = {
  QZ_SECTION_CPU_LIMITS,   QZ_SECTION_MESSAGES,     QZ_SECTION_COUNTED,      QZ_SECTION_UNWINDING,
  QZ_SECTION_SLICES,       QZ_SECTION_INSTRUCTIONS, QZ_SECTION_RECENT_PATHS, QZ_SECTION_RECENT_SEGMENTS,
  QZ_SECTION_ON_PATH,      QZ_SECTION_SEGMENTS,     QZ_SECTION_ON_SPAN,      QZ_SECTION_SITES,
  QZ_SECTION_LEVELS,       QZ_SECTION_TUPLES,       QZ_SECTION_BALANCE,      QZ_SECTION_BLAME,
  QZ_SECTION_WAIT_OVERLAP, QZ_SECTION_OBJECTS,      QZ_SECTION_CALLS,        QZ_SECTION_THREADS,
  QZ_SECTION_TIMELINE,     QZ_SECTION_PROCESSORS,   QZ_SECTION_STACKS,       QZ_SECTION_WHAT_IF,
  QZ_SECTION_LINES,        QZ_SECTION_ENTITIES,     QZ_SECTION_MODULES,      QZ_SECTION_STRINGS};

static const void *place(struct qz_profile_copy *copy, const size_t *at, unsigned s) {
  return (unsigned char *)copy->memory + at[s];
}

/* Widens elements of `from` bytes to `size` bytes, padded with zeros. */
static void widen(unsigned char *at, uint64_t count, uint64_t from, uint64_t size) {
  while (count-- > 0) {
    memmove(at + count * size, at + count * from, from);
    memset(at + count * size + from, 0, size - from);
  }
}

/* One attempt to copy all sections. */
static int copy_sections(struct qzi_profile_source *source, struct qz_profile_copy *copy) {
  struct qz_profile first, last;
  if (qzi_profile_fetch_head(source, &first)) return -1;
  size_t at[QZ_SECTION_COUNT], room[QZ_SECTION_COUNT], bytes = 0;
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    uint64_t slack =
      first.status == QZ_PROFILE_RECORDING ? 4096 : 1; /* room for growth in the meantime, and for a final NUL */
    at[s] = bytes;
    room[s] = first.sections[s].count + slack;
    if (bytes + room[s] * qzi_profile_kinds[s].size > COPY_MAX_BYTES)
      return qzi_profile_wrong(source, QZ_FAULT_TOO_LARGE, "it is too large");
    bytes += (room[s] * qzi_profile_kinds[s].size + 63) & ~(size_t)63;
  }
  free(copy->memory);
  copy->memory = malloc(bytes);
  if (!copy->memory) {
    snprintf(source->why, source->why_bytes, "there is not enough memory for it");
    source->fault = QZ_FAULT_TOO_LARGE;
    errno = ENOMEM;
    return -1;
  }
  uint64_t counts[QZ_SECTION_COUNT];
  for (unsigned i = 0; i < QZ_SECTION_COUNT; i++) {
    unsigned s = read_order[i];
    struct qz_profile now;
    if (qzi_profile_fetch_head(source, &now)) return -1;
    counts[s] = now.sections[s].count < room[s] ? now.sections[s].count : room[s] - 1;
    unsigned char *to = (unsigned char *)copy->memory + at[s];
    uint64_t stride = now.sections[s].stride;
    if (qzi_profile_fetch_section(source, &now, s, to, counts[s] * stride)) return -1;
    if (stride < qzi_profile_kinds[s].size) widen(to, counts[s], stride, qzi_profile_kinds[s].size);
    memset(to + counts[s] * qzi_profile_kinds[s].size, 0, qzi_profile_kinds[s].size);
  }
  if (qzi_profile_fetch_head(source, &last)) return -1;
  copy->head = last;
  copy->half = last.rounds_begun != last.snapshots || first.snapshots != last.snapshots;
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) copy->head.sections[s].count = counts[s];
  /* The final NUL and the null elements 0 exist whatever the file contains. */
  copy->strings = place(copy, at, QZ_SECTION_STRINGS);
  copy->strings_bytes = counts[QZ_SECTION_STRINGS] + 1;
#define PLACE(field, id) (copy->field = place(copy, at, id), copy->field##_count = counts[id])
  PLACE(entities, QZ_SECTION_ENTITIES);
  PLACE(stacks, QZ_SECTION_STACKS);
  PLACE(tuples, QZ_SECTION_TUPLES);
  PLACE(balance, QZ_SECTION_BALANCE);
  PLACE(objects, QZ_SECTION_OBJECTS);
  PLACE(blame, QZ_SECTION_BLAME);
  PLACE(calls, QZ_SECTION_CALLS);
  PLACE(threads, QZ_SECTION_THREADS);
  PLACE(modules, QZ_SECTION_MODULES);
  PLACE(timeline, QZ_SECTION_TIMELINE);
  PLACE(processors, QZ_SECTION_PROCESSORS);
  PLACE(wait_overlap, QZ_SECTION_WAIT_OVERLAP);
  PLACE(on_path, QZ_SECTION_ON_PATH);
  PLACE(segments, QZ_SECTION_SEGMENTS);
  PLACE(on_span, QZ_SECTION_ON_SPAN);
  PLACE(sites, QZ_SECTION_SITES);
  PLACE(levels, QZ_SECTION_LEVELS);
  PLACE(what_if, QZ_SECTION_WHAT_IF);
  PLACE(recent_paths, QZ_SECTION_RECENT_PATHS);
  PLACE(recent_segments, QZ_SECTION_RECENT_SEGMENTS);
  PLACE(instructions, QZ_SECTION_INSTRUCTIONS);
  PLACE(slices, QZ_SECTION_SLICES);
  PLACE(unwinding, QZ_SECTION_UNWINDING);
  PLACE(lines, QZ_SECTION_LINES);
  PLACE(counted, QZ_SECTION_COUNTED);
  PLACE(messages, QZ_SECTION_MESSAGES);
  PLACE(cpu_limits, QZ_SECTION_CPU_LIMITS);
#undef PLACE
  if (!copy->entities_count) copy->entities_count = 1;
  if (!copy->stacks_count) copy->stacks_count = 1;
  memset((unsigned char *)copy->memory + at[QZ_SECTION_ENTITIES], 0, sizeof(struct qz_entity));
  memset((unsigned char *)copy->memory + at[QZ_SECTION_STACKS], 0, sizeof(struct qz_stack_node));
  ((char *)copy->memory)[at[QZ_SECTION_STRINGS]] = 0;
  return 0;
}

/* A file that is still being written has UINT64_MAX as the first time of threads that no snapshot visited. */
static void close_threads(struct qz_profile_copy *copy) {
  struct qz_thread_stats *threads = (struct qz_thread_stats *)(uintptr_t)copy->threads;
  for (size_t k = 0; k < copy->threads_count; k++)
    if (threads[k].first_ns > threads[k].last_ns) threads[k].first_ns = threads[k].last_ns = 0;
}

static int load(struct qzi_profile_source *source, struct qz_profile_copy *copy) {
  for (int tries = 0;; tries++) {
    if (copy_sections(source, copy)) return -1;
    if (!copy->half || copy->head.status != QZ_PROFILE_RECORDING || source->fd < 0 || tries == LIVE_TRIES) break;
    nanosleep(&(struct timespec){0, 20000}, NULL);
  }
  close_threads(copy);
  return qzi_profile_check_names(source, copy) || qzi_profile_check_references(source, copy) ? -1 : 0;
}

/* The sampler holds a lock on the file as long as it lives; on a file system without locks its PID is tested. */
static int sampler_gone(int fd, uint32_t pid) {
  if (!flock(fd, LOCK_SH | LOCK_NB)) {
    flock(fd, LOCK_UN);
    return 1;
  }
  if (errno == EWOULDBLOCK) return 0;
  return pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) && errno == ESRCH);
}

/* Returns whether the path now names another file. */
static int replaced(int fd, const char *path) {
  struct stat open_file, named;
  return !fstat(fd, &open_file) && !stat(path, &named) &&
         (open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev);
}

/* One attempt. *again: the sampler may be finishing the file just now, so another attempt is worthwhile. */
static int load_once(struct qzi_profile_source *source, struct qz_profile_copy *profile, const char *path, int *again) {
  *again = 0;
  source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source->fd < 0) {
    int error = errno;
    snprintf(source->why, source->why_bytes, "%s", strerror(error));
    source->fault = error == EACCES || error == EPERM ? QZ_FAULT_DENIED : QZ_FAULT_SYSTEM;
    errno = error;
    return -1;
  }
  struct stat status;
  int failed;
  if (fstat(source->fd, &status) || !S_ISREG(status.st_mode)) {
    failed = qzi_profile_damaged(source, "it is not a file");
  } else {
    failed = load(source, profile);
    if (!failed && profile->head.status == QZ_PROFILE_RECORDING)
      profile->abandoned = sampler_gone(source->fd, profile->head.sampler_pid);
    *again = failed ? !sampler_gone(source->fd, 0) : profile->abandoned && replaced(source->fd, path);
  }
  int error = errno;
  close(source->fd);
  if (failed) qz_profile_unload(profile);
  errno = error;
  return failed;
}

enum qz_profile_fault qz_profile_load(struct qz_profile_copy *profile, const char *path, char *why, size_t why_bytes) {
  memset(profile, 0, sizeof *profile);
  struct qzi_profile_source source = {.why = why, .why_bytes = why_bytes};
  for (int tries = 0;; tries++) {
    int again, failed = load_once(&source, profile, path, &again);
    if (!again || tries == LIVE_TRIES) return failed ? source.fault : QZ_FAULT_NONE;
    qz_profile_unload(profile);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
}

/* ---- list of everything that is wrong with a file ---- */

struct list {
  char *text;
  size_t bytes, used;
  unsigned count;
};

static void note(struct list *list, const char *clause) {
  int length = snprintf(list->text + list->used, list->bytes - list->used, "%s%s", list->count ? "\n" : "", clause);
  if (length > 0 && (size_t)length < list->bytes - list->used)
    list->used += (size_t)length;
  else
    list->text[list->used] = 0;
  list->count++;
}

enum qz_profile_fault qz_profile_damage(const char *path, char *clauses, size_t bytes) {
  struct list list = {.text = clauses, .bytes = bytes};
  struct qz_profile_copy copy;
  struct qz_profile head;
  char why[200], named[200];
  clauses[0] = 0;
  enum qz_profile_fault fault = qz_profile_load(&copy, path, named, sizeof named);
  if (!fault) {
    qz_profile_unload(&copy);
    return QZ_FAULT_NONE;
  }
  struct qzi_profile_source source = {
    .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .why = why, .why_bytes = sizeof why};
  note(&list, named);
  if (source.fd < 0) return fault;
  memset(&head, 0, sizeof head);
  /* If the head is readable, even if it is wrong, the sections are checked one by one. */
  if (!qzi_profile_look_at_size(&source) &&
      !qzi_profile_fetch(&source, &head, 0, source.size < sizeof head ? source.size : sizeof head) &&
      head.magic == QZ_PROFILE_MAGIC && qzi_profile_is_read(head.version)) {
    struct qz_profile_end end;
    if (qzi_profile_check_end(&source, &head) && strcmp(why, named) != 0) note(&list, why);
    int has_end = !qzi_profile_fetch_end(&source, &end) && end.magic == QZ_PROFILE_MAGIC_END;
    for (unsigned s = 0; s < qzi_profile_sections(head.version); s++) {
      const struct qz_section *section = &head.sections[s];
      int fits = qzi_profile_stride_fits(head.version, s, section->stride) &&
                 qzi_profile_room(&source, section, (uint32_t)qzi_profile_head_size(head.version)) != UINT64_MAX;
      if (!fits && !has_end) snprintf(why, sizeof why, "its section of %s is cut off", qzi_profile_kinds[s].name);
      if ((!fits && !has_end) ||
          (fits && qzi_profile_fetch_section(&source, &head, s, NULL, 0) && errno == 0 && strcmp(why, named) != 0))
        note(&list, why);
    }
  }
  close(source.fd);
  return fault;
}

enum qz_profile_fault qz_profile_load_memory(struct qz_profile_copy *profile, const void *bytes, size_t size, char *why,
                                             size_t why_bytes) {
  memset(profile, 0, sizeof *profile);
  struct qzi_profile_source source = {.fd = -1, .memory = bytes, .size = size, .why = why, .why_bytes = why_bytes};
  int failed = load(&source, profile);
  if (failed)
    qz_profile_unload(profile);
  else
    profile->abandoned = profile->head.status == QZ_PROFILE_RECORDING;
  return failed ? source.fault : QZ_FAULT_NONE;
}

void qz_profile_unload(struct qz_profile_copy *profile) {
  free(profile->memory);
  memset(profile, 0, sizeof *profile);
}
