/* Head and sections of a profile. See profile_sections.h. */
#include "profile_sections.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "checksum.h"

#define HEAD_MAX_BYTES (UINT32_C(1) << 20)

int qzi_profile_wrong(struct qzi_profile_source *source, enum qz_profile_fault fault, const char *format, ...) {
  source->fault = fault;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(source->why, source->why_bytes, format, arguments);
  va_end(arguments);
  errno = 0;
  return -1;
}

int qzi_profile_fetch(struct qzi_profile_source *source, void *to, uint64_t offset, uint64_t bytes) {
  if (offset > source->size || bytes > source->size - offset)
    return qzi_profile_damaged(source, "the file is cut short");
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
      source->fault = QZ_FAULT_SYSTEM;
      errno = error;
      return -1;
    }
    if (got == 0) return qzi_profile_damaged(source, "the file is cut short");
    at += got;
    offset += (uint64_t)got;
    bytes -= (uint64_t)got;
  }
  return 0;
}

const struct qzi_profile_kind qzi_profile_kinds[QZ_SECTION_COUNT] = {
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
  [QZ_SECTION_SLICES] = {sizeof(struct qz_slice), "slices of threads"},
  [QZ_SECTION_LINES] = {sizeof(struct qz_shared_line), "shared lines"},
  [QZ_SECTION_UNWINDING] = {sizeof(struct qz_unwinding), "unwinding"},
  [QZ_SECTION_COUNTED] = {sizeof(struct qz_counted), "what was counted"},
  [QZ_SECTION_MESSAGES] = {sizeof(struct qz_message_event), "messages"},
  [QZ_SECTION_CPU_LIMITS] = {sizeof(struct qz_cpu_limits), "limits of CPUs"},
};
unsigned qzi_profile_sections(uint32_t version) {
  return version < 18   ? QZ_SECTION_WHAT_IF
         : version < 19 ? QZ_SECTION_RECENT_PATHS
         : version < 20 ? QZ_SECTION_INSTRUCTIONS
         : version < 22 ? QZ_SECTION_SLICES
         : version < 23 ? QZ_SECTION_UNWINDING
         : version < 26 ? QZ_SECTION_LINES
         : version < 28 ? QZ_SECTION_COUNTED
         : version < 29 ? QZ_SECTION_MESSAGES
         : version < 34 ? QZ_SECTION_CPU_LIMITS
                        : QZ_SECTION_COUNT;
}
int qzi_profile_stride_fits(uint32_t version, unsigned section, uint64_t stride) {
  uint64_t size = qzi_profile_kinds[section].size;
  return stride == size || (version < QZ_PROFILE_VERSION && stride > 0 && stride < size);
}
size_t qzi_profile_head_size(uint32_t version) {
  return offsetof(struct qz_profile, sections) + qzi_profile_sections(version) * sizeof(struct qz_section);
}
int qzi_profile_is_read(uint32_t version) { return version >= QZ_PROFILE_OLDEST && version <= QZ_PROFILE_VERSION; }

/* The checksum of some of the file's bytes, which are also copied to `to` as far as `wanted` of them. */
static int fetch_summed(struct qzi_profile_source *source, void *to, uint64_t wanted, uint64_t offset, uint64_t bytes,
                        uint32_t *sum) {
  unsigned char rest[4096];
  uint64_t kept = wanted < bytes ? wanted : bytes;
  if (qzi_profile_fetch(source, to, offset, kept)) return -1;
  *sum = qz_checksum(*sum, to, kept);
  for (offset += kept, bytes -= kept; bytes;) {
    uint64_t part = bytes < sizeof rest ? bytes : sizeof rest;
    if (qzi_profile_fetch(source, rest, offset, part)) return -1;
    *sum = qz_checksum(*sum, rest, part);
    offset += part;
    bytes -= part;
  }
  return 0;
}

int qzi_profile_fetch_end(struct qzi_profile_source *source, struct qz_profile_end *end) {
  return source->size < sizeof *end ? -1 : qzi_profile_fetch(source, end, source->size - sizeof *end, sizeof *end);
}

int qzi_profile_check_end(struct qzi_profile_source *source, const struct qz_profile *head) {
  struct qz_profile_end end;
  size_t bytes = qzi_profile_head_size(head->version);
  uint32_t sum = qz_checksum(0, head, bytes);
  if (qzi_profile_fetch_end(source, &end) || end.magic != QZ_PROFILE_MAGIC_END || end.file_bytes != source->size ||
      end.checksum != qz_checksum(0, &end, offsetof(struct qz_profile_end, checksum)))
    return qzi_profile_damaged(source, "it is cut short, or damaged at its end");
  if (head->head_bytes < bytes || head->head_bytes > HEAD_MAX_BYTES || head->head_bytes > source->size ||
      fetch_summed(source, NULL, 0, bytes, head->head_bytes - bytes, &sum) || sum != end.head_checksum)
    return qzi_profile_damaged(source, "its head is damaged");
  return 0;
}

