/* quartz-sampler from outside: record SAMPLER PUBLISHER. Statuses, ends of programs, signals, children, invalid
 * sessions, and its own death. record SAMPLER PUBLISHER full-disk, where file systems can be mounted: a full disk. */
#include "test/support/fake_session.h"
#include "test/support/invariants.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>

static const char *sampler, *publisher;
static char directory[] = "/tmp/quartz-record-XXXXXX";
static char output[300], errors[300], said[65536];
static struct qz_profile_copy profile;

static void pause_ms(unsigned ms) { nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL); }

/* Starts a program; its stderr goes to `errors`, its stdout to *out if that is not NULL. Arguments end with NULL. */
static pid_t start(int *out, const char *program, ...) {
  char *argv[32] = {(char *)program};
  int ends[2], count = 1;
  va_list list;
  va_start(list, program);
  while ((argv[count] = va_arg(list, char *)) != NULL) count++;
  va_end(list);
  if (out) CHECK(!pipe(ends));
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    int fd = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(fd, 2);
    close(fd);
    if (out) {
      dup2(ends[1], 1);
      close(ends[0]);
      close(ends[1]);
    }
    execv(program, argv);
    _exit(99);
  }
  if (out) {
    close(ends[1]);
    *out = ends[0];
  }
  return pid;
}

