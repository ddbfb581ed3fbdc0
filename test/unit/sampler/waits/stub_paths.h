/* What a walk's code is, as the test says: stands in for callpath/call_path.c.
 *
 * Owns:    the table of procedures. Writer, reader: the one program that includes this.
 */
#ifndef TEST_STUB_PATHS_H
#define TEST_STUB_PATHS_H

#include "sampler/callpath/call_path.h"
#include "test/support/check.h"

struct procedure {
  uint64_t entry;
  int library; /* qzi_paths_library */
  const char *name;
};
static const struct procedure *procedures;
static unsigned procedures_count, names_asked;

static const struct procedure *procedure_at(uint64_t address) {
  for (unsigned k = 0; k < procedures_count; k++)
    if (procedures[k].entry == address) return &procedures[k];
  return NULL;
}
int qzi_paths_library(struct qzi_paths *paths, uint64_t address) {
  const struct procedure *its = procedure_at(address);
  CHECK(paths);
  return its ? its->library : 0;
}
const char *qzi_paths_symbol(struct qzi_paths *paths, uint64_t address, int *library) {
  const struct procedure *its = procedure_at(address);
  CHECK(paths);
  names_asked++;
  *library = its && its->library;
  return its ? its->name : "";
}
static struct qzi_paths *const paths = (struct qzi_paths *)&procedures_count; /* never looked into */

#endif
