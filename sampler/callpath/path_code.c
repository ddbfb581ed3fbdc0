/* Which library, or the program, the code of a frame belongs to. See path_steps.h. */
#include "call_path.h"
#include "path_steps.h"

#include <stdlib.h>
#include <string.h>
#include "abi/origin.h"
#include "abi/purpose.h"
#include "sampler/util/hash_index.h"

static int begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

enum qzi_code qzi_code_of(struct qzi_paths *paths, uint32_t module) {
  const struct qzi_file *file = paths->in->file;
  uint32_t count = (uint32_t)qzi_file_count(file, QZ_SECTION_MODULES);
  if (!module || module > count) return QZI_CODE_OWN;
  if (count > paths->codes_count) {
    uint8_t *codes = realloc(paths->codes, count);
    if (!codes) return QZI_CODE_OWN;
    memset(codes + paths->codes_count, 0, count - paths->codes_count);
    paths->codes = codes;
    paths->codes_count = count;
  }
  uint8_t *code = &paths->codes[module - 1];
  if (!*code) {
    const char *path = file->strings + file->modules[module - 1].path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int c = begins(name, "libc.so") || begins(name, "libc-2") || begins(name, "libpthread") ||
            begins(name, "ld-linux") || begins(name, "ld-2");
    *code = 1 + (begins(name, "libquartz-pthread.so")                        ? QZI_CODE_LAYER
                 : c                                                         ? QZI_CODE_C
                 : begins(name, "libstdc++.so") || begins(name, "libc++.so") ? QZI_CODE_CXX
                 : qz_mpi_is_library(path)                                   ? QZI_CODE_MPI
                 : qz_is_installed(path)                                     ? QZI_CODE_LIBRARY
                                                                             : QZI_CODE_OWN);
  }
  return (enum qzi_code)(*code - 1);
}

enum qzi_code qzi_code_at(struct qzi_paths *paths, uint32_t module, uint64_t address) {
  const struct qzi_range *c = &paths->in->c_code;
  return address >= c->start && address < c->end ? QZI_CODE_C : qzi_code_of(paths, module);
}

/* A frame of the layer next to one of these libraries, which divide work among threads, stands between the library and
 * its caller, or between the library and the code that it calls. It is treated as if it were absent. */
static int is_openmp(const struct qzi_paths *paths, uint32_t module) {
  const struct qzi_file *file = paths->in->file;
  return module && module <= qzi_file_count(file, QZ_SECTION_MODULES) &&
         qz_origin_of_module(file->strings + file->modules[module - 1].path) == QZ_ORIGIN_OPENMP;
}
int qzi_code_executes_regions(const struct qzi_paths *paths, uint32_t module) {
  if (!is_openmp(paths, module)) return 0;
  const struct qzi_file *file = paths->in->file;
  const char *path = file->strings + file->modules[module - 1].path, *slash = strrchr(path, '/');
  return !begins(slash ? slash + 1 : path, "libtbb");
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
  return (k > 0 && is_openmp(paths, paths->frames[k - 1].module)) ||
         (k + 1 < all && is_openmp(paths, paths->frames[k + 1].module));
}

int qzi_code_stands_in(struct qzi_paths *paths, const struct qzi_frame *frame) {
  return (layer_purposes(paths, frame) & (QZ_PURPOSE_PROCESS_MAKING | QZ_PURPOSE_SIGNAL)) != 0;
}
