/* Which processes of a tree hold the other end of a pipe: real processes, and a list of sockets that takes long without
 * using a CPU, as if other programs had the CPUs meanwhile. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "sampler/linux/socket_peers.h"
#include "sampler/tree/ends.h"
#include "sampler/util/clock.h"
#include "test/support/check.h"

#define MS 1000000u

static unsigned readings;
struct qzi_socket_peers *qzi_socket_peers_read(void) {
  readings++;
  usleep(300000);
  return NULL;
}
void qzi_socket_peers_free(struct qzi_socket_peers *peers) { CHECK(!peers); }
uint64_t qzi_socket_peer_of(const struct qzi_socket_peers *peers, uint64_t inode) {
  (void)peers, (void)inode;
  return 0;
}

static struct qzi_tree *tree;
static struct qzi_tree_ends *ends;

/* A process with one end of a new pipe; *fd is the other one. */
static pid_t holds(int its_end, int *fd) {
  int both[2], ready[2];
  char byte;
  CHECK(!pipe(both) && !pipe(ready));
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (!pid) {
    close(both[!its_end]);
    close(ready[0]);
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  CHECK(read(ready[0], &byte, 1) == 0);
  close(ready[0]);
  close(both[its_end]);
  *fd = both[!its_end];
  struct qzi_task_event begins = {.kind = QZI_TASK_BEGINS, .ns = qzi_clock_ns(), .pid = (uint32_t)pid};
  begins.tid = begins.pid;
  begins.ppid = begins.ptid = (uint32_t)getpid();
  qzi_tree_take(tree, &begins);
  return pid;
}

static uint32_t find(int fd, int writing, uint32_t *found) {
  struct stat its;
  CHECK(!fstat(fd, &its));
  uint32_t pids[QZI_TREE_PEERS] = {0}, count;
  count = qzi_tree_ends_find(ends, tree, its.st_ino, 0, writing, (uint32_t)getpid(), pids);
  *found = pids[0];
  return count;
}

int main(void) {
  tree = qzi_tree_new((uint32_t)getpid(), "test", 1, qzi_clock_ns());
  ends = qzi_tree_ends_new();
  CHECK(tree && ends);
  int from_writer, to_reader;
  uint32_t found;
  pid_t writer = holds(1, &from_writer);
  CHECK(find(from_writer, 1, &found) == 1 && found == (uint32_t)writer);
  CHECK(find(from_writer, 0, &found) == 0);
  CHECK(readings == 1); /* not again so soon */

  /* That the reading took long is no reason to wait long for the next one: it has used hardly any processor time. */
  pid_t reader = holds(0, &to_reader);
  uint64_t begin_ns = qzi_clock_ns();
  uint32_t count = 0;
  while (!(count = find(to_reader, 0, &found)) && qzi_clock_ns() - begin_ns < 10000u * (uint64_t)MS) usleep(10000);
  CHECK(count == 1 && found == (uint32_t)reader);
  CHECK(find(to_reader, 1, &found) == 0);

  kill(writer, SIGKILL);
  kill(reader, SIGKILL);
  CHECK(waitpid(writer, NULL, 0) == writer && waitpid(reader, NULL, 0) == reader);
  qzi_tree_ends_free(ends);
  qzi_tree_free(tree);
  return 0;
}
