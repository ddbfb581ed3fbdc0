/* See descriptors.h. proc(5): a descriptor is a link, whose permissions say what it was opened for; to a socket it
 * reads "socket:[inode]", to a pipe "pipe:[inode]". proc_pid_fdinfo(5): the flags of open are in octal. */
#include "descriptors.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 64

static const char *path_of(pid_t pid, int fd, char path[PATH_BYTES]) {
  snprintf(path, PATH_BYTES, "/proc/%ld/fd/%d", (long)pid, fd);
  return path;
}

struct qzi_descriptor qzi_descriptor_of(pid_t pid, int fd) {
  char path[PATH_BYTES], target[64];
  ssize_t length = readlink(path_of(pid, fd, path), target, sizeof target - 1);
  if (length <= 0) return (struct qzi_descriptor){.kind = QZI_NO_DESCRIPTOR};
  target[length] = 0;
  unsigned long long inode;
  if (sscanf(target, "socket:[%llu]", &inode) == 1) return (struct qzi_descriptor){QZI_SOCKET, inode};
  if (sscanf(target, "pipe:[%llu]", &inode) == 1) return (struct qzi_descriptor){QZI_PIPE, inode};
  return (struct qzi_descriptor){.kind = QZI_OTHER_FILE};
}

mode_t qzi_descriptor_access(pid_t pid, int fd) {
  char path[PATH_BYTES];
  struct stat status;
  return lstat(path_of(pid, fd, path), &status) ? 0 : status.st_mode & (S_IRUSR | S_IWUSR);
}

int qzi_descriptor_syncs(pid_t pid, int fd) {
  char path[PATH_BYTES];
  unsigned flags = 0;
  snprintf(path, sizeof path, "/proc/%ld/fdinfo/%d", (long)pid, fd);
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  if (fscanf(file, "pos: %*d flags: %o", &flags) != 1) flags = 0;
  fclose(file);
  return (flags & O_DSYNC) != 0; /* O_SYNC has this bit, too */
}

DIR *qzi_descriptors_open(pid_t pid) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
  return opendir(path);
}

int qzi_descriptors_next(DIR *all) {
  struct dirent *entry;
  do entry = readdir(all);
  while (entry && entry->d_name[0] == '.');
  return entry ? atoi(entry->d_name) : -1;
}
