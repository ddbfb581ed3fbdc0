/* The file of a tree (docs/reference/trees.md): a line that has its length and checksum, and JSON.
 *
 * Owns:    nothing. Must not: leave a part of a file behind.
 */
#ifndef QZI_TREE_FILE_H
#define QZI_TREE_FILE_H

#include "tree.h"

struct qzi_tree_about {
  const char *program, *arguments;
  uint64_t lost, observer_ns, user_ns, system_ns; /* user, system: of the whole tree, as the kernel counted it */
  int status;                                     /* exit status, or 128 + signal */
};

/* 0, or -1 and errno. The tree has ended. */
int qzi_tree_write(const struct qzi_tree *tree, const struct qzi_tree_about *about, const char *path);

#endif
