/* Sockets between sampler and programs. See channel.h. */
#include "channel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t abstract(struct sockaddr_un *address, const char *name) {
  size_t length = strlen(name);
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (length > sizeof address->sun_path - 1) length = sizeof address->sun_path - 1;
  memcpy(address->sun_path + 1, name, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

/* The other side belongs to our user, or to root; or we are root, and started a program that changed its user. */
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
    socklen_t bytes = abstract(&address, name);
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
    *why = "no socket can be made";
    return -1;
  }
  if (connect(connection, (struct sockaddr *)&address, abstract(&address, name))) {
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

int qzi_channel_send(int socket, uint32_t type, const char *text, int pass) {
  struct qz_message message = {
    .magic = QZ_CHANNEL_MAGIC, .version = QZ_CHANNEL_VERSION, .type = type, .pid = (uint32_t)getpid()};
  if (text) snprintf(message.text, sizeof message.text, "%s", text);
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {{0}};
  struct iovec part = {.iov_base = &message, .iov_len = sizeof message};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  if (pass >= 0) {
    head.msg_control = &control;
    head.msg_controllen = sizeof control;
    struct cmsghdr *rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &pass, sizeof pass);
  }
  ssize_t sent;
  do sent = sendmsg(socket, &head, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == (ssize_t)sizeof message ? 0 : -1;
}

int qzi_channel_receive(int socket, int timeout_ms, struct qz_message *message, int *fd) {
  *fd = -1;
  struct pollfd ready = {.fd = socket, .events = POLLIN};
  int got = poll(&ready, 1, timeout_ms);
  if (got <= 0) return -1;
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  struct msghdr head = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  memset(message, 0, sizeof *message);
  ssize_t bytes = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (bytes <= 0) return -1;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(&head); item; item = CMSG_NXTHDR(&head, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t k = 0; k < count; k++) {
      int each;
      memcpy(&each, CMSG_DATA(item) + k * sizeof each, sizeof each);
      if (*fd < 0)
        *fd = each;
      else
        close(each);
    }
  }
  message->text[sizeof message->text - 1] = 0;
  if (bytes == (ssize_t)sizeof *message && message->magic == QZ_CHANNEL_MAGIC && message->version == QZ_CHANNEL_VERSION)
    return 0;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return -1;
}
