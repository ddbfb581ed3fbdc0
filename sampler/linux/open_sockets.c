/* A program's open sockets. See open_sockets.h. */
#include "open_sockets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "abi/profile.h"
#include "descriptors.h"

#define SOCKETS_MOST 4096u
#define LINES_MOST   65536u
#define FIRST_NS     UINT64_C(20000000)
#define GROWS        2u
#define EACH_MOST_NS UINT64_C(60000000000)

enum { ESTABLISHED = 1, LISTEN = 10 };               /* of TCP, as in /proc/net/tcp */
enum { UNIX_CONNECTED = 3, UNIX_ACCEPTS = 0x10000 }; /* in /proc/net/unix: state, flag */

struct own {
  uint64_t inodes[SOCKETS_MOST]; /* ascending */
  unsigned count;
};

static int by_inode(const void *one, const void *other) {
  uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}

static int has(const struct own *own, uint64_t inode) {
  return bsearch(&inode, own->inodes, own->count, sizeof inode, by_inode) != NULL;
}

/* Standard output and error, which may lead to a log's socket, wait for nobody. Returns -1 if the open files may not be
 * read. */
static int read_own(pid_t pid, struct own *own) {
  DIR *all = qzi_descriptors_open(pid);
  if (!all) return -1;
  own->count = 0;
  for (int fd; own->count < SOCKETS_MOST && (fd = qzi_descriptors_next(all)) >= 0;) {
    if (fd == STDOUT_FILENO || fd == STDERR_FILENO) continue;
    struct qzi_descriptor its = qzi_descriptor_of(pid, fd);
    if (its.kind == QZI_SOCKET) own->inodes[own->count++] = its.inode;
  }
  closedir(all);
  qsort(own->inodes, own->count, sizeof own->inodes[0], by_inode);
  return 0;
}

static FILE *table_of(pid_t pid, const char *name) {
  char path[80];
  snprintf(path, sizeof path, "/proc/%ld/net/%s", (long)pid, name);
  return fopen(path, "re");
}

/* TCP and UDP. A UDP socket without a peer takes datagrams from anyone. Returns QZ_SOCKETS_..., and adds to *seen how
 * many of the program's sockets there are. */
static uint32_t inet(pid_t pid, const char *name, int is_udp, const struct own *own, unsigned *seen) {
  FILE *file = table_of(pid, name);
  char line[512], remote[40];
  uint32_t found = 0;
  for (unsigned k = 0; file && k < LINES_MOST && fgets(line, sizeof line, file); k++) {
    unsigned state;
    unsigned long long inode;
    if (sscanf(line, " %*[0-9]: %*s %39s %x %*s %*s %*s %*s %*s %llu", remote, &state, &inode) != 3) continue;
    if (!inode || !has(own, inode)) continue;
    (*seen)++;
    int listens = is_udp ? strspn(remote, "0:") == strlen(remote) : state == LISTEN;
    found |= listens ? QZ_SOCKETS_LISTENS : QZ_SOCKETS_CONNECTED;
  }
  if (file) fclose(file);
  return found;
}

/* Whether the socket and another one of the program were made together, as socketpair() does: it is connected to
 * itself. */
static int is_pair(const struct own *own, uint64_t inode) { return has(own, inode - 1) || has(own, inode + 1); }

/* Quartz's own: abi/channel.h. */
static int is_channel(unsigned type, const char *path) {
  return type == SOCK_SEQPACKET && (!*path || !strncmp(path, "@quartz-", 8));
}

/* Unix-domain sockets; as inet(). One with a path that is not connected takes datagrams. */
static uint32_t local(pid_t pid, const struct own *own, unsigned *seen) {
  FILE *file = table_of(pid, "unix");
  char line[512], path[16];
  uint32_t found = 0;
  for (unsigned k = 0; file && k < LINES_MOST && fgets(line, sizeof line, file); k++) {
    unsigned flags, type, state;
    unsigned long long inode;
    *path = 0;
    if (sscanf(line, "%*[0-9a-fA-F]: %*s %*s %x %x %x %llu %15s", &flags, &type, &state, &inode, path) < 4) continue;
    if (!has(own, inode)) continue;
    (*seen)++;
    if (is_channel(type, path)) continue;
    if ((flags & UNIX_ACCEPTS) || (*path && state != UNIX_CONNECTED))
      found |= QZ_SOCKETS_LISTENS;
    else if (!(state == UNIX_CONNECTED && !*path && is_pair(own, inode)))
      found |= QZ_SOCKETS_LOCAL;
  }
  if (file) fclose(file);
  return found;
}

uint32_t qzi_open_sockets_of(pid_t pid) {
  struct own *own = malloc(sizeof *own);
  if (!own || read_own(pid, own)) {
    free(own);
    return 0;
  }
  unsigned seen = 0;
  uint32_t found = QZ_SOCKETS_SEEN;
  /* Most programs have only Quartz's own socket, which is local; and where the kernel keeps a large table of TCP's,
   * reading that takes 5 ms, however few there are. */
  if (own->count) found |= local(pid, own, &seen);
  if (own->count > seen) found |= inet(pid, "tcp", 0, own, &seen) | inet(pid, "tcp6", 0, own, &seen);
  if (own->count > seen) found |= inet(pid, "udp", 1, own, &seen) | inet(pid, "udp6", 1, own, &seen);
  if (own->count > seen) found |= QZ_SOCKETS_LOCAL; /* of another family */
  free(own);
  return found;
}

void qzi_open_sockets_tend(struct qzi_open_sockets *sockets, pid_t pid, uint64_t now_ns) {
  if (!sockets->due_ns) sockets->due_ns = now_ns + FIRST_NS, sockets->each_ns = FIRST_NS;
  if (now_ns < sockets->due_ns || (sockets->found & QZ_SOCKETS_LISTENS)) return;
  sockets->found |= qzi_open_sockets_of(pid);
  sockets->each_ns = sockets->each_ns * GROWS < EACH_MOST_NS ? sockets->each_ns * GROWS : EACH_MOST_NS;
  sockets->due_ns = now_ns + sockets->each_ns;
}
