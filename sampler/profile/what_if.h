/* "What if" questions (docs/reference/path.md): what their names are in one program.
 *
 * Owns:    nothing. Must not: stop or touch the program; trust an ELF file.
 */
#ifndef QZI_PROFILE_WHAT_IF_H
#define QZI_PROFILE_WHAT_IF_H

#include <sys/types.h>
#include "abi/session.h"

/* As it is written: NAME or NAME=FACTOR, FACTOR from 0 to 1000. 0; -1: it is neither, or too long. */
int qzi_what_if_parse(struct qz_what_if *question, const char *text);
/* Finds what is called so in the process, and what kind of question that makes. A name that no procedure has is a
 * lock's, perhaps of a variable that is found. Takes as long as reading the symbol tables. */
void qzi_what_if_resolve(struct qz_what_if *questions, pid_t pid);

#endif
