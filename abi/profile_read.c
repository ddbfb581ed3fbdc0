/* Reading and checking of profile files. See profile_read.h. */
#include "profile_read.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "checksum.h"

#define COPY_MAX_BYTES (UINT64_C(1) << 34) /* a file that says it holds more is not read */
#define HEAD_MAX_BYTES (UINT32_C(1) << 20)
#define LIVE_TRIES     50 /* looks for a moment between two snapshots */

/* Where the bytes come from: a file, or memory when fd is -1. */
struct source {
  int fd;
  const unsigned char *memory;
  uint64_t size;
  char *why;
  size_t why_bytes;
};

static int wrong(struct source *source, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct source *source, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(source->why, source->why_bytes, format, arguments);
  va_end(arguments);
  errno = 0;
  return -1;
}

static int fetch(struct source *source, void *to, uint64_t offset, uint64_t bytes) {
  if (offset > source->size || bytes > source->size - offset) return wrong(source, "the file is cut short");
  if (!bytes) return 0;
  if (source->fd < 0) {
    memcpy(to, source->memory + offset, bytes);
    return 0;
  }
  unsigned char *at = to;
  while (bytes) {
    ssize_t got = pread(source->fd, at, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      snprintf(source->why, source->why_bytes, "it can't be read: %s", strerror(error));
      errno = error;
      return -1;
    }
    if (got == 0) return wrong(source, "the file is cut short");
    at += got;
    offset += (uint64_t)got;
    bytes -= (uint64_t)got;
  }
  return 0;
}

static const struct {
  size_t size;
  const char *name;
} section_kinds[QZ_SECTION_COUNT] = {
  [QZ_SECTION_STRINGS] = {1, "strings"},
  [QZ_SECTION_ENTITIES] = {sizeof(struct qz_entity), "entities"},
  [QZ_SECTION_STACKS] = {sizeof(struct qz_stack_node), "stacks"},
  [QZ_SECTION_TUPLES] = {sizeof(struct qz_tuple), "tuples"},
  [QZ_SECTION_BALANCE] = {sizeof(struct qz_balance), "balance"},
  [QZ_SECTION_OBJECTS] = {sizeof(struct qz_object_stats), "objects"},
  [QZ_SECTION_BLAME] = {sizeof(struct qz_blame), "blame"},
  [QZ_SECTION_CALLS] = {sizeof(struct qz_call_edge), "calls"},
  [QZ_SECTION_THREADS] = {sizeof(struct qz_thread_stats), "threads"},
  [QZ_SECTION_MODULES] = {sizeof(struct qz_module), "modules"},
  [QZ_SECTION_TIMELINE] = {sizeof(struct qz_timeline), "timeline"},
  [QZ_SECTION_PROCESSORS] = {sizeof(struct qz_processor_stats), "processors"},
  [QZ_SECTION_WAIT_OVERLAP] = {sizeof(struct qz_wait_overlap), "wait overlap"},
  [QZ_SECTION_ON_PATH] = {sizeof(struct qz_on_path), "time on the path"},
  [QZ_SECTION_SEGMENTS] = {sizeof(struct qz_path_segment), "segments of the path"},
  [QZ_SECTION_ON_SPAN] = {sizeof(struct qz_on_span), "what is on the span"},
  [QZ_SECTION_SITES] = {sizeof(struct qz_span_site), "work and span of sites"},
  [QZ_SECTION_LEVELS] = {sizeof(struct qz_level), "levels of work"},
  [QZ_SECTION_WHAT_IF] = {sizeof(struct qz_what_if_answer), "what if"},
  [QZ_SECTION_RECENT_PATHS] = {sizeof(struct qz_recent_path), "last stretches of the path"},
  [QZ_SECTION_RECENT_SEGMENTS] = {sizeof(struct qz_path_segment), "last segments of the path"},
  [QZ_SECTION_INSTRUCTIONS] = {sizeof(struct qz_instruction), "instructions"},
};
/* Sections that a profile of that version has: the first so many. */
static unsigned sections_of(uint32_t version) {
  return version < 18   ? QZ_SECTION_WHAT_IF
         : version < 19 ? QZ_SECTION_RECENT_PATHS
         : version < 20 ? QZ_SECTION_INSTRUCTIONS
                        : QZ_SECTION_COUNT;
}
/* An element of an older version may lack the last fields, which are then 0. */
static int stride_fits(uint32_t version, unsigned section, uint64_t stride) {
  uint64_t size = section_kinds[section].size;
  return stride == size || (version < QZ_PROFILE_VERSION && stride > 0 && stride < size);
}
static size_t head_size(uint32_t version) {
  return offsetof(struct qz_profile, sections) + sections_of(version) * sizeof(struct qz_section);
}
static int is_read(uint32_t version) { return version >= QZ_PROFILE_OLDEST && version <= QZ_PROFILE_VERSION; }

