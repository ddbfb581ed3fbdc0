/* A rehearsal of publishing: makes each system call once that publishing makes in a program. See abi/sandbox.h.
 *
 * Owns:    nothing.
 * Writer:  main, before publishing starts; a child process makes the calls.
 * Reader:  session.c, the pthread layer.
 * Must not: omit a call that publishing makes and the dynamic linker has not made before: a filter that kills for it
 * would kill the program. (test/end-to-end/pthread-layer/sandboxed.test.ts compares the list with filters for each
 * call.) Allocate, or take a lock.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "private.h"
#include "publisher.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define BYTES ((size_t)4096)

/* The results of the calls do not matter. */
#define TRY(call)                   \
  do {                              \
    if (call) __asm__ volatile(""); \
  } while (0)

static void memory(void) {
  struct stat state;
  struct rlimit limit;
  sigset_t file_size, before;
  int fd = memfd_create("quartz-session", MFD_CLOEXEC | MFD_ALLOW_SEALING), high = fcntl(fd, F_DUPFD_CLOEXEC, 512);
  TRY(close(high));
  sigemptyset(&file_size);
  sigaddset(&file_size, SIGXFSZ);
  TRY(pthread_sigmask(SIG_BLOCK, &file_size, &before));
  TRY(sigpending(&before));
  TRY(sigtimedwait(&file_size, NULL, &(struct timespec){0, 0}));
  TRY(ftruncate(fd, BYTES));
  TRY(fchmod(fd, 0600));
  TRY(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  TRY(fstat(fd, &state));
  TRY(fcntl(fd, F_GET_SEALS) < 0);
  TRY(getrlimit(RLIMIT_AS, &limit));
  TRY(fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, BYTES));
  void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) {
    TRY(madvise(at, BYTES, MADV_POPULATE_WRITE));
    TRY(mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) ==
        MAP_FAILED);
    TRY(mmap(at, BYTES, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED);
    TRY(munmap(at, BYTES));
  }
  TRY(close(fd));
}

/* Connects to a name at which no process listens. */
static void channel(void) {
  struct sockaddr_un nobody = {.sun_family = AF_UNIX, .sun_path = "\0quartz-rehearsal"};
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  TRY(connect(fd, (struct sockaddr *)&nobody, sizeof nobody));
  TRY(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes));
  TRY(sendmsg(fd, &head, MSG_NOSIGNAL) < 0);
  TRY(poll(&wait, 1, 0) < 0);
  TRY(recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0);
  TRY(close(fd));
  TRY(getpid() + getppid() + (int)geteuid() + (int)getegid() + (int)syscall(SYS_gettid));
  TRY(write(STDERR_FILENO, "", 0) < 0);
}

/* The calls for accepting samplers that attach. */
static void listening(void) {
  struct sockaddr_un own = {.sun_family = AF_UNIX}; /* the kernel chooses a name */
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0),
      wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  uint64_t count = 1;
  TRY(bind(fd, (struct sockaddr *)&own, sizeof own.sun_family));
  TRY(listen(fd, 4));
  TRY(accept4(fd, NULL, NULL, SOCK_CLOEXEC) < 0);
  TRY(write(wake, &count, sizeof count) < 0);
  TRY(read(wake, &count, sizeof count) < 0);
}

static void others(void) {
  struct stat state;
  struct rusage used;
  cpu_set_t set;
  char text[16];
  TRY(getrusage(RUSAGE_SELF, &used));
  TRY((int)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
  TRY((int)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
  TRY(nanosleep(&(struct timespec){0, 1}, NULL));
  TRY(clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0, 0}));
  TRY(sched_getaffinity(0, sizeof set, &set));
  /* the calls of abi/program.c, for programs that this one starts */
  int fd = open("/", O_RDONLY | O_CLOEXEC);
  TRY(pread(fd, text, sizeof text, 0) < 0);
  TRY(fgetxattr(fd, "security.capability", NULL, 0) < 0);
  TRY(access("/", X_OK));
  TRY(stat("/", &state));
  TRY(close(fd));
}

/* The calls for samples by signals. */
static void samples(void) {
  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  struct itimerspec never = {{0, 0}, {0, 0}};
  struct sigaction action;
  int id = -1;
  TRY((int)syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &none, &id));
  TRY((int)syscall(SYS_timer_settime, id, 0, &never, NULL));
  TRY((int)syscall(SYS_timer_delete, id));
  TRY(sigaction(SIGRTMAX, NULL, &action));
  TRY((int)syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), 0));
  TRY(clock_getres(CLOCK_MONOTONIC_COARSE, &(struct timespec){0, 0}));
}

static bool listens(void) {
  const char *setting = getenv("QUARTZ_ATTACH");
  return setting ? strcmp(setting, "0") != 0 : qzi_publishers_own_thread;
}

static void rehearse(void) {
  memory();
  channel();
  others();
  samples();
  if (listens()) listening();
}

bool qzi_pub_forbidden(void) {
  static int known; /* 1: not forbidden, 2: forbidden; constant during the life of the process */
  if (!known) known = getenv("QUARTZ_SESSION") || listens() ? 2 - qz_sandbox_survives(rehearse) : 1;
  return known == 2;
}
