/* Descriptors within one process. See own_descriptors.h. proc(5): the link to an event counter reads
 * "anon_inode:[eventfd]", and fdinfo has its number ("eventfd-id"), or the descriptors of an epoll ("tfd"). */
#include "own_descriptors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "descriptors.h"
#include "socket_peers.h"

#define TASKS_MOST   256u
#define MEMBERS_MOST 16u
#define PATH_BYTES   80

static int is_target(pid_t pid, int fd, const char *wanted) {
  char path[PATH_BYTES], target[64];
  snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)pid, fd);
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return 0;
  target[length] = 0;
  return strcmp(target, wanted) == 0;
}

/* Returns 1 if there are children, or that is not known. */
static int has_children(pid_t pid) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
  DIR *tasks = opendir(path);
  if (!tasks) return 1;
  int found = 0;
  unsigned seen = 0;
  for (struct dirent *entry; !found && (entry = readdir(tasks));) {
    if (entry->d_name[0] == '.') continue;
    found = ++seen > TASKS_MOST;
    snprintf(path, sizeof path, "/proc/%ld/task/%.20s/children", (long)pid, entry->d_name);
    FILE *children = fopen(path, "re");
    if (children) found |= fgetc(children) != EOF;
    if (!children) found |= access("/proc/self/task", F_OK) != 0 || access("/proc/thread-self/children", F_OK) != 0;
    if (children) fclose(children);
  }
  closedir(tasks);
  return found;
}

/* Whether the process has a descriptor of that inode that was opened for it; one of its counters may be io_uring's. */
static int has_end(pid_t pid, enum qzi_descriptor_kind kind, uint64_t inode, mode_t access) {
  DIR *all = qzi_descriptors_open(pid);
  int found = 0;
  for (int fd; all && !found && (fd = qzi_descriptors_next(all)) >= 0;) {
    struct qzi_descriptor its = qzi_descriptor_of(pid, fd);
    found = its.kind == kind && its.inode == inode && (qzi_descriptor_access(pid, fd) & access) == access;
  }
  if (all) closedir(all);
  return found;
}

static int uses_uring(pid_t pid) {
  DIR *all = qzi_descriptors_open(pid);
  int found = !all;
  for (int fd; all && !found && (fd = qzi_descriptors_next(all)) >= 0;)
    found = is_target(pid, fd, "anon_inode:[io_uring]");
  if (all) closedir(all);
  return found;
}

static FILE *information_of(pid_t pid, int fd) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "/proc/%ld/fdinfo/%d", (long)pid, fd);
  return fopen(path, "re");
}

/* Kernels before 5.2 do not number event counters. */
static uint64_t counter_number(pid_t pid, int fd) {
  FILE *file = information_of(pid, fd);
  char line[160];
  unsigned long long number = 0;
  int known = 0;
  while (file && !known && fgets(line, sizeof line, file)) known = sscanf(line, "eventfd-id: %llu", &number) == 1;
  if (file) fclose(file);
  return known ? number : (uint64_t)fd;
}

static uint64_t peer_of(uint64_t inode) {
  struct qzi_socket_peers *peers = qzi_socket_peers_read();
  uint64_t peer = qzi_socket_peer_of(peers, inode);
  qzi_socket_peers_free(peers);
  return peer;
}

/* Apart from children. */
static struct qzi_own_descriptor alone(pid_t pid, int fd) {
  const struct qzi_own_descriptor other = {.kind = QZI_NOT_OWN};
  struct qzi_descriptor its = qzi_descriptor_of(pid, fd);
  if (its.kind == QZI_PIPE) {
    mode_t access = qzi_descriptor_access(pid, fd), opposite = access & S_IRUSR ? S_IWUSR : S_IRUSR;
    return has_end(pid, QZI_PIPE, its.inode, opposite) ? (struct qzi_own_descriptor){QZI_OWN_PIPE, its.inode} : other;
  }
  if (its.kind == QZI_SOCKET) {
    uint64_t peer = peer_of(its.inode);
    return peer && has_end(pid, QZI_SOCKET, peer, 0) ? (struct qzi_own_descriptor){QZI_OWN_SOCKETS, its.inode} : other;
  }
  if (!is_target(pid, fd, "anon_inode:[eventfd]") || uses_uring(pid)) return other;
  return (struct qzi_own_descriptor){QZI_OWN_COUNTER, counter_number(pid, fd)};
}

struct qzi_own_descriptor qzi_own_descriptor_of(pid_t pid, int fd) {
  struct qzi_own_descriptor its = alone(pid, fd);
  return its.kind != QZI_NOT_OWN && has_children(pid) ? (struct qzi_own_descriptor){.kind = QZI_NOT_OWN} : its;
}

struct qzi_own_descriptor qzi_own_events_of(pid_t pid, int fd) {
  struct qzi_own_descriptor found = {.kind = QZI_NOT_OWN};
  FILE *file = is_target(pid, fd, "anon_inode:[eventpoll]") ? information_of(pid, fd) : NULL;
  char line[160];
  unsigned members = 0;
  for (int member; file && fgets(line, sizeof line, file);) {
    if (sscanf(line, "tfd: %d", &member) != 1) continue;
    struct qzi_own_descriptor its =
      ++members > MEMBERS_MOST ? (struct qzi_own_descriptor){.kind = QZI_NOT_OWN} : alone(pid, member);
    if (members == 1) found = its;
    if (its.kind == QZI_NOT_OWN || its.kind != found.kind) found.kind = QZI_NOT_OWN;
  }
  if (file) fclose(file);
  return found.kind != QZI_NOT_OWN && has_children(pid) ? (struct qzi_own_descriptor){.kind = QZI_NOT_OWN} : found;
}
