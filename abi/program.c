/* Looking at programs. See program.h. */
#include "program.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "note.h"

#define PARTS_MAX 64
#define NOTES_MAX 2048 /* bytes; longer segments of notes are cut */
#define CHUNK     32   /* entries of the dynamic section read at a time */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

struct file {
  int fd;
  unsigned count;
  Elf64_Phdr parts[PARTS_MAX];
};

static int starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

/* The text at an offset of the file, cut to the room there is. */
static void text_at(int fd, uint64_t offset, char *text, size_t bytes) {
  ssize_t got = pread(fd, text, bytes - 1, (off_t)offset);
  text[got > 0 ? got : 0] = 0;
}

/* An entry of the dynamic section, by number; 0 after the last. */
struct dynamic {
  const struct file *file;
  const Elf64_Phdr *part;
  size_t from, count;
  Elf64_Dyn chunk[CHUNK];
};
static int entry(struct dynamic *all, size_t k, Elf64_Dyn *it) {
  if ((k + 1) * sizeof *it > all->part->p_filesz) return 0;
  if (!all->count || k < all->from || k >= all->from + all->count) {
    ssize_t got = pread(all->file->fd, all->chunk, sizeof all->chunk, (off_t)(all->part->p_offset + k * sizeof *it));
    all->from = k;
    all->count = got > 0 ? (size_t)got / sizeof *it : 0;
    if (!all->count) return 0;
  }
  *it = all->chunk[k - all->from];
  return it->d_tag != DT_NULL;
}

/* What the libraries say that the program asks for. */
static enum qz_program needed(const struct file *file, const Elf64_Phdr *part) {
  struct dynamic all = {.file = file, .part = part};
  Elf64_Dyn it;
  uint64_t strings = 0, offset = 0;
  for (size_t k = 0; entry(&all, k, &it); k++)
    if (it.d_tag == DT_STRTAB) strings = it.d_un.d_ptr;
  for (unsigned k = 0; k < file->count && !offset; k++) {
    const Elf64_Phdr *load = &file->parts[k];
    if (load->p_type == PT_LOAD && strings >= load->p_vaddr && strings - load->p_vaddr < load->p_filesz)
      offset = load->p_offset + (strings - load->p_vaddr);
  }
  for (size_t k = 0; offset && entry(&all, k, &it); k++) {
    char name[32];
    if (it.d_tag != DT_NEEDED) continue;
    text_at(file->fd, offset + it.d_un.d_val, name, sizeof name);
    if (starts(name, "libquartz.so")) return QZ_PROGRAM_PACKAGE;
    if (starts(name, "libasan.so") || starts(name, "libtsan.so") || starts(name, "libclang_rt."))
      return QZ_PROGRAM_SANITIZER;
  }
  return QZ_PROGRAM_PLAIN;
}

static enum qz_program examine(struct file *file, const char *begin) {
  Elf64_Ehdr head;
  memcpy(&head, begin, sizeof head);
  if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != MACHINE) return QZ_PROGRAM_FOREIGN;
  if (head.e_phentsize != sizeof *file->parts) return QZ_PROGRAM_UNKNOWN;
  file->count = head.e_phnum < PARTS_MAX ? head.e_phnum : PARTS_MAX;
  ssize_t bytes = (ssize_t)(file->count * sizeof *file->parts);
  if (pread(file->fd, file->parts, (size_t)bytes, (off_t)head.e_phoff) != bytes) return QZ_PROGRAM_UNKNOWN;
  const Elf64_Phdr *dynamic = NULL, *linker = NULL;
  for (unsigned k = 0; k < file->count; k++) {
    const Elf64_Phdr *part = &file->parts[k];
    char notes[NOTES_MAX];
    if (part->p_type == PT_INTERP) linker = part;
    if (part->p_type == PT_DYNAMIC) dynamic = part;
    if (part->p_type != PT_NOTE) continue;
    ssize_t got =
      pread(file->fd, notes, part->p_filesz < sizeof notes ? part->p_filesz : sizeof notes, (off_t)part->p_offset);
    if (got > 0 && qz_note_among(notes, (size_t)got)) return QZ_PROGRAM_PACKAGE;
  }
  if (!linker || !dynamic) return QZ_PROGRAM_STATIC;
  char path[PATH_MAX];
  text_at(file->fd, linker->p_offset, path, sizeof path);
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (starts(name, "ld-musl") || starts(name, "ld-uClibc") || starts(name, "linker")) return QZ_PROGRAM_OTHER_LIBC;
  return needed(file, dynamic);
}

/* As execvp does. */
static int find(char *path, size_t bytes, const char *name) {
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

static enum qz_program look(char *path, size_t bytes) {
  char begin[256], script[256];
  for (int depth = 0; depth < 4; depth++) {
    struct stat state;
    struct file file = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file.fd < 0) return QZ_PROGRAM_UNKNOWN;
    memset(begin, 0, sizeof begin);
    ssize_t got = pread(file.fd, begin, sizeof begin - 1, 0);
    if (got > 2 && begin[0] == '#' && begin[1] == '!') {
      close(file.fd);
      const char *at = begin + 2 + strspn(begin + 2, " \t");
      snprintf(script, sizeof script, "%.*s", (int)strcspn(at, " \t\n"), at);
      if (find(path, bytes, script)) return QZ_PROGRAM_UNKNOWN;
      continue;
    }
    if (got > 0 && memcmp(begin, ELFMAG, (size_t)got < SELFMAG ? (size_t)got : SELFMAG)) {
      close(file.fd);
      snprintf(path, bytes, "/bin/sh");
      continue;
    }
    int privileged = !fstat(file.fd, &state) && ((state.st_mode & S_ISUID && state.st_uid != geteuid()) ||
                                                 (state.st_mode & S_ISGID && state.st_gid != getegid()));
    privileged |= fgetxattr(file.fd, "security.capability", NULL, 0) > 0;
    enum qz_program kind = got < (ssize_t)sizeof(Elf64_Ehdr) ? QZ_PROGRAM_UNKNOWN : examine(&file, begin);
    close(file.fd);
    return privileged && kind == QZ_PROGRAM_PLAIN ? QZ_PROGRAM_PRIVILEGED : kind;
  }
  return QZ_PROGRAM_UNKNOWN;
}

enum qz_program qz_program_at(const char *path) {
  char file[PATH_MAX];
  if (snprintf(file, sizeof file, "%s", path) >= (int)sizeof file) return QZ_PROGRAM_UNKNOWN;
  return look(file, sizeof file);
}

enum qz_program qz_program_named(const char *name) {
  char file[PATH_MAX];
  return find(file, sizeof file, name) ? QZ_PROGRAM_UNKNOWN : look(file, sizeof file);
}
