/* Creating, extending and finishing the profile file. See file.h. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "abi/mpi_log.h"
#include "abi/profile_write.h"

#define PAGE      4096u
#define CHUNK_MIN (16u * 1024) /* a section grows by its present size, and at least by this */
#define FILES_MAX 1024         /* maximum number of open files, for the signal handlers' table */

/* Size of the elements of each section, and its share of the file's maximum size in 256ths. The timeline has a fixed
 * length. */
static const struct {
  uint64_t stride;
  unsigned parts;
  uint64_t most;
} plan[QZ_SECTION_COUNT] = {
  [QZ_SECTION_STRINGS] = {1, 16, UINT64_C(1) << 27},
  [QZ_SECTION_ENTITIES] = {sizeof(struct qz_entity), 23, UINT64_C(1) << 21},
  [QZ_SECTION_STACKS] = {sizeof(struct qz_stack_node), 32, UINT64_C(1) << 24},
  [QZ_SECTION_TUPLES] = {sizeof(struct qz_tuple), 55, UINT64_C(1) << 23},
  [QZ_SECTION_BALANCE] = {sizeof(struct qz_balance), 8, UINT64_C(1) << 20},
  [QZ_SECTION_OBJECTS] = {sizeof(struct qz_object_stats), 28, UINT64_C(1) << 17},
  [QZ_SECTION_BLAME] = {sizeof(struct qz_blame), 12, UINT64_C(1) << 20},
  [QZ_SECTION_CALLS] = {sizeof(struct qz_call_edge), 16, UINT64_C(1) << 21},
  [QZ_SECTION_THREADS] = {sizeof(struct qz_thread_stats), 8, UINT64_C(1) << 18},
  [QZ_SECTION_MODULES] = {sizeof(struct qz_module), 4, UINT64_C(1) << 15},
  [QZ_SECTION_TIMELINE] = {sizeof(struct qz_timeline), 4, 2048},
  [QZ_SECTION_PROCESSORS] = {sizeof(struct qz_processor_stats), 2, 4096},
  [QZ_SECTION_WAIT_OVERLAP] = {sizeof(struct qz_wait_overlap), 12, UINT64_C(1) << 20},
  [QZ_SECTION_ON_PATH] = {sizeof(struct qz_on_path), 4, UINT64_C(1) << 18},
  [QZ_SECTION_SEGMENTS] = {sizeof(struct qz_path_segment), 4, UINT64_C(1) << 16},
  [QZ_SECTION_ON_SPAN] = {sizeof(struct qz_on_span), 4, UINT64_C(1) << 18},
  [QZ_SECTION_SITES] = {sizeof(struct qz_span_site), 1, QZ_SPAN_SITES},
  [QZ_SECTION_LEVELS] = {sizeof(struct qz_level), 1, QZ_SPAN_LEVELS},
  [QZ_SECTION_WHAT_IF] = {sizeof(struct qz_what_if_answer), 1, QZ_WHAT_IFS},
  [QZ_SECTION_RECENT_PATHS] = {sizeof(struct qz_recent_path), 1, 2},
  [QZ_SECTION_INSTRUCTIONS] = {sizeof(struct qz_instruction), 4, UINT64_C(1) << 16},
  [QZ_SECTION_RECENT_SEGMENTS] = {sizeof(struct qz_path_segment), 4, UINT64_C(1) << 13},
  [QZ_SECTION_SLICES] = {sizeof(struct qz_slice), 4, UINT64_C(1) << 18},
  [QZ_SECTION_LINES] = {sizeof(struct qz_shared_line), 1, 256},
  [QZ_SECTION_UNWINDING] = {sizeof(struct qz_unwinding), 1, UINT64_C(1) << 15},
  [QZ_SECTION_COUNTED] = {sizeof(struct qz_counted), 1, UINT64_C(1) << 18},
  [QZ_SECTION_MESSAGES] = {sizeof(struct qz_message_event), 4, QZ_MPI_LOG_CAPACITY},
  [QZ_SECTION_CPU_LIMITS] = {sizeof(struct qz_cpu_limits), 1, 1},
};

