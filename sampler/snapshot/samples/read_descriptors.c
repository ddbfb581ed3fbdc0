/* Descriptors that threads read. See read_descriptors.h. */
#include "read_descriptors.h"

#include <sys/syscall.h>
#include "abi/profile.h"
#include "sampler/linux/descriptors.h"

#define KNOWN_NS UINT64_C(1000000000)

static uint16_t kind_of(uint32_t pid, uint32_t descriptor) {
  switch (qzi_descriptor_of((pid_t)pid, (int)descriptor).kind) {
  case QZI_NO_DESCRIPTOR: return 0;
  case QZI_SOCKET: return QZ_SOCKETS_READ;
  default: return QZ_READS_ELSEWHERE;
  }
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
