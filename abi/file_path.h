/* Paths of files: the part of one that names the file. A pure function of a string, for any thread. */
#ifndef QZ_ABI_FILE_PATH_H
#define QZ_ABI_FILE_PATH_H

#include <string.h>

/* Returns the part of a path after the last slash. */
static inline const char *qz_file_of_path(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

#endif
