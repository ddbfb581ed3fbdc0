/* What sleeping processes wait for. See look.h. */
#include "look.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "sampler/linux/descriptors.h"
#include "sampler/linux/process_memory.h"

/* Reads the beginning of a file in /proc. Returns its length; -1: it cannot be read. */
static int beginning_of(const char *path, char *to, int bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  int got = (int)read(fd, to, (size_t)bytes - 1);
  close(fd);
  to[got > 0 ? got : 0] = 0;
  return got;
}

/* ---- descriptors ---- */

static int at_descriptor(const struct qzi_tree *tree, struct qzi_tree_ends *ends, struct qzi_tree_thread *thread,
                         int fd, int writing) {
  uint32_t pid = thread->process->pid;
  struct qzi_descriptor its = qzi_descriptor_of((pid_t)pid, fd);
  int is_socket = its.kind == QZI_SOCKET;
  if (!is_socket && its.kind != QZI_PIPE) return 0;
  thread->wait = is_socket ? QZI_WAIT_SOCKET : writing ? QZI_WAIT_PIPE_WRITE : QZI_WAIT_PIPE_READ;
  thread->peer_count = qzi_tree_ends_find(ends, tree, its.inode, is_socket, !writing, pid, thread->peers);
  return 1;
}

static void at_poll(const struct qzi_tree *tree, struct qzi_tree_ends *ends, struct qzi_tree_thread *thread,
                    uint64_t address, uint64_t count) {
  struct pollfd polled[4];
  thread->wait = QZI_WAIT_EVENTS;
  if (!count || count > 4 || qzi_program_read(thread->process->pid, address, polled, count * sizeof *polled)) return;
  for (uint64_t k = 0; k < count && !thread->peer_count; k++)
    if (polled[k].fd >= 0) at_descriptor(tree, ends, thread, polled[k].fd, !(polled[k].events & POLLIN));
  if (!thread->peer_count) thread->wait = QZI_WAIT_EVENTS;
}

/* ---- futexes ---- */

/* If a shared mutex of glibc is at the address, returns its owner's pid; 0: it does not look like one. */
static uint32_t owner_at(const struct qzi_tree *tree, uint32_t pid, uint64_t address) {
  struct {
    uint32_t word, count, owner, users;
    int32_t kind;
  } mutex;
  if (qzi_program_read(pid, address, &mutex, sizeof mutex)) return 0;
  uint32_t owner = mutex.owner;
  if (mutex.word != 2 && owner != (mutex.word & FUTEX_TID_MASK)) return 0; /* 2: contended */
  const struct qzi_tree_thread *holder = tree->threads[owner % QZI_TREE_HASH];
  while (holder && holder->tid != owner) holder = holder->next;
  return owner && holder ? holder->process->pid : 0;
}

/* pthread_join sleeps, as if processes shared it, at a word that holds the thread's number until it has ended. Asked of
 * /proc, since the kernel's record of a new thread may not have been read yet. */
static int awaits_thread(uint32_t pid, uint64_t expected) {
  char path[64];
  if (!expected || expected > UINT32_MAX) return 0;
  snprintf(path, sizeof path, "/proc/%u/task/%u", pid, (uint32_t)expected);
  return !access(path, F_OK);
}

static void at_futex(const struct qzi_tree *tree, struct qzi_tree_thread *thread, uint64_t address, uint64_t op,
                     uint64_t expected) {
  if (op & FUTEX_PRIVATE_FLAG || awaits_thread(thread->process->pid, expected)) {
    thread->wait = QZI_WAIT_THREADS;
    return;
  }
  uint32_t owner = owner_at(tree, thread->process->pid, address);
  thread->wait = owner ? QZI_WAIT_LOCK : QZI_WAIT_SHARED;
  if (owner && owner != thread->process->pid) thread->peers[thread->peer_count++] = owner;
}

/* ---- children ---- */

static void at_children(const struct qzi_tree *tree, struct qzi_tree_thread *thread) {
  thread->wait = QZI_WAIT_CHILDREN;
  for (const struct qzi_tree_thread *its = tree->all; its && thread->peer_count < QZI_TREE_PEERS; its = its->next_all) {
    if (its->process->parent != thread->process->pid || its->tid != its->process->pid) continue;
    thread->peers[thread->peer_count++] = its->process->pid;
  }
}

static int reads(long number) {
  return number == SYS_read || number == SYS_readv || number == SYS_recvfrom || number == SYS_recvmsg ||
         number == SYS_accept || number == SYS_accept4 || number == SYS_splice;
}

