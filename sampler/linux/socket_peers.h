/* Which local socket is connected to which: for Unix-domain sockets as the kernel reports it (sock_diag), for TCP by
 * addresses.
 *
 * Owns:    a list of both. For one thread.
 */
#ifndef QZI_SOCKET_PEERS_H
#define QZI_SOCKET_PEERS_H

#include <stdint.h>

struct qzi_socket_peers;
struct qzi_socket_peers *qzi_socket_peers_read(void); /* returns NULL if the kernel does not report it */
void qzi_socket_peers_free(struct qzi_socket_peers *peers);
/* Inode of the other end; 0: unknown, or not on this machine. */
uint64_t qzi_socket_peer_of(const struct qzi_socket_peers *peers, uint64_t inode);

#endif
