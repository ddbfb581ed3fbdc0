/* Which local socket is connected to which: of the Unix domain as the kernel says it (sock_diag), of TCP by addresses.
 *
 * Owns:    a list of both. One thread.
 */
#ifndef QZI_SOCKET_PEERS_H
#define QZI_SOCKET_PEERS_H

#include <stdint.h>

struct qzi_socket_peers;
struct qzi_socket_peers *qzi_socket_peers_read(void); /* NULL: the kernel does not say */
void qzi_socket_peers_free(struct qzi_socket_peers *peers);
/* The inode of the other end; 0: not known, or not on this machine. */
uint64_t qzi_socket_peer_of(const struct qzi_socket_peers *peers, uint64_t inode);

#endif
