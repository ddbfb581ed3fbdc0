/* Which processes of a tree hold the other end of a pipe or a socket.
 *
 * Owns:    a list of their pipes and sockets, read again at intervals while a process waits at one.
 * Writer and reader: the observing thread.
 * Must not: use more than a fiftieth of a CPU for it.
 */
#ifndef QZI_TREE_ENDS_H
#define QZI_TREE_ENDS_H

#include <stdint.h>
#include "tree.h"

struct qzi_tree_ends;

struct qzi_tree_ends *qzi_tree_ends_new(void); /* returns NULL if there is no memory */
void qzi_tree_ends_free(struct qzi_tree_ends *ends);
/* Finds the processes other than `pid` that hold the other end of a socket or a pipe: of a pipe, its writers (writing
 * 1) or readers. Returns their number. */
uint32_t qzi_tree_ends_find(struct qzi_tree_ends *ends, const struct qzi_tree *tree, uint64_t inode, int is_socket,
                            int writing, uint32_t pid, uint32_t found[QZI_TREE_PEERS]);

#endif
