/* Which descriptors only threads of the process itself use. */
#include "sampler/linux/own_descriptors.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "test/support/check.h"

static enum qzi_own_kind kind_of(int fd) { return qzi_own_descriptor_of(getpid(), fd).kind; }

static int polls(int one, int other) {
  int events = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(events >= 0 && !epoll_ctl(events, EPOLL_CTL_ADD, one, &event));
  CHECK(other < 0 || !epoll_ctl(events, EPOLL_CTL_ADD, other, &event));
  return events;
}

int main(void) {
  int pipes[2], half[2], sockets[2], lone[2], file = open("/dev/zero", O_RDONLY), first = eventfd(0, 0),
                                              second = eventfd(0, 0);
  CHECK(file >= 0 && first >= 0 && second >= 0 && !pipe(pipes) && !pipe(half));
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) && !socketpair(AF_UNIX, SOCK_STREAM, 0, lone));
  close(half[1]);
  close(lone[1]);
  CHECK_IS(kind_of(first), QZI_OWN_COUNTER);
  CHECK_IS(kind_of(pipes[0]), QZI_OWN_PIPE);
  CHECK_IS(kind_of(pipes[1]), QZI_OWN_PIPE);
  CHECK_IS(kind_of(sockets[0]), QZI_OWN_SOCKETS);
  /* The other end is somebody else's, if there is one. */
  CHECK_IS(kind_of(half[0]), QZI_NOT_OWN);
  CHECK_IS(kind_of(lone[0]), QZI_NOT_OWN);
  CHECK_IS(kind_of(file), QZI_NOT_OWN);
  CHECK_IS(kind_of(1 << 20), QZI_NOT_OWN);
  CHECK_IS(qzi_own_descriptor_of(-1, 0).kind, QZI_NOT_OWN);
  /* Both ends of a pipe are one object; two counters are two. */
  CHECK_IS(qzi_own_descriptor_of(getpid(), pipes[0]).id, qzi_own_descriptor_of(getpid(), pipes[1]).id);
  struct stat status;
  CHECK(!fstat(pipes[0], &status));
  CHECK_IS(qzi_own_descriptor_of(getpid(), pipes[0]).id, status.st_ino);
  CHECK(qzi_own_descriptor_of(getpid(), first).id != qzi_own_descriptor_of(getpid(), second).id);

  CHECK_IS(qzi_own_events_of(getpid(), polls(first, second)).kind, QZI_OWN_COUNTER);
  CHECK_IS(qzi_own_events_of(getpid(), polls(pipes[0], -1)).kind, QZI_OWN_PIPE);
  CHECK_IS(qzi_own_events_of(getpid(), polls(pipes[0], half[0])).kind, QZI_NOT_OWN);
  CHECK_IS(qzi_own_events_of(getpid(), polls(first, lone[0])).kind, QZI_NOT_OWN);
  CHECK_IS(qzi_own_events_of(getpid(), first).kind, QZI_NOT_OWN);
  CHECK_IS(qzi_own_events_of(getpid(), epoll_create1(0)).kind, QZI_NOT_OWN);

  /* A child has all of them, too. */
  int gate[2];
  char byte;
  CHECK(!pipe(gate));
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    close(gate[1]);
    _exit(read(gate[0], &byte, 1) != 0);
  }
  close(gate[0]);
  CHECK_IS(kind_of(first), QZI_NOT_OWN);
  CHECK_IS(kind_of(pipes[0]), QZI_NOT_OWN);
  close(gate[1]);
  CHECK_IS(waitpid(child, NULL, 0), child);
  CHECK_IS(kind_of(first), QZI_OWN_COUNTER);
  return 0;
}
