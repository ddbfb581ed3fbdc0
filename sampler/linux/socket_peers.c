/* Connections between local sockets. See socket_peers.h. */
#include "socket_peers.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MOST 16384u

struct pair {
  uint64_t inode, peer; /* peer 0: a TCP socket, whose peer is found by the addresses */
  char local[40], remote[40];
};

struct qzi_socket_peers {
  unsigned count;
  struct pair pairs[PAIRS_MOST];
};

static void add_unix(struct qzi_socket_peers *peers, const struct nlmsghdr *message) {
  const struct unix_diag_msg *its = NLMSG_DATA(message);
  const char *at = (const char *)(its + 1), *end = (const char *)message + message->nlmsg_len;
  for (const struct rtattr *part; at + sizeof *part <= end; at += RTA_ALIGN(part->rta_len)) {
    part = (const struct rtattr *)at;
    if (part->rta_len < sizeof *part || at + part->rta_len > end) break;
    if (part->rta_type != UNIX_DIAG_PEER || part->rta_len < RTA_LENGTH(4) || peers->count == PAIRS_MOST) continue;
    uint32_t peer;
    memcpy(&peer, RTA_DATA(part), sizeof peer);
    peers->pairs[peers->count++] = (struct pair){.inode = its->udiag_ino, .peer = peer};
  }
}

static void read_unix(struct qzi_socket_peers *peers) {
  struct {
    struct nlmsghdr head;
    struct unix_diag_req its;
  } request = {
    {.nlmsg_len = sizeof request, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
    {.sdiag_family = AF_UNIX, .udiag_states = UINT32_MAX, .udiag_show = UDIAG_SHOW_PEER}};
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd < 0) return;
  static _Alignas(struct nlmsghdr) char bytes[32768];
  int over = send(fd, &request, sizeof request, 0) != (ssize_t)sizeof request;
  while (!over) {
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) break;
    unsigned left = (unsigned)got;
    for (struct nlmsghdr *one = (struct nlmsghdr *)bytes; NLMSG_OK(one, left); one = NLMSG_NEXT(one, left)) {
      over |= one->nlmsg_type == NLMSG_DONE || one->nlmsg_type == NLMSG_ERROR;
      if (!over && one->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg))) add_unix(peers, one);
    }
  }
  close(fd);
}

static void read_tcp(struct qzi_socket_peers *peers, const char *path) {
  FILE *file = fopen(path, "re");
  if (!file) return;
  char line[512];
  while (peers->count < PAIRS_MOST && fgets(line, sizeof line, file)) {
    struct pair *pair = &peers->pairs[peers->count];
    unsigned long long inode;
    *pair = (struct pair){0};
    if (sscanf(line, " %*[0-9]: %39[0-9A-F:] %39[0-9A-F:] %*s %*s %*s %*s %*s %*s %llu", pair->local, pair->remote,
               &inode) != 3)
      continue;
    pair->inode = inode;
    if (inode) peers->count++;
  }
  fclose(file);
}

struct qzi_socket_peers *qzi_socket_peers_read(void) {
  struct qzi_socket_peers *peers = malloc(sizeof *peers);
  if (!peers) return NULL;
  peers->count = 0;
  read_unix(peers);
  read_tcp(peers, "/proc/net/tcp");
  read_tcp(peers, "/proc/net/tcp6");
  return peers;
}

void qzi_socket_peers_free(struct qzi_socket_peers *peers) { free(peers); }

uint64_t qzi_socket_peer_of(const struct qzi_socket_peers *peers, uint64_t inode) {
  if (!peers) return 0;
  const struct pair *end = peers->pairs + peers->count, *own = peers->pairs;
  while (own < end && own->inode != inode) own++;
  if (own == end || own->peer) return own == end ? 0 : own->peer;
  if (!own->local[0]) return 0; /* a Unix-domain socket whose other end is closed */
  for (const struct pair *one = peers->pairs; one < end; one++)
    if (!one->peer && !strcmp(one->local, own->remote) && !strcmp(one->remote, own->local)) return one->inode;
  return 0;
}
