/* The modules that were mapped, their binaries, and what is asked of these without names. See symbols.h. */
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "symbols.h"
#include "store.h"

qz_symbols *qz_symbols_new(void) {
  qz_symbols *symbols = calloc(1, sizeof *symbols);
  if (!symbols) return NULL;
  symbols->bucket_count = 1024;
  symbols->buckets = calloc(symbols->bucket_count, sizeof *symbols->buckets);
  if (symbols->buckets) return symbols;
  free(symbols);
  return NULL;
}

void qz_symbols_free(qz_symbols *symbols) {
  if (!symbols) return;
  for (size_t k = 0; k < symbols->binary_count; k++) {
    qzi_binary_close(symbols->binaries[k]);
    free(symbols->binaries[k]);
  }
  for (size_t k = 0; k < symbols->debug_dir_count; k++) free(symbols->debug_dirs[k]);
  free(symbols->debug_dirs);
  free(symbols->binaries);
  free(symbols->modules);
  free(symbols->buckets);
  qzi_arena_free(&symbols->arena);
  free(symbols);
}

int qz_symbols_add_debug_dir(qz_symbols *symbols, const char *directory) {
  char **grown = realloc(symbols->debug_dirs, (symbols->debug_dir_count + 1) * sizeof *grown);
  if (!grown) return ENOMEM;
  symbols->debug_dirs = grown;
  char *copy = strdup(directory);
  if (!copy) return ENOMEM;
  symbols->debug_dirs[symbols->debug_dir_count++] = copy;
  return 0;
}

/* A binary is mapped in several pieces, and perhaps several times: its tables are kept once. */
static struct qzi_binary *binary_of(qz_symbols *symbols, const char *path, const char *build_id) {
  for (size_t k = symbols->binary_count; k-- > 0;)
    if (strcmp(symbols->binaries[k]->path, path) == 0 && strcmp(symbols->binaries[k]->build_id, build_id) == 0)
      return symbols->binaries[k];
  if (!qzi_symbols_grow((void **)&symbols->binaries, &symbols->binary_capacity, symbols->binary_count,
                        sizeof *symbols->binaries))
    return NULL;
  struct qzi_binary *binary = calloc(1, sizeof *binary);
  if (!binary) return NULL;
  binary->path = strdup(path);
  binary->build_id = strdup(build_id);
  if (!binary->path || !binary->build_id) {
    free(binary->path);
    free(binary->build_id);
    free(binary);
    return NULL;
  }
  symbols->binaries[symbols->binary_count++] = binary;
  return binary;
}

int qz_symbols_add_module(qz_symbols *symbols, uint64_t start, uint64_t end, uint64_t bias, const char *path,
                          const char *build_id) {
  if (start >= end) return EINVAL;
  if (!qzi_symbols_grow((void **)&symbols->modules, &symbols->module_capacity, symbols->module_count,
                        sizeof *symbols->modules))
    return ENOMEM;
  struct qzi_binary *binary = binary_of(symbols, path, build_id);
  if (!binary) return ENOMEM;
  symbols->modules[symbols->module_count++] = (struct module){start, end, bias, binary};
  memset(symbols->buckets, 0, symbols->bucket_count * sizeof *symbols->buckets); /* answers may differ from now on */
  symbols->answer_count = 0;
  return 0;
}

void qz_symbols_within(qz_symbols *symbols, size_t module, uint64_t address) {
  symbols->within = 0;
  if (!module || module > symbols->module_count) return;
  if (qzi_module_of(symbols, address) != &symbols->modules[module - 1]) symbols->within = module;
}

const struct module *qzi_module_of(const qz_symbols *symbols, uint64_t address) {
  const struct module *within = symbols->within ? &symbols->modules[symbols->within - 1] : NULL;
  if (within && within->start <= address && address < within->end) return within;
  for (size_t k = symbols->module_count; k-- > 0;)
    if (symbols->modules[k].start <= address && address < symbols->modules[k].end) return &symbols->modules[k];
  return NULL;
}

bool qz_symbols_extent(qz_symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end) {
  const struct module *module = qzi_module_of(symbols, address);
  if (!module) return false;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  const struct qzi_symtab_entry *found = qzi_symtab_find(qzi_functions(module->binary), address - module->bias);
  if (!found) return false;
  *start = found->value + module->bias;
  *end = *start + found->size;
  return true;
}

size_t qz_symbols_code(qz_symbols *symbols, uint64_t address, unsigned char *bytes, size_t most, const char **why) {
  const struct module *module = qzi_module_of(symbols, address);
  *why = "no binary is known to hold this address";
  if (!module) return 0;
  qzi_binary_open(module->binary, symbols->debug_dirs, symbols->debug_dir_count);
  Elf *elf = module->binary->elf;
  *why = module->binary->no_names;
  if (!elf) return 0;
  *why = "its binary has no code there";
  uint64_t at = address - module->bias;
  size_t count = 0;
  if (elf_getphdrnum(elf, &count)) return 0;
  for (size_t k = 0; k < count && k < INT_MAX; k++) {
    GElf_Phdr part;
    if (!gelf_getphdr(elf, (int)k, &part) || part.p_type != PT_LOAD || at < part.p_vaddr ||
        at - part.p_vaddr >= part.p_filesz)
      continue;
    uint64_t offset = at - part.p_vaddr, left = part.p_filesz - offset;
    size_t wanted = left < most ? (size_t)left : most;
    if (offset > INT64_MAX - part.p_offset) return 0;
    Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)(part.p_offset + offset), wanted, ELF_T_BYTE);
    if (!data || !data->d_buf || data->d_size < wanted) return 0;
    memcpy(bytes, data->d_buf, wanted);
    return wanted;
  }
  return 0;
}