static uint64_t up(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Assigns each section its own addresses, on its own pages. Returns the number of bytes in all. */
static uint64_t lay_out(struct qzi_file *file, struct qz_profile *head, uint64_t max_bytes) {
  uint64_t at = up(sizeof *head);
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    uint64_t capacity = (max_bytes - (QZ_SECTION_COUNT + 4) * PAGE) / 256 * plan[s].parts / plan[s].stride;
    if (capacity > plan[s].most) capacity = plan[s].most;
    head->sections[s] = (struct qz_section){.capacity = capacity, .stride = plan[s].stride};
    file->at[s] = at;
    at += up(capacity * plan[s].stride);
  }
  return at;
}

static void place_sections(struct qzi_file *file) {
  void *at[QZ_SECTION_COUNT];
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) at[s] = file->base + file->at[s];
  file->strings = at[QZ_SECTION_STRINGS];
  file->entities = at[QZ_SECTION_ENTITIES];
  file->stacks = at[QZ_SECTION_STACKS];
  file->tuples = at[QZ_SECTION_TUPLES];
  file->balance = at[QZ_SECTION_BALANCE];
  file->objects = at[QZ_SECTION_OBJECTS];
  file->blame = at[QZ_SECTION_BLAME];
  file->calls = at[QZ_SECTION_CALLS];
  file->threads = at[QZ_SECTION_THREADS];
  file->modules = at[QZ_SECTION_MODULES];
  file->timeline = at[QZ_SECTION_TIMELINE];
  file->processors = at[QZ_SECTION_PROCESSORS];
  file->wait_overlap = at[QZ_SECTION_WAIT_OVERLAP];
  file->on_path = at[QZ_SECTION_ON_PATH];
  file->segments = at[QZ_SECTION_SEGMENTS];
  file->on_span = at[QZ_SECTION_ON_SPAN];
  file->sites = at[QZ_SECTION_SITES];
  file->levels = at[QZ_SECTION_LEVELS];
  file->what_if = at[QZ_SECTION_WHAT_IF];
  file->recent_paths = at[QZ_SECTION_RECENT_PATHS];
  file->recent_segments = at[QZ_SECTION_RECENT_SEGMENTS];
  file->instructions = at[QZ_SECTION_INSTRUCTIONS];
  file->slices = at[QZ_SECTION_SLICES];
  file->lines = at[QZ_SECTION_LINES];
  file->unwinding = at[QZ_SECTION_UNWINDING];
  file->counted = at[QZ_SECTION_COUNTED];
  file->messages = at[QZ_SECTION_MESSAGES];
  file->cpu_limits = at[QZ_SECTION_CPU_LIMITS];
}

/* Allocates the blocks of a range. If the file system can't do that, writes zeros. */
static int allocate(int fd, uint64_t offset, uint64_t bytes) {
  while (fallocate(fd, 0, (off_t)offset, (off_t)bytes)) {
    if (errno == EINTR) continue;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return -1;
    static const char zeros[PAGE];
    for (; bytes; offset += PAGE, bytes -= PAGE)
      if (pwrite(fd, zeros, PAGE, (off_t)offset) != (ssize_t)PAGE) {
        if (!errno) errno = ENOSPC;
        return -1;
      }
    return 0;
  }
  return 0;
}

/* Causes the page faults now instead of in a snapshot. */
static void touch(void *at, uint64_t bytes) {
  madvise(at, bytes, MADV_RANDOM); /* otherwise each first fault would read ahead */
#ifdef MADV_POPULATE_WRITE
  madvise(at, bytes, MADV_POPULATE_WRITE);
#endif
}

/* Extends the file for a section and maps the new blocks. If the section's last extent is at the end of the file, that
 * extent grows. */
static int extend(struct qzi_file *file, unsigned section, uint64_t bytes) {
  struct qz_section *s = &file->head->sections[section];
  struct qz_extent *last = s->extents_count ? &s->extents[s->extents_count - 1] : NULL;
  int joined = last && last->offset + last->bytes == file->end;
  if (!joined && s->extents_count == QZ_EXTENTS_MAX) {
    file->exhausted = 1;
    return -1;
  }
  if (file->end + bytes + PAGE > file->blocks && allocate(file->fd, file->end, bytes + PAGE)) return -1;
  unsigned char *at = file->base + file->at[section] + file->mapped[section];
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->fd, (off_t)file->end) == MAP_FAILED)
    return -1;
  if (file->touched) touch(at, bytes);
  if (joined) {
    last->bytes += bytes;
  } else {
    s->extents[s->extents_count] = (struct qz_extent){file->end, bytes};
    __atomic_store_n(&s->extents_count, s->extents_count + 1, __ATOMIC_RELEASE);
  }
  file->end += bytes;
  file->mapped[section] += bytes;
  return 0;
}

