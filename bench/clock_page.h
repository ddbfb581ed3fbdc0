/* For benchmarks: the page by which a sampler says what is to be recorded (abi/chains.h, struct qz_clock_page), and the
 * message that contains it. No snapshot is ever taken. */
#ifndef BENCH_CLOCK_PAGE_H
#define BENCH_CLOCK_PAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/session.h"

enum bench_wants { BENCH_PUBLISHING, BENCH_SPAN, BENCH_WHAT_IF };

/* The page's descriptor; -1: none is needed, or there is none. With BENCH_WHAT_IF both lanes are there, for procedures
 * that never run. */
static inline int bench_clock_page(enum bench_wants wants) {
  if (wants == BENCH_PUBLISHING) return -1;
  struct qz_clock_page page = {.wants = QZ_WANTS_SPAN};
  for (unsigned k = 0; wants == BENCH_WHAT_IF && k < QZ_WHAT_IFS; k++)
    page.what_if[k] = (struct qz_what_if){.kind = QZ_WHAT_IF_PROCEDURE, .entries = 1, .entry = {1}};
  int fd = memfd_create("quartz-bench-clock", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && (ftruncate(fd, QZ_CLOCK_PAGE_BYTES) || pwrite(fd, &page, sizeof page, 0) != (ssize_t)sizeof page ||
                  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))) {
    close(fd);
    return -1;
  }
  return fd;
}

/* fd: the descriptor to send, -1: none. Returns 0 if it was sent. */
static inline int bench_send(int socket, const struct qz_message *message, int fd) {
  union {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof fd)];
  } control = {0};
  struct iovec part = {(void *)(uintptr_t)message, sizeof *message};
  struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    all.msg_control = &control;
    all.msg_controllen = sizeof control.room;
    control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
  }
  return sendmsg(socket, &all, MSG_NOSIGNAL) == (ssize_t)sizeof *message ? 0 : -1;
}

#endif
