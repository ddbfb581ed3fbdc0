/* The log of this process. See mpi_layer.h and abi/mpi_log.h. */
#define _GNU_SOURCE
#include "mpi_layer.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES (sizeof(struct qz_mpi_log) + QZ_MPI_LOG_CAPACITY * sizeof(struct qz_mpi_event))

static struct qz_mpi_log *the_log;
static uint32_t epoch = 1; /* how often events have moved */

bool qzm_log_open(uint32_t rank, uint32_t ranks) {
  /* The pthread layer's: it is the one that the sampler knows. */
  int (*pass)(int) = (int (*)(int))(uintptr_t)dlsym(RTLD_DEFAULT, "quartz_pass_messages");
  int fd = pass ? memfd_create("quartz-mpi", MFD_CLOEXEC) : -1;
  if (fd < 0) return false;
  void *memory =
    ftruncate(fd, (off_t)BYTES) ? MAP_FAILED : mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) {
    the_log = memory;
    the_log->rank = rank;
    the_log->ranks = ranks;
    the_log->capacity = QZ_MPI_LOG_CAPACITY;
    the_log->version = QZ_MPI_LOG_VERSION;
    __atomic_store_n(&the_log->magic, QZ_MPI_LOG_MAGIC, __ATOMIC_RELEASE);
    if (pass(fd)) {
      munmap(memory, BYTES);
      the_log = NULL;
    }
  }
  close(fd);
  return the_log != NULL;
}

static bool kept(uint32_t number) { return !(number & ((UINT32_C(1) << the_log->thinning) - 1)); }

/* Half of the numbers go. What is as numerous as it was has one event of each number: nothing more can be done. */
static bool thin(void) {
  if (the_log->thinning == QZ_MPI_THIN_MOST) return false;
  uint32_t count = the_log->count, to = 0;
  __atomic_store_n(&the_log->thinning, the_log->thinning + 1, __ATOMIC_RELEASE);
  for (uint32_t from = 0; from < count; from++)
    if (kept(the_log->events[from].number)) the_log->events[to++] = the_log->events[from];
  __atomic_store_n(&the_log->count, to, __ATOMIC_RELEASE);
  epoch++;
  return to < count;
}

struct qz_mpi_event *qzm_log_room(uint32_t number) {
  if (__builtin_expect(number == UINT32_MAX, false)) {
    the_log->lost++;
    return NULL;
  }
  if (!kept(number)) return NULL;
  if (__builtin_expect(the_log->count == the_log->capacity, false)) {
    if (!thin()) {
      the_log->lost++;
      return NULL;
    }
    if (!kept(number)) return NULL;
  }
  return &the_log->events[the_log->count];
}

uint32_t qzm_log_add(void) {
  uint32_t count = the_log->count + 1;
  __atomic_store_n(&the_log->count, count, __ATOMIC_RELEASE);
  return count;
}

struct qz_mpi_event *qzm_log_at(uint32_t index, uint32_t of) {
  return index && of == epoch ? &the_log->events[index - 1] : NULL;
}
uint32_t qzm_log_epoch(void) { return epoch; }
void qzm_log_lost(void) { the_log->lost++; }

uint16_t qzm_log_site(struct qzm_place at) {
  if (!at.site) return 0;
  uint32_t place = (uint32_t)qzm_hash(at.site) % QZ_MPI_SITES;
  for (uint32_t tries = 0; tries < QZ_MPI_SITES; tries++, place = (place + 1) % QZ_MPI_SITES) {
    struct qz_mpi_site *its = &the_log->sites[place];
    if (!place) continue; /* 0 says that none is known */
    if (!its->address) {
      its->called = at.called;
      __atomic_store_n(&its->address, at.site, __ATOMIC_RELEASE);
    }
    if (its->address == at.site && its->called == at.called) return (uint16_t)place;
  }
  return 0;
}
