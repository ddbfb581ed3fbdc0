/* The map of this process: which binaries are known, with their addresses, and which memory is in no file. */
#include "test/support/self_profile.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

static int initialized = 7, zeroed[4096];

static const struct qzi_module *module_at(const struct qzi_modules *modules, const void *address) {
  uint64_t at = (uint64_t)(uintptr_t)address;
  for (uint32_t k = 0; k < modules->count; k++)
    if (at >= modules->all[k].start && at < modules->all[k].end) return &modules->all[k];
  return NULL;
}

#define PAGE 4096u

static void map(char *at, size_t pages, int rights, int fd, unsigned page) {
  int flags = MAP_PRIVATE | MAP_FIXED | (fd < 0 ? MAP_ANONYMOUS : 0);
  CHECK(mmap(at, pages * PAGE, rights, flags, fd, (off_t)page * PAGE) == at);
}

static uint64_t modules_called(const struct self_profile *self, const char *path) {
  uint64_t count = 0;
  for (uint64_t k = 0; k < qzi_file_count(&self->file, QZ_SECTION_MODULES); k++)
    count += !strcmp(self->file.strings + self->file.modules[k].path, path);
  return count;
}

/* A binary whose code is behind its data, as BOLT writes it, and behind memory that is in no file. */
static void rearranged(struct self_profile *self) {
  static const Elf64_Phdr parts[] = {
    {.p_type = PT_LOAD, .p_filesz = PAGE, .p_memsz = PAGE, .p_flags = PF_R},
    {.p_type = PT_LOAD, .p_offset = PAGE, .p_vaddr = 2 * PAGE, .p_filesz = PAGE, .p_memsz = 3 * PAGE},
    {.p_type = PT_LOAD, .p_offset = 2 * PAGE, .p_vaddr = 8 * PAGE, .p_filesz = 2 * PAGE, .p_memsz = 2 * PAGE},
  };
  Elf64_Ehdr head = {.e_phoff = sizeof head, .e_phentsize = sizeof *parts, .e_phnum = 3};
  memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  char path[] = "/tmp/quartz-modules-XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0 && pwrite(fd, &head, sizeof head, 0) == sizeof head);
  CHECK(pwrite(fd, parts, sizeof parts, sizeof head) == sizeof parts && !ftruncate(fd, 4 * PAGE));
  char *memory = mmap(NULL, 40 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  char *at = memory + 4 * PAGE;

  /* While it is loaded, only a part is there. */
  map(at, 1, PROT_READ | PROT_EXEC, fd, 0);
  self_profile_store_modules(self);
  CHECK(modules_called(self, path) == 1);
  map(at, 1, PROT_READ, fd, 0);
  map(at + 2 * PAGE, 1, PROT_READ | PROT_WRITE, fd, 1);
  map(at + 3 * PAGE, 2, PROT_READ | PROT_WRITE, -1, 0);
  map(at + 8 * PAGE, 2, PROT_READ | PROT_EXEC, fd, 2);
  map(at + 20 * PAGE, 1, PROT_READ, fd, 3); /* the program reads the file */
  struct qzi_modules *modules = qzi_modules_read(getpid());
  CHECK(modules);
  const struct qzi_module *its = module_at(modules, at);
  uint64_t base = (uint64_t)(uintptr_t)at;
  CHECK(its && !strcmp(its->path, path) && its->start == base && its->bias == base && its->end == base + 10 * PAGE);
  for (unsigned page = 2; page < 10; page++) CHECK(module_at(modules, at + page * PAGE) == its);
  CHECK(!module_at(modules, at + 20 * PAGE));
  qzi_modules_free(modules);
  self_profile_store_modules(self);
  CHECK(modules_called(self, path) == 1 && qzi_intern_module(&self->interner, base + 9 * PAGE));

  /* Only its code is mapped. */
  map(at, 8, PROT_NONE, -1, 0);
  modules = qzi_modules_read(getpid());
  CHECK(modules && (its = module_at(modules, at + 8 * PAGE)) && its->bias == base);
  qzi_modules_free(modules);
  munmap(memory, 40 * PAGE);
  close(fd);
  unlink(path);
}

int main(void) {
  struct qzi_modules *modules = qzi_modules_read(getpid());
  CHECK(modules);
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  CHECK(length > 0);
  path[length] = 0;

  /* The program: code, data and data that is in no file are one module, under the path of its executable. */
  static const void *const inside[] = {(const void *)main, &initialized, &zeroed[4095]};
  const struct qzi_module *program = module_at(modules, inside[0]);
  CHECK(program && !strcmp(program->path, path));
  for (size_t k = 0; k < sizeof inside / sizeof *inside; k++) CHECK(module_at(modules, inside[k]) == program);

  /* A library is another one; the stack, the heap and numbers that are no addresses are in none. */
  const struct qzi_module *library = module_at(modules, (const void *)(uintptr_t)dlsym(RTLD_DEFAULT, "qsort"));
  CHECK(library && library != program && library->bias > 0 && library->start < library->end);
  void *heap = malloc(1 << 20);
  const void *const outside[] = {&length, heap, NULL, (void *)1, (void *)UINTPTR_MAX};
  for (size_t k = 0; k < sizeof outside / sizeof *outside; k++) CHECK(!module_at(modules, outside[k]));
  free(heap);

  /* Modules do not overlap. */
  for (uint32_t k = 0; k < modules->count; k++)
    for (uint32_t n = 0; n < k; n++)
      CHECK(modules->all[k].end <= modules->all[n].start || modules->all[n].end <= modules->all[k].start);
  qzi_modules_free(modules);

  /* Executable memory of no file is generated code, once it is there. */
  struct self_profile self;
  self_profile_open(&self);
  void *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(code != MAP_FAILED);
  uint64_t generated = (uint64_t)(uintptr_t)code;
  CHECK(!qzi_intern_is_generated(&self.interner, generated));
  uint64_t before = qzi_file_count(&self.file, QZ_SECTION_MODULES);
  self_profile_store_modules(&self);
  CHECK(qzi_intern_is_generated(&self.interner, generated) &&
        qzi_intern_is_generated(&self.interner, generated + 8191));
  CHECK(!qzi_intern_is_generated(&self.interner, (uint64_t)(uintptr_t)main));

  /* Known modules are not put into the profile again, and addresses are found in them. */
  CHECK(before > 1 && qzi_file_count(&self.file, QZ_SECTION_MODULES) == before);
  uint32_t its = qzi_intern_module(&self.interner, (uint64_t)(uintptr_t)main);
  CHECK(its > 0 && !strcmp(self.file.strings + self.file.modules[its - 1].path, path));
  CHECK(!qzi_modules_of_system(&self.file, its) && !qzi_modules_of_system(&self.file, 0));
  CHECK(qzi_intern_module(&self.interner, generated) == 0);
  rearranged(&self);
  self_profile_close(&self);

  CHECK(!qzi_modules_read(0x7ffffffe)); /* no such process */
  return 0;
}