int qzi_profile_look_at_size(struct qzi_profile_source *source) {
  struct stat status;
  if (source->fd < 0) return 0;
  if (fstat(source->fd, &status))
    return qzi_profile_wrong(source, QZ_FAULT_SYSTEM, "it can't be read: %s", strerror(errno));
  source->size = (uint64_t)status.st_size;
  return 0;
}

uint64_t qzi_profile_room(const struct qzi_profile_source *source, const struct qz_section *section,
                          uint32_t head_bytes) {
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

int qzi_profile_fetch_head(struct qzi_profile_source *source, struct qz_profile *head) {
  memset(head, 0, sizeof *head);
  if (qzi_profile_look_at_size(source)) return -1;
  uint64_t there = source->size < sizeof *head ? source->size : sizeof *head;
  if (there < offsetof(struct qz_profile, status))
    return qzi_profile_wrong(source, QZ_FAULT_FOREIGN, "it is not a Quartz profile (too small)");
  if (qzi_profile_fetch(source, head, 0, there)) return -1;
  int finished = head->magic == QZ_PROFILE_MAGIC;
  if (!finished && head->magic != QZ_PROFILE_MAGIC_OPEN)
    return qzi_profile_wrong(source, QZ_FAULT_FOREIGN, "it is not a Quartz profile");
  if (!qzi_profile_is_read(head->version))
    return qzi_profile_wrong(source, QZ_FAULT_VERSION,
                             "it was written by another version of Quartz (format %u, this one reads %u to %u)",
                             head->version, QZ_PROFILE_OLDEST, QZ_PROFILE_VERSION);
  if (there < qzi_profile_head_size(head->version))
    return qzi_profile_damaged(source, "it is cut short, or damaged at its end");
  if (finished && qzi_profile_check_end(source, head)) return -1;
  if (head->head_bytes < qzi_profile_head_size(head->version) || head->head_bytes > HEAD_MAX_BYTES)
    return qzi_profile_damaged(source, "its head has another size");
  if (!finished) {
    struct qz_profile_end end;
    if (!qzi_profile_fetch_end(source, &end) && end.magic == QZ_PROFILE_MAGIC_END && end.file_bytes == source->size)
      return qzi_profile_damaged(source, "its head is damaged: the file is finished, and its head says it is not");
    head->status = QZ_PROFILE_RECORDING;
  } else if (head->status == QZ_PROFILE_RECORDING) {
    return qzi_profile_damaged(source, "its status makes no sense");
  }
  if (head->status < QZ_PROFILE_RECORDING || head->status > QZ_PROFILE_CUT || head->end_reason > QZ_END_TIME)
    return qzi_profile_damaged(source, "its status makes no sense");
  if (head->processors == 0 || head->processors > UINT16_MAX)
    return qzi_profile_damaged(source, "its number of processors makes no sense");
  if (head->publisher != QZ_PUBLISHER_THREADLIB && head->publisher != QZ_PUBLISHER_PTHREAD)
    return qzi_profile_damaged(source, "its publisher is unknown");
  for (unsigned s = qzi_profile_sections(head->version); s < QZ_SECTION_COUNT; s++)
    head->sections[s] = (struct qz_section){.stride = qzi_profile_kinds[s].size};
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    const struct qz_section *section = &head->sections[s];
    uint64_t room;
    if (!qzi_profile_stride_fits(head->version, s, section->stride) || section->count > section->capacity ||
        (room = qzi_profile_room(source, section, head->head_bytes)) == UINT64_MAX || section->count > room)
      return qzi_profile_damaged(source, "its section of %s does not fit", qzi_profile_kinds[s].name);
  }
  return 0;
}

int qzi_profile_fetch_section(struct qzi_profile_source *source, const struct qz_profile *head, unsigned s, void *to,
                              uint64_t bytes) {
  const struct qz_section *section = &head->sections[s];
  int finished = head->magic == QZ_PROFILE_MAGIC;
  unsigned char none[1], *at = to ? to : none;
  uint32_t sum = 0;
  for (unsigned k = 0; k < section->extents_count; k++) {
    const struct qz_extent *extent = &section->extents[k];
    uint64_t part = bytes < extent->bytes ? bytes : extent->bytes;
    if (finished ? fetch_summed(source, at, part, extent->offset, extent->bytes, &sum)
                 : qzi_profile_fetch(source, at, extent->offset, part))
      return -1;
    at += part;
    bytes -= part;
  }
  if (bytes || (finished && sum != section->checksum))
    return qzi_profile_damaged(source, "its section of %s is damaged", qzi_profile_kinds[s].name);
  return 0;
}
