/* A client that asks another process 60 times, each time for what takes that 5 ms, and reads the answers with read():
 * from a socket ("socket"), or from a pipe ("pipe"). */
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"

#define ANSWERS 60

static void answer(int from, int to) {
  char question;
  while (read(from, &question, 1) == 1) {
    usleep(5000);
    if (write(to, &question, 1) != 1) break;
  }
  _exit(0);
}

__attribute__((noinline)) static int ask(int to, int from) {
  char answered = 0;
  return write(to, "?", 1) == 1 && read(from, &answered, 1) == 1;
}

int main(int count, char **arguments) {
  int there[2], back[2], is_socket = count > 1 && !strcmp(arguments[1], "socket"), got = 0;
  if (is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, there) : pipe(there) || pipe(back)) return 1;
  if (is_socket) back[0] = there[1], back[1] = there[0];
  if (!fork()) {
    close(there[1]);
    answer(there[0], is_socket ? there[0] : back[1]);
  }
  close(there[0]);
  for (int k = 0; k < ANSWERS; k++) {
    got += ask(there[1], back[0]);
    work_own_us(300);
  }
  close(there[1]);
  wait(NULL);
  return got != ANSWERS;
}
