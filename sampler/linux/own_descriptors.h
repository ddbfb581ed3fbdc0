/* Descriptors at which threads of one process wait for each other: event counters (eventfd), and pipes and pairs of
 * sockets both ends of which the process has.
 *
 * Owns:    nothing.
 */
#ifndef QZI_OWN_DESCRIPTORS_H
#define QZI_OWN_DESCRIPTORS_H

#include <stdint.h>
#include <sys/types.h>

enum qzi_own_kind {
  QZI_NOT_OWN, /* another process may end a wait there, or the kernel, or it is not known */
  QZI_OWN_COUNTER,
  QZI_OWN_PIPE,
  QZI_OWN_SOCKETS
};

struct qzi_own_descriptor {
  enum qzi_own_kind kind;
  uint64_t id; /* of a pipe or socket: the inode of the end that was asked for; of a counter: its number */
};

/* What the descriptor is. A process with children may share any of its descriptors with them; the kernel adds to event
 * counters on which operations of io_uring end: none of these is its own. Takes some system calls for each descriptor
 * and each thread of the process, of which it looks at 256 at most. */
struct qzi_own_descriptor qzi_own_descriptor_of(pid_t pid, int fd);
/* A descriptor of epoll is as its members are, if these are all of one kind; its `id` is that of the first. */
struct qzi_own_descriptor qzi_own_events_of(pid_t pid, int fd);

#endif
