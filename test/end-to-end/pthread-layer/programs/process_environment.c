/* What programs do to the process that they run in, before threads share a lock: `surroundings WHAT`. Output that
 * begins with "not here" says what cannot be done on this machine. Output and status are the same each time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "two_threads.h"

#ifdef INTERPOSE /* the program precedes the C library itself */
static long locked;
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  static int (*next)(pthread_mutex_t *);
  if (!next) next = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
  __atomic_add_fetch(&locked, 1, __ATOMIC_RELAXED);
  return next(mutex);
}
static void report_locked(void) { printf("locked: %d\n", locked == 100); }
#else
static void report_locked(void) {}
#endif

/* ---- descriptors ---- */

/* Closes all descriptors, then opens enough files to get every number again, and checks their contents. */
static int closes(int loop) {
  crew_work("open");
  if (loop)
    for (long k = sysconf(_SC_OPEN_MAX) - 1; k >= 3; k--) close((int)k);
  else
    syscall(SYS_close_range, 3, ~0u, 0);
  crew_work("closed");
  int files[700], wrong = 0;
  for (int k = 0; k < 700; k++) {
    files[k] = (int)syscall(SYS_memfd_create, "mine", 0);
    if (files[k] < 0) return puts("no more files"), 0;
    if (pwrite(files[k], &k, sizeof k, 0) != sizeof k) wrong++;
  }
  printf("first: %d\n", files[0]);
  crew_work("others");
  for (int k = 0; k < 700; k++) {
    int value = -1;
    struct stat state;
    if (pread(files[k], &value, sizeof value, 0) != sizeof value || value != k) wrong++;
    if (fstat(files[k], &state) || state.st_size != sizeof value) wrong++;
  }
  printf("wrong: %d\n", wrong);
  return 0;
}

/* ---- rights ---- */

static int drops(void) {
  if (geteuid()) return puts("not here: only root can"), 0;
  crew_work("root");
  if (setgroups(0, NULL) || setgid(65534) || setuid(65534)) return perror("set"), 1;
  crew_work("nobody");
  printf("again root: %d\n", setuid(0));
  crew_work("still");
  return 0;
}
static int jails(const char *directory) {
  if (geteuid()) return puts("not here: only root can"), 0;
  if (chroot(directory) || chdir("/")) return perror("chroot"), 1;
  crew_work("jailed");
  return 0;
}

/* Calls that are not listed fail with ENOSYS, or kill. */
static int sandbox(unsigned otherwise) {
  static const int allowed[] = {
    SYS_read,   SYS_write,           SYS_exit,           SYS_exit_group,    SYS_futex,      SYS_mmap,
    SYS_munmap, SYS_mprotect,        SYS_clone,          SYS_clone3,        SYS_brk,        SYS_madvise,
    SYS_rseq,   SYS_set_robust_list, SYS_rt_sigprocmask, SYS_clock_gettime, SYS_newfstatat, SYS_rt_sigaction};
  struct sock_filter filter[64];
  unsigned n = 0, count = sizeof allowed / sizeof *allowed;
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned k = 0; k < count; k++)
    filter[n++] =
      (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[k], (unsigned char)(count - k), 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog program = {.len = (unsigned short)n, .filter = filter};
  crew_work("free");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
    return puts("not here: no filters"), 0;
  crew_work("in the sandbox");
  return 0;
}

/* ---- limits ---- */

static int limited(int what, rlim_t most) {
  struct rlimit limit = {most, most};
  if (setrlimit(what, &limit)) return perror("setrlimit"), 1;
  crew_work("limited");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    crew_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    _exit(11);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %d\n", WEXITSTATUS(status));
  return 0;
}

/* The requested number of waits for a condition, of each kind; no other thread wakes it. */
static int waits(int number) {
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  const struct timespec past = {1, 0};
  int wrong = 0;
  pthread_mutex_lock(&crew_lock);
  for (int k = 0; k < number; k++) {
    wrong += pthread_cond_timedwait(&never, &crew_lock, &past) != ETIMEDOUT;
    wrong += pthread_cond_clockwait(&never, &crew_lock, CLOCK_MONOTONIC, &past) != ETIMEDOUT;
  }
  pthread_mutex_unlock(&crew_lock);
  return wrong;
}

