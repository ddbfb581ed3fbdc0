/* Messages and collective operations of a rank of an MPI program, as logged by its MPI layer (abi/mpi_log.h).
 *
 * Owns:    the section MESSAGES.
 * Writer and reader: the control thread, when recording ends.
 * Must not: trust the log: the program may have written anything into it.
 */
#ifndef QZI_MESSAGES_H
#define QZI_MESSAGES_H

#include "interner.h"

/* Copies the log from `fd`, which remains the caller's. Must be called before symbols are filled in, because calls
 * become objects that threads wait for. Copies nothing if the log is invalid. */
void qzi_messages_store(struct qzi_interner *in, int fd);

#endif
