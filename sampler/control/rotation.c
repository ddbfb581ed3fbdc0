/* See rotation.h. */
#include "rotation.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>
#include "events.h"
#include "finisher.h"
#include "sampler/profile/file_name.h"
#include "sampler/util/array.h"
#include "sampler/util/clock.h"

#define FULL_NS    UINT64_C(60000000000) /* a file whose tables are full is closed early, but not before this age */
#define AGAIN_NS   UINT64_C(60000000000) /* interval between attempts if no file can be created */
#define LEAST_FREE UINT64_C(16777216)    /* free disk space required for a new file */
#define STAMP      "-YYYYmmddTHHMMSSZ"

static struct {
  struct qzi_recording_request request; /* for all files but the first */
  uint64_t every_ns, begun_ns, due_ns;
  unsigned keep;
  int message_fd, reported;
  char base[4096];
} all;

int qzi_rotation_name(char *name, size_t bytes, const char *base) {
  char stamp[sizeof STAMP];
  struct tm utc;
  time_t now = time(NULL);
  strftime(stamp, sizeof stamp, "-%Y%m%dT%H%M%SZ", gmtime_r(&now, &utc));
  if ((size_t)snprintf(name, bytes, "%s", base) >= bytes) return -1;
  return qzi_name_insert(name, bytes, stamp);
}

int qzi_rotation_is_one(const char *name, const char *base) {
  size_t before = qzi_name_stem(base);
  if (strncmp(name, base, before) != 0) return 0;
  const char *at = name + before;
  for (const char *form = STAMP; *form; form++, at++)
    if (strchr("YmdHMS", *form) ? !isdigit((unsigned char)*at) : *at != *form) return 0;
  if (*at == '-') at += 1 + strspn(at + 1, "0123456789"); /* the second file of the same second */
  return !strcmp(at, base + before);
}

static int by_name(const void *left, const void *right) { return strcmp(*(char *const *)left, *(char *const *)right); }

/* Returns 1 if a recording is writing the file. */
static int in_use(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) return 1;
  int used = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
  close(fd);
  return used;
}

/* Removes the oldest files in excess of --keep, including those of earlier recordings with the same name. */
static void prune(void) {
  char copy[sizeof all.base], other[sizeof all.base], path[sizeof all.base + 300];
  snprintf(copy, sizeof copy, "%s", all.base);
  snprintf(other, sizeof other, "%s", all.base);
  const char *folder = dirname(copy), *base = basename(other);
  DIR *directory = opendir(folder);
  if (!directory) return;
  char **names = NULL;
  uint32_t count = 0, room = 0;
  for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (!qzi_rotation_is_one(entry->d_name, base)) continue;
    if (qzi_grow((void **)&names, &room, count + 1, sizeof *names)) break;
    if ((names[count] = strdup(entry->d_name)) != NULL) count++;
  }
  closedir(directory);
  if (count) qsort(names, count, sizeof *names, by_name);
  for (uint32_t k = 0; k < count; k++) {
    struct stat file;
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    if (k + all.keep < count && !lstat(path, &file) && S_ISREG(file.st_mode) && !in_use(path)) unlink(path);
    free(names[k]);
  }
  free(names);
}

void qzi_rotation_begin(const struct qzi_options *options, const char *base) {
  if (options->rotate_seconds <= 0) return;
  all.request = options->recording;
  all.request.attached = 1; /* the program is already running when the next file begins */
  all.every_ns = (uint64_t)(options->rotate_seconds * 1e9);
  all.keep = options->keep;
  all.message_fd = options->message_fd;
  all.begun_ns = qzi_clock_ns();
  all.due_ns = all.begun_ns + all.every_ns;
  snprintf(all.base, sizeof all.base, "%s", base);
  prune();
}

/* Returns 1 if a file can be created; otherwise prints the reason, once. */
static int can_begin(const char *path, const char *current) {
  char copy[4200], trial[4300];
  struct statvfs disk;
  const char *why = NULL;
  snprintf(copy, sizeof copy, "%s", path);
  snprintf(trial, sizeof trial, "%s.%ld.new", path, (long)getpid());
  int fd = open(trial, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    why = strerror(errno);
  } else {
    close(fd);
    unlink(trial);
    if (!statvfs(dirname(copy), &disk) && (uint64_t)disk.f_bavail * disk.f_frsize < LEAST_FREE)
      why = "the disk is almost full";
  }
  if (why && !all.reported)
    fprintf(stderr, "quartz: cannot begin %s: %s; recording continues in %s until there is room\n", path, why, current);
  all.reported = why != NULL;
  return !why;
}

static void rotate(unsigned k) {
  struct qzi_target *old = qzi_targets[k];
  struct qzi_recording *its = &old->recording;
  char path[4200];
  if (qzi_rotation_name(path, sizeof path, all.base) || !can_begin(path, its->file.path)) {
    all.due_ns = qzi_clock_ns() + AGAIN_NS;
    return;
  }
  struct qzi_replaceable may = qzi_replaceable_now(path);
  struct qzi_clock_page clock = qzi_clock_page_again(&its->clock);
  int session = dup(its->view.fd), socket = old->socket;
  old->socket = -1; /* the program is not informed */
  qzi_pause(old);
  struct qzi_target *next = qzi_admit(old->pid, socket, session, clock, 0, path, &may, all.message_fd, &all.request);
  if (session >= 0) close(session);
  if (next) {
    qzi_process_usage_go_on(&next->recording.usage, &its->usage);
    next->recording.sockets = its->sockets;
    if (its->samples_fd >= 0) qzi_recording_samples(&next->recording, fcntl(its->samples_fd, F_DUPFD_CLOEXEC, 0));
    memcpy(next->program, old->program, sizeof next->program);
    next->numbered = old->numbered;
    next->ranked = old->ranked;
    qzi_targets[k] = next;
  } else {
    qzi_targets[k] = qzi_targets[--qzi_target_count];
  }
  qzi_finish_later(old, QZ_END_TIME, 0);
  all.begun_ns = qzi_clock_ns();
  all.due_ns = all.begun_ns + all.every_ns;
  prune();
}

void qzi_rotation_look(pid_t pid) {
  if (!all.every_ns) return;
  uint64_t now_ns = qzi_clock_ns();
  for (unsigned k = 0; k < qzi_target_count; k++) {
    const struct qzi_recording *its = &qzi_targets[k]->recording;
    if (qzi_targets[k]->pid != pid || its->failed || its->stop) continue;
    if (now_ns < all.due_ns && !(its->file.exhausted && now_ns > all.begun_ns + FULL_NS)) continue;
    rotate(k);
    return;
  }
}
