/* Copies messages from the log into the profile. See messages.h. */
#include "messages.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include "abi/mpi_log.h"
#include "external_objects.h"

/* Entity of the call's place; `entities` is a cache by index, 0: not looked up. */
static uint32_t entity_of(struct qzi_interner *in, const struct qz_mpi_log *log, uint32_t *entities, uint32_t site) {
  uint64_t address = site < QZ_MPI_SITES ? QZ_LOAD(&log->sites[site].address) : 0;
  if (!address) return 0;
  if (entities[site]) return entities[site];
  uint32_t module = qzi_intern_module(in, address);
  struct qzi_external its = {.kind = QZI_BY_PLACE,
                             .key = address,
                             .site = address,
                             .called = QZ_LOAD(&log->sites[site].called),
                             .module = module};
  uint32_t index = module ? qzi_external_find(in, &its) : 0;
  if (module && !index) index = qzi_external_add(in, &its);
  return entities[site] = qzi_external_entity(in, index);
}

static int sensible(const struct qz_mpi_log *log, uint64_t bytes) {
  return QZ_LOAD(&log->magic) == QZ_MPI_LOG_MAGIC && log->version == QZ_MPI_LOG_VERSION && log->ranks &&
         log->rank < log->ranks && log->capacity == QZ_MPI_LOG_CAPACITY &&
         bytes == sizeof *log + log->capacity * sizeof log->events[0];
}

static int is_kept(const struct qz_mpi_event *event, uint32_t thinning) {
  return !(event->number & ((UINT32_C(1) << thinning) - 1));
}
static uint64_t kept(const struct qz_mpi_log *log, uint32_t count, uint32_t thinning) {
  uint64_t all = 0;
  for (uint32_t k = 0; k < count; k++) all += (uint64_t)is_kept(&log->events[k], thinning);
  return all;
}

static void copy(struct qzi_interner *in, const struct qz_mpi_log *log) {
  struct qzi_file *file = in->file;
  uint32_t thinning = QZ_LOAD(&log->thinning), count = QZ_LOAD(&log->count), entities[QZ_MPI_SITES] = {0};
  if (thinning > QZ_MPI_THIN_MOST || count > QZ_MPI_LOG_CAPACITY) return;
  uint64_t room = file->head->sections[QZ_SECTION_MESSAGES].capacity;
  while (thinning < QZ_MPI_THIN_MOST && kept(log, count, thinning) > room) thinning++;
  for (uint32_t k = 0; k < count; k++) {
    const struct qz_mpi_event *event = &log->events[k];
    if (!is_kept(event, thinning)) continue;
    if (event->kind < QZ_MPI_SENT || event->kind > QZ_MPI_PREFIX || event->peer < -1 ||
        event->peer >= (int32_t)log->ranks || event->begin_ns < event->posted_ns)
      continue;
    uint32_t call = entity_of(in, log, entities, event->site);
    uint64_t used = qzi_file_count(file, QZ_SECTION_MESSAGES);
    if (used >= room || qzi_file_room(file, QZ_SECTION_MESSAGES, 1)) break;
    file->messages[used] = (struct qz_message_event){.posted_ns = event->posted_ns,
                                                     .begin_ns = event->begin_ns,
                                                     .ns = event->ns,
                                                     .communicator = event->communicator,
                                                     .number = event->number,
                                                     .peer = event->peer,
                                                     .tag = event->tag,
                                                     .kind = event->kind,
                                                     .call = call,
                                                     .thinning = thinning};
    qzi_file_append(file, QZ_SECTION_MESSAGES, 1);
  }
}

void qzi_messages_store(struct qzi_interner *in, int fd) {
  struct stat file;
  if (fstat(fd, &file) || file.st_size <= (off_t)sizeof(struct qz_mpi_log)) return;
  void *memory = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return;
  if (sensible(memory, (uint64_t)file.st_size)) copy(in, memory);
  munmap(memory, (size_t)file.st_size);
}