/* Exit status, or 1000 + signal. */
static int finish(pid_t pid) {
  int status;
  CHECK(waitpid(pid, &status, 0) == pid);
  FILE *file = fopen(errors, "r");
  size_t bytes = file ? fread(said, 1, sizeof said - 1, file) : 0;
  if (file) fclose(file);
  said[bytes] = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
#define RECORD(...) finish(start(NULL, sampler, "record", "-o", output, __VA_ARGS__, NULL))

#define EXPECT(condition)                                                                                  \
  do {                                                                                                     \
    if (!(condition)) {                                                                                    \
      fprintf(stderr, "%s:%d: not so: %s; the sampler said:\n%s\n", __FILE__, __LINE__, #condition, said); \
      exit(1);                                                                                             \
    }                                                                                                      \
  } while (0)

static int exists(const char *path) { return !access(path, F_OK); }

/* `waited_for`: by another process; after that, the exit status is not available any more. */
static void load_at(int line, int waited_for, const char *path, uint32_t status, uint32_t reason, int exit_status) {
  char why[256];
  if (qz_profile_load(&profile, path, why, sizeof why)) {
    fprintf(stderr, "%s: %s; the sampler said:\n%s\n", path, why, said);
    exit(1);
  }
  if (profile.head.status != QZ_PROFILE_RECORDING) {
    check_invariants(&profile);
    EXPECT(!invariant_failures);
  }
  if (profile.head.status != status || profile.head.end_reason != reason ||
      (profile.head.exit_status != exit_status && !(waited_for && profile.head.exit_status == -1))) {
    fprintf(stderr, "%s:%d: status %u, end reason %u, exit status %d, not %u, %u, %d; the sampler said:\n%s\n",
            __FILE__, line, profile.head.status, profile.head.end_reason, profile.head.exit_status, status, reason,
            exit_status, said);
    exit(1);
  }
  EXPECT(profile.entities_count > 1 && profile.head.elapsed_ns > 0);
  unlink(path);
}

#define load(...) load_at(__LINE__, 0, __VA_ARGS__)

static uint64_t calls_to(uint64_t address) {
  uint64_t count = 0;
  for (size_t k = 0; k < profile.calls_count; k++)
    if (profile.entities[profile.calls[k].callee].address == address) count += profile.calls[k].count;
  return count;
}

/* The path of the only other profile in the directory. */
static char *other_profile(void) {
  static char path[4096];
  char command[400];
  snprintf(command, sizeof command, "ls %s/out-*.quartz 2>/dev/null", directory);
  FILE *list = popen(command, "r");
  CHECK(list);
  path[0] = 0;
  if (fgets(path, sizeof path, list)) path[strcspn(path, "\n")] = 0;
  char more[8];
  EXPECT(!fgets(more, sizeof more, list));
  pclose(list);
  return path;
}

/* ms: how long a program runs of which the profile is read meanwhile, which may take seconds under a sanitizer. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LASTING "15000"
#else
#define LASTING "4000"
#endif

/* Waits until a recording is under way. */
static void wait_for_snapshots(void) {
  char why[256];
  for (int sampled = 0; !sampled; pause_ms(10)) {
    if (qz_profile_load(&profile, output, why, sizeof why)) continue;
    sampled = profile.head.snapshots > 3;
    qz_profile_unload(&profile);
  }
}

static void ends(void) {
  EXPECT(RECORD("--", publisher, "run", "200", "0") == 0);
  load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
  EXPECT(calls_to(0x3000) == 12345 && calls_to(0x2000) > 0); /* it contains the last counts before the end */
  EXPECT(profile.head.snapshots > 0 && strstr(qz_profile_string(&profile, profile.head.arguments), "run 200 0"));
  EXPECT(strstr(qz_profile_string(&profile, profile.head.program), "publisher") && strstr(said, "snapshots"));
  EXPECT(!profile.head.attached && profile.modules_count > 0 && profile.head.sampler_cpu_ns > 0);
  uint64_t run_ns = profile.head.cpu_run_ns;
  qz_profile_unload(&profile);
  /* Readings of the CPU time are spaced by their cost: on a slow machine a run has to be longer to have two. */
  for (int ms = 400; !run_ns && ms <= 25600; ms *= 2) {
    char duration[16];
    snprintf(duration, sizeof duration, "%d", ms);
    EXPECT(RECORD("--", publisher, "run", duration, "0") == 0);
    load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
    run_ns = profile.head.cpu_run_ns;
    qz_profile_unload(&profile);
  }
  EXPECT(run_ns > 0);
  setenv("PUBLISHER_PROCESSORS", "10", 1);
  EXPECT(RECORD("-q", "--rate", "500", "--threads", "3", "--", publisher, "churn", "300", "42") == 42 && !said[0]);
  unsetenv("PUBLISHER_PROCESSORS");
  load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 42);
  EXPECT(profile.head.rate_mhz == 500000 && profile.head.processors == 10 && profile.head.sampler_threads == 3);
  qz_profile_unload(&profile);
  EXPECT(RECORD("--", publisher, "signal", "100", "9") == 128 + 9);
  load(output, QZ_PROFILE_COMPLETE, QZ_END_SIGNAL, 9);
  EXPECT(calls_to(0x3000) == 12345);
  qz_profile_unload(&profile);
}

static void no_profile(void) {
  EXPECT(RECORD("--", "sh", "-c", "exit 3") == 3);
  EXPECT(!exists(output) && strstr(said, "libquartz-pthread.so was not found"));
  EXPECT(RECORD("--", "no-such-program") == 127 && strstr(said, "no-such-program"));
  EXPECT(RECORD("--", directory) == 126);
  EXPECT(finish(start(NULL, sampler, "record", NULL)) == 2);
  EXPECT(finish(start(NULL, sampler, "record", "--rate", "0", "--", "true", NULL)) == 2);
  EXPECT(finish(start(NULL, sampler, "record", "--frob", "--", "true", NULL)) == 2);
  EXPECT(finish(start(NULL, sampler, "attach", "12x", NULL)) == 2);
  EXPECT(finish(start(NULL, sampler, "record", "-o", "/nowhere/at/all", "--", publisher, "run", "1", "0", NULL)) ==
         125);
  EXPECT(finish(start(NULL, sampler, "record", "-o", "/dev/null", "--", publisher, "run", "1", "0", NULL)) == 125);
  static const char *const broken[] = {"magic", "version", "processors", "table", "stride",   "size",
                                       "stack", "calls",   "short",      "long",  "unsealed", "pipe"};
  for (unsigned k = 0; k < sizeof broken / sizeof *broken; k++) {
    EXPECT(RECORD("--", publisher, "corrupt", "1", broken[k]) == 0);
    EXPECT(!exists(output) && strstr(said, "is not recorded"));
  }
}

static void signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (unsigned k = 0; k < 3; k++) { /* a program that continues: recording ends, the status is still the program's */
    pid_t pid =
      start(NULL, sampler, "record", "-o", output, "--", publisher, k == 2 ? "run" : "ignore", LASTING, "5", NULL);
    wait_for_snapshots();
    kill(pid, numbers[k]);
    EXPECT(finish(pid) == (k == 2 ? 128 + SIGHUP : 5));
    load(output, QZ_PROFILE_CUT, QZ_END_INTERRUPTED, 0);
    EXPECT(calls_to(0x3000) == 0);
    qz_profile_unload(&profile);
  }
}

static void images_and_children(void) {
  EXPECT(RECORD("--", publisher, "exec", "100", "0") == 7);
  load(other_profile(), QZ_PROFILE_CUT, QZ_END_EXEC, 0); /* the profile of what ran first is in a file of its own */
  EXPECT(calls_to(0x3000) == 12345);
  qz_profile_unload(&profile);
  load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 7);
  qz_profile_unload(&profile);
  EXPECT(RECORD("--", publisher, "leave", "100", "6") == 6);
  load(output, QZ_PROFILE_CUT, QZ_END_EXEC, 0);
  qz_profile_unload(&profile);
  EXPECT(RECORD("--children", "--", publisher, "fork", "150", "0") == 0);
  load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
  uint32_t parent = profile.head.pid;
  qz_profile_unload(&profile);
  char expected[32];
  const char *path = other_profile();
  EXPECT(*path);
  load_at(__LINE__, 1, path, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
  EXPECT(profile.head.pid != parent && calls_to(0x3000) == 12345);
  snprintf(expected, sizeof expected, "out-%u.quartz", profile.head.pid);
  EXPECT(strstr(path, expected));
  qz_profile_unload(&profile);
  EXPECT(RECORD("--", publisher, "fork", "100", "0") == 0);
  load_at(__LINE__, 1, output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0); /* the child's, or its parent's */
  qz_profile_unload(&profile);
  /* One of the two is a launcher or did too little to be kept, unless both did at least LEAST_NS of work (follow.c). */
  EXPECT(!*other_profile() || strstr(said, "were recorded, too"));
}

