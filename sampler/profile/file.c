/* Making, growing and compacting the profile file. See file.h. */
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

#define PAGE 4096u
#define CHUNK_MIN (16u * 1024)
#define CHUNK_MAX (4u * 1024 * 1024) /* a section grows by what it has, between these */
#define FILES_MAX 1024 /* files that may be open at once; for the handlers of signals */

/* Strides, and how the file's length is divided: parts of 256. The timeline has a fixed length. */
static const struct { uint64_t stride; unsigned parts; uint64_t most; } plan[QZ_SECTION_COUNT] = {
    [QZ_SECTION_STRINGS] = {1, 16, UINT64_C(1) << 27},
    [QZ_SECTION_ENTITIES] = {sizeof(struct qz_entity), 24, UINT64_C(1) << 21},
    [QZ_SECTION_STACKS] = {sizeof(struct qz_stack_node), 32, UINT64_C(1) << 24},
    [QZ_SECTION_TUPLES] = {sizeof(struct qz_tuple), 84, UINT64_C(1) << 23},
    [QZ_SECTION_BALANCE] = {sizeof(struct qz_balance), 8, UINT64_C(1) << 20},
    [QZ_SECTION_OBJECTS] = {sizeof(struct qz_object_stats), 30, UINT64_C(1) << 17},
    [QZ_SECTION_BLAME] = {sizeof(struct qz_blame), 12, UINT64_C(1) << 20},
    [QZ_SECTION_CALLS] = {sizeof(struct qz_call_edge), 20, UINT64_C(1) << 21},
    [QZ_SECTION_THREADS] = {sizeof(struct qz_thread_stats), 8, UINT64_C(1) << 18},
    [QZ_SECTION_MODULES] = {sizeof(struct qz_module), 4, UINT64_C(1) << 15},
    [QZ_SECTION_TIMELINE] = {sizeof(struct qz_timeline), 4, 2048},
    [QZ_SECTION_PROCESSORS] = {sizeof(struct qz_processor_stats), 2, 4096},
    [QZ_SECTION_MEANWHILE] = {sizeof(struct qz_meanwhile), 12, UINT64_C(1) << 20},
};

static uint64_t up(uint64_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

/* Lays the sections out one after the other, each on pages of its own. Returns the file's length. */
static uint64_t lay_out(struct qz_profile *head, uint64_t max_bytes) {
  uint64_t offset = up(sizeof *head);
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) {
    uint64_t capacity = (max_bytes - (QZ_SECTION_COUNT + 4) * PAGE) / 256 * plan[s].parts / plan[s].stride;
    if (capacity > plan[s].most) capacity = plan[s].most;
    head->sections[s] = (struct qz_section){.offset = offset, .capacity = capacity, .stride = plan[s].stride};
    offset += up(capacity * plan[s].stride);
  }
  return offset;
}

static void place_sections(struct qzi_file *file) {
  void *at[QZ_SECTION_COUNT];
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++) at[s] = file->base + file->head->sections[s].offset;
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
  file->meanwhile = at[QZ_SECTION_MEANWHILE];
}

/* Gives blocks to a range. A file system that can't promise blocks gets them written. */
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

int qzi_file_room_slow(struct qzi_file *file, unsigned section, uint64_t more) {
  struct qz_section *s = &file->head->sections[section];
  if (s->count + more > s->capacity) {
    file->exhausted = 1;
    return -1;
  }
  if (file->full) return -1;
  uint64_t have = up(file->ready[section] * s->stride), need = up((s->count + more) * s->stride);
  uint64_t chunk = have < CHUNK_MIN ? CHUNK_MIN : have > CHUNK_MAX ? CHUNK_MAX : have;
  uint64_t all = up(s->capacity * s->stride), end = need > have + chunk ? need : have + chunk;
  if (end > all) end = all;
  if (end > have && allocate(file->fd, s->offset + have, end - have)) {
    if (end <= need || allocate(file->fd, s->offset + have, need - have)) { /* the last blocks count too */
      file->full = 1;
      return -1;
    }
    end = need;
  }
  file->ready[section] = end / s->stride < s->capacity ? end / s->stride : s->capacity;
#ifdef MADV_POPULATE_WRITE
  madvise(file->base + s->offset + have, end - have, MADV_POPULATE_WRITE); /* faults now, not in a snapshot */
#endif
  return 0;
}

/* ---- the last line of defence: a block that is not there after all (copy-on-write file systems, a file that
 * somebody cut). The page becomes private memory, and recording ends as on a full disk. ---- */

static struct qzi_file *_Atomic files[FILES_MAX];

