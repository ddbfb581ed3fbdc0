/* Descriptors that threads read. See read_descriptors.h. */
#include "read_descriptors.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "abi/profile.h"

#define KNOWN_NS UINT64_C(1000000000)

static uint16_t kind_of(uint32_t pid, uint32_t descriptor) {
  char path[64], target[32];
  snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, descriptor);
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length <= 0) return 0; /* closed by now, or it may not be read */
  target[length] = 0;
  return strncmp(target, "socket:", 7) ? QZ_READS_ELSEWHERE : QZ_SOCKETS_READ;
}

uint16_t qzi_read_descriptor(struct qzi_read_descriptors *all, uint32_t pid, const struct qzi_asleep *asleep,
                             uint64_t now_ns) {
  if (asleep->call != SYS_read && asleep->call != SYS_readv) return 0;
  uint32_t descriptor = (uint32_t)asleep->first, at = descriptor % QZI_READ_DESCRIPTORS;
  if (all->known[at].descriptor != descriptor || now_ns >= all->known[at].until_ns) {
    all->known[at].descriptor = descriptor;
    all->known[at].until_ns = now_ns + KNOWN_NS;
    all->known[at].kind = kind_of(pid, descriptor);
  }
  return all->known[at].kind;
}