int qzi_file_room_slow(struct qzi_file *file, unsigned section, uint64_t more) {
  struct qz_section *s = &file->head->sections[section];
  if (s->count + more > s->capacity) {
    file->exhausted = 1;
    return -1;
  }
  if (file->full) return -1;
  uint64_t have = file->mapped[section], need = up((s->count + more) * s->stride), all = up(s->capacity * s->stride);
  uint64_t end = have + (have < CHUNK_MIN ? CHUNK_MIN : have);
  if (end < need) end = need;
  if (end > all) end = all;
  if (end > have && extend(file, section, end - have) &&
      (file->exhausted || end <= need || extend(file, section, need - have))) {
    if (!file->exhausted) file->full = 1; /* the check includes the last blocks */
    return -1;
  }
  have = file->mapped[section] / s->stride;
  file->ready[section] = have < s->capacity ? have : s->capacity;
  return 0;
}

/* ---- a block that is missing after all (copy-on-write file systems, a truncated file) ----
 *
 * A signal handler replaces the page by private memory, and recording ends as if the disk were full.
 */

static struct qzi_file *_Atomic files[FILES_MAX];

static void on_bus_error(int number, siginfo_t *info, void *context) {
  (void)context;
  unsigned char *at = info->si_addr;
  for (unsigned k = 0; k < FILES_MAX; k++) {
    struct qzi_file *file = files[k];
    if (!file || at < file->base || at >= file->base + file->bytes) continue;
    void *page = (void *)((uintptr_t)at / PAGE * PAGE);
    if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    file->full = file->lost = 1;
    return;
  }
  signal(number, SIG_DFL);
}

static void watch(struct qzi_file *file) {
  struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
  for (unsigned k = 0; k < FILES_MAX; k++) {
    struct qzi_file *none = NULL;
    if (__atomic_compare_exchange_n((struct qzi_file **)&files[k], &none, file, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return;
  }
}
static void unwatch(struct qzi_file *file) {
  for (unsigned k = 0; k < FILES_MAX; k++)
    if (files[k] == file) files[k] = NULL;
}

/* ---- making ---- */

/* Reserves addresses for the maximum size, and maps the head. Returns 0, or an error number. */
static int size_and_map(struct qzi_file *file, struct qz_profile *head, uint64_t max_bytes) {
  struct rlimit limit;
  /* Leaves room under the limit for the sampler's other memory, which may be as large: the session, and the interner's
   * tables. */
  if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur / 8 < max_bytes)
    max_bytes = limit.rlim_cur / 8;
  if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < max_bytes)
    max_bytes = limit.rlim_cur;
  else if (max_bytes < QZI_FILE_MIN_BYTES)
    max_bytes = QZI_FILE_MIN_BYTES;
  if (max_bytes < QZI_FILE_MIN_BYTES) return EFBIG;
  memset(head, 0, sizeof *head);
  file->bytes = lay_out(file, head, max_bytes);
  file->end = up(sizeof *head);
  if (allocate(file->fd, 0, file->end + PAGE)) return errno;
  file->base = mmap(NULL, file->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (file->base == MAP_FAILED) {
    file->base = NULL;
    return errno;
  }
  if (mmap(file->base, file->end, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->fd, 0) == MAP_FAILED)
    return errno;
  watch(file);
  return 0;
}

/* Writes the head of an empty profile, and allocates the first blocks of all sections, so that no snapshot has to wait
 * for them; all in one call, because the program waits for it. */
static int begin(struct qzi_file *file, struct qz_profile *head) {
  head->magic = QZ_PROFILE_MAGIC_OPEN;
  head->version = QZ_PROFILE_VERSION;
  head->head_bytes = (uint32_t)up(sizeof *head);
  head->status = QZ_PROFILE_RECORDING;
  head->sampler_pid = (uint32_t)getpid();
  head->processors = 1;
  head->publisher = QZ_PUBLISHER_THREADLIB;
  file->head = (struct qz_profile *)(void *)file->base;
  *file->head = *head;
  place_sections(file);
  uint64_t first = file->end + QZ_SECTION_COUNT * (uint64_t)CHUNK_MIN + PAGE;
  if (allocate(file->fd, 0, first)) return errno;
  file->blocks = first;
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++)
    if (qzi_file_room(file, s, 1)) return ENOSPC;
  qzi_file_append(file, QZ_SECTION_STRINGS, 1);
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  qzi_file_append(file, QZ_SECTION_STACKS, 1);
  return 0;
}

