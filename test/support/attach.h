/* For tests that look at what they publish themselves: attaching to the own session, looking things up there.
 *
 * Owns:    the connection, and the view of the session. Writer, reader: the one program that includes this.
 */
#ifndef TEST_ATTACH_H
#define TEST_ATTACH_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "abi/channel.h"
#include "abi/session_read.h"
#include "bench/clock_page.h"
#include "check.h"

static struct qz_session_view view;
static int connection;

/* Connects to a program as a sampler would that wants that. Returns the descriptor of its session. */
static inline int connect_for(pid_t program, enum bench_wants wants) {
  connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, QZ_CHANNEL_PROGRAM, (long)program);
  CHECK(connect(connection, (struct sockaddr *)&address,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) == 0);
  struct qz_message message = {QZ_CHANNEL_MAGIC, QZ_CHANNEL_VERSION, QZ_ATTACH, (uint32_t)getpid(), ""};
  CHECK(bench_send(connection, &message, bench_clock_page(wants)) == 0);
  union {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  struct iovec part = {&message, sizeof message};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  CHECK(recvmsg(connection, &header, 0) == sizeof message);
  CHECK(message.type == QZ_HELLO);
  struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
  CHECK(rights && rights->cmsg_type == SCM_RIGHTS);
  int fd;
  memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  return fd;
}

static inline int connect_to(pid_t program) { return connect_for(program, BENCH_PUBLISHING); }

static inline void attach_for(enum bench_wants wants) {
  int fd = connect_for(getpid(), wants);
  const char *why = "";
  if (qz_session_open(&view, fd, &why)) fprintf(stderr, "session: %s\n", why), exit(1);
  while (!__atomic_load_n(&qz_session_head(&view)->publishing, __ATOMIC_ACQUIRE)) usleep(1000);
  if (wants == BENCH_PUBLISHING) return;
  while (!(__atomic_load_n(&qz_session_head(&view)->flags, __ATOMIC_ACQUIRE) & QZ_SESSION_SPAN)) usleep(1000);
  usleep(50000); /* the program is told soon after that */
}
static inline void attach(void) { attach_for(BENCH_PUBLISHING); }

/* ---- looking things up ---- */

static inline const struct qz_object *object(const char *name, unsigned kind) {
  for (uint32_t i = 1; i < qz_session_object_high(&view); i++) {
    const struct qz_object *o = qz_session_object(&view, i);
    char text[64];
    if (o->kind == kind && qz_session_string(&view, o->name, text, sizeof text) && !strcmp(text, name)) return o;
  }
  fprintf(stderr, "no object \"%s\" of kind %u\n", name, kind);
  exit(1);
}
static inline uint32_t index_of(const struct qz_object *o) {
  return (uint32_t)(((const unsigned char *)o - view.base - view.object_table.offset) / view.object_table.stride);
}
static inline uint64_t key_of(const struct qz_object *o) { return QZ_KEY(o->kind, index_of(o)); }

static inline uint32_t thread_index(const char *name) {
  for (uint32_t i = 0; i < qz_session_thread_high(&view); i++) {
    const struct qz_thread *t = qz_session_thread(&view, i);
    char text[64];
    if (t->serial && qz_session_string(&view, t->name, text, sizeof text) && !strcmp(text, name)) return i;
  }
  fprintf(stderr, "no thread \"%s\"\n", name);
  exit(1);
}

/* How often that was called, or taken, wherever. */
static inline uint64_t calls_to(uint64_t key) {
  uint64_t sum = 0;
  const struct qz_call *calls;
  for (uint32_t table = 0; (calls = qz_session_calls(&view, table)); table++)
    for (uint32_t slot = 0; slot < view.call_slots; slot++)
      if (calls[slot].site && calls[slot].key == key) sum += calls[slot].count;
  return sum;
}

static inline uint64_t waits_counted(const struct qz_object *o) {
  uint64_t sum = 0;
  for (int i = 0; i < QZ_TIME_BUCKETS; i++) sum += o->wait_hist[i];
  return sum;
}

#endif
