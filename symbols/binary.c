/* The files of one binary: itself, and its separate debug file.
 *
 * Owns:    opening, checking the build id, finding the debug file by build id or by its name in the binary, closing.
 * Must not: look at a file whose build id is not the recorded one: its names would be wrong.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "symbols.h"
#include "internal.h"

static void build_id_of(Elf *elf, char text[QZ_SYMBOLS_BUILD_ID]) {
  static const char digits[] = "0123456789abcdef";
  const void *bytes;
  ssize_t count = elf ? dwelf_elf_gnu_build_id(elf, &bytes) : 0;
  if (count < 0 || count > QZ_SYMBOLS_BUILD_ID / 2) count = 0;
  for (ssize_t k = 0; k < count; k++) {
    text[2 * k] = digits[((const unsigned char *)bytes)[k] >> 4];
    text[2 * k + 1] = digits[((const unsigned char *)bytes)[k] & 15];
  }
  text[2 * count] = 0;
}

void qz_symbols_build_id(int fd, char text[QZ_SYMBOLS_BUILD_ID]) {
  elf_version(EV_CURRENT);
  Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
  build_id_of(elf, text);
  if (elf) elf_end(elf);
}

/* Only regular files: a path in a profile may name a pipe or a device, and opening those could block. */
static int open_regular(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
    close(fd);
    errno = EINVAL;
    return -1;
  }
  return fd;
}

static bool has_build_id(Elf *elf, const char *wanted) {
  char text[QZ_SYMBOLS_BUILD_ID];
  build_id_of(elf, text);
  return text[0] && strcmp(text, wanted) == 0;
}

static Elf *open_elf(const char *path, int *fd) {
  *fd = open_regular(path);
  if (*fd < 0) return NULL;
  Elf *elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
  if (elf && elf_kind(elf) == ELF_K_ELF) return elf;
  if (elf) elf_end(elf);
  close(*fd);
  *fd = -1;
  errno = ENOEXEC;
  return NULL;
}

static bool take_debug_file(struct qzi_binary *binary, const char *path, const char *build_id) {
  int fd;
  Elf *elf = open_elf(path, &fd);
  if (!elf) return false;
  if (has_build_id(elf, build_id)) {
    binary->debug_elf = elf;
    binary->debug_fd = fd;
    return true;
  }
  elf_end(elf);
  close(fd);
  return false;
}

static bool find_debug_file(struct qzi_binary *binary, const char *directory, const char *build_id) {
  char path[4096];
  if (strlen(build_id) < 4) return false;
  int written = snprintf(path, sizeof path, "%s/%.2s/%s.debug", directory, build_id, build_id + 2);
  return written > 0 && (size_t)written < sizeof path && take_debug_file(binary, path, build_id);
}

/* The file that `objcopy --add-gnu-debuglink` names, beside the binary or in `.debug` there. */
static bool find_linked_file(struct qzi_binary *binary, const char *build_id) {
  GElf_Word checksum;
  const char *name = binary->elf ? dwelf_elf_gnu_debuglink(binary->elf, &checksum) : NULL;
  if (!name || strchr(name, '/') || !build_id[0]) return false;
  int directory = (int)(strrchr(binary->path, '/') - binary->path);
  for (int k = 0; k < 2; k++) {
    char path[4096];
    int written = snprintf(path, sizeof path, "%.*s/%s%s", directory, binary->path, k ? ".debug/" : "", name);
    if (written > 0 && (size_t)written < sizeof path && take_debug_file(binary, path, build_id)) return true;
  }
  return false;
}

void qzi_binary_open(struct qzi_binary *binary, char *const *debug_dirs, size_t debug_dir_count) {
  if (binary->opened) return;
  binary->opened = true;
  binary->fd = binary->debug_fd = -1;
  binary->no_names = binary->no_lines = "";
  elf_version(EV_CURRENT);

  if (binary->path[0] != '/') { /* [vdso], [heap], //anon, generated code */
    binary->no_names = binary->no_lines =
      binary->path[0] == '[' ? "code that the kernel provides: no file" : "no file: generated code";
    return;
  }
  binary->elf = open_elf(binary->path, &binary->fd);
  if (!binary->elf)
    binary->no_names = errno == ENOENT || errno == ENOTDIR ? "binary no longer there"
                       : errno == EACCES || errno == EPERM ? "binary cannot be read: no permission"
                                                           : "not a readable ELF file";
  else if (binary->build_id[0] && !has_build_id(binary->elf, binary->build_id)) {
    binary->no_names = "binary changed since the recording";
    elf_end(binary->elf);
    close(binary->fd);
    binary->elf = NULL;
    binary->fd = -1;
  }

  char own_id[QZ_SYMBOLS_BUILD_ID];
  build_id_of(binary->elf, own_id);
  const char *build_id = binary->build_id[0] ? binary->build_id : own_id;
  for (size_t k = 0; k < debug_dir_count && !binary->debug_elf; k++) find_debug_file(binary, debug_dirs[k], build_id);
  if (!binary->debug_elf && !find_debug_file(binary, "/usr/lib/debug/.build-id", build_id))
    find_linked_file(binary, build_id);

  if (binary->elf || binary->debug_elf)
    binary->no_names = "";
  else
    binary->no_lines = binary->no_names;
}

void qzi_binary_open_dwarf(struct qzi_binary *binary) {
  if (binary->dwarf_opened) return;
  binary->dwarf_opened = true;
  if (!binary->elf && !binary->debug_elf) return;
  if (binary->elf) binary->dwarf = dwarf_begin_elf(binary->elf, DWARF_C_READ, NULL);
  Dwarf_Off next;
  size_t header;
  if (binary->dwarf && dwarf_nextcu(binary->dwarf, 0, &next, &header, NULL, NULL, NULL) != 0) {
    dwarf_end(binary->dwarf); /* no unit: no debug information, or none that can be read */
    binary->dwarf = NULL;
  }
  if (!binary->dwarf && binary->debug_elf) binary->dwarf = dwarf_begin_elf(binary->debug_elf, DWARF_C_READ, NULL);
  if (!binary->dwarf) binary->no_lines = "no debug information; compile with -g";
}

void qzi_binary_close(struct qzi_binary *binary) {
  for (size_t k = 0; k < binary->unit_count; k++) {
    for (size_t j = 0; j < binary->units[k].function_count; j++) qzi_scopes_free(binary->units[k].functions[j].scopes);
    free(binary->units[k].ranges.items);
    free(binary->units[k].functions);
  }
  free(binary->units);
  free(binary->unit_ranges.items);
  free(binary->variables);
  free(binary->functions.entries);
  free(binary->functions.parts);
  free(binary->objects.entries);
  if (binary->dwarf) dwarf_end(binary->dwarf);
  if (binary->elf) elf_end(binary->elf);
  if (binary->debug_elf) elf_end(binary->debug_elf);
  if (binary->opened && binary->fd >= 0) close(binary->fd);
  if (binary->opened && binary->debug_fd >= 0) close(binary->debug_fd);
  free(binary->path);
  free(binary->build_id);
}
