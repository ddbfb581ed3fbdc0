/* Messages on the socket between sampler and program (channel.h): its name, writing and reading.
 *
 * Owns:    nothing except the descriptor of a received message, until the caller has it.
 * Writer and reader: the owner of the socket; each call is independent of the others, in any thread.
 * Must not: wait, raise a signal, or allocate: the program's side runs inside the program.
 */
#ifndef QZ_ABI_MESSAGE_H
#define QZ_ABI_MESSAGE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "channel.h"

#pragma GCC visibility push(hidden)

/* Sets *address to a name in the abstract name space, which is given without its leading NUL; returns the length of
 * the address. A name that is too long is truncated. */
socklen_t qz_channel_address(struct sockaddr_un *address, const char *name);
/* Sends a message. text: at most 111 bytes of it are sent; may be NULL. pass: a descriptor to send with it, or -1.
 * Returns 0, or -1 if it was not sent (errno). */
int qz_message_send(int socket, uint32_t type, const char *text, int pass);
/* Reads the next message without waiting. *fd: the descriptor that came with it, which the caller now owns, or -1;
 * further ones are closed. Returns 0: a message of this protocol, possibly of another version; -1: no message, not a
 * message of this protocol, or the other side has closed the socket. */
int qz_message_receive(int socket, struct qz_message *message, int *fd);

#pragma GCC visibility pop

#endif
