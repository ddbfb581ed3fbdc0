/* How the run-time systems that generate code are made to write the names of their procedures.
 *
 * Owns:    the list of run-time systems, which are recognized by the files they map.
 */
#ifndef QZI_JIT_OPTIONS_H
#define QZI_JIT_OPTIONS_H

#include <sys/types.h>
#include "file.h"

#define QZI_JIT_CLAUSE 512

/* Why generated code of the program of that profile has no names, and what gives them: a clause for `detail` of struct
 * qz_entity. named: some of it has. pid: as the program sees it. */
void qzi_jit_clause(const struct qzi_file *file, pid_t pid, int named, char clause[QZI_JIT_CLAUSE]);

#endif