/* What refers to others is read before them: in a file that grows they are then complete. */
static const uint8_t read_order[QZ_SECTION_COUNT] = {
  QZ_SECTION_INSTRUCTIONS, QZ_SECTION_RECENT_PATHS, QZ_SECTION_RECENT_SEGMENTS, QZ_SECTION_ON_PATH, QZ_SECTION_SEGMENTS,
  QZ_SECTION_ON_SPAN,      QZ_SECTION_SITES,        QZ_SECTION_LEVELS,          QZ_SECTION_TUPLES,  QZ_SECTION_BALANCE,
  QZ_SECTION_BLAME,        QZ_SECTION_WAIT_OVERLAP, QZ_SECTION_OBJECTS,         QZ_SECTION_CALLS,   QZ_SECTION_THREADS,
  QZ_SECTION_TIMELINE,     QZ_SECTION_PROCESSORS,   QZ_SECTION_STACKS,          QZ_SECTION_WHAT_IF, QZ_SECTION_ENTITIES,
  QZ_SECTION_MODULES,      QZ_SECTION_STRINGS};

/* The checksum of some of the file's bytes, which are also copied to `to` as far as `wanted` of them. */
static int fetch_summed(struct source *source, void *to, uint64_t wanted, uint64_t offset, uint64_t bytes,
                        uint32_t *sum) {
  unsigned char rest[4096];
  uint64_t kept = wanted < bytes ? wanted : bytes;
  if (fetch(source, to, offset, kept)) return -1;
  *sum = qz_checksum(*sum, to, kept);
  for (offset += kept, bytes -= kept; bytes;) {
    uint64_t part = bytes < sizeof rest ? bytes : sizeof rest;
    if (fetch(source, rest, offset, part)) return -1;
    *sum = qz_checksum(*sum, rest, part);
    offset += part;
    bytes -= part;
  }
  return 0;
}

static int fetch_end(struct source *source, struct qz_profile_end *end) {
  return source->size < sizeof *end ? -1 : fetch(source, end, source->size - sizeof *end, sizeof *end);
}

/* The end mark of a finished profile, and with it that nothing was cut off and that the head is what was written. */
static int check_end(struct source *source, const struct qz_profile *head) {
  struct qz_profile_end end;
  size_t bytes = head_size(head->version);
  uint32_t sum = qz_checksum(0, head, bytes);
  if (fetch_end(source, &end) || end.magic != QZ_PROFILE_MAGIC_END || end.file_bytes != source->size ||
      end.checksum != qz_checksum(0, &end, offsetof(struct qz_profile_end, checksum)))
    return wrong(source, "it is cut short, or damaged at its end");
  if (head->head_bytes < bytes || head->head_bytes > HEAD_MAX_BYTES || head->head_bytes > source->size ||
      fetch_summed(source, NULL, 0, bytes, head->head_bytes - bytes, &sum) || sum != end.head_checksum)
    return wrong(source, "its head is damaged");
  return 0;
}

/* One that is not finished is longer each time it is looked at. */
static int look_at_size(struct source *source) {
  struct stat status;
  if (source->fd < 0) return 0;
  if (fstat(source->fd, &status)) return wrong(source, "it can't be read: %s", strerror(errno));
  source->size = (uint64_t)status.st_size;
  return 0;
}

/* Elements for which the extents have room; UINT64_MAX: they make no sense. */
static uint64_t room_of(const struct source *source, const struct qz_section *section, uint32_t head_bytes) {
  uint64_t room = 0;
  if (section->extents_count > QZ_EXTENTS_MAX) return UINT64_MAX;
  for (unsigned k = 0; k < section->extents_count; k++) {
    const struct qz_extent *extent = &section->extents[k];
    if (extent->offset % 8 || extent->offset < head_bytes || extent->offset > source->size ||
        extent->bytes > source->size - extent->offset)
      return UINT64_MAX;
    room += extent->bytes;
  }
  return room / section->stride;
}

