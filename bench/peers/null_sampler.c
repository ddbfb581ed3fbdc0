/* hold [--span | --what-if] PROGRAM [ARGUMENT...]: starts a program as its sampler would, welcomes it, and samples
 * nothing. So what the program pays for publishing (work and span; lanes of "what if") is seen alone. The program's
 * status is passed on; one that never says hello runs all the same, and is reported by status 4. */
#define _GNU_SOURCE
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/clock_page.h"

static int fails(const char *what) {
  perror(what);
  return 1;
}

int main(int count, char **arguments) {
  enum bench_wants wants = BENCH_PUBLISHING;
  if (count > 2 && !strncmp(arguments[1], "--", 2)) {
    wants = !strcmp(arguments[1], "--span") ? BENCH_SPAN : BENCH_WHAT_IF;
    count--;
    arguments++;
  }
  if (count < 2) return fprintf(stderr, "usage: hold PROGRAM [ARGUMENT...]\n"), 2;
  int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), connection;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "quartz-bench-hold-%ld", (long)getpid());
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 4))
    return fails("hold: socket");
  pid_t program = fork();
  if (program < 0) return fails("hold: fork");
  if (program == 0) {
    setenv(QZ_CHANNEL_ENV, address.sun_path + 1, 1);
    execvp(arguments[1], arguments + 1);
    _exit(fails(arguments[1]));
  }
  /* A program that sets its number of processors itself hangs up once, and comes again. */
  bool welcome = false;
  while (!welcome && poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, 5000) > 0) {
    struct qz_message message; /* the session's descriptor, which comes with it, is dropped */
    connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) return fails("hold: accept");
    if (recv(connection, &message, sizeof message, 0) == (ssize_t)sizeof message && message.type == QZ_HELLO) {
      message = (struct qz_message){QZ_CHANNEL_MAGIC, QZ_CHANNEL_VERSION, QZ_WELCOME, (uint32_t)getpid(), ""};
      welcome = !bench_send(connection, &message, bench_clock_page(wants));
    }
    if (!welcome) close(connection);
  }
  int status;
  while (waitpid(program, &status, 0) < 0) {}
  if (!welcome) return fprintf(stderr, "hold: the program did not publish\n"), 4;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
