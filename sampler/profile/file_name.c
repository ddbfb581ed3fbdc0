/* Patterns of names, ranks, and names that are taken. See file_name.h. */
#include "file_name.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "abi/launcher.h"

#define NUMBERS_MAX 10000
#define LOCK_TRIES  200 /* times 5 ms: the holder of the lock only renames one file */

/* ---- rank and job from a program's environment ---- */

struct job {
  char rank[24], id[64];
};

static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID"};
#define JOBS (sizeof jobs / sizeof *jobs)

/* Rank and job of a process; a rank only if there are several. Both are empty if there is none. */
static struct job job_of(pid_t pid) {
  struct job job = {"", ""}, found[QZ_LAUNCHERS] = {0};
  char path[64], *entry = NULL;
  size_t room = 0;
  int alone[QZ_LAUNCHERS] = {0};
  unsigned best = JOBS;
  snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
  FILE *environment = fopen(path, "re");
  while (environment && getdelim(&entry, &room, 0, environment) > 0) {
    const char *value;
    for (unsigned k = 0; k < QZ_LAUNCHERS; k++) {
      if ((value = qz_launcher_value(entry, qz_launchers[k].rank)) && *value &&
          strspn(value, "0123456789") == strlen(value))
        snprintf(found[k].rank, sizeof found[k].rank, "%s", value);
      if ((value = qz_launcher_value(entry, qz_launchers[k].size)) && !strcmp(value, "1")) alone[k] = 1;
    }
    for (unsigned k = 0; k < best; k++)
      if ((value = qz_launcher_value(entry, jobs[k])) && *value) {
        snprintf(job.id, sizeof job.id, "%s", value);
        best = k;
      }
  }
  if (environment) fclose(environment);
  free(entry);
  for (unsigned k = 0; k < QZ_LAUNCHERS && !*job.rank; k++)
    if (*found[k].rank && !alone[k]) memcpy(job.rank, found[k].rank, sizeof job.rank);
  for (char *at = job.id; (at = strchr(at, '/')) != NULL;) *at = '_';
  return job;
}

/* ---- making names ---- */

int qzi_name_check(const char *pattern, char *letter) {
  for (const char *at = pattern; (at = strchr(at, '%')) != NULL; at += 2) {
    *letter = at[1];
    if (!at[1] || !strchr("nrhpj%", at[1])) return -1;
  }
  return 0;
}

/* Whether one of the letters follows a per cent sign in the pattern. */
static int has(const char *pattern, const char *letters) {
  for (const char *at = pattern; (at = strchr(at, '%')) != NULL && at[1]; at += 2)
    if (strchr(letters, at[1])) return 1;
  return 0;
}

const char *qzi_name_in_directory(const char *pattern) {
  size_t length = pattern ? strlen(pattern) : 0;
  struct stat there;
  if (!length) return pattern;
  int slash = pattern[length - 1] == '/';
  if (!slash && (stat(pattern, &there) || !S_ISDIR(there.st_mode))) return pattern;
  char *within = NULL;
  return asprintf(&within, "%s%s%%n.quartz", pattern, slash ? "" : "/") < 0 ? pattern : within;
}

void qzi_name_make_directory(const char *name) {
  struct stat there;
  char *copy = strdup(name);
  if (!copy) return;
  const char *directory = dirname(copy);
  if (stat(directory, &there) && errno == ENOENT) mkdir(directory, 0777); /* writing the file reports what is wrong */
  free(copy);
}

int qzi_name_wants_pid(const char *pattern) { return pattern && has(pattern, "p"); }

void qzi_name_of_program(char *name, size_t bytes, pid_t pid) {
  char link[64], program[4096];
  snprintf(link, sizeof link, "/proc/%ld/exe", (long)pid);
  ssize_t length = readlink(link, program, sizeof program - 1);
  program[length > 0 ? length : 0] = 0;
  const char *slash = strrchr(program, '/');
  snprintf(name, bytes, "%s", slash && slash[1] ? slash + 1 : "program");
}

size_t qzi_name_stem(const char *name) {
  const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name, *dot = strrchr(file, '.');
  return dot && dot != file ? (size_t)(dot - name) : strlen(name);
}

int qzi_name_insert(char *name, size_t bytes, const char *text) {
  char *at = name + qzi_name_stem(name);
  size_t length = strlen(text);
  if (strlen(name) + length + 1 > bytes) return -1;
  memmove(at + length, at, strlen(at) + 1);
  memcpy(at, text, length);
  return 0;
}

static int expand(char *name, size_t bytes, const char *pattern, const char *program, pid_t pid,
                  const struct job *job) {
  size_t used = 0;
  struct utsname host;
  for (const char *at = pattern; *at; at++) {
    char text[300];
    const char *part = text;
    snprintf(text, sizeof text, "%c", *at);
    if (*at == '%' && at[1]) switch (*++at) {
      case 'n': part = program; break;
      case 'r': part = *job->rank ? job->rank : "0"; break;
      case 'j': part = *job->id ? job->id : "0"; break;
      case 'p': snprintf(text, sizeof text, "%ld", (long)pid); break;
      case 'h':
        snprintf(text, sizeof text, "%s", uname(&host) ? "host" : host.nodename);
        text[strcspn(text, "./")] = 0;
        break;
      default: break; /* %% */
      }
    size_t length = strlen(part);
    if (used + length + 1 > bytes) return -1;
    memcpy(name + used, part, length);
    used += length;
  }
  name[used] = 0;
  return 0;
}