static int fetch_head(struct source *source, struct qz_profile *head) {
  memset(head, 0, sizeof *head);
  if (look_at_size(source)) return -1;
  uint64_t there = source->size < sizeof *head ? source->size : sizeof *head;
  if (there < offsetof(struct qz_profile, status)) return wrong(source, "it is not a Quartz profile (too small)");
  if (fetch(source, head, 0, there)) return -1;
  int finished = head->magic == QZ_PROFILE_MAGIC;
  if (!finished && head->magic != QZ_PROFILE_MAGIC_OPEN) return wrong(source, "it is not a Quartz profile");
  if (!is_read(head->version))
    return wrong(source, "it was written by another version of Quartz (format %u, this one reads %u to %u)",
                 head->version, QZ_PROFILE_OLDEST, QZ_PROFILE_VERSION);
  if (there < head_size(head->version)) return wrong(source, "it is cut short, or damaged at its end");
  if (finished && check_end(source, head)) return -1;
  if (head->head_bytes < head_size(head->version) || head->head_bytes > HEAD_MAX_BYTES)
    return wrong(source, "its head has another size");
  if (!finished) {
    struct qz_profile_end end;
    if (!fetch_end(source, &end) && end.magic == QZ_PROFILE_MAGIC_END && end.file_bytes == source->size)
      return wrong(source, "its head is damaged: the file is finished, and its head says it is not");
    head->status = QZ_PROFILE_RECORDING;
  } else if (head->status == QZ_PROFILE_RECORDING) {
    return wrong(source, "its status makes no sense");
  }
  if (head->status < QZ_PROFILE_RECORDING || head->status > QZ_PROFILE_CUT || head->end_reason > QZ_END_TIME)
    return wrong(source, "its status makes no sense");
  if (head->processors == 0 || head->processors > UINT16_MAX)
    return wrong(source, "its number of processors makes no sense");
  if (head->publisher != QZ_PUBLISHER_THREADLIB && head->publisher != QZ_PUBLISHER_PTHREAD)
    return wrong(source, "its publisher is unknown");
  for (unsigned s = sections_of(head->version); s < QZ_SECTION_COUNT; s++)
    head->sections[s] = (struct qz_section){.stride = section_kinds[s].size};
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    const struct qz_section *section = &head->sections[s];
    uint64_t room;
    if (!stride_fits(head->version, s, section->stride) || section->count > section->capacity ||
        (room = room_of(source, section, head->head_bytes)) == UINT64_MAX || section->count > room)
      return wrong(source, "its section of %s does not fit", section_kinds[s].name);
  }
  return 0;
}

/* Copies so many bytes of a section out of its extents; a finished file's checksum is compared. */
static int fetch_section(struct source *source, const struct qz_profile *head, unsigned s, void *to, uint64_t bytes) {
  const struct qz_section *section = &head->sections[s];
  int finished = head->magic == QZ_PROFILE_MAGIC;
  unsigned char none[1], *at = to ? to : none;
  uint32_t sum = 0;
  for (unsigned k = 0; k < section->extents_count; k++) {
    const struct qz_extent *extent = &section->extents[k];
    uint64_t part = bytes < extent->bytes ? bytes : extent->bytes;
    if (finished ? fetch_summed(source, at, part, extent->offset, extent->bytes, &sum)
                 : fetch(source, at, extent->offset, part))
      return -1;
    at += part;
    bytes -= part;
  }
  if (bytes || (finished && sum != section->checksum))
    return wrong(source, "its section of %s is damaged", section_kinds[s].name);
  return 0;
}

static const void *place(struct qz_profile_copy *copy, const size_t *at, unsigned s) {
  return (unsigned char *)copy->memory + at[s];
}

/* Elements of `from` bytes each as such of `size`, with zeros behind. */
static void widen(unsigned char *at, uint64_t count, uint64_t from, uint64_t size) {
  while (count-- > 0) {
    memmove(at + count * size, at + count * from, from);
    memset(at + count * size + from, 0, size - from);
  }
}

