/* The open descriptors of a process, as /proc/PID/fd shows them: which there are, and what each is.
 *
 * Owns:    nothing.
 */
#ifndef QZI_DESCRIPTORS_H
#define QZI_DESCRIPTORS_H

#include <dirent.h>
#include <stdint.h>
#include <sys/types.h>

enum qzi_descriptor_kind {
  QZI_NO_DESCRIPTOR, /* closed, or it may not be read */
  QZI_SOCKET,
  QZI_PIPE,
  QZI_OTHER_FILE /* a file, a terminal, an event counter, ... */
};

struct qzi_descriptor {
  enum qzi_descriptor_kind kind;
  uint64_t inode; /* of a socket or a pipe: both ends of a pipe have the same */
};

struct qzi_descriptor qzi_descriptor_of(pid_t pid, int fd);
/* What it was opened for: S_IRUSR, S_IWUSR; 0: not known. */
mode_t qzi_descriptor_access(pid_t pid, int fd);
/* Whether what is written there is on the device when the call returns (O_SYNC, O_DSYNC). */
int qzi_descriptor_syncs(pid_t pid, int fd);

/* Returns NULL if they may not be read. To be closed by closedir. */
DIR *qzi_descriptors_open(pid_t pid);
/* Returns the next descriptor, -1 after the last one. */
int qzi_descriptors_next(DIR *all);

#endif
