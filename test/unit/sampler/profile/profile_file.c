/* The profile's file: checksums, growth without holes, what remains of an unfinished recording, and one that is
 * finished in place. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "abi/checksum.h"
#include "abi/profile_read.h"
#include "sampler/profile/file.h"
#include "test/support/check.h"

#define NODES 300000u

static void known_answers(void) {
  unsigned char bytes[32];
  CHECK(qz_checksum(0, "123456789", 9) == 0xe3069283);
  memset(bytes, 0, sizeof bytes);
  CHECK(qz_checksum(0, bytes, sizeof bytes) == 0x8a9136aa); /* RFC 3720, B.4 */
  memset(bytes, 0xff, sizeof bytes);
  CHECK(qz_checksum(0, bytes, sizeof bytes) == 0x62a8ab43);
  for (unsigned k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)k;
  CHECK(qz_checksum(0, bytes, sizeof bytes) == 0x46dd794e);
  for (size_t cut = 0; cut <= sizeof bytes; cut++) {
    CHECK(qz_checksum(qz_checksum(0, bytes, cut), bytes + cut, sizeof bytes - cut) == 0x46dd794e);
    CHECK(qz_checksum(0, bytes, cut) == qz_checksum_portable(0, bytes, cut));
  }
}

static off_t size_of(const char *path) {
  struct stat status;
  CHECK(!stat(path, &status));
  return status.st_size;
}

/* A file in which two sections grow in turn, so that each has several extents. */
static void fill(struct qzi_file *file, const char *path) {
  char why[200];
  CHECK(!qzi_file_create(file, path, &(struct qzi_replaceable){.any = 1}, QZI_FILE_DEFAULT_BYTES, why, sizeof why));
  file->entities[0] = (struct qz_entity){0};
  CHECK(!qzi_file_room(file, QZ_SECTION_ENTITIES, 1));
  file->entities[1] = (struct qz_entity){.kind = QZ_ENTITY_PROCEDURE, .address = 1};
  qzi_file_append(file, QZ_SECTION_ENTITIES, 1);
  for (uint32_t k = 1; k < NODES; k++) {
    CHECK(!qzi_file_room(file, QZ_SECTION_STACKS, 1) && !qzi_file_room(file, QZ_SECTION_TUPLES, 1));
    file->stacks[k] = (struct qz_stack_node){.parent = k - 1, .entity = 1};
    qzi_file_append(file, QZ_SECTION_STACKS, 1);
    file->tuples[k - 1] = (struct qz_tuple){.stack = k, .state = QZ_STATE_READY, .ns = k};
    qzi_file_append(file, QZ_SECTION_TUPLES, 1);
  }
  CHECK(file->head->sections[QZ_SECTION_STACKS].extents_count > 3);
  CHECK(!qzi_file_room(file, QZ_SECTION_THREADS, 1)); /* a thread that no snapshot has visited yet */
  file->threads[0] = (struct qz_thread_stats){.entity = 1, .first_ns = UINT64_MAX};
  qzi_file_append(file, QZ_SECTION_THREADS, 1);
}

static void is_whole(const char *path, uint32_t status) {
  struct qz_profile_copy copy;
  char why[200] = "";
  CHECK(!qz_profile_load(&copy, path, why, sizeof why));
  CHECK(copy.head.status == status && copy.abandoned == (status == QZ_PROFILE_RECORDING));
  CHECK(copy.stacks_count == NODES && copy.tuples_count == NODES - 1);
  CHECK(copy.threads_count == 1 && copy.threads[0].first_ns == 0 && copy.threads[0].last_ns == 0);
  for (uint32_t k = 1; k < NODES; k++) CHECK(copy.stacks[k].parent == k - 1 && copy.tuples[k - 1].ns == k);
  qz_profile_unload(&copy);
  CHECK(qz_profile_damage(path, why, sizeof why) == 0);
}

/* The finished file in an older format: without the sections that were added since. */
static void make_older(const char *path, uint32_t version, unsigned sections) {
  struct qz_profile head;
  struct qz_profile_end end;
  int fd = open(path, O_RDWR);
  off_t at_end = size_of(path) - (off_t)sizeof end;
  CHECK(fd >= 0 && pread(fd, &head, sizeof head, 0) == sizeof head);
  CHECK(pread(fd, &end, sizeof end, at_end) == sizeof end);
  head.version = version;
  memset(&head.sections[sections], 0, (QZ_SECTION_COUNT - sections) * sizeof(struct qz_section));
  unsigned char *whole = calloc(1, head.head_bytes);
  CHECK(whole);
  memcpy(whole, &head, sizeof head);
  end.head_checksum = qz_checksum(0, whole, head.head_bytes);
  end.checksum = qz_checksum(0, &end, offsetof(struct qz_profile_end, checksum));
  CHECK(pwrite(fd, &head, sizeof head, 0) == sizeof head && pwrite(fd, &end, sizeof end, at_end) == sizeof end);
  free(whole);
  close(fd);
}

int main(void) {
  static struct qzi_file file;
  char folder[] = "/tmp/quartz-file-XXXXXX", path[100], link[100], why[200];
  const uint64_t used = (uint64_t)NODES * (sizeof(struct qz_stack_node) + sizeof(struct qz_tuple));
  known_answers();
  CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/out.quartz", folder);

  pid_t child = fork(); /* a sampler that is killed */
  CHECK(child >= 0);
  if (!child) {
    fill(&file, path);
    _exit(0);
  }
  CHECK(waitpid(child, NULL, 0) == child);
  is_whole(path, QZ_PROFILE_RECORDING);
  CHECK((uint64_t)size_of(path) < 2 * used + 40 * 16384);

  fill(&file, path);
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_COMPLETE, QZ_END_EXIT, 0));
  qzi_file_close(&file);
  is_whole(path, QZ_PROFILE_COMPLETE);
  CHECK((uint64_t)size_of(path) < used + 16384);
  static const struct {
    uint32_t version;
    unsigned sections;
  } formats[] = {{27, QZ_SECTION_COUNTED},
                 {25, QZ_SECTION_LINES},
                 {22, QZ_SECTION_UNWINDING},
                 {QZ_PROFILE_OLDEST, QZ_SECTION_WHAT_IF}};
  for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
    make_older(path, formats[k].version, formats[k].sections);
    is_whole(path, QZ_PROFILE_COMPLETE);
  }

  fill(&file, path); /* no room for another file: here, because there is no folder any more */
  snprintf(link, sizeof link, "/proc/self/fd/%d", file.fd);
  CHECK(!unlink(path) && !rmdir(folder));
  CHECK(!qzi_file_finish(&file, QZ_PROFILE_CUT, QZ_END_DISK_FULL, 0));
  is_whole(link, QZ_PROFILE_CUT);
  CHECK((uint64_t)size_of(link) < 2 * used + 40 * 16384);
  CHECK(pwrite(file.fd, "x", 1, size_of(link) / 2) == 1); /* also in parts without elements */
  CHECK(qz_profile_damage(link, why, sizeof why) == QZ_FAULT_DAMAGED && strstr(why, "its section of ") &&
        !strchr(why, '\n'));
  qzi_file_close(&file);
  return 0;
}