/* One attempt to copy all sections. */
static int copy_sections(struct source *source, struct qz_profile_copy *copy) {
  struct qz_profile first, last;
  if (fetch_head(source, &first)) return -1;
  size_t at[QZ_SECTION_COUNT], room[QZ_SECTION_COUNT], bytes = 0;
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    uint64_t slack = first.status == QZ_PROFILE_RECORDING ? 4096 : 1; /* it may grow meanwhile; and a last NUL */
    at[s] = bytes;
    room[s] = first.sections[s].count + slack;
    if (bytes + room[s] * section_kinds[s].size > COPY_MAX_BYTES) return wrong(source, "it is too large");
    bytes += (room[s] * section_kinds[s].size + 63) & ~(size_t)63;
  }
  free(copy->memory);
  copy->memory = malloc(bytes);
  if (!copy->memory) {
    snprintf(source->why, source->why_bytes, "there is not enough memory for it");
    errno = ENOMEM;
    return -1;
  }
  uint64_t counts[QZ_SECTION_COUNT];
  for (unsigned i = 0; i < QZ_SECTION_COUNT; i++) {
    unsigned s = read_order[i];
    struct qz_profile now;
    if (fetch_head(source, &now)) return -1;
    counts[s] = now.sections[s].count < room[s] ? now.sections[s].count : room[s] - 1;
    unsigned char *to = (unsigned char *)copy->memory + at[s];
    uint64_t stride = now.sections[s].stride;
    if (fetch_section(source, &now, s, to, counts[s] * stride)) return -1;
    if (stride < section_kinds[s].size) widen(to, counts[s], stride, section_kinds[s].size);
    memset(to + counts[s] * section_kinds[s].size, 0, section_kinds[s].size);
  }
  if (fetch_head(source, &last)) return -1;
  copy->head = last;
  copy->half = last.rounds_begun != last.snapshots || first.snapshots != last.snapshots;
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) copy->head.sections[s].count = counts[s];
  /* The final NUL, and the elements 0 that stand for nothing, are there whatever the file holds. */
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
#undef PLACE
  if (!copy->entities_count) copy->entities_count = 1;
  if (!copy->stacks_count) copy->stacks_count = 1;
  memset((unsigned char *)copy->memory + at[QZ_SECTION_ENTITIES], 0, sizeof(struct qz_entity));
  memset((unsigned char *)copy->memory + at[QZ_SECTION_STACKS], 0, sizeof(struct qz_stack_node));
  ((char *)copy->memory)[at[QZ_SECTION_STRINGS]] = 0;
  return 0;
}

static int known_kind(uint32_t kind) {
  return (kind > QZ_KIND_NONE && kind < QZ_KIND_COUNT) || (kind >= QZ_ENTITY_PROCEDURE && kind <= QZ_ENTITY_CODE_LINE);
}

static int check_names(struct source *source, const struct qz_profile_copy *copy) {
  size_t strings = copy->strings_bytes, modules = copy->modules_count;
  const struct qz_profile *head = &copy->head;
  if (head->program >= strings || head->arguments >= strings || head->host >= strings || head->version_text >= strings)
    return wrong(source, "its head names a string that is not there");
  for (size_t k = 1; k < copy->entities_count; k++) {
    const struct qz_entity *entity = &copy->entities[k];
    if (!known_kind(entity->kind) || entity->name >= strings || entity->file >= strings || entity->detail >= strings ||
        entity->module > modules || entity->origin > QZ_ORIGIN_INSTALLED ||
        entity->library_wait > QZ_LIBRARY_WAIT_PROCESSES || entity->naming > QZ_NAMING_PLACE ||
        entity->missing > QZ_MISSING_SYSTEM || (entity->kind >= QZ_ENTITY_CODE_LOOP && entity->record >= k))
      return wrong(source, "entity %zu makes no sense", k);
  }
  for (size_t k = 0; k < modules; k++)
    if (copy->modules[k].start >= copy->modules[k].end || copy->modules[k].path >= strings ||
        copy->modules[k].build_id >= strings)
      return wrong(source, "module %zu makes no sense", k);
  for (size_t k = 1; k < copy->stacks_count; k++)
    if (copy->stacks[k].parent >= k || copy->stacks[k].entity == 0 || copy->stacks[k].entity >= copy->entities_count)
      return wrong(source, "stack %zu makes no sense", k);
  return 0;
}

static int segment_fits(const struct qz_profile_copy *copy, const struct qz_path_segment *its) {
  size_t entities = copy->entities_count;
  return its->stack < copy->stacks_count && its->thread < entities && its->object < entities && its->by < entities &&
         its->state < QZ_STATE_COUNT && its->arrival < QZ_ARRIVAL_COUNT && its->came < QZ_ARRIVAL_COUNT;
}

