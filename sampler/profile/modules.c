/* Reads the program's map, and build ids. See modules.h. */
#include "modules.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "sampler/util/array.h"
#include "symbols/symbols.h"

#define HEADERS_MAX 64 /* maximum number of program headers read; ordinary binaries have fewer */

static uint64_t page_down(uint64_t address) { return address & ~UINT64_C(4095); }

#define DELETED " (deleted)" /* appended by the kernel to the name of a file that was deleted */

/* Length of the path without that. */
static size_t path_length(const char *path) {
  size_t length = strlen(path), suffix = strlen(DELETED);
  return length > suffix && !strcmp(path + length - suffix, DELETED) ? length - suffix : length;
}

/* The kernel writes a newline in a name as \012. */
static void unescape(char *path) {
  for (char *at = path; (at = strstr(at, "\\012")); at++) {
    *at = '\n';
    memmove(at + 1, at + 4, strlen(at + 4) + 1);
  }
}

/* Whether that offset of the file is in the part, whose first page the loader maps as a whole. */
static int holds(const Elf64_Phdr *part, uint64_t offset) {
  return part->p_type == PT_LOAD && page_down(part->p_offset) <= offset && offset < part->p_offset + part->p_filesz;
}

/* Finds bias, end and build id of an ELF file whose offset `offset` is mapped at `start`. */
static void examine(struct qzi_module *module, int fd, uint64_t start, uint64_t offset) {
  Elf64_Ehdr head;
  Elf64_Phdr parts[HEADERS_MAX];
  if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
      head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof *parts)
    return;
  unsigned count = head.e_phnum < HEADERS_MAX ? head.e_phnum : HEADERS_MAX;
  if (pread(fd, parts, count * sizeof *parts, (off_t)head.e_phoff) != (ssize_t)(count * sizeof *parts)) return;
  int known = 0;
  for (unsigned k = 0; k < count && !known; k++)
    if (holds(&parts[k], offset)) {
      module->bias = start - (offset - page_down(parts[k].p_offset)) - page_down(parts[k].p_vaddr);
      known = 1;
    }
  for (unsigned k = 0; k < count; k++) {
    uint64_t end = module->bias + parts[k].p_vaddr + parts[k].p_memsz;
    if (known && parts[k].p_type == PT_LOAD && end > module->end && end - module->end < (UINT64_C(1) << 40))
      module->end = end;
  }
#ifdef QUARTZ_SYMBOLS
  qz_symbols_build_id(fd, module->build_id);
#endif
}

/* Opens a binary as the program sees it, which may have another root directory. */
static int open_binary(pid_t pid, const char *path, int is_program) {
  char name[4200];
  if (is_program) {
    snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) return fd;
  }
  snprintf(name, sizeof name, "/proc/%ld/root%s", (long)pid, path);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

static struct qzi_module *append(struct qzi_modules *modules, const char *path) {
  if (qzi_grow((void **)&modules->all, &modules->room, modules->count + 1, sizeof *modules->all)) return NULL;
  struct qzi_module *module = &modules->all[modules->count];
  memset(module, 0, sizeof *module);
  module->path = strdup(path);
  if (!module->path) return NULL;
  modules->count++;
  return module;
}

/* Generated code grows piece by piece while the program runs, often without gaps. */
static void append_generated(struct qzi_modules *modules, uint64_t start, uint64_t end) {
  uint32_t count = modules->generated_count;
  if (count && modules->generated[count - 1].end == start) {
    modules->generated[count - 1].end = end;
    return;
  }
  if (qzi_grow((void **)&modules->generated, &modules->generated_room, count + 1, sizeof *modules->generated)) return;
  modules->generated[modules->generated_count++] = (struct qzi_range){start, end};
}

/* A line of the map. */
struct mapping {
  uint64_t start, end, offset;
  unsigned major, minor;
  unsigned long inode; /* 0: in no file */
  const char *path;
  int code;
};

/* Whether the line may be of code or of a file. Of the map of thousands of threads most lines are of stacks and gaps
 * between them; examining them takes a quarter of what reading their numbers takes. */
static int is_of_interest(const char *line) {
  const char *rights = strchr(line, ' ');
  return rights && (strchr(line, '/') || (strlen(rights) > 3 && rights[3] == 'x'));
}

static int read_mapping(const char *line, struct mapping *its) {
  char rights[8] = "";
  int at = 0;
  if (sscanf(line, "%lx-%lx %7s %lx %x:%x %lu %n", &its->start, &its->end, rights, &its->offset, &its->major,
             &its->minor, &its->inode, &at) < 7)
    return -1;
  its->path = line + at;
  its->code = rights[2] == 'x';
  if (at == 0 || line[at] != '/') its->inode = 0;
  return 0;
}

/* Mappings of one file, which are one module if one of them contains code. */
struct run {
  pid_t pid;
  const char *program; /* path of its executable */
  struct mapping its;  /* from the first to the last one; inode 0: none */
  uint64_t first;      /* offset of the first one */
  char path[4100];
};

static void describe(const struct run *run, struct qzi_module *module) {
  module->start = module->bias = run->its.start;
  module->end = run->its.end;
  int fd = open_binary(run->pid, run->path, !strcmp(run->path, run->program));
  if (fd < 0) return;
  examine(module, fd, run->its.start, run->first);
  close(fd);
}

/* Whether the mapping is the next part of the file. Anonymous memory between two parts does not end a module: binaries
 * that were rearranged after linking (by BOLT) have code behind their data. But a file may also be mapped elsewhere, to
 * be read. */
