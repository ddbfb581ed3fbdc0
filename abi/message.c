/* See message.h. */
#include "message.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

socklen_t qz_channel_address(struct sockaddr_un *address, const char *name) {
  size_t length = strlen(name);
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  if (length > sizeof address->sun_path - 1) length = sizeof address->sun_path - 1;
  memcpy(address->sun_path + 1, name, length);
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

int qz_message_send(int socket, uint32_t type, const char *text, int pass) {
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

/* Returns the first descriptor of a message and closes any others; this protocol sends at most one. */
static int take_descriptor(struct msghdr *head) {
  int taken = -1;
  for (struct cmsghdr *item = CMSG_FIRSTHDR(head); item; item = CMSG_NXTHDR(head, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t k = 0; k < count; k++) {
      int each;
      memcpy(&each, CMSG_DATA(item) + k * sizeof each, sizeof each);
      if (taken < 0)
        taken = each;
      else
        close(each);
    }
  }
  return taken;
}

int qz_message_receive(int socket, struct qz_message *message, int *fd) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct iovec part = {.iov_base = message, .iov_len = sizeof *message};
  struct msghdr head = {
    .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
  memset(message, 0, sizeof *message);
  *fd = -1;
  ssize_t bytes = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (bytes <= 0) return -1;
  *fd = take_descriptor(&head);
  message->text[sizeof message->text - 1] = 0;
  if (bytes == (ssize_t)sizeof *message && message->magic == QZ_CHANNEL_MAGIC) return 0;
  if (*fd >= 0) close(*fd);
  *fd = -1;
  return -1;
}