static int writes(long number) {
  return number == SYS_write || number == SYS_writev || number == SYS_sendto || number == SYS_sendmsg;
}

static enum qzi_tree_wait other_wait(long number) {
  switch (number) {
  case SYS_nanosleep:
  case SYS_clock_nanosleep: return QZI_WAIT_SLEEP;
  case SYS_semop:
  case SYS_semtimedop: return QZI_WAIT_SEMAPHORE;
  case SYS_flock:
  case SYS_fcntl: return QZI_WAIT_FILE_LOCK;
#ifdef SYS_epoll_wait
  case SYS_epoll_wait:
#endif
#ifdef SYS_select
  case SYS_select:
#endif
  case SYS_epoll_pwait:
  case SYS_pselect6: return QZI_WAIT_EVENTS;
  case SYS_fsync:
  case SYS_fdatasync:
  case SYS_msync:
  case SYS_sync_file_range:
  case SYS_syncfs:
  case SYS_sync: return QZI_WAIT_FLUSH;
  default: return QZI_WAIT_OTHER;
  }
}

/* Whether the system call waits for any signal; shells wait for their children with it. */
static int awaits_signal(long number) {
#ifdef SYS_pause
  if (number == SYS_pause) return 1;
#endif
  return number == SYS_rt_sigsuspend || number == SYS_rt_sigtimedwait;
}

static int is_poll(long number) {
#ifdef SYS_poll
  if (number == SYS_poll) return 1;
#endif
  return number == SYS_ppoll;
}

void qzi_tree_look(const struct qzi_tree *tree, struct qzi_tree_ends *ends, struct qzi_tree_thread *thread) {
  char path[96], text[512];
  unsigned long long a[3];
  long number;
  thread->peer_count = 0;
  snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", thread->process->pid, thread->tid);
  if (beginning_of(path, text, sizeof text) <= 0) return;
  if (sscanf(text, "%ld 0x%llx 0x%llx 0x%llx", &number, &a[0], &a[1], &a[2]) != 4) {
    if (!strncmp(text, "-1", 2)) thread->wait = QZI_WAIT_DEVICE; /* a page fault */
    return;
  }
  if (number == SYS_wait4 || number == SYS_waitid || awaits_signal(number)) {
    at_children(tree, thread);
    if (!thread->peer_count) thread->wait = QZI_WAIT_OTHER;
  } else if (number == SYS_futex)
    at_futex(tree, thread, a[0], a[1], a[2]);
  else if (is_poll(number))
    at_poll(tree, ends, thread, a[0], a[1]);
  else if (!reads(number) && !writes(number))
    thread->wait = other_wait(number);
  else if (!at_descriptor(tree, ends, thread, (int)a[0], writes(number)))
    thread->wait = QZI_WAIT_DEVICE;
}

/* ---- titles ---- */

static const char *base_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static int interprets(const char *kind) {
  static const char *const known[] = {"python", "perl", "ruby", "node", "sh", "bash", "dash", "php"};
  for (unsigned k = 0; k < sizeof known / sizeof *known; k++) {
    size_t length = strlen(known[k]);
    if (!strncmp(kind, known[k], length) && !isalpha((unsigned char)kind[length])) return 1;
  }
  return 0;
}

/* "postgres: walwriter", without what distinguishes single processes: numbers and text in brackets. */
static void plain_title(const char *text, char *name, unsigned bytes) {
  unsigned length = 0;
  for (; *text && length + 1 < bytes && length < 48; text++) {
    if (*text == '[' || *text == '(') break;
    if (!isdigit((unsigned char)*text) && isprint((unsigned char)*text)) name[length++] = *text;
  }
  while (length && name[length - 1] == ' ') length--;
  name[length] = 0;
}

int qzi_tree_title(const struct qzi_tree_process *process, const char *kind, char *name, unsigned bytes) {
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%u/cmdline", process->pid);
  int got = beginning_of(path, text, sizeof text);
  if (got <= 0) return 0;
  const char *colon = strstr(text, ": ");
  if (colon && colon > text && (colon[-1] != '/')) {
    plain_title(base_of(text) < colon ? base_of(text) : text, name, bytes);
    return *name != 0;
  }
  const char *second = text + strlen(text) + 1;
  if (!interprets(kind) || second >= text + got || !*second || *second == '-') return 0;
  snprintf(name, bytes, "%.*s %.40s", (int)strcspn(kind, " "), kind, base_of(second));
  return 1;
}
