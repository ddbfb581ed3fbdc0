/* The file of a tree (docs/reference/trees.md): a line with its length and checksum, then JSON.
 *
 * Owns:    nothing.
 * Must not: leave a part of a file behind.
 */
#ifndef QZI_TREE_FILE_H
#define QZI_TREE_FILE_H

#include "tree.h"

struct qzi_tree_about {
  const char *program, *arguments;
  uint64_t lost, observer_ns, user_ns, system_ns; /* user, system: processor time of the whole tree as counted by the
                                                     kernel */
  int status;                                     /* exit status, or 128 + signal */
};

/* Writes the file of a tree that has ended. Returns 0, or -1 with errno. */
int qzi_tree_write(const struct qzi_tree *tree, const struct qzi_tree_about *about, const char *path);

#endif
