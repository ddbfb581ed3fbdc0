/* Which processes of a tree hold the other end of a pipe or a socket.
 *
 * Owns:    a list of their pipes and sockets, read anew at intervals when somebody waits at one.
 * Writer and reader: the observing thread.
 * Must not: use more than a fiftieth of a CPU for it.
 */
#ifndef QZI_TREE_ENDS_H
#define QZI_TREE_ENDS_H

#include <stdint.h>
#include "tree.h"

struct qzi_tree_ends;

struct qzi_tree_ends *qzi_tree_ends_new(void); /* NULL: no memory */
void qzi_tree_ends_free(struct qzi_tree_ends *ends);
/* The descriptor `fd` of a process: a pipe or a socket. Its inode, and 1: a socket, 0: a pipe; -1: neither. */
int qzi_tree_end_of(uint32_t pid, int fd, uint64_t *inode);
/* Processes that hold the other end, `pid` left out: of a pipe that with writers (writing) or readers. How many. */
uint32_t qzi_tree_ends_find(struct qzi_tree_ends *ends, const struct qzi_tree *tree, uint64_t inode, int is_socket,
                            int writing, uint32_t pid, uint32_t found[QZI_TREE_PEERS]);

#endif
