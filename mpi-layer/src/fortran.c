/* Where a Fortran program calls MPI, and what is behind the layer's Fortran entries (fortran.S). See mpi_layer.h. */
#include "mpi_layer.h"

#define REACH UINT64_C(65536) /* also in fortran.S */

/* The last Fortran call of this thread: the stack pointer at its entry, and the return address. A binding's frames lie
 * below that stack pointer, and near it. What a binding does without the C procedure leaves it behind: then it does not
 * lie near the frames of later calls from C, or they are taken for the binding's. */
__thread struct { uint64_t frame, site; } qzm_fortran __attribute__((visibility("hidden")));

/* Where a Fortran entry goes on, and its name. */
struct qzm_entry {
  void *target;
  const char *name;
};
void *qzm_fortran_resolve(struct qzm_entry *entry, uint64_t site) __attribute__((visibility("hidden")));

uint64_t qzm_site(const void *frame, uint64_t site) {
  uint64_t fortran = qzm_fortran.frame - (uint64_t)(uintptr_t)frame < REACH ? qzm_fortran.site : 0;
  qzm_fortran.frame = 0;
  return fortran ? fortran : site;
}

void *qzm_fortran_resolve(struct qzm_entry *entry, uint64_t site) {
  void *target = qzm_real(entry->name, site);
  __atomic_store_n(&entry->target, target, __ATOMIC_RELEASE);
  return target;
}
