/* Messages on the socket between sampler and program (channel.h): how both sides name it, write to it and read from it.
 *
 * Owns:    nothing beyond the descriptor that a message brought, until its receiver has it.
 * Writer and reader: whoever has the socket; each call by itself, in any thread.
 * Must not: wait, raise a signal, or allocate: the program's side runs inside the program.
 */
#ifndef QZ_ABI_MESSAGE_H
#define QZ_ABI_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "channel.h"

#pragma GCC visibility push(hidden)

/* The address of a name in the abstract name space, given without its leading NUL; returns its length. A name that is
 * too long is cut. */
socklen_t qz_channel_address(struct sockaddr_un *address, const char *name);
/* text: at most 111 bytes of it, or NULL. pass: a descriptor to send with it, or -1. 0; -1: not sent (errno). */
int qz_message_send(int socket, uint32_t type, const char *text, int pass);
/* Reads the message that is there. *fd: the descriptor that came with it, which is the caller's now, or -1; any further
 * ones are closed. 0: a message of this protocol, perhaps of another version of it; -1: none is there, it was something
 * else, or the other side has closed the socket. */
int qz_message_receive(int socket, struct qz_message *message, int *fd);

#pragma GCC visibility pop

#endif