static int check_references(struct source *source, const struct qz_profile_copy *copy) {
  size_t entities = copy->entities_count, stacks = copy->stacks_count, processors = copy->head.processors;
  for (size_t k = 0; k < copy->tuples_count; k++) {
    const struct qz_tuple *tuple = &copy->tuples[k];
    if (tuple->stack >= stacks || tuple->thread >= entities || tuple->state == QZ_STATE_IDLE ||
        tuple->state >= QZ_STATE_COUNT || (size_t)tuple->busy + tuple->spinning > processors)
      return wrong(source, "tuple %zu makes no sense", k);
  }
  for (size_t k = 0; k < copy->balance_count; k++)
    if ((size_t)copy->balance[k].busy + copy->balance[k].spinning > processors)
      return wrong(source, "balance %zu makes no sense", k);
  for (size_t k = 0; k < copy->objects_count; k++)
    if (copy->objects[k].entity == 0 || copy->objects[k].entity >= entities)
      return wrong(source, "object %zu makes no sense", k);
  for (size_t k = 0; k < copy->blame_count; k++)
    if (copy->blame[k].object >= entities || copy->blame[k].stack >= stacks || copy->blame[k].thread >= entities)
      return wrong(source, "blame %zu makes no sense", k);
  for (size_t k = 0; k < copy->wait_overlap_count; k++)
    if (copy->wait_overlap[k].object >= entities || copy->wait_overlap[k].stack >= stacks ||
        copy->wait_overlap[k].thread >= entities)
      return wrong(source, "wait overlap (%zu) makes no sense", k);
  for (size_t k = 0; k < copy->on_path_count; k++) {
    const struct qz_on_path *its = &copy->on_path[k];
    if (its->stack >= stacks || its->thread >= entities || its->object >= entities || its->state >= QZ_STATE_COUNT ||
        its->arrival >= QZ_ARRIVAL_COUNT)
      return wrong(source, "the time on the path (%zu) makes no sense", k);
  }
  for (size_t k = 0; k < copy->segments_count; k++)
    if (!segment_fits(copy, &copy->segments[k])) return wrong(source, "segment %zu of the path makes no sense", k);
  for (size_t k = 0; k < copy->recent_segments_count; k++)
    if (!segment_fits(copy, &copy->recent_segments[k]))
      return wrong(source, "segment %zu of the path's end makes no sense", k);
  for (size_t k = 0; k < copy->instructions_count; k++)
    if (copy->instructions[k].procedure >= entities) return wrong(source, "instruction %zu makes no sense", k);
  for (size_t k = 0; k < copy->on_span_count; k++)
    if (copy->on_span[k].stack >= stacks || copy->on_span[k].thread >= entities)
      return wrong(source, "what is on the span (%zu) makes no sense", k);
  for (size_t k = 0; k < copy->sites_count; k++)
    if (copy->sites[k].start >= entities || copy->sites[k].caller >= entities)
      return wrong(source, "spawn site %zu makes no sense", k);
  for (size_t k = 0; k < copy->what_if_count; k++)
    if (copy->what_if[k].kind >= QZ_WHAT_IF_KINDS || copy->what_if[k].entity >= entities ||
        copy->what_if[k].name >= copy->strings_bytes)
      return wrong(source, "answer %zu to what if makes no sense", k);
  for (size_t k = 0; k < copy->calls_count; k++)
    if (copy->calls[k].caller >= entities || copy->calls[k].callee >= entities)
      return wrong(source, "call count %zu makes no sense", k);
  for (size_t k = 0; k < copy->threads_count; k++)
    if (copy->threads[k].entity == 0 || copy->threads[k].entity >= entities || copy->threads[k].creator >= entities)
      return wrong(source, "thread %zu makes no sense", k);
  for (size_t k = 0; k < copy->timeline_count; k++)
    if (copy->timeline[k].top >= entities) return wrong(source, "stretch %zu of the timeline makes no sense", k);
  return 0;
}

static int load(struct source *source, struct qz_profile_copy *copy) {
  for (int tries = 0;; tries++) {
    if (copy_sections(source, copy)) return -1;
    if (!copy->half || copy->head.status != QZ_PROFILE_RECORDING || source->fd < 0 || tries == LIVE_TRIES) break;
    nanosleep(&(struct timespec){0, 20000}, NULL);
  }
  return check_names(source, copy) || check_references(source, copy) ? -1 : 0;
}

