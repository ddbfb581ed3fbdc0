/* The sampler's side of the socket between sampler and program: see abi/channel.h.
 *
 * Owns:    nothing beyond the descriptors it returns. Writer and reader: the control thread.
 * Must not: wait for a program for longer than the caller allows.
 */
#ifndef QZI_CHANNEL_H
#define QZI_CHANNEL_H

#include <stddef.h>
#include <sys/types.h>
#include "abi/channel.h"

#define QZI_NAME_BYTES 96

/* Listens on a unique abstract name, which is written to name[QZI_NAME_BYTES] without the leading NUL. Returns a
 * descriptor, or -1 with errno. */
int qzi_channel_listen(char *name);
/* Accepts a connection from a process of the same user or of root; *pid is the kernel's pid of the peer. Returns -1
 * if there is none, or if it was rejected. */
int qzi_channel_accept(int listener, pid_t *pid);
/* Connects to the program `pid`. Returns -1 with the reason as a clause in *why. */
int qzi_channel_connect(pid_t pid, const char **why);
/* Receives a message within timeout_ms (0: only if one is available). *fd receives the descriptor that came with it,
 * or -1. Returns 0; -1 if there was none, if it was no message of this protocol, or if the peer has closed the
 * connection. */
int qzi_channel_receive(int socket, int timeout_ms, struct qz_message *message, int *fd);

#endif
