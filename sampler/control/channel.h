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

/* Listens on a name of its own, written to name[QZI_NAME_BYTES] without the leading NUL. -1 and errno. */
int qzi_channel_listen(char *name);
/* A connection of a process of the same user or root; *pid is its true pid. -1: none, or one that was turned away. */
int qzi_channel_accept(int listener, pid_t *pid);
/* Connects to the program `pid`. -1 and one clause. */
int qzi_channel_connect(pid_t pid, const char **why);
/* Receives a message within timeout_ms (0: only if one is there). *fd gets the descriptor that came with it, or -1.
 * 0; -1: none came, it was no message of this protocol, or the other side has closed. */
int qzi_channel_receive(int socket, int timeout_ms, struct qz_message *message, int *fd);

#endif
