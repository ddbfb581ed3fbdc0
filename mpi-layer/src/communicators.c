/* Communicators: which ranks they have, and what distinguishes them on all of these alike. See mpi_layer.h.
 *
 * Calls that make communicators are collective over one that exists: all its ranks count the same calls, so that count,
 * the existing one's identity and the new one's first rank make an identity, without a message.
 */
#include "mpi_layer.h"

#include <string.h>
#include <sys/mman.h>

#define MOST    1024u
#define ID_MASK ((UINT64_C(1) << 48) - 1) /* exact as a double, which readers keep it in */

struct communicator {
  qzm_handle handle;
  uint64_t id;
  int *ranks;   /* by its rank: of MPI_COMM_WORLD; NULL: the same, or not known (`plain` false) */
  size_t bytes; /* of ranks */
  int size;
  uint32_t made; /* communicators that calls made of it */
  bool used, plain;
};
static struct communicator all[MOST];
static uint32_t high; /* how many of them were ever used: a handle that is not among them is common */

/* What is above an int that is passed in a register is undefined. */
static qzm_handle clean(qzm_handle handle) { return qzm_mpi.handle_bytes == sizeof(int) ? (unsigned)handle : handle; }

static struct communicator *last = all; /* found last: the program uses one for long */

static struct communicator *search(qzm_handle handle) {
  for (uint32_t k = 0; k < high; k++)
    if (all[k].used && all[k].handle == handle) return last = &all[k];
  return NULL;
}
static inline struct communicator *find(qzm_handle handle) {
  return __builtin_expect(last->handle == handle && last->used, true) ? last : search(handle);
}

static struct communicator *add(qzm_handle handle) {
  struct communicator *its = find(handle);
  for (uint32_t k = 0; !its && k < MOST; k++)
    if (!all[k].used) its = &all[k];
  if (!its) return NULL;
  if (its - all >= (ptrdiff_t)high) high = (uint32_t)(its - all) + 1;
  if (its->ranks) munmap(its->ranks, its->bytes);
  *its = (struct communicator){.handle = handle, .used = true};
  return its;
}

static struct communicator *add_world(void) {
  struct communicator *its = add(qzm_mpi.world);
  if (its) {
    its->id = 1;
    its->plain = true;
  }
  return its;
}
static inline struct communicator *known(qzm_handle given) {
  qzm_handle handle = clean(given);
  struct communicator *its = find(handle);
  return !its && handle == qzm_mpi.world ? add_world() : its;
}

bool qzm_communicator(qzm_handle handle, int rank, uint64_t *id, int *world_rank) {
  const struct communicator *its = known(handle);
  if (!its || !its->plain) return false;
  *id = its->id;
  if (rank < 0)
    *world_rank = QZM_UNKNOWN;
  else if (!its->ranks)
    *world_rank = rank;
  else
    *world_rank = rank < its->size ? its->ranks[rank] : QZM_UNKNOWN;
  return true;
}

/* Ranks of the new one in MPI_COMM_WORLD. MPI is asked before the lock is taken. */
static int *ranks_of(qzm_handle handle, int *size, size_t *bytes, uint64_t site) {
  typedef int (*size_call)(qzm_handle, int *);
  typedef int (*group_call)(qzm_handle, void *);
  typedef int (*translate_call)(qzm_handle, int, const int *, qzm_handle, int *);
  typedef int (*free_call)(void *);
  size_call ask = (size_call)(uintptr_t)qzm_real("PMPI_Comm_size", site);
  group_call group = (group_call)(uintptr_t)qzm_real("PMPI_Comm_group", site);
  translate_call translate = (translate_call)(uintptr_t)qzm_real("PMPI_Group_translate_ranks", site);
  free_call drop = (free_call)(uintptr_t)qzm_real("PMPI_Group_free", site);
  size_call between = (size_call)(uintptr_t)qzm_real("PMPI_Comm_test_inter", site);
  int inter = 0;
  if (between(handle, &inter) || inter || ask(handle, size) || *size <= 0) return NULL;
  uint64_t its = 0, world = 0; /* room for a handle */
  *bytes = 2 * (size_t)*size * sizeof(int);
  int *ranks = qzm_memory(*bytes);
  if (!ranks || group(handle, &its)) return ranks;
  if (!group(qzm_mpi.world, &world)) {
    for (int k = 0; k < *size; k++) ranks[*size + k] = k;
    if (translate(qzm_read(&its), *size, ranks + *size, qzm_read(&world), ranks)) ranks[0] = QZM_UNKNOWN;
    drop(&world);
  }
  drop(&its);
  return ranks;
}

void qzm_made(qzm_handle parent, const void *made, uint64_t site) {
  typedef int (*compare_call)(qzm_handle, int *);
  qzm_handle handle = qzm_read(made);
  int size = 0, rank = 0;
  size_t bytes = 0;
  compare_call self = (compare_call)(uintptr_t)qzm_real("PMPI_Comm_rank", site);
  /* MPI_COMM_NULL, for those that do not belong to the new one: 0x04000000, or an object that says so by an error,
   * which may end the program: it is known by its symbol */
  bool none = handle == qzm_null_communicator(site);
  int *ranks = none || self(handle, &rank) ? NULL : ranks_of(handle, &size, &bytes, site);
  qzm_lock();
  struct communicator *from = known(parent);
  uint64_t nth = from ? ++from->made : 0, id = from ? from->id : 0;
  struct communicator *its = from && !none ? add(handle) : NULL;
  if (its) {
    its->plain = ranks != NULL;
    its->ranks = ranks;
    its->bytes = bytes;
    its->size = size;
    its->id = (qzm_hash(qzm_hash(id + nth) + (uint64_t)(ranks ? ranks[0] + 1 : 0)) & ID_MASK) | 2;
  } else if (ranks) {
    munmap(ranks, bytes);
  }
  qzm_unlock();
}

void qzm_freed(qzm_handle handle) {
  struct communicator *its = find(handle);
  if (!its || handle == qzm_mpi.world) return;
  if (its->ranks) munmap(its->ranks, its->bytes);
  its->ranks = NULL;
  its->used = false;
}