/* The sampler holds a lock on the file as long as it lives; a file system without locks leaves its pid. */
static int sampler_gone(int fd, uint32_t pid) {
  if (!flock(fd, LOCK_SH | LOCK_NB)) {
    flock(fd, LOCK_UN);
    return 1;
  }
  if (errno == EWOULDBLOCK) return 0;
  return pid == 0 || pid > INT32_MAX || (kill((pid_t)pid, 0) && errno == ESRCH);
}

/* The file of that name is another one by now. */
static int replaced(int fd, const char *path) {
  struct stat open_file, named;
  return !fstat(fd, &open_file) && !stat(path, &named) &&
         (open_file.st_ino != named.st_ino || open_file.st_dev != named.st_dev);
}

/* One attempt; *again: what was found may be a moment in which the sampler finishes the file. */
static int load_once(struct source *source, struct qz_profile_copy *profile, const char *path, int *again) {
  *again = 0;
  source->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (source->fd < 0) {
    int error = errno;
    snprintf(source->why, source->why_bytes, "%s", strerror(error));
    errno = error;
    return -1;
  }
  struct stat status;
  int failed;
  if (fstat(source->fd, &status) || !S_ISREG(status.st_mode)) {
    failed = wrong(source, "it is not a file");
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

int qz_profile_load(struct qz_profile_copy *profile, const char *path, char *why, size_t why_bytes) {
  memset(profile, 0, sizeof *profile);
  struct source source = {.why = why, .why_bytes = why_bytes};
  for (int tries = 0;; tries++) {
    int again, failed = load_once(&source, profile, path, &again);
    if (!again || tries == LIVE_TRIES) return failed;
    qz_profile_unload(profile);
    nanosleep(&(struct timespec){0, 2000000}, NULL);
  }
}

/* ---- all that is wrong with a file ---- */

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

unsigned qz_profile_damage(const char *path, char *clauses, size_t bytes) {
  struct list list = {.text = clauses, .bytes = bytes};
  struct qz_profile_copy copy;
  struct qz_profile head;
  char why[200], named[200];
  clauses[0] = 0;
  if (!qz_profile_load(&copy, path, named, sizeof named)) {
    qz_profile_unload(&copy);
    return 0;
  }
  struct source source = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .why = why, .why_bytes = sizeof why};
  note(&list, named);
  if (source.fd < 0) return list.count;
  memset(&head, 0, sizeof head);
  /* Where the head is readable, though maybe wrong, what it says of sections is compared one by one. */
  if (!look_at_size(&source) && !fetch(&source, &head, 0, source.size < sizeof head ? source.size : sizeof head) &&
      head.magic == QZ_PROFILE_MAGIC && is_read(head.version)) {
    struct qz_profile_end end;
    if (check_end(&source, &head) && strcmp(why, named) != 0) note(&list, why);
    int has_end = !fetch_end(&source, &end) && end.magic == QZ_PROFILE_MAGIC_END;
    for (unsigned s = 0; s < sections_of(head.version); s++) {
      const struct qz_section *section = &head.sections[s];
      int fits = stride_fits(head.version, s, section->stride) &&
                 room_of(&source, section, (uint32_t)head_size(head.version)) != UINT64_MAX;
      if (!fits && !has_end) snprintf(why, sizeof why, "its section of %s is cut off", section_kinds[s].name);
      if ((!fits && !has_end) ||
          (fits && fetch_section(&source, &head, s, NULL, 0) && errno == 0 && strcmp(why, named) != 0))
        note(&list, why);
    }
  }
  close(source.fd);
  return list.count;
}

int qz_profile_load_memory(struct qz_profile_copy *profile, const void *bytes, size_t size, char *why,
                           size_t why_bytes) {
  memset(profile, 0, sizeof *profile);
  struct source source = {.fd = -1, .memory = bytes, .size = size, .why = why, .why_bytes = why_bytes};
  int failed = load(&source, profile);
  if (failed)
    qz_profile_unload(profile);
  else
    profile->abandoned = profile->head.status == QZ_PROFILE_RECORDING;
  return failed;
}

void qz_profile_unload(struct qz_profile_copy *profile) {
  free(profile->memory);
  memset(profile, 0, sizeof *profile);
}
