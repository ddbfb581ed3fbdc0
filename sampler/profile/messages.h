/* Messages and collectives of a rank of an MPI program, as its MPI layer logged them (abi/mpi_log.h).
 *
 * Owns:    the section MESSAGES.
 * Writer and reader: the control thread, when recording ends.
 * Must not: trust the log: the program may have written anything into it.
 */
#ifndef QZI_MESSAGES_H
#define QZI_MESSAGES_H

#include "interner.h"

/* Copies the log in `fd`, which stays the caller's. Before symbols are filled in: calls become objects that threads
 * wait for. Nothing is copied where it makes no sense. */
void qzi_messages_store(struct qzi_interner *in, int fd);

#endif
