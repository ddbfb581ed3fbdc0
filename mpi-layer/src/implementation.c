/* Which MPI this is, by what its libraries define, and how its procedures are found. See mpi_layer.h. */
#define _GNU_SOURCE
#include "mpi_layer.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define THREAD_MULTIPLE 3 /* MPI_THREAD_MULTIPLE of all implementations; the other levels are below it */

struct qzm_implementation qzm_mpi;

enum qzm_state qzm_state;
bool qzm_alone;
int qzm_locked;
__thread unsigned qzm_depth;

void *qzm_memory(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

/* The library of MPI may be one that only the caller sees: loaded by a module of an interpreter, for itself. Variables
 * may have been copied into the program, whose copy is the one in use. */
static void *lookup(const char *name, uint64_t site) {
  int procedure = strncmp(name, "ompi_", 5) != 0; /* the layer defines some: what is behind it counts */
  void *found = dlsym(procedure ? RTLD_NEXT : RTLD_DEFAULT, name);
  Dl_info caller;
  if (found || !dladdr((void *)(uintptr_t)site, &caller) || !caller.dli_fname) return found;
  void *object = dlopen(caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (!object) return NULL;
  found = dlsym(object, name);
  dlclose(object);
  return found;
}

void *qzm_real(const char *name, uint64_t site) {
  void *found = lookup(name, site);
  if (found) return found;
  fprintf(stderr, "quartz: this MPI has no %s, which the program calls; record it with QUARTZ_MPI=0\n", name);
  abort();
}

/* Open MPI's handles are addresses of objects that it exports; all others of today have the binary interface of MPICH
 * (mpich.org/abi), where they are ints. */
static bool recognize(uint64_t site) {
  void *world = lookup("ompi_mpi_comm_world", site);
  if (world) {
    qzm_mpi = (struct qzm_implementation){.handle_bytes = sizeof(void *),
                                          .world = (qzm_handle)world,
                                          .any_source = -1,
                                          .nowhere = -2,
                                          .ignored = 0,
                                          .status_bytes = 24,
                                          .source_at = 0,
                                          .tag_at = 4};
    return true;
  }
  qzm_mpi = (struct qzm_implementation){.handle_bytes = sizeof(int),
                                        .world = 0x44000000,
                                        .any_source = -2,
                                        .nowhere = -1,
                                        .ignored = 1,
                                        .status_bytes = 20,
                                        .source_at = 8,
                                        .tag_at = 12};
  static const char *const alike[] = {"MPICH", "MVAPICH", "Intel(R) MPI", "CRAY MPICH"};
  char text[8192] = ""; /* more than MPI_MAX_LIBRARY_VERSION_STRING of any */
  int bytes = 0,
      (*version)(char *, int *) = (int (*)(char *, int *))(uintptr_t)lookup("PMPI_Get_library_version", site);
  if (!version || version(text, &bytes)) return false;
  for (size_t k = 0; k < sizeof alike / sizeof *alike; k++)
    if (strstr(text, alike[k])) return true;
  return false;
}

static bool start(uint64_t site) {
  int rank = 0, ranks = 0, initialized = 0, finalized = 0;
  int (*flag)(int *) = (int (*)(int *))(uintptr_t)lookup("PMPI_Initialized", site),
                  (*over)(int *) = (int (*)(int *))(uintptr_t)lookup("PMPI_Finalized", site),
                  (*number)(qzm_handle, int *) = (int (*)(qzm_handle, int *))(uintptr_t)lookup("PMPI_Comm_rank", site),
                  (*size)(qzm_handle, int *) = (int (*)(qzm_handle, int *))(uintptr_t)lookup("PMPI_Comm_size", site),
                  (*level)(int *) = (int (*)(int *))(uintptr_t)lookup("PMPI_Query_thread", site);
  if (!flag || !over || !number || !size || flag(&initialized) || over(&finalized)) return false;
  if (!initialized || finalized) return false;
  bool ready = recognize(site) && !number(qzm_mpi.world, &rank) && !size(qzm_mpi.world, &ranks) &&
               qzm_log_open((uint32_t)rank, (uint32_t)ranks);
  int provided = THREAD_MULTIPLE;
  qzm_alone = level && !level(&provided) && provided < THREAD_MULTIPLE;
  __atomic_store_n(&qzm_state, ready ? QZM_ACTIVE : QZM_PASSIVE, __ATOMIC_RELEASE);
  return ready;
}

__attribute__((cold)) bool qzm_enter_first(uint64_t site) {
  qzm_depth = 1; /* start() asks MPI */
  qzm_lock();
  bool active = qzm_state == QZM_UNDECIDED ? start(site) : qzm_state == QZM_ACTIVE;
  qzm_unlock();
  qzm_depth = active;
  return active;
}

void qzm_lock_always(void) {
  while (__atomic_exchange_n(&qzm_locked, 1, __ATOMIC_ACQUIRE))
    while (__atomic_load_n(&qzm_locked, __ATOMIC_RELAXED)) {}
}

qzm_handle qzm_read(const void *handle) {
  if (qzm_mpi.handle_bytes == sizeof(int)) return (qzm_handle)(unsigned)*(const int *)handle;
  return *(const qzm_handle *)handle;
}
qzm_handle qzm_element(const void *handles, int index) {
  return qzm_read((const char *)handles + (size_t)index * qzm_mpi.handle_bytes);
}
bool qzm_is_ignored(const void *status) { return (uintptr_t)status == qzm_mpi.ignored; }
qzm_handle qzm_null_communicator(uint64_t site) {
  return qzm_mpi.handle_bytes == sizeof(int) ? 0x04000000 : (qzm_handle)lookup("ompi_mpi_comm_null", site);
}
