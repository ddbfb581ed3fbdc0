/* The pthread layer and the program's file. See layer.h. */
#include "layer.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "abi/note.h"

#define PARTS_MAX   64
#define SEGMENT_MAX (1u << 20) /* dynamic section, notes, strings: longer ones are cut */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

/* As execvp does. */
static int find_program(char *path, size_t bytes, const char *name) {
  if (strchr(name, '/')) return snprintf(path, bytes, "%s", name) < (int)bytes ? 0 : -1;
  const char *directories = getenv("PATH");
  if (!directories) directories = "/bin:/usr/bin";
  for (const char *at = directories;; at++) {
    size_t length = strcspn(at, ":");
    int used = snprintf(path, bytes, "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
    struct stat state;
    if (used < (int)bytes && !access(path, X_OK) && !stat(path, &state) && S_ISREG(state.st_mode)) return 0;
    at += length;
    if (!*at) return -1;
  }
}

static char *part_of(int fd, uint64_t offset, uint64_t *bytes) {
  if (*bytes > SEGMENT_MAX) *bytes = SEGMENT_MAX;
  char *text = calloc(1, *bytes + 1);
  ssize_t got = text ? pread(fd, text, *bytes, (off_t)offset) : -1;
  if (got < 0) {
    free(text);
    return NULL;
  }
  *bytes = (uint64_t)got;
  return text;
}

/* What the libraries say that the program asks for. */
static enum qzi_layer needed(int fd, const Elf64_Phdr *parts, unsigned count, const Elf64_Phdr *dynamic) {
  enum qzi_layer kind = QZI_LAYER_WANTED;
  uint64_t bytes = dynamic->p_filesz, strings_at = 0, strings_bytes = 0;
  char *text = part_of(fd, dynamic->p_offset, &bytes), *strings = NULL;
  if (!text) return QZI_LAYER_FOREIGN;
  size_t entries = bytes / sizeof(Elf64_Dyn);
  const Elf64_Dyn *all = (const Elf64_Dyn *)(const void *)text;
  for (size_t k = 0; k < entries; k++) {
    if (all[k].d_tag == DT_STRTAB) strings_at = all[k].d_un.d_ptr;
    if (all[k].d_tag == DT_STRSZ) strings_bytes = all[k].d_un.d_val;
  }
  for (unsigned k = 0; k < count; k++)
    if (parts[k].p_type == PT_LOAD && strings_at >= parts[k].p_vaddr && strings_at - parts[k].p_vaddr < parts[k].p_filesz) {
      strings = part_of(fd, parts[k].p_offset + (strings_at - parts[k].p_vaddr), &strings_bytes);
      break;
    }
  for (size_t k = 0; strings && k < entries; k++) {
    if (all[k].d_tag != DT_NEEDED || all[k].d_un.d_val >= strings_bytes) continue;
    const char *name = strings + all[k].d_un.d_val;
    if (!strncmp(name, "libquartz.so", 12)) kind = QZI_LAYER_PACKAGE;
    if (!strncmp(name, "libasan.so", 10) || !strncmp(name, "libtsan.so", 10) || !strncmp(name, "libubsan_standalone", 19))
      kind = QZI_LAYER_SANITIZER;
  }
  free(strings);
  free(text);
  return kind;
}

static enum qzi_layer examine(int fd, const char *head_bytes) {
  Elf64_Ehdr head;
  Elf64_Phdr parts[PARTS_MAX];
  memcpy(&head, head_bytes, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != MACHINE ||
      head.e_phentsize != sizeof *parts)
    return QZI_LAYER_FOREIGN;
  unsigned count = head.e_phnum < PARTS_MAX ? head.e_phnum : PARTS_MAX;
  if (pread(fd, parts, count * sizeof *parts, (off_t)head.e_phoff) != (ssize_t)(count * sizeof *parts)) return QZI_LAYER_FOREIGN;
  const Elf64_Phdr *dynamic = NULL;
  int interpreted = 0, package = 0;
  for (unsigned k = 0; k < count; k++) {
    if (parts[k].p_type == PT_INTERP) interpreted = 1;
    if (parts[k].p_type == PT_DYNAMIC) dynamic = &parts[k];
    if (parts[k].p_type != PT_NOTE) continue;
    uint64_t bytes = parts[k].p_filesz;
    char *notes = part_of(fd, parts[k].p_offset, &bytes);
    package |= notes && qz_note_among(notes, bytes);
    free(notes);
  }
  if (package) return QZI_LAYER_PACKAGE;
  if (!interpreted || !dynamic) return QZI_LAYER_STATIC;
  return needed(fd, parts, count, dynamic);
}

enum qzi_layer qzi_layer_for(const char *name) {
  char path[PATH_MAX], begin[256], script[256];
  if (find_program(path, sizeof path, name)) return QZI_LAYER_FOREIGN;
  for (int depth = 0; depth < 4; depth++) {
    struct stat state;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return QZI_LAYER_FOREIGN;
    memset(begin, 0, sizeof begin);
    ssize_t got = pread(fd, begin, sizeof begin - 1, 0);
    if (got > 2 && begin[0] == '#' && begin[1] == '!') {
      close(fd);
      const char *at = begin + 2 + strspn(begin + 2, " \t");
      snprintf(script, sizeof script, "%.*s", (int)strcspn(at, " \t\n"), at);
      if (find_program(path, sizeof path, script)) return QZI_LAYER_FOREIGN;
      continue;
    }
    int privileged = !fstat(fd, &state) && ((state.st_mode & S_ISUID && state.st_uid != geteuid()) ||
                                            (state.st_mode & S_ISGID && state.st_gid != getegid()));
    privileged |= fgetxattr(fd, "security.capability", NULL, 0) > 0;
    enum qzi_layer kind = got < (ssize_t)sizeof(Elf64_Ehdr) ? QZI_LAYER_FOREIGN : examine(fd, begin);
    close(fd);
    return privileged && kind == QZI_LAYER_WANTED ? QZI_LAYER_PRIVILEGED : kind;
  }
  return QZI_LAYER_FOREIGN;
}

const char *qzi_layer_reason(enum qzi_layer kind) {
  switch (kind) {
  case QZI_LAYER_STATIC: return "it is statically linked; link it dynamically";
  case QZI_LAYER_PRIVILEGED: return "it runs with another user's rights; run it as that user";
  case QZI_LAYER_SANITIZER: return "it has a sanitizer's library; build it without";
  case QZI_LAYER_FOREIGN: return "it is no program for this machine that can be read";
  default: return NULL;
  }
}

int qzi_layer_path(char *path, size_t bytes) {
  static const char *const places[] = {"../pthread-layer/libquartz-pthread.so", "../lib/libquartz-pthread.so", NULL};
  const char *setting = getenv("QUARTZ_LAYER");
  if (setting && *setting) return snprintf(path, bytes, "%s", setting) < (int)bytes && !access(path, R_OK) ? 0 : -1;
  char self[PATH_MAX], resolved[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  if (length <= 0) return -1;
  self[length] = 0;
  char *slash = strrchr(self, '/');
  if (!slash) return -1;
  *slash = 0;
  for (int k = 0; k < 3; k++) {
    char place[2 * PATH_MAX];
    if (places[k]) snprintf(place, sizeof place, "%s/%s", self, places[k]);
    else snprintf(place, sizeof place, "%s/../%s/libquartz-pthread.so", self, QUARTZ_LIBRARIES);
    if (realpath(place, resolved) && !access(resolved, R_OK) && snprintf(path, bytes, "%s", resolved) < (int)bytes) return 0;
  }
  return -1;
}

int qzi_layer_preload(const char *path) {
  const char *before = getenv("LD_PRELOAD");
  if (!before || !*before) return setenv("LD_PRELOAD", path, 1);
  size_t bytes = strlen(path) + strlen(before) + 2;
  char *both = malloc(bytes);
  if (!both) return -1;
  snprintf(both, bytes, "%s:%s", path, before);
  int failed = setenv("LD_PRELOAD", both, 1);
  free(both);
  return failed;
}
