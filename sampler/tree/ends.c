/* Pipes and sockets of a tree. See ends.h. */
#include "ends.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "sampler/linux/socket_peers.h"
#include "sampler/util/clock.h"

#define ENDS_MOST      8192u
#define PROCESSES_MOST 256u
#define FDS_MOST       256 /* of one process */
#define EACH_NS        50000000u
#define COST           50u

struct end {
  uint64_t inode;
  uint32_t pid;
  uint8_t socket, reads, writes;
};

struct qzi_tree_ends {
  struct end items[ENDS_MOST];
  unsigned count;
  uint64_t read_ns, cost_ns; /* time and duration of the last reading */
  struct qzi_socket_peers *peers;
};

struct qzi_tree_ends *qzi_tree_ends_new(void) {
  return calloc(1, sizeof(struct qzi_tree_ends));
}

void qzi_tree_ends_free(struct qzi_tree_ends *ends) {
  if (ends) qzi_socket_peers_free(ends->peers);
  free(ends);
}

static int kind_at(const char *path, uint64_t *inode) {
  char target[64];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return -1;
  target[length] = 0;
  unsigned long long number;
  int is_socket = !strncmp(target, "socket:[", 8);
  if (!is_socket && strncmp(target, "pipe:[", 6)) return -1;
  if (sscanf(target + (is_socket ? 8 : 6), "%llu", &number) != 1) return -1;
  *inode = number;
  return is_socket;
}

int qzi_tree_end_of(uint32_t pid, int fd, uint64_t *inode) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/fd/%d", pid, fd);
  return kind_at(path, inode);
}

static void read_process(struct qzi_tree_ends *ends, uint32_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/fd", pid);
  DIR *folder = opendir(path);
  if (!folder) return;
  int left = FDS_MOST;
  for (struct dirent *entry; left-- > 0 && (entry = readdir(folder)) && ends->count < ENDS_MOST;) {
    struct end *end = &ends->items[ends->count];
    struct stat status;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%u/fd/%.20s", pid, entry->d_name);
    int kind = kind_at(path, &end->inode);
    if (kind < 0 || lstat(path, &status)) continue;
    end->pid = pid;
    end->socket = (uint8_t)kind;
    end->reads = (status.st_mode & S_IRUSR) != 0;
    end->writes = (status.st_mode & S_IWUSR) != 0;
    ends->count++;
  }
  closedir(folder);
}

static void read_all(struct qzi_tree_ends *ends, const struct qzi_tree *tree) {
  uint64_t begin_ns = qzi_clock_ns();
  if (ends->read_ns && begin_ns - ends->read_ns < EACH_NS + COST * ends->cost_ns) return;
  ends->count = 0;
  unsigned seen = 0;
  for (unsigned k = 0; k < QZI_TREE_HASH && seen < PROCESSES_MOST; k++)
    for (struct qzi_tree_process *process = tree->processes[k]; process; process = process->next, seen++)
      read_process(ends, process->pid);
  qzi_socket_peers_free(ends->peers);
  ends->peers = qzi_socket_peers_read();
  ends->read_ns = qzi_clock_ns();
  ends->cost_ns = ends->read_ns - begin_ns;
}

static uint32_t collect(const struct qzi_tree_ends *ends, uint64_t inode, int is_socket, int writing, uint32_t pid,
                        uint32_t found[QZI_TREE_PEERS]) {
  uint32_t count = 0;
  for (unsigned k = 0; k < ends->count && count < QZI_TREE_PEERS; k++) {
    const struct end *end = &ends->items[k];
    if (end->inode != inode || end->socket != is_socket || end->pid == pid) continue;
    if (!is_socket && !(writing ? end->writes : end->reads)) continue;
    uint32_t at = 0;
    while (at < count && found[at] != end->pid) at++;
    if (at == count) found[count++] = end->pid;
  }
  return count;
}

uint32_t qzi_tree_ends_find(struct qzi_tree_ends *ends, const struct qzi_tree *tree, uint64_t inode, int is_socket,
                            int writing, uint32_t pid, uint32_t found[QZI_TREE_PEERS]) {
  for (int again = 0; again < 2; again++) {
    uint64_t other = is_socket ? qzi_socket_peer_of(ends->peers, inode) : inode;
    uint32_t count = other ? collect(ends, other, is_socket, writing, pid, found) : 0;
    if (count || again) return count;
    read_all(ends, tree);
  }
  return 0;
}