static void on_bus_error(int number, siginfo_t *info, void *context) {
  (void)context;
  unsigned char *at = info->si_addr;
  for (unsigned k = 0; k < FILES_MAX; k++) {
    struct qzi_file *file = files[k];
    if (!file || at < file->base || at >= file->base + file->bytes) continue;
    void *page = (void *)((uintptr_t)at / PAGE * PAGE);
    if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) break;
    file->full = 1;
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

/* Gives the file its length, as large as allowed, and maps it. 0, or an error number. */
static int size_and_map(struct qzi_file *file, struct qz_profile *head, uint64_t max_bytes) {
  if (max_bytes < QZI_FILE_MIN_BYTES) max_bytes = QZI_FILE_MIN_BYTES;
  for (;;) {
    memset(head, 0, sizeof *head);
    file->bytes = lay_out(head, max_bytes);
    if (!ftruncate(file->fd, (off_t)file->bytes)) break;
    if (errno != EFBIG || max_bytes / 2 < QZI_FILE_MIN_BYTES) return errno;
    max_bytes /= 2;
  }
  if (allocate(file->fd, 0, up(sizeof *head))) return errno;
  file->base = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
  if (file->base == MAP_FAILED) {
    file->base = NULL;
    return errno;
  }
  madvise(file->base, file->bytes, MADV_RANDOM); /* else each first fault in a section reads megabytes of hole ahead */
  watch(file);
  return 0;
}

/* The head of an empty profile, and the first blocks of all sections, so that no snapshot has to wait for them. */
static int begin(struct qzi_file *file, struct qz_profile *head) {
  head->magic = QZ_PROFILE_MAGIC;
  head->version = QZ_PROFILE_VERSION;
  head->head_bytes = sizeof *head;
  head->status = QZ_PROFILE_RECORDING;
  head->sampler_pid = (uint32_t)getpid();
  head->processors = 1;
  head->publisher = QZ_PUBLISHER_THREADLIB;
  file->head = (struct qz_profile *)(void *)file->base;
  *file->head = *head;
  place_sections(file);
  for (unsigned s = 0; s < QZ_SECTION_COUNT; s++)
    if (qzi_file_room(file, s, 1)) return ENOSPC;
  qzi_file_append(file, QZ_SECTION_STRINGS, 1);
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  qzi_file_append(file, QZ_SECTION_STACKS, 1);
  return 0;
}

/* The file is made under the name `work`, and renamed when it is one. */
static int create(struct qzi_file *file, const char *work, uint64_t max_bytes) {
  struct qz_profile head;
  file->fd = open(work, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file->fd < 0) return errno;
  flock(file->fd, LOCK_EX | LOCK_NB); /* held as long as we live: see abi/profile_read.c */
  file->old_fd = open(file->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  int error = size_and_map(file, &head, max_bytes);
  if (!error) error = begin(file, &head);
  if (!error && rename(work, file->path)) error = errno;
  if (error) unlink(work);
  return error;
}

int qzi_file_create(struct qzi_file *file, const char *path, uint64_t max_bytes, char *why, size_t why_bytes) {
  memset(file, 0, sizeof *file);
  file->fd = file->old_fd = -1;
  struct stat old;
  if (!stat(path, &old) && !S_ISREG(old.st_mode)) {
    snprintf(why, why_bytes, "%s is not a plain file", path);
    errno = EINVAL;
    return -1;
  }
  signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes shall be an error, not the end */
  char *work = NULL;
  file->path = strdup(path);
  int error = ENOMEM;
  if (file->path && asprintf(&work, "%s.%ld.new", path, (long)getpid()) >= 0) {
    error = create(file, work, max_bytes);
    free(work);
  }
  if (!error) return 0;
  qzi_file_close(file);
  snprintf(why, why_bytes, "can't write %s: %s", path, strerror(error));
  errno = error;
  return -1;
}

void qzi_file_free_old(struct qzi_file *file) {
  if (file->old_fd >= 0) close(file->old_fd);
  file->old_fd = -1;
}

/* ---- ending ---- */

static int write_all(int fd, const void *from, uint64_t bytes, uint64_t offset) {
  const unsigned char *at = from;
  while (bytes) {
    ssize_t done = pwrite(fd, at, bytes < (1u << 30) ? bytes : 1u << 30, (off_t)offset);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (!done) errno = ENOSPC;
      return -1;
    }
    at += done;
    offset += (uint64_t)done;
    bytes -= (uint64_t)done;
  }
  return 0;
}

int qzi_file_finish(struct qzi_file *file, uint32_t status, uint32_t end_reason, int32_t exit_status) {
  file->head->end_reason = end_reason;
  file->head->exit_status = exit_status;
  struct qz_profile head = *file->head;
  head.status = status;
  char *work = NULL;
  int error = 0, fd = -1;
  if (asprintf(&work, "%s.%ld.new", file->path, (long)getpid()) < 0) {
    work = NULL;
    error = ENOMEM;
  } else if ((fd = open(work, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
    error = errno;
  } else {
    uint64_t offset = (sizeof head + 63) & ~UINT64_C(63);
    for (unsigned s = 0; s < QZ_SECTION_COUNT && !error; s++) {
      uint64_t bytes = head.sections[s].count * head.sections[s].stride;
      if (write_all(fd, file->base + head.sections[s].offset, bytes, offset)) error = errno;
      head.sections[s].offset = offset;
      head.sections[s].capacity = head.sections[s].count;
      offset = (offset + bytes + 63) & ~UINT64_C(63);
    }
    if (!error && (ftruncate(fd, (off_t)offset) || write_all(fd, &head, sizeof head, 0) || rename(work, file->path)))
      error = errno;
    if (error) unlink(work);
    close(fd);
  }
  free(work);
  __atomic_store_n(&file->head->status, status, __ATOMIC_RELEASE); /* for those who have the long file open */
  errno = error;
  return error ? -1 : 0;
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
