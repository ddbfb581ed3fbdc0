/* Which library, or the program, the code of a frame belongs to. See path_steps.h. */
#include "call_path.h"
#include "path_steps.h"

#include <stdlib.h>
#include <string.h>
#include "abi/file_path.h"
#include "abi/origin.h"
#include "abi/purpose.h"
#include "sampler/util/hash_index.h"

static int begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

/* What is known of a module: enum qzi_code + 1, and whether its library divides work among threads. */
#define CODE    0x0fu
#define TEAMS   0x10u /* OpenMP's or oneTBB's */
#define REGIONS 0x20u /* OpenMP's */

static uint8_t facts_of(const char *path) {
  const char *name = qz_file_of_path(path);
  int c = begins(name, "libc.so") || begins(name, "libc-2") || begins(name, "libpthread") || begins(name, "ld-linux") ||
          begins(name, "ld-2");
  enum qzi_code code = begins(name, "libquartz-pthread.so")                        ? QZI_CODE_LAYER
                       : c                                                         ? QZI_CODE_C
                       : begins(name, "libstdc++.so") || begins(name, "libc++.so") ? QZI_CODE_CXX
                       : qz_mpi_is_library(path)                                   ? QZI_CODE_MPI
                       : qz_is_installed(path)                                     ? QZI_CODE_LIBRARY
                                                                                   : QZI_CODE_OWN;
  unsigned teams = qz_origin_of_module(path) != QZ_ORIGIN_OPENMP ? 0 : begins(name, "libtbb") ? TEAMS : TEAMS | REGIONS;
  return (uint8_t)((unsigned)(code + 1) | teams);
}

/* The same by module, determined once for each, since every frame of every sample asks. */
static uint8_t module_facts(struct qzi_paths *paths, uint32_t module) {
  const struct qzi_file *file = paths->in->file;
  uint32_t count = (uint32_t)qzi_file_count(file, QZ_SECTION_MODULES);
  if (!module || module > count) return QZI_CODE_OWN + 1;
  if (count > paths->codes_count) {
    uint8_t *codes = realloc(paths->codes, count);
    if (!codes) return QZI_CODE_OWN + 1;
    memset(codes + paths->codes_count, 0, count - paths->codes_count);
    paths->codes = codes;
    paths->codes_count = count;
  }
  uint8_t *facts = &paths->codes[module - 1];
  if (!*facts) *facts = facts_of(file->strings + file->modules[module - 1].path);
  return *facts;
}

enum qzi_code qzi_code_of(struct qzi_paths *paths, uint32_t module) {
  return (enum qzi_code)((module_facts(paths, module) & CODE) - 1);
}

enum qzi_code qzi_code_at(struct qzi_paths *paths, uint32_t module, uint64_t address) {
  const struct qzi_range *c = &paths->in->c_code;
  return address >= c->start && address < c->end ? QZI_CODE_C : qzi_code_of(paths, module);
}

/* A frame of the layer next to one of these libraries, which divide work among threads, stands between the library and
 * its caller, or between the library and the code that it calls. It is treated as if it were absent. */
static int divides_work(struct qzi_paths *paths, uint32_t module) { return module_facts(paths, module) & TEAMS; }
int qzi_code_executes_regions(struct qzi_paths *paths, uint32_t module) {
  return (module_facts(paths, module) & REGIONS) != 0;
}
/* What a procedure of the layer is for, as the one of the library in whose place it is. 0: it is none of the layer's.
 */
static uint32_t layer_purposes(struct qzi_paths *paths, const struct qzi_frame *frame) {
  if (!frame->entry || qzi_code_of(paths, frame->module) != QZI_CODE_LAYER) return 0;
  struct qzi_layer_procedure *slot = &paths->layer[qzi_hash(frame->entry, 7) % QZI_PATH_LAYER];
  if (slot->entry != frame->entry)
    *slot = (struct qzi_layer_procedure){frame->entry,
                                         qz_purposes_of(false, qzi_unwind_symbol(paths->unwinder, frame->entry), "")};
  return slot->purposes;
}
int qzi_code_takes_lock(struct qzi_paths *paths, const struct qzi_frame *frame) {
  return (layer_purposes(paths, frame) & QZ_PURPOSE_EXCLUSION) != 0;
}
int qzi_code_passes_on(struct qzi_paths *paths, uint32_t k, uint32_t all) {
  if (qzi_code_of(paths, paths->frames[k].module) != QZI_CODE_LAYER || qzi_code_takes_lock(paths, &paths->frames[k]))
    return 0;
  return (k > 0 && divides_work(paths, paths->frames[k - 1].module)) ||
         (k + 1 < all && divides_work(paths, paths->frames[k + 1].module));
}

int qzi_code_stands_in(struct qzi_paths *paths, const struct qzi_frame *frame) {
  return (layer_purposes(paths, frame) & (QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_SIGNAL)) != 0;
}
