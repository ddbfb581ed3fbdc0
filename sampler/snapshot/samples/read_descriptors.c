/* Descriptors that threads read and write. See read_descriptors.h. */
#include "read_descriptors.h"

#include <sys/syscall.h>
#include "abi/profile.h"
#include "sampler/linux/descriptors.h"

#define KNOWN_NS   UINT64_C(1000000000)
#define KNOWN_MOST (60 * KNOWN_NS)

enum call { OTHER_CALL, READS, WRITES, WRITES_AT, PASSES_MESSAGES, WAITS_FOR_EVENTS };

static enum call call_of(long number) {
  switch (number) {
  case SYS_read:
  case SYS_readv: return READS;
  case SYS_write:
  case SYS_writev: return WRITES;
  case SYS_pwrite64:
  case SYS_pwritev:
  case SYS_pwritev2: return WRITES_AT;
  case SYS_recvfrom:
  case SYS_recvmsg:
  case SYS_sendto:
  case SYS_sendmsg: return PASSES_MESSAGES;
#ifdef SYS_epoll_wait
  case SYS_epoll_wait:
#endif
  case SYS_epoll_pwait: return WAITS_FOR_EVENTS;
  default: return OTHER_CALL;
  }
}

static uint16_t kind_of(uint32_t pid, uint32_t descriptor) {
  switch (qzi_descriptor_of((pid_t)pid, (int)descriptor).kind) {
  case QZI_NO_DESCRIPTOR: return 0;
  case QZI_SOCKET: return QZ_SOCKETS_READ;
  default: return QZ_READS_ELSEWHERE;
  }
}

static uint16_t written_of(uint32_t pid, uint32_t descriptor) {
  if (qzi_descriptor_of((pid_t)pid, (int)descriptor).kind == QZI_PIPE) return QZ_WRITES_PIPES;
  return qzi_descriptor_syncs((pid_t)pid, (int)descriptor) ? QZ_WRITES_THROUGH : QZ_WRITES_ELSEWHERE;
}

/* Only what has positions is written at one: nothing at which threads of a process wait for each other. */
static struct qzi_own_descriptor own_of(uint32_t pid, uint32_t descriptor, enum call call) {
  if (call == WRITES_AT) return (struct qzi_own_descriptor){.kind = QZI_NOT_OWN};
  return call == WAITS_FOR_EVENTS ? qzi_own_events_of((pid_t)pid, (int)descriptor)
                                  : qzi_own_descriptor_of((pid_t)pid, (int)descriptor);
}

uint16_t qzi_read_descriptor(struct qzi_read_descriptors *all, uint32_t pid, const struct qzi_asleep *asleep,
                             uint64_t now_ns, struct qzi_own_descriptor *own) {
  *own = (struct qzi_own_descriptor){.kind = QZI_NOT_OWN};
  enum call call = call_of(asleep->call);
  if (call == OTHER_CALL) return 0;
  uint32_t descriptor = (uint32_t)asleep->first, at = descriptor % QZI_READ_DESCRIPTORS;
  if (all->known[at].descriptor != descriptor || now_ns >= all->known[at].until_ns) {
    struct qzi_own_descriptor found = own_of(pid, descriptor, call);
    int same = all->known[at].descriptor == descriptor && all->known[at].own.kind == found.kind &&
               all->known[at].own.id == found.id && all->known[at].each_ns;
    all->known[at].each_ns = same && all->known[at].each_ns < KNOWN_MOST ? 2 * all->known[at].each_ns : KNOWN_NS;
    all->known[at].until_ns = now_ns + all->known[at].each_ns;
    all->known[at].descriptor = descriptor;
    all->known[at].own = found;
    all->known[at].kind = kind_of(pid, descriptor);
    all->known[at].written = 0;
  }
  *own = all->known[at].own;
  if (own->kind != QZI_NOT_OWN) return 0;
  if (call == READS) return all->known[at].kind;
  if (call != WRITES && call != WRITES_AT) return 0;
  if (!all->known[at].written) all->known[at].written = written_of(pid, descriptor);
  return all->known[at].written;
}
