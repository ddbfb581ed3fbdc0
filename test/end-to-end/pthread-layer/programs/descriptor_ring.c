/* A thread makes pieces, another one checks them, which takes three times as long; between them is a ring with room for
 * four. They wait for each other at event counters ("counters"), pipes ("pipes"), pairs of sockets ("sockets"), or at
 * the descriptor of an epoll that has a counter ("events"). With a second argument a child process lives meanwhile. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "work.h"

enum { ROOM = 4, PIECES = 400 };
struct way {
  int get, put, events;
};
static struct way room, items;
static char kind;

static struct way made(int first) {
  struct way way = {.events = -1};
  int ends[2];
  if (kind == 'c' || kind == 'e') {
    way.get = way.put = eventfd((unsigned)first, EFD_SEMAPHORE);
    if (kind != 'e') return way;
    struct epoll_event event = {.events = EPOLLIN};
    way.events = epoll_create1(0);
    if (epoll_ctl(way.events, EPOLL_CTL_ADD, way.get, &event)) abort();
    return way;
  }
  if (kind == 'p' ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) abort();
  way.get = ends[0];
  way.put = ends[1];
  for (uint64_t one = 1; first > 0; first--)
    if (write(way.put, &one, sizeof one) != sizeof one) abort();
  return way;
}
__attribute__((noinline)) static void take(struct way *way) {
  uint64_t got;
  struct epoll_event event;
  if (way->events >= 0 && epoll_wait(way->events, &event, 1, -1) != 1) abort();
  if (read(way->get, &got, sizeof got) != sizeof got) abort();
}
static void give(struct way *way) {
  uint64_t one = 1;
  if (write(way->put, &one, sizeof one) != sizeof one) abort();
}
__attribute__((noinline)) static void check(void) { work_own_us(3000); }
static void *checks(void *unused) {
  for (int k = 0; k < PIECES; k++) {
    take(&items);
    check();
    give(&room);
  }
  return unused;
}

int main(int count, char **argument) {
  kind = argument[1][0];
  room = made(ROOM);
  items = made(0);
  int gate[2] = {-1, -1};
  pid_t child = -1;
  char byte;
  if (count > 2 && !pipe(gate) && !(child = fork())) {
    close(gate[1]);
    _exit(read(gate[0], &byte, 1) != 0);
  }
  pthread_t thread;
  pthread_create(&thread, NULL, checks, NULL);
  for (int k = 0; k < PIECES; k++) {
    take(&room);
    work_us(1000); /* threads of one role run the same code */
    give(&items);
  }
  pthread_join(thread, NULL);
  if (child > 0) {
    close(gate[1]);
    waitpid(child, NULL, 0);
  }
  return 0;
}
