/* For benchmarks: begins publishing everything; also for benchmarks that want work and span, too. */
#ifndef BENCH_ATTACH_H
#define BENCH_ATTACH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "bench/clock_page.h"

/* A child connects as a sampler would, and keeps the connection, and with it the publishing, until its parent ends. It
 * reads nothing, so that only publishing is measured. */
static inline void bench_attach_for(enum bench_wants wants) {
  pid_t program = getpid();
  int ready[2];
  if (pipe(ready)) exit(1);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int s = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, QZ_CHANNEL_PROGRAM, (long)program);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    struct qz_message message = {QZ_CHANNEL_MAGIC, QZ_CHANNEL_VERSION, QZ_ATTACH, (uint32_t)getpid(), ""};
    bool good = connect(s, (struct sockaddr *)&address, bytes) == 0 &&
                !bench_send(s, &message, bench_clock_page(wants)) && recv(s, &message, sizeof message, 0) > 0 &&
                message.type == QZ_HELLO;
    if (good) usleep(50000); /* publishing begins after the answer */
    if (write(ready[1], &good, 1) != 1) _exit(1);
    for (;;) pause();
  }
  bool good = false;
  if (read(ready[0], &good, 1) != 1 || !good) {
    fprintf(stderr, "quartz: the benchmark cannot attach to itself\n");
    exit(1);
  }
}
static inline void bench_attach(void) { bench_attach_for(BENCH_PUBLISHING); }
/* According to the option of a benchmark: --publish, --span (also work and span), --what-if (also both lanes). */
static inline void bench_attach_by(const char *option) {
  if (!strcmp(option, "--publish")) bench_attach();
  if (!strcmp(option, "--span")) bench_attach_for(BENCH_SPAN);
  if (!strcmp(option, "--what-if")) bench_attach_for(BENCH_WHAT_IF);
}

#endif
