/* Limits of CPUs. See cpu_limits.h. */
#include "cpu_limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "affinity.h"

#define PATH_MOST 512u
#define TEXT_MOST 8192u

/* Where distributions and container engines mount the controller. */
static const char *const mounts_v1[] = {"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu"};
static const char *const mounts_v2[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

/* Returns the number of bytes read, without the final NUL; 0 if there are none. */
static size_t read_file(const char *path, char *text, size_t bytes) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  size_t used = 0;
  for (ssize_t some; fd >= 0 && used + 1 < bytes && (some = read(fd, text + used, bytes - 1 - used)) > 0;)
    used += (size_t)some;
  if (fd >= 0) close(fd);
  text[used] = 0;
  return used;
}

/* Joins a folder and a name. Returns 0 if the result is too long. */
static int join(char *path, const char *folder, const char *name) {
  int length = snprintf(path, PATH_MOST, "%s/%s", folder, name);
  return length > 0 && (unsigned)length < PATH_MOST;
}

/* The group's own limit in thousandths of a CPU; 0: it has none. */
static uint32_t quota_of(const char *group, int v2) {
  char path[PATH_MOST], text[100], limit[40];
  unsigned long long quota = 0, period = 0;
  if (v2) {
    if (!join(path, group, "cpu.max") || !read_file(path, text, sizeof text)) return 0;
    if (sscanf(text, "%39s %llu", limit, &period) != 2 || !strcmp(limit, "max")) return 0;
    quota = strtoull(limit, NULL, 10);
  } else {
    if (!join(path, group, "cpu.cfs_quota_us") || !read_file(path, text, sizeof text) || *text == '-') return 0;
    quota = strtoull(text, NULL, 10);
    if (!join(path, group, "cpu.cfs_period_us") || !read_file(path, text, sizeof text)) return 0;
    period = strtoull(text, NULL, 10);
  }
  if (!quota || !period || quota > UINT32_MAX) return 0;
  uint64_t milli = quota * 1000 / period;
  return milli > UINT32_MAX ? 0 : milli ? (uint32_t)milli : 1;
}

static int is_folder(const char *path) {
  struct stat status;
  return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* Whether the comma-separated list contains "cpu". */
static int has_cpu(const char *list) {
  for (const char *at = list; *at;) {
    size_t length = strcspn(at, ",");
    if (length == 3 && !strncmp(at, "cpu", 3)) return 1;
    at += length + (at[length] == ',');
  }
  return 0;
}

/* The least limit from the group `path` up to where groups are mounted. In a container, the path may be that of the
 * host, while its own group is mounted: then that one is meant. */
static void find_in(const char *root, const char *mount, const char *path, int v2, char *group, unsigned bytes,
                    uint32_t *least) {
  char base[PATH_MOST], folder[PATH_MOST];
  snprintf(base, sizeof base, "%s%s", root, mount);
  if (!is_folder(base)) return;
  snprintf(folder, sizeof folder, "%s", base);
  if (path[1] && (!join(folder, base, path + 1) || !is_folder(folder))) snprintf(folder, sizeof folder, "%s", base);
  for (;;) {
    uint32_t milli = quota_of(folder, v2);
    if (milli && (!*least || milli < *least)) {
      *least = milli;
      snprintf(group, bytes, "%s", folder);
    }
    char *slash = strrchr(folder, '/');
    if (!slash || strlen(folder) <= strlen(base)) return;
    *slash = 0;
  }
}

uint32_t qzi_cpu_quota_find(const char *root, const char *text, char *group, unsigned bytes) {
  uint32_t least = 0;
  char line[PATH_MOST];
  group[0] = 0;
  for (const char *at = text; *at;) {
    size_t length = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)(length < PATH_MOST ? length : PATH_MOST - 1), at);
    at += length + (at[length] == '\n');
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path || path[1] != '/') continue;
    *path++ = 0;
    int v2 = !controllers[1];
    if (!v2 && !has_cpu(controllers + 1)) continue;
    for (unsigned k = 0; k < 2; k++) find_in(root, v2 ? mounts_v2[k] : mounts_v1[k], path, v2, group, bytes, &least);
  }
  return least;
}

void qzi_throttle_read(const char *group, struct qzi_throttle *now) {
  char path[PATH_MOST], text[2048], name[40];
  *now = (struct qzi_throttle){0};
  if (!join(path, group, "cpu.stat")) return;
  read_file(path, text, sizeof text);
  for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
    unsigned long long value;
    if (sscanf(line, "%39s %llu", name, &value) != 2) continue;
    if (!strcmp(name, "nr_periods")) now->periods = value;
    if (!strcmp(name, "nr_throttled")) now->throttled_periods = value;
    if (!strcmp(name, "throttled_usec")) now->throttled_ns = value * 1000;
    if (!strcmp(name, "throttled_time")) now->throttled_ns = value;
  }
}

void qzi_cpu_limits_begin(struct qzi_cpu_limits *limits, pid_t pid, struct qz_cpu_limits *row) {
  char path[64], text[TEXT_MOST];
  memset(limits, 0, sizeof *limits);
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  row->online = online > 0 ? (uint32_t)online : 0;
  row->allowed = qzi_affinity_count(pid);
  snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
  read_file(path, text, sizeof text);
  row->quota_milli = qzi_cpu_quota_find("", text, limits->group, (unsigned)sizeof limits->group);
  if (row->quota_milli) qzi_throttle_read(limits->group, &limits->begin);
}

static uint64_t since(uint64_t now, uint64_t begin) { return now > begin ? now - begin : 0; }

void qzi_cpu_limits_read(const struct qzi_cpu_limits *limits, struct qz_cpu_limits *row) {
  struct qzi_throttle now;
  if (!row->quota_milli) return;
  qzi_throttle_read(limits->group, &now);
  row->periods = since(now.periods, limits->begin.periods);
  row->throttled_periods = since(now.throttled_periods, limits->begin.throttled_periods);
  row->throttled_ns = since(now.throttled_ns, limits->begin.throttled_ns);
}
