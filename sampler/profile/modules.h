/* The binaries in the program's address space.
 *
 * Owns:    lists of modules read from /proc/PID/maps.
 * Writer: the control thread, which reads them. Reader: the aggregating thread, which puts new ones into the profile.
 * Must not: stop or touch the program; trust an ELF file.
 */
#ifndef QZI_MODULES_H
#define QZI_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "interner.h"
#include "symbols/symbols.h"

struct qzi_module {
  uint64_t start, end, bias;
  char *path;
  char build_id[QZ_SYMBOLS_BUILD_ID]; /* "" = none */
};
struct qzi_modules {
  struct qzi_module *all;
  uint32_t count, room;
  struct qzi_range *generated; /* executable memory that is in no file, ascending */
  uint32_t generated_count, generated_room;
};

/* Reads the program's map: each ELF file that is mapped executable, from its first to its last address, including
 * uninitialized data. Returns NULL if the program is gone, or if there is no memory. */
struct qzi_modules *qzi_modules_read(pid_t pid);
void qzi_modules_free(struct qzi_modules *modules);

/* Adds new modules to the profile, sets the module of entities that have none, and passes on where code is
 * generated. */
void qzi_modules_store(struct qzi_interner *in, struct qzi_modules *modules);

/* Whether the system installed that library. A module of the profile: index + 1; 0: none, returns 0. */
int qzi_modules_of_system(const struct qzi_file *file, uint32_t module);

#endif
