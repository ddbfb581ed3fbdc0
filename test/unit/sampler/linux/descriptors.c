/* What each of a process's descriptors is, and what it was opened for. */
#include "sampler/linux/descriptors.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "test/support/check.h"

int main(void) {
  int pipes[2], sockets[2], file = open("/dev/null", O_RDONLY), counter = eventfd(0, 0);
  CHECK(file >= 0 && counter >= 0 && !pipe(pipes) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
  const struct {
    int fd;
    enum qzi_descriptor_kind kind;
    mode_t access;
  } examples[] = {
    {file, QZI_OTHER_FILE, S_IRUSR},
    {counter, QZI_OTHER_FILE, S_IRUSR | S_IWUSR},
    {pipes[0], QZI_PIPE, S_IRUSR},
    {pipes[1], QZI_PIPE, S_IWUSR},
    {sockets[0], QZI_SOCKET, S_IRUSR | S_IWUSR},
    {sockets[1], QZI_SOCKET, S_IRUSR | S_IWUSR},
    {1 << 20, QZI_NO_DESCRIPTOR, 0},
  };
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    struct qzi_descriptor its = qzi_descriptor_of(getpid(), examples[k].fd);
    struct stat status;
    CHECK_IS(its.kind, examples[k].kind);
    CHECK_IS(qzi_descriptor_access(getpid(), examples[k].fd), examples[k].access);
    if (its.kind == QZI_SOCKET || its.kind == QZI_PIPE) CHECK(!fstat(examples[k].fd, &status));
    CHECK_IS(its.inode, its.kind == QZI_SOCKET || its.kind == QZI_PIPE ? status.st_ino : 0);
  }
  /* What is written to files that are opened so goes to the device. */
  const struct { int flags, syncs; } opened[] = {{O_SYNC, 1}, {O_DSYNC, 1}, {0, 0}, {O_APPEND, 0}};
  for (size_t k = 0; k < sizeof opened / sizeof *opened; k++) {
    int fd = open("/dev/null", O_WRONLY | opened[k].flags);
    CHECK(fd >= 0);
    CHECK_IS(qzi_descriptor_syncs(getpid(), fd), opened[k].syncs);
    close(fd);
  }
  CHECK_IS(qzi_descriptor_syncs(getpid(), 1 << 20), 0);
  CHECK_IS(qzi_descriptor_syncs(-1, 0), 0);
  /* Each of them is found once. */
  unsigned found[sizeof examples / sizeof *examples] = {0};
  DIR *all = qzi_descriptors_open(getpid());
  CHECK(all);
  for (int fd; (fd = qzi_descriptors_next(all)) >= 0;)
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) found[k] += fd == examples[k].fd;
  closedir(all);
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
    CHECK_IS(found[k], examples[k].kind != QZI_NO_DESCRIPTOR);
  CHECK(!qzi_descriptors_open(-1));
  CHECK_IS(qzi_descriptor_of(-1, 0).kind, QZI_NO_DESCRIPTOR);
  return 0;
}
