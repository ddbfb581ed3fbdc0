/* What this machine can show: asked by tests (npm test and CTest) before they judge what it may not be able to.
 *
 *   probe                             all that it knows, a line each, with the reason where something is lacking
 *   probe NEED...                     status 0; or 77, with "skipped: " and the reason on a line
 *   probe NEED... -- COMMAND ARG...   becomes the command where all is there, else as before
 *
 * A NEED is one of the table below, or
 *   tool:NAME    a program on the PATH, or where Debian puts those of the system
 *   file:PATH    something that the build makes or the set-up installs where it can
 *   made:PATH=NEED   a file that the build makes only with NEED, which is named where the file is not there
 *   cpus:N       so many CPUs, which this process may use
 * Each is tried, not looked up: a system call is there when it works here, in this process's cgroup, namespace and
 * filter. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SKIPPED = 77 };

static char why[300];
static const char *because(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *because(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(why, sizeof why, format, list);
  va_end(list);
  return why;
}

/* Runs a trial in a child, which may change what it likes: 0, or the errno that it exits with. */
static int in_child(int (*trial)(void)) {
  pid_t pid = fork();
  if (pid < 0) return errno;
  if (!pid) _exit(trial() ? errno : 0);
  int status;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/* As the sampler asks for them: samples of threads in user mode, paced by a clock. */
static const char *perf_event_open(void) {
  struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                 .size = sizeof attr,
                                 .config = PERF_COUNT_SW_TASK_CLOCK,
                                 .sample_period = 1000000,
                                 .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
                                 .exclude_kernel = 1,
                                 .exclude_hv = 1,
                                 .disabled = 1};
  int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (fd < 0) return because("perf_event_open is refused (%s)", strerror(errno));
  close(fd);
  return NULL;
}

/* A child that waits to be looked at; killed afterwards. */
static pid_t patient(void) {
  pid_t pid = fork();
  if (!pid)
    for (;;) pause();
  return pid;
}
static void dismiss(pid_t pid) {
  if (pid <= 0) return;
  kill(pid, SIGKILL);
  waitpid(pid, NULL, 0);
}

static const char *process_vm_readv_(void) {
  static int there = 4711;
  int here = 0;
  pid_t pid = patient();
  struct iovec to = {&here, sizeof here}, from = {&there, sizeof there};
  ssize_t got = process_vm_readv(pid, &to, 1, &from, 1, 0);
  int error = errno;
  dismiss(pid);
  return got == sizeof here && here == there ? NULL : because("process_vm_readv is refused (%s)", strerror(error));
}

static const char *ptrace_(void) {
  pid_t pid = patient();
  long attached = ptrace(PTRACE_SEIZE, pid, NULL, NULL);
  int error = errno;
  dismiss(pid);
  return attached == 0 ? NULL : because("ptrace is refused (%s)", strerror(error));
}

static int unshare_user(void) { return unshare(CLONE_NEWUSER); }
static const char *user_namespaces(void) {
  int error = in_child(unshare_user);
  return error ? because("user namespaces are refused (%s)", strerror(error)) : NULL;
}

static int mount_small(void) {
  if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS)) return -1;
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)) return -1;
  return mount("probe", "/tmp", "tmpfs", 0, "size=64k");
}
static const char *mounts(void) {
  int error = in_child(mount_small);
  return error ? because("no file system can be mounted here, in a namespace of its own (%s)", strerror(error)) : NULL;
}

static const char *terminal(void) {
  int fd = posix_openpt(O_RDWR | O_NOCTTY);
  if (fd < 0 || grantpt(fd) || unlockpt(fd)) {
    const char *reason = because("there are no pseudo-terminals (%s)", strerror(errno));
    if (fd >= 0) close(fd);
    return reason;
  }
  int other = open(ptsname(fd), O_RDWR | O_NOCTTY);
  int error = errno;
  close(fd);
  if (other < 0) return because("there are no pseudo-terminals (%s)", strerror(error));
  close(other);
  return NULL;
}

static const char *x86_64(void) {
#ifdef __x86_64__
  return NULL;
#else
  return "loops that only wait are found out on x86-64 alone";
#endif
}