static void *counts(void *at) {
  pthread_mutex_lock(&crew_lock);
  ++*(int *)at;
  pthread_mutex_unlock(&crew_lock);
  return NULL;
}
static pthread_barrier_t all_there;
static void *stays(void *at) {
  counts(at);
  pthread_barrier_wait(&all_there);
  return NULL;
}
/* Thousands of threads: one after the other, or all at once. */
static int many(int number, int together) {
  int sum = 0, made = 0;
  pthread_t *threads = calloc((size_t)number, sizeof *threads);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN + 8192);
  pthread_barrier_init(&all_there, NULL, (unsigned)number + 1);
  for (; made < number; made++) {
    if (pthread_create(&threads[made], &small, together ? stays : counts, &sum)) {
      puts("not here: too few threads allowed");
      _exit(0);
    }
    if (!together) pthread_join(threads[made], NULL);
  }
  if (together) {
    pthread_barrier_wait(&all_there);
    for (int k = 0; k < made; k++) pthread_join(threads[k], NULL);
  }
  printf("threads: %d\n", sum);
  crew_work("after");
  return 0;
}
/* Each thread creates the next one and waits for it: all exist at the same time. */
static int born;
static void *begets(void *left) {
  pthread_t next;
  if (!left) return NULL;
  if (pthread_create(&next, NULL, begets, (char *)left - 1)) return puts("no more threads"), NULL;
  pthread_join(next, NULL);
  __atomic_fetch_add(&born, 1, __ATOMIC_RELAXED);
  return NULL;
}

static int tiny(void) {
  pthread_t thread;
  pthread_attr_t small;
  int sum = 0;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
  for (int k = 0; k < 100; k++) {
    int error = pthread_create(&thread, &small, counts, &sum);
    if (error) return printf("create: %d\n", error), 0;
    pthread_join(thread, NULL);
  }
  printf("tiny: %d\n", sum);
  return 0;
}

/* Forks while the library `at_fork.so` is loaded, whose child handler locks: there is no other thread. */
static int forks(void) {
  crew_work("parent");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    crew_work("child");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %d\n", status);
  return 0;
}

/* ---- libraries ---- */

static int loads(const char *path) {
#ifdef STATIC /* has no dynamic linker to load with */
  return 0;
#else
  int total = 0;
  for (int k = 0; k < 50; k++) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 1;
    int (*work)(int) = (int (*)(int))dlsym(library, "plugin_work");
    total += work(k);
    dlclose(library);
    if (k == 25) crew_work("between");
  }
  printf("plugin: %d\n", total);
  return 0;
#endif
}

/* The positions of the first objects of the heap in their pages. */
static int heap(void) {
  for (int k = 0; k < 3; k++) printf("heap: %u\n", (unsigned)((uintptr_t)malloc(100) & 4095));
  return 0;
}

int main(int count, char **arguments) {
  const char *what = count > 1 ? arguments[1] : "";
  if (!strcmp(what, "close_range")) return closes(0);
  if (!strcmp(what, "close_loop")) return closes(1);
  if (!strcmp(what, "nobody")) return drops();
  if (!strcmp(what, "chroot") && count > 2) return jails(arguments[2]);
  if (!strcmp(what, "enosys")) return sandbox(SECCOMP_RET_ERRNO | ENOSYS);
  if (!strcmp(what, "kills")) return sandbox(SECCOMP_RET_KILL_PROCESS);
  if (!strcmp(what, "files")) return limited(RLIMIT_NOFILE, 8);
  if (!strcmp(what, "filesize")) return limited(RLIMIT_FSIZE, 0);
  if (!strcmp(what, "processes")) return limited(RLIMIT_NPROC, 4096);
  if (!strcmp(what, "memory")) return limited(RLIMIT_AS, (rlim_t)2 << 30);
  if (!strcmp(what, "in_turn")) return many(20000, 0);
  if (!strcmp(what, "at_once")) return many(17000, 1);
  if (!strcmp(what, "generations")) {
    begets((char *)NULL + 600);
    printf("generations: %d\n", born);
    return 0;
  }
  if (!strcmp(what, "tiny")) return tiny();
  if (!strcmp(what, "heap")) return heap();
  if (!strcmp(what, "waits")) return waits(100);
  if (!strcmp(what, "at_fork")) return forks();
  if (!strcmp(what, "plugin") && count > 2) return loads(arguments[2]);
  crew_work("plain");
  report_locked();
  return 0;
}
