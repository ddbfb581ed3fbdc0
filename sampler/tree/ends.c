/* Pipes and sockets of a tree. See ends.h. */
#include "ends.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "sampler/linux/descriptors.h"
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
  uint64_t read_ns, cost_ns; /* time of the last reading, and the CPU time that it took */
  struct qzi_socket_peers *peers;
};

struct qzi_tree_ends *qzi_tree_ends_new(void) {
  return calloc(1, sizeof(struct qzi_tree_ends));
}

void qzi_tree_ends_free(struct qzi_tree_ends *ends) {
  if (ends) qzi_socket_peers_free(ends->peers);
  free(ends);
}

static void read_process(struct qzi_tree_ends *ends, uint32_t pid) {
  DIR *all = qzi_descriptors_open((pid_t)pid);
  if (!all) return;
  int left = FDS_MOST;
  for (int fd; left-- > 0 && ends->count < ENDS_MOST && (fd = qzi_descriptors_next(all)) >= 0;) {
    struct qzi_descriptor its = qzi_descriptor_of((pid_t)pid, fd);
    if (its.kind != QZI_SOCKET && its.kind != QZI_PIPE) continue;
    mode_t access = qzi_descriptor_access((pid_t)pid, fd);
    if (!access) continue;
    ends->items[ends->count++] = (struct end){.inode = its.inode,
                                              .pid = pid,
                                              .socket = its.kind == QZI_SOCKET,
                                              .reads = (access & S_IRUSR) != 0,
                                              .writes = (access & S_IWUSR) != 0};
  }
  closedir(all);
}

static void read_all(struct qzi_tree_ends *ends, const struct qzi_tree *tree) {
  if (ends->read_ns && qzi_clock_ns() - ends->read_ns < EACH_NS + COST * ends->cost_ns) return;
  uint64_t begin_ns = qzi_thread_cpu_ns();
  ends->count = 0;
  unsigned seen = 0;
  for (unsigned k = 0; k < QZI_TREE_HASH && seen < PROCESSES_MOST; k++)
    for (struct qzi_tree_process *process = tree->processes[k]; process; process = process->next, seen++)
      read_process(ends, process->pid);
  qzi_socket_peers_free(ends->peers);
  ends->peers = qzi_socket_peers_read();
  ends->read_ns = qzi_clock_ns();
  ends->cost_ns = qzi_thread_cpu_ns() - begin_ns;
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
