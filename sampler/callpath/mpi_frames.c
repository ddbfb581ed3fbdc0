/* Frames inside MPI: which MPI procedure the program has called. See path_steps.h. */
#include "path_steps.h"

#include <string.h>
#include "sampler/machine_code/call_target.h"

/* Whether the program has loaded an MPI library. After the map of its memory has changed, the caches are cleared,
 * because their addresses may contain other code. */
static int has_mpi(struct qzi_paths *paths) {
  if (paths->mpi_readings == paths->in->map_readings) return paths->mpi;
  memset(paths->mpi_calls, 0, sizeof paths->mpi_calls);
  memset(paths->mpi_sites, 0, sizeof paths->mpi_sites);
  paths->mpi_readings = paths->in->map_readings;
  paths->mpi = 0;
  for (uint32_t k = 1; k <= qzi_file_count(paths->in->file, QZ_SECTION_MODULES); k++)
    paths->mpi |= qzi_code_of(paths, k) == QZI_CODE_MPI;
  return paths->mpi;
}

/* Kind of MPI call of the procedure with that entry. */
static enum qz_mpi_call mpi_call(struct qzi_paths *paths, uint64_t entry) {
  struct qzi_mpi_entry *slot = &paths->mpi_calls[qzi_hash(entry, 7) % QZI_PATH_MPI_CALLS];
  if (slot->entry != entry)
    *slot = (struct qzi_mpi_entry){.entry = entry, .call = qz_mpi_call_of(qzi_unwind_symbol(paths->unwinder, entry))};
  return slot->call;
}

/* The MPI procedure that is called at a place; 0: none. It may have continued by a jump (tail call), so that it is not
 * on the stack. */
static uint64_t mpi_called_at(struct qzi_paths *paths, uint64_t site) {
  struct qzi_mpi_site *slot = &paths->mpi_sites[qzi_hash(site, 7) % QZI_PATH_MPI_CALLS];
  if (slot->site != site) {
    uint64_t target = qzi_call_target(paths->in->file->head->pid, site);
    int its = target && qzi_code_of(paths, qzi_intern_module(paths->in, target)) == QZI_CODE_MPI;
    *slot = (struct qzi_mpi_site){.site = site, .called = its && mpi_call(paths, target) != QZ_MPI_NONE ? target : 0};
  }
  return slot->called;
}

enum qzi_mpi qzi_mpi_of(struct qzi_paths *paths, uint32_t count, uint32_t all, uint32_t *first) {
  if (!has_mpi(paths)) return QZI_MPI_NONE;
  uint32_t k = count; /* index of the calling frame */
  while (k > *first && qzi_code_of(paths, paths->frames[k - 1].module) != QZI_CODE_MPI) k--;
  if (k == *first) /* the innermost frames may be missing, since the frame pointer of a sleeping thread may be
                      unknown */
    while (k < all && qzi_code_starts_threads(qzi_code_of(paths, paths->frames[k].module))) k++;
  if (k == *first) return QZI_MPI_NONE;
  struct qzi_frame *outermost = &paths->frames[k - 1];
  uint64_t called = 0; /* in Fortran, the frame around it has a name specific to the implementation, so the outermost
                          known one counts */
  for (uint32_t at = k; at-- > *first && !called;)
    if (qzi_code_of(paths, paths->frames[at].module) == QZI_CODE_MPI &&
        mpi_call(paths, paths->frames[at].entry) != QZ_MPI_NONE)
      called = paths->frames[at].entry;
  if (!called && k < all) called = mpi_called_at(paths, outermost[1].pc);
  if (!called) return QZI_MPI_NONE;
  outermost->entry = called;
  outermost->module = qzi_intern_module(paths->in, called);
  *first = k - 1;
  switch (mpi_call(paths, called)) {
  case QZ_MPI_OTHER: return QZI_MPI_CALL;
  case QZ_MPI_START: return QZI_MPI_STARTS;
  default: return QZI_MPI_WAITS;
  }
}

int qzi_paths_mpi_thread(struct qzi_paths *paths, uint32_t index, struct qzi_walk *walk) {
  uint64_t start = has_mpi(paths) ? QZ_LOAD(&qz_session_thread(paths->in->view, index)->start) : 0;
  uint32_t module = start ? qzi_intern_module(paths->in, start) : 0;
  if (!module || qzi_code_of(paths, module) != QZI_CODE_MPI) return 0;
  *walk = (struct qzi_walk){.site = start, .site_module = module};
  return 1;
}

void qzi_mpi_site(const struct qzi_paths *paths, uint32_t all, uint32_t first, struct qzi_walk *walk) {
  if (walk->mpi == QZI_MPI_NONE || walk->own || first + 1 >= all) return;
  walk->site = paths->frames[first + 1].pc;
  walk->site_module = paths->frames[first + 1].module;
  walk->own = walk->site_module != 0;
  walk->caller_entry = paths->frames[first + 1].entry;
  walk->called = paths->frames[first].entry;
}
