/* Tries the system calls of sampling. See rehearsal.h. */
#include "rehearsal.h"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "abi/sandbox.h"
#include "sampler/linux/process.h"

#define BYTES ((size_t)4096)
/* The result of the call does not matter. */
#define TRY(call)                   \
  do {                              \
    if (call) __asm__ volatile(""); \
  } while (0)

static void processes(void) {
  int ends[2];
  siginfo_t info;
  sigset_t none;
  struct rusage used;
  sigemptyset(&none);
  TRY(pipe2(ends, O_CLOEXEC));
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_DFL);
    _exit(0);
  }
  int pidfd = qzi_pidfd_open(child);
  TRY(ioctl(pidfd, FIONREAD, ends));
  TRY(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
  TRY(waitpid(child, NULL, 0));
  TRY(kill(getpid(), 0));
  TRY(getpgrp() + getppid());
  TRY(signalfd(-1, &none, SFD_CLOEXEC | SFD_NONBLOCK));
  TRY(sigprocmask(SIG_BLOCK, &none, NULL));
  TRY(getrusage(RUSAGE_SELF, &used));
}

static void channel(void) {
  struct sockaddr_un own = {.sun_family = AF_UNIX}; /* the kernel chooses a name */
  struct ucred peer;
  socklen_t bytes = sizeof peer;
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  TRY(bind(fd, (struct sockaddr *)&own, sizeof own.sun_family));
  TRY(listen(fd, 1));
  TRY(accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) < 0);
  TRY(getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes));
  TRY(sendmsg(fd, &head, MSG_NOSIGNAL | MSG_DONTWAIT) < 0);
  TRY(recvmsg(fd, &head, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) < 0);
  TRY(poll(&wait, 1, 0));
}

static void files(void) {
  char text[256];
  struct stat state;
  struct statfs system;
  int fd = memfd_create("quartz-rehearsal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  TRY(ftruncate(fd, (off_t)BYTES));
  TRY(fallocate(fd, 0, 0, (off_t)BYTES));
  TRY(flock(fd, LOCK_EX | LOCK_NB));
  TRY(pwrite(fd, text, 1, 0) < 0);
  TRY(pread(fd, text, 1, 0) < 0);
  TRY(lseek(fd, 0, SEEK_DATA) < 0);
  TRY(fcntl(fd, F_GETFL));
  TRY(fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL));
  TRY(fstat(fd, &state));
  TRY(fstatfs(fd, &system));
  void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) {
    TRY(madvise(at, BYTES, MADV_WILLNEED));
    void *longer = mremap(at, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
    TRY(longer != MAP_FAILED && munmap(longer, 2 * BYTES));
  }
  TRY(unlink("/proc/self/quartz")); /* nothing can be created, renamed or removed in /proc */
  TRY(rename("/proc/self/quartz", "/proc/self/quartz"));
  TRY(renameat2(AT_FDCWD, "/proc/self/quartz", AT_FDCWD, "/proc/self/quartz", RENAME_NOREPLACE));
  TRY(utimensat(AT_FDCWD, "/proc/self/quartz", NULL, 0));
  TRY(readlink("/proc/self/exe", text, sizeof text) < 0);
  int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  TRY((int)syscall(SYS_getdents64, directory, text, sizeof text));
  TRY(fgetxattr(directory, "security.capability", NULL, 0) < 0);
  TRY(access("/", X_OK) + faccessat(AT_FDCWD, "/", X_OK, AT_EACCESS));
  TRY(stat("/", &state));
}

static void observation(void) {
  char from = 0, to;
  struct iovec here = {&to, 1}, there = {&from, 1};
  struct perf_event_attr attr = {
    .type = PERF_TYPE_SOFTWARE, .size = sizeof attr, .config = PERF_COUNT_SW_DUMMY, .disabled = 1, .exclude_kernel = 1};
  struct utsname machine;
  struct sysinfo system;
  struct rlimit limit;
  struct sched_param usual = {0};
  cpu_set_t set;
  TRY(process_vm_readv(getpid(), &here, 1, &there, 1, 0) < 0);
  TRY((int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  TRY(sched_getaffinity(0, sizeof set, &set) || sched_setaffinity(0, sizeof set, &set));
  TRY(sched_getscheduler(0) + sched_getparam(0, &usual));
  TRY(sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &usual));
  TRY((int)syscall(SYS_sched_setattr, 0, NULL, 0));
  TRY(sched_yield());
  TRY(prctl(PR_SET_TIMERSLACK, 1));
  TRY(clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){0, 1}, NULL));
  TRY(nanosleep(&(struct timespec){0, 1}, NULL));
  TRY(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &(struct timespec){0, 0}));
  TRY(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  TRY(getrandom(&to, 1, GRND_NONBLOCK) < 0);
  TRY(uname(&machine) + sysinfo(&system));
  TRY(getrlimit(RLIMIT_NOFILE, &limit) || setrlimit(RLIMIT_NOFILE, &limit));
  TRY((int)geteuid() + (int)getegid());
}

/* The calls that the program makes for us, under the same filter, because otherwise nobody could see why it does
 * not connect. */
static void program(void) {
  struct sockaddr_un nobody = {.sun_family = AF_UNIX, .sun_path = "\0quartz-rehearsal"};
  char byte = 0;
  struct iovec part = {&byte, 1};
  struct msghdr head = {.msg_iov = &part, .msg_iovlen = 1};
  sigset_t signals;
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  TRY(connect(fd, (struct sockaddr *)&nobody, sizeof nobody));
  TRY(sendmsg(fd, &head, MSG_NOSIGNAL) < 0);
  TRY(recvmsg(fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0);
  TRY(fchmod(fd, 0600));
  sigemptyset(&signals);
  TRY(sigtimedwait(&signals, NULL, &(struct timespec){0, 0}));
  TRY(sigpending(&signals));
  TRY((int)syscall(SYS_gettid));
  TRY((int)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
  TRY((int)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0));
}

static void rehearse(void) {
  processes();
  channel();
  files();
  observation();
  program();
}

int qzi_forbidden(void) { return !qz_sandbox_survives(rehearse); }