static const char *root(void) { return geteuid() == 0 ? NULL : "only root may do this"; }

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Jiffies of all CPUs so far: those that nobody used, and those that the host of this virtual machine took. */
struct jiffies {
  unsigned long long idle, stolen;
};
static int read_jiffies(struct jiffies *all) {
  unsigned long long v[8];
  FILE *file = fopen("/proc/stat", "r");
  if (!file) return -1;
  int got =
    fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7);
  fclose(file);
  if (got != 8) return -1;
  *all = (struct jiffies){v[3] + v[4], v[7]};
  return 0;
}

/* Over a second: CPUs that nobody used, and those that were stolen, as numbers of CPUs. */
static int look_at_cpus(double *idle, double *stolen) {
  struct jiffies before, after;
  double began = seconds();
  if (read_jiffies(&before)) return -1;
  nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  if (read_jiffies(&after)) return -1;
  double jiffies = (seconds() - began) * (double)sysconf(_SC_CLK_TCK);
  *idle = (double)(after.idle - before.idle) / jiffies;
  *stolen = (double)(after.stolen - before.stolen) / jiffies;
  return 0;
}

static const char *spare_cpu(void) {
  double idle, stolen;
  if (look_at_cpus(&idle, &stolen)) return because("/proc/stat does not show what the CPUs do");
  return idle >= 0.9 ? NULL : because("other programs have the CPUs: %.2f of one is free", idle);
}

static const char *own_cpus(void) {
  double idle, stolen;
  if (look_at_cpus(&idle, &stolen)) return because("/proc/stat does not show what the CPUs do");
  return stolen < 0.02 ? NULL : because("the host takes %.0f %% of a CPU away from this virtual machine", 100 * stolen);
}

static const struct {
  const char *name;
  const char *(*lacks)(void); /* NULL, or why not */
} table[] = {
  {"perf_event_open", perf_event_open},
  {"process_vm_readv", process_vm_readv_},
  {"ptrace", ptrace_},
  {"user-namespaces", user_namespaces},
  {"mounts", mounts},
  {"terminal", terminal},
  {"root", root},
  {"x86-64", x86_64},
  {"spare-cpu", spare_cpu},
  {"own-cpus", own_cpus},
};
enum { ROWS = sizeof table / sizeof *table };

static const char *tool(const char *name) {
  const char *places[] = {getenv("PATH"), "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"};
  for (int k = 0; k < 2; k++) {
    char *list = strdup(places[k] ? places[k] : ""), *rest = NULL;
    for (char *place = strtok_r(list, ":", &rest); place; place = strtok_r(NULL, ":", &rest)) {
      char path[4096];
      snprintf(path, sizeof path, "%s/%s", place, name);
      if (!access(path, X_OK)) {
        free(list);
        return NULL;
      }
    }
    free(list);
  }
  return because("%s is not installed", name);
}

static const char *cpus(const char *number) {
  cpu_set_t set;
  int least = atoi(number), there = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  return there >= least ? NULL : because("%d CPUs are needed, %d may be used", least, there);
}

/* NULL, or why it is not there. */
static const char *lacks(const char *need) {
  if (!strncmp(need, "tool:", 5)) return tool(need + 5);
  if (!strncmp(need, "cpus:", 5)) return cpus(need + 5);
  if (!strncmp(need, "file:", 5)) return access(need + 5, F_OK) ? because("%s is not here", need + 5) : NULL;
  const char *with = strrchr(need, '=');
  if (!strncmp(need, "made:", 5) && with) {
    char path[4096];
    snprintf(path, sizeof path, "%.*s", (int)(with - need - 5), need + 5);
    return access(path, F_OK) ? because("it is built only with %s", with + 1) : NULL;
  }
  for (int k = 0; k < ROWS; k++)
    if (!strcmp(table[k].name, need)) return table[k].lacks();
  fprintf(stderr, "probe: nothing is known of \"%s\"\n", need);
  exit(2);
}

int main(int argc, char **argv) {
  setvbuf(stdout, NULL, _IOLBF, 0); /* children must not write again what is not written yet */
  if (argc < 2) {
    for (int k = 0; k < ROWS; k++) {
      const char *reason = table[k].lacks();
      printf("%s: %s%s\n", table[k].name, reason ? "no: " : "yes", reason ? reason : "");
    }
    return 0;
  }
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--")) {
      if (k + 1 == argc) return 2;
      execvp(argv[k + 1], argv + k + 1);
      perror(argv[k + 1]);
      return 127;
    }
    const char *reason = lacks(argv[k]);
    if (reason) {
      printf("skipped: %s\n", reason);
      return SKIPPED;
    }
  }
  return 0;
}
