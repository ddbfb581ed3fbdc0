/* The map of this process: which binaries are known, with their addresses, and which memory is in no file. */
#include "test/support/self_profile.h"

#include <dlfcn.h>
#include <sys/mman.h>

static int initialized = 7, zeroed[4096];

static const struct qzi_module *module_at(const struct qzi_modules *modules, const void *address) {
  uint64_t at = (uint64_t)(uintptr_t)address;
  for (uint32_t k = 0; k < modules->count; k++)
    if (at >= modules->all[k].start && at < modules->all[k].end) return &modules->all[k];
  return NULL;
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
  self_profile_close(&self);

  CHECK(!qzi_modules_read(0x7ffffffe)); /* no such process */
  return 0;
}