static int joins(const struct run *run, const struct mapping *next) {
  if (!run->its.inode || next->inode != run->its.inode || next->major != run->its.major ||
      next->minor != run->its.minor || next->offset <= run->its.offset)
    return 0;
  if (next->start == run->its.end) return 1;
  struct qzi_module module = {0};
  describe(run, &module);
  return next->start < module.end;
}

static void end_run(struct run *run, struct qzi_modules *modules) {
  struct qzi_module *module = run->its.inode && run->its.code ? append(modules, run->path) : NULL;
  if (module) describe(run, module);
  run->its.inode = 0;
}

struct qzi_modules *qzi_modules_read(pid_t pid) {
  char name[64], program[4100] = "", *line = NULL;
  snprintf(name, sizeof name, "/proc/%ld/exe", (long)pid);
  ssize_t length = readlink(name, program, sizeof program - 1);
  if (length > 0) program[length] = 0;
  snprintf(name, sizeof name, "/proc/%ld/maps", (long)pid);
  FILE *maps = fopen(name, "re");
  if (!maps) return NULL;
  struct qzi_modules *modules = calloc(1, sizeof *modules);
  size_t room = 0;
  struct run run = {.pid = pid, .program = program};
  for (ssize_t got; modules && (got = getline(&line, &room, maps)) > 0;) {
    struct mapping next;
    if (line[got - 1] == '\n') line[got - 1] = 0;
    if (!is_of_interest(line) || read_mapping(line, &next)) continue;
    if (!next.inode) {
      if (next.code && *next.path != '[') append_generated(modules, next.start, next.end);
    } else if (joins(&run, &next)) {
      run.its.end = next.end;
      run.its.offset = next.offset;
      run.its.code |= next.code;
    } else {
      end_run(&run, modules);
      run.its = next;
      run.first = next.offset;
      snprintf(run.path, sizeof run.path, "%s", next.path);
      unescape(run.path);
    }
  }
  if (modules) end_run(&run, modules);
  free(line);
  fclose(maps);
  if (modules && modules->count == 0) {
    qzi_modules_free(modules);
    modules = NULL;
  }
  return modules;
}

void qzi_modules_free(struct qzi_modules *modules) {
  if (!modules) return;
  for (size_t k = 0; k < modules->count; k++) free(modules->all[k].path);
  free(modules->all);
  free(modules->generated);
  free(modules);
}

/* Whether the module is in the profile already. A binary that was deleted or replaced since (a program may be rebuilt
 * while it runs) is still the same module; and so is one of which the map showed only a part, while it was loaded. */
static int is_known(const struct qzi_file *file, const struct qz_module *old, const struct qzi_module *module) {
  const char *path = file->strings + old->path;
  if (old->start != module->start) return 0;
  if (!strcmp(path, module->path) && !strcmp(file->strings + old->build_id, module->build_id)) return 1;
  size_t length = path_length(module->path);
  return module->path[length] && strlen(path) == length && !memcmp(path, module->path, length);
}

/* Finds which of the first `before` modules of the profile have gone. Without memory for the list, none is marked. */
static void mark_gone(struct qzi_interner *in, const struct qzi_modules *modules, uint64_t before) {
  uint8_t *gone = realloc(in->gone, before + 1);
  if (!gone) return;
  in->gone = gone;
  in->gone_count = (uint32_t)before;
  for (uint64_t m = 0; m < before; m++) {
    gone[m] = 1;
    for (size_t k = 0; k < modules->count && gone[m]; k++)
      gone[m] = !is_known(in->file, &in->file->modules[m], &modules->all[k]);
  }
}

void qzi_modules_store(struct qzi_interner *in, struct qzi_modules *modules) {
  struct qzi_file *file = in->file;
  in->map_readings++;
  free(in->generated);
  in->generated = modules->generated;
  in->generated_count = modules->generated_count;
  modules->generated = NULL;
  modules->generated_count = modules->generated_room = 0;
  uint64_t before = qzi_file_count(file, QZ_SECTION_MODULES);
  mark_gone(in, modules, before);
  for (size_t k = 0; k < modules->count; k++) {
    const struct qzi_module *module = &modules->all[k];
    uint32_t there = qzi_intern_module(in, module->start); /* index + 1 */
    int known = there && there <= before && is_known(file, &file->modules[there - 1], module);
    if (known && file->modules[there - 1].end < module->end) file->modules[there - 1].end = module->end;
    if (known || qzi_file_room(file, QZ_SECTION_MODULES, 1)) continue;
    uint32_t path = qzi_intern_string(in, module->path), build_id = qzi_intern_string(in, module->build_id);
    uint64_t at = qzi_file_count(file, QZ_SECTION_MODULES);
    file->modules[at] = (struct qz_module){
      .start = module->start, .end = module->end, .bias = module->bias, .path = path, .build_id = build_id};
    qzi_file_append(file, QZ_SECTION_MODULES, 1);
  }
  if (qzi_file_count(file, QZ_SECTION_MODULES) == before && before) return;
  uint64_t entities = qzi_file_count(file, QZ_SECTION_ENTITIES);
  for (uint64_t k = 1; k < entities; k++) {
    struct qz_entity *entity = &file->entities[k];
    if (!entity->module && entity->address) entity->module = qzi_intern_module(in, entity->address);
  }
}

int qzi_modules_of_system(const struct qzi_file *file, uint32_t module) {
  return module && qz_is_installed(file->strings + file->modules[module - 1].path);
}