static int has_own_rank(const struct job *job) {
  struct job asked = job_of(getpid());
  return *job->rank && strcmp(job->rank, asked.rank) != 0;
}

uint32_t qzi_name_rank(pid_t pid) {
  struct job job = job_of(pid);
  unsigned long rank = *job.rank ? strtoul(job.rank, NULL, 10) : UINT32_MAX;
  return rank < UINT32_MAX ? (uint32_t)rank + 1 : 0;
}

int qzi_name_ranked(pid_t pid) {
  struct job job = job_of(pid);
  return has_own_rank(&job);
}

int qzi_name_make(char *name, size_t bytes, const char *pattern, const char *program, pid_t pid, pid_t launched) {
  char text[64];
  struct job job = job_of(pid);
  if (!pattern) pattern = "%n.quartz";
  if (expand(name, bytes, pattern, program, pid, &job)) return -1;
  int child = pid != launched, own_rank = child && has_own_rank(&job);
  if (*job.rank && !has(pattern, "rp")) {
    snprintf(text, sizeof text, ".%s", job.rank);
    if (qzi_name_insert(name, bytes, text)) return -1;
  }
  if (child && !own_rank && !has(pattern, "p")) {
    snprintf(text, sizeof text, "-%ld", (long)pid);
    if (qzi_name_insert(name, bytes, text)) return -1;
  }
  return 0;
}

/* ---- names that are taken ---- */

static uint64_t ns_of(struct timespec time) { return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec; }

struct qzi_replaceable qzi_replaceable_now(const char *name) {
  struct timespec now;
  struct stat status;
  struct qzi_replaceable may = {0};
  clock_gettime(CLOCK_REALTIME_COARSE,
                &now); /* the coarse clock, which is that of files' times: files written from now on are not older */
  may.before_ns = ns_of(now);
  if (name && !lstat(name, &status)) {
    may.device = status.st_dev;
    may.file = status.st_ino;
    may.written_ns = ns_of(status.st_mtim);
  }
  return may;
}

/* Whether the name is that of a file that must not be replaced. */
static int taken(const char *name, const struct qzi_replaceable *may, int own) {
  struct stat there, ours;
  if (lstat(name, &there)) return errno != ENOENT;
  if (own >= 0 && !fstat(own, &ours) && ours.st_dev == there.st_dev && ours.st_ino == there.st_ino) return 0;
  int same =
    may->file && there.st_ino == may->file && there.st_dev == may->device && ns_of(there.st_mtim) == may->written_ns;
  if (!may->any && !same && ns_of(there.st_mtim) >= may->before_ns) return 1;
  int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return 0;                                               /* not a profile that we may read */
  int written = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK; /* its recording is alive: see qzi_file_create */
  close(fd);
  return written;
}

/* Locks the directory, so that no other process takes a name between our check and the renaming. Returns the
 * descriptor; -1 if there is no such lock here (some network file systems), or if another process keeps it. */
static int lock_directory_of(const char *name) {
  char *copy = strdup(name);
  int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  free(copy);
  for (int tries = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB); tries++) {
    if (errno != EWOULDBLOCK || tries == LOCK_TRIES) {
      close(fd);
      return -1;
    }
    nanosleep(&(struct timespec){0, 5000000}, NULL);
  }
  return fd;
}

/* Renames a finished file. Its time becomes that of now: a recording that began before may not replace it, though it
 * was written before that. Nothing else that has just got a free name is replaced, even where the directory could not
 * be locked. Returns 0 or an error number, EEXIST if the name is not free any more. */
static int rename_to(const char *work, const char *name) {
  struct stat there;
  (void)!utimensat(AT_FDCWD, work, NULL, 0);
  if (lstat(name, &there) && errno == ENOENT) {
    if (!renameat2(AT_FDCWD, work, AT_FDCWD, name, RENAME_NOREPLACE)) return 0;
    if (errno == EEXIST) return EEXIST; /* other errors: not on this file system */
  }
  return rename(work, name) ? errno : 0;
}

int qzi_name_take(char **name, const char *work, const struct qzi_replaceable *may, int own) {
  size_t bytes = strlen(*name) + 32;
  char *free_name = malloc(bytes), text[32];
  if (!free_name) return -1;
  int lock = lock_directory_of(*name), error = EEXIST;
  for (unsigned k = 1; k <= NUMBERS_MAX; k++) {
    strcpy(free_name, *name);
    snprintf(text, sizeof text, "-%u", k);
    if (k > 1) qzi_name_insert(free_name, bytes, text);
    if (taken(free_name, may, own)) continue;
    error = rename_to(work, free_name);
    if (error != EEXIST) break;
  }
  if (lock >= 0) close(lock);
  if (error) {
    free(free_name);
    errno = error;
    return -1;
  }
  free(*name);
  *name = free_name;
  return 0;
}

int qzi_name_aside(char *aside, size_t bytes, const char *from, pid_t pid) {
  char text[32];
  snprintf(aside, bytes, "%s", from);
  snprintf(text, sizeof text, "-%ld", (long)pid);
  if (qzi_name_insert(aside, bytes, text)) return -1;
  char *name = strdup(aside);
  int failed = !name || qzi_name_take(&name, from, &(struct qzi_replaceable){0}, -1);
  if (!failed) snprintf(aside, bytes, "%s", name);
  free(name);
  return failed ? -1 : 0;
}