static void attach(void) {
  char number[32], letter;
  int out;
  pid_t program = start(&out, publisher, "listen", "3000", "3", NULL);
  EXPECT(read(out, &letter, 1) == 1);
  snprintf(number, sizeof number, "%ld", (long)program);
  EXPECT(finish(start(NULL, sampler, "attach", "-o", output, "--seconds", "0.3", number, NULL)) == 0);
  load(output, QZ_PROFILE_CUT, QZ_END_TIME, 0);
  EXPECT(profile.head.attached && profile.head.pid == (uint32_t)program && calls_to(0x2000) > 0 &&
         calls_to(0x3000) == 0);
  qz_profile_unload(&profile);
  EXPECT(finish(program) == 3);
  close(out);
  EXPECT(finish(start(NULL, sampler, "attach", number, NULL)) == 125);
  program = start(&out, publisher, "listen", "300", "0", NULL);
  EXPECT(read(out, &letter, 1) == 1);
  snprintf(number, sizeof number, "%ld", (long)program);
  EXPECT(finish(start(NULL, sampler, "attach", "-o", output, number, NULL)) == 0);
  load(output, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0);
  EXPECT(calls_to(0x3000) == 12345);
  qz_profile_unload(&profile);
  EXPECT(finish(program) == 0);
  close(out);
}

/* The sampler is killed: the program continues, the file is valid up to then, and marked as abandoned. */
static void killed(void) {
  int out;
  pid_t pid = start(&out, sampler, "record", "-o", output, "--", publisher, "run", LASTING, "0", NULL);
  wait_for_snapshots();
  load(output, QZ_PROFILE_RECORDING, QZ_END_NONE, 0); /* and readable while it grows */
  EXPECT(!profile.abandoned);
  uint64_t snapshots = profile.head.snapshots;
  qz_profile_unload(&profile);
  CHECK(RECORD("--", "true") == 0); /* another recording does not change it */
  kill(pid, SIGKILL);
  EXPECT(finish(pid) == 1000 + SIGKILL);
  char letter;
  EXPECT(read(out, &letter, 1) == 0); /* the program has ended */
  close(out);
  EXPECT(snapshots > 0);
}

static void abandoned(void) {
  pid_t pid = start(NULL, sampler, "record", "-o", output, "--", publisher, "run", LASTING, "0", NULL);
  wait_for_snapshots();
  kill(pid, SIGKILL);
  EXPECT(finish(pid) == 1000 + SIGKILL);
  load(output, QZ_PROFILE_RECORDING, QZ_END_NONE, 0);
  EXPECT(profile.abandoned && profile.head.snapshots > 0);
  if (!profile.half) check_invariants(&profile);
  EXPECT(!invariant_failures);
  qz_profile_unload(&profile);
}

/* A disk of one megabyte that is full as soon as recording has begun. */
static void full_disk(void) {
  CHECK(!unshare(CLONE_NEWNS) || !unshare(CLONE_NEWUSER | CLONE_NEWNS));
  CHECK(!mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
        !mount("quartz-test", directory, "tmpfs", 0, "size=1m"));
  pid_t pid = start(NULL, sampler, "record", "-o", output, "--", publisher, "churn", "60000", "4", NULL);
  wait_for_snapshots();
  char filler[320], block[4096] = {1};
  snprintf(filler, sizeof filler, "%s/filler", directory);
  int fd = open(filler, O_WRONLY | O_CREAT, 0666);
  CHECK(fd >= 0);
  while (write(fd, block, sizeof block) > 0) {}
  close(fd);
  EXPECT(finish(pid) == 4);
  load(output, QZ_PROFILE_CUT, QZ_END_DISK_FULL, 0);
  EXPECT(profile.head.snapshots > 0);
  qz_profile_unload(&profile);
  umount2(directory, MNT_DETACH);
}

int main(int argc, char **argv) {
  setenv("QUARTZ_LAYER", "/nowhere/at/all", 1); /* programs that are not prepared for Quartz are not recorded here */
  CHECK(argc == 3 || argc == 4);
  sampler = argv[1];
  publisher = argv[2];
  alarm(300); /* a hang is a failure */
  CHECK(mkdtemp(directory));
  snprintf(output, sizeof output, "%s/out.quartz", directory);
  snprintf(errors, sizeof errors, "%s/errors", directory);
  if (argc == 4) {
    full_disk();
  } else {
    ends();
    no_profile();
    signals();
    images_and_children();
    attach();
    killed();
    abandoned();
  }
  char command[300];
  snprintf(command, sizeof command, "rm -rf %s", directory);
  return system(command) != 0;
}
