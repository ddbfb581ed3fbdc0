/* "What if" questions (docs/reference/path.md): which procedures and locks of the program their names mean.
 *
 * Owns:    nothing.
 * Must not: stop or touch the program; trust an ELF file.
 */
#ifndef QZI_PROFILE_WHAT_IF_H
#define QZI_PROFILE_WHAT_IF_H

#include <sys/types.h>
#include "abi/session.h"

/* Parses NAME or NAME=FACTOR, FACTOR from 0 to 1000. Returns 0; -1 if it is neither, or too long. */
int qzi_what_if_parse(struct qz_what_if *question, const char *text);
/* Finds the procedures and variables with these names in the process, which determines the kind of each question. A
 * name that no procedure has is taken to be a lock's, of a variable if one is found. Takes as long as reading the
 * symbol tables. */
void qzi_what_if_resolve(struct qz_what_if *questions, pid_t pid);

#endif
