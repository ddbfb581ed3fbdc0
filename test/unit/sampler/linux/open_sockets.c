/* What a process's open sockets say: each kind is opened in a child of its own, which the parent looks at. */
#include "sampler/linux/open_sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/profile.h"
#include "test/support/check.h"

static struct sockaddr_in loopback(int socket, int listening) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof name;
  CHECK(!bind(socket, (struct sockaddr *)&name, sizeof name));
  if (listening) CHECK(!listen(socket, 4));
  CHECK(!getsockname(socket, (struct sockaddr *)&name, &length));
  return name;
}

static struct sockaddr_un abstract(int socket) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "quartz-test-%ld", (long)getpid());
  CHECK(!bind(socket, (struct sockaddr *)&name, sizeof name));
  CHECK(!listen(socket, 4));
  return name;
}

static int tcp, other; /* the parent's: they listen */
static struct sockaddr_in tcp_name;
static struct sockaddr_un other_name;

static void nothing(void) {}
static void pair(void) {
  int ends[2];
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}
static void end_of_pair(void) {
  int ends[2];
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  close(ends[1]);
}
static void client(void) {
  CHECK(!connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&tcp_name, sizeof tcp_name));
}
static void local_client(void) {
  CHECK(!connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&other_name, sizeof other_name));
}
static void server(void) { loopback(socket(AF_INET, SOCK_STREAM, 0), 1); }
static void local_server(void) { abstract(socket(AF_UNIX, SOCK_STREAM, 0)); }
static void datagrams(void) { loopback(socket(AF_INET, SOCK_DGRAM, 0), 0); }
static void proxy(void) {
  client();
  server();
}

static uint32_t seen(void (*opens)(void)) {
  int ready[2];
  char byte;
  CHECK(!pipe(ready));
  pid_t child = fork();
  if (!child) {
    for (int fd = 0; fd < 64; fd++)
      if (fd != ready[1] && fd != STDERR_FILENO) close(fd); /* those of whoever started the test, too */
    for (int fd = 0; fd < 3; fd++) dup2(ready[1], fd);
    opens();
    if (write(ready[1], "", 1) == 1) pause();
    _exit(1);
  }
  CHECK(child > 0 && read(ready[0], &byte, 1) == 1);
  uint32_t found = qzi_open_sockets_of(child);
  kill(child, SIGKILL);
  CHECK(waitpid(child, NULL, 0) == child);
  close(ready[0]);
  close(ready[1]);
  return found;
}

int main(void) {
  tcp = socket(AF_INET, SOCK_STREAM, 0);
  other = socket(AF_UNIX, SOCK_STREAM, 0);
  tcp_name = loopback(tcp, 1);
  other_name = abstract(other);
  CHECK_IS(seen(nothing), QZ_SOCKETS_SEEN);
  CHECK_IS(seen(pair), QZ_SOCKETS_SEEN);
  CHECK_IS(seen(end_of_pair), QZ_SOCKETS_SEEN | QZ_SOCKETS_LOCAL);
  CHECK_IS(seen(client), QZ_SOCKETS_SEEN | QZ_SOCKETS_CONNECTED);
  CHECK_IS(seen(local_client), QZ_SOCKETS_SEEN | QZ_SOCKETS_LOCAL);
  CHECK_IS(seen(server), QZ_SOCKETS_SEEN | QZ_SOCKETS_LISTENS);
  CHECK_IS(seen(local_server), QZ_SOCKETS_SEEN | QZ_SOCKETS_LISTENS);
  CHECK_IS(seen(datagrams), QZ_SOCKETS_SEEN | QZ_SOCKETS_LISTENS);
  CHECK_IS(seen(proxy), QZ_SOCKETS_SEEN | QZ_SOCKETS_LISTENS | QZ_SOCKETS_CONNECTED);
  CHECK_IS(qzi_open_sockets_of(-1), 0);
  return 0;
}