/* Creates an empty file with a temporary unique name in the directory of `path`; it is renamed when its contents are
 * complete. */
static int open_work(const char *path, char **work) {
  for (unsigned k = 0;; k++) {
    if (asprintf(work, k ? "%s.%ld.%u.new" : "%s.%ld.new", path, (long)getpid(), k) < 0) {
      *work = NULL;
      errno = ENOMEM;
      return -1;
    }
    int fd = open(*work, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || k == 100) return fd;
    free(*work);
  }
}

static int create(struct qzi_file *file, const struct qzi_replaceable *may, uint64_t max_bytes) {
  struct qz_profile head;
  char *work = NULL;
  file->fd = open_work(file->path, &work);
  int error = file->fd < 0 ? errno : 0;
  if (!error) {
    flock(file->fd, LOCK_EX | LOCK_NB); /* kept as long as this process lives; see abi/profile_read.c */
    file->may = *may;
    file->old_fd = open(file->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    error = size_and_map(file, &head, max_bytes);
    if (!error) error = begin(file, &head);
    if (!error && qzi_name_take(&file->path, work, may, -1)) error = errno;
    if (error) unlink(work);
  }
  free(work);
  return error;
}

int qzi_file_create(struct qzi_file *file, const char *path, const struct qzi_replaceable *may, uint64_t max_bytes,
                    char *why, size_t why_bytes) {
  memset(file, 0, sizeof *file);
  file->fd = file->old_fd = -1;
  struct stat old;
  if (!stat(path, &old) && !S_ISREG(old.st_mode)) {
    snprintf(why, why_bytes, "%s is not a plain file", path);
    errno = EINVAL;
    return -1;
  }
  signal(SIGXFSZ, SIG_IGN); /* makes exceeding the limit on file sizes an error instead of a fatal signal */
  file->path = strdup(path);
  int error = file->path ? create(file, may, max_bytes) : ENOMEM;
  if (!error) return 0;
  qzi_file_close(file);
  snprintf(why, why_bytes, "cannot write %s: %s", path, strerror(error));
  errno = error;
  return -1;
}

void qzi_file_touch(struct qzi_file *file) {
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) touch(file->base + file->at[s], file->mapped[s]);
  file->touched = 1;
}

void qzi_file_free_old(struct qzi_file *file) {
  if (file->old_fd >= 0) close(file->old_fd);
  file->old_fd = -1;
}

/* ---- ending ---- */

int qzi_file_finish(struct qzi_file *file, uint32_t status, uint32_t end_reason, int32_t exit_status) {
  file->head->end_reason = end_reason;
  file->head->exit_status = exit_status;
  struct qz_profile head = *file->head;
  head.status = status;
  const void *data[QZ_SECTION_COUNT];
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) data[s] = file->base + file->at[s];
  char *work = NULL;
  int fd = open_work(file->path, &work), failed = fd < 0;
  if (!failed) {
    failed = qz_profile_write(fd, &head, data) || qzi_name_take(&file->path, work, &file->may, file->fd);
    int error = errno;
    if (failed) unlink(work);
    close(fd);
    errno = error;
  }
  int error = errno;
  free(work);
  errno = error;
  if (failed && !file->lost) failed = qz_profile_seal(file->fd, &head, file->end);
  return failed ? -1 : 0;
}

void qzi_file_close(struct qzi_file *file) {
  if (file->base) {
    unwatch(file);
    munmap(file->base, file->bytes);
  }
  if (file->fd >= 0) close(file->fd);
  qzi_file_free_old(file);
  free(file->path);
  memset(file, 0, sizeof *file);
  file->fd = file->old_fd = -1;
}
