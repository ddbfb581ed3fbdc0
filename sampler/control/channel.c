/* Sockets between sampler and programs. See channel.h. */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "abi/message.h"

/* Whether the peer belongs to our user or to root, or we are root and started a program that changed its user. */
static int trusted(int socket, pid_t *pid) {
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) return 0;
  if (pid) *pid = peer.pid;
  return geteuid() == 0 || peer.uid == geteuid() || peer.uid == 0;
}

int qzi_channel_listen(char *name) {
  struct sockaddr_un address;
  for (int tries = 0; tries < 16; tries++) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0) random = (uint64_t)tries;
    snprintf(name, QZI_NAME_BYTES, "quartz-sampler-%ld-%016llx", (long)getpid(), (unsigned long long)random);
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -1;
    socklen_t bytes = qz_channel_address(&address, name);
    if (!bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, 128)) return listener;
    int error = errno;
    close(listener);
    errno = error;
    if (error != EADDRINUSE) return -1;
  }
  return -1;
}

int qzi_channel_accept(int listener, pid_t *pid) {
  int socket = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (socket < 0) return -1;
  if (trusted(socket, pid)) return socket;
  close(socket);
  return -1;
}

int qzi_channel_connect(pid_t pid, const char **why) {
  char name[QZI_NAME_BYTES];
  struct sockaddr_un address;
  snprintf(name, sizeof name, QZ_CHANNEL_PROGRAM, (long)pid);
  int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (connection < 0) {
    *why = "no socket can be created";
    return -1;
  }
  if (connect(connection, (struct sockaddr *)&address, qz_channel_address(&address, name))) {
    *why =
      "it carries Quartz, but does not listen for a sampler: it is being recorded already, runs with QUARTZ_ATTACH=0, "
      "or with the pthread layer without QUARTZ_ATTACH=1";
    close(connection);
    return -1;
  }
  if (!trusted(connection, NULL)) {
    *why = "it belongs to another user";
    close(connection);
    return -1;
  }
  return connection;
}

int qzi_channel_receive(int socket, int timeout_ms, struct qz_message *message, int *fd) {
  *fd = -1;
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  if (poll(&ready, 1, timeout_ms) <= 0 || qz_message_receive(socket, message, fd)) return -1;
  if (message->version == QZ_CHANNEL_VERSION) return 0;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return -1;
}
