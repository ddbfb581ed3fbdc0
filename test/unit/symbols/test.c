/* Addresses of one library, built and stripped as users' binaries are, converted to names and lines. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <symbols/symbols.h>

static int failures;
static const char *directory, *source;

static void check(int good, const char *where, const char *what) {
  if (good) return;
  printf("%s: %s\n", where, what);
  failures++;
}
static void same(const char *where, const char *what, const char *got, const char *wanted) {
  if (strcmp(got, wanted) == 0) return;
  printf("%s: %s is \"%s\", wanted \"%s\"\n", where, what, got, wanted);
  failures++;
}

struct library {
  char path[4096], build_id[128];
  void *handle;
  uint64_t base, end;
  void *(*address)(int);
  void *(*call_site)(void);
  void *(*inlined_site)(void);
};

static int extent(struct dl_phdr_info *info, size_t size, void *data) {
  struct library *library = data;
  if (info->dlpi_addr != library->base) return 0;
  for (int k = 0; k < info->dlpi_phnum; k++) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[k];
    if (header->p_type == PT_LOAD && info->dlpi_addr + header->p_vaddr + header->p_memsz > library->end)
      library->end = info->dlpi_addr + header->p_vaddr + header->p_memsz;
    if (header->p_type != PT_NOTE) continue;
    const char *at = (const char *)(info->dlpi_addr + header->p_vaddr), *stop = at + header->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) < stop) {
      const ElfW(Nhdr) *note = (const void *)at;
      const unsigned char *bytes = (const unsigned char *)(note + 1) + ((note->n_namesz + 3) & ~3u);
      if (note->n_type == NT_GNU_BUILD_ID)
        for (unsigned b = 0; b < note->n_descsz && b < 60; b++) sprintf(library->build_id + 2 * b, "%02x", bytes[b]);
      at = (const char *)bytes + ((note->n_descsz + 3) & ~3u);
    }
  }
  return 1;
}

static struct library load(const char *name) {
  struct library library = {0};
  snprintf(library.path, sizeof library.path, "%s/%s", directory, name);
  library.handle = dlopen(library.path, RTLD_NOW | RTLD_LOCAL);
  if (!library.handle) {
    printf("%s\n", dlerror());
    exit(1);
  }
  struct link_map *map;
  dlinfo(library.handle, RTLD_DI_LINKMAP, &map);
  library.base = map->l_addr;
  dl_iterate_phdr(extent, &library);
  *(void **)&library.address = dlsym(library.handle, "fixture_address");
  *(void **)&library.call_site = dlsym(library.handle, "fixture_call_site");
  *(void **)&library.inlined_site = dlsym(library.handle, "fixture_inlined_site");
  return library;
}

static qz_symbols *open_library(const struct library *library, const char *path, const char *build_id) {
  qz_symbols *symbols = qz_symbols_new();
  check(qz_symbols_add_module(symbols, library->base, library->end, library->base, path, build_id) == 0, path,
        "module");
  return symbols;
}

struct wanted {
  int which;
  enum qz_symbol_use use;
  const char *name, *full_name;
  unsigned line;
};
static const struct wanted wanted[] = {
  {0, QZ_SYMBOL_PROCEDURE, "plain_function", "plain_function", 18},
  {1, QZ_SYMBOL_PROCEDURE, "(anonymous namespace)::hidden", "(anonymous namespace)::hidden(double)", 12},
  {2, QZ_SYMBOL_PROCEDURE, "shapes::Box::area", "shapes::Box::area(int) const", 7},
  {3, QZ_SYMBOL_PROCEDURE, "shapes::Box::twice<long>", "long shapes::Box::twice<long>(long)", 5},
  {4, QZ_SYMBOL_PROCEDURE, "operator<<", "operator<<(shapes::Box, int)", 15},
  {5, QZ_SYMBOL_DATA, "public_lock", "public_lock", 19},
  {6, QZ_SYMBOL_DATA, "private_lock", "private_lock", 20},
  {7, QZ_SYMBOL_DATA, "(anonymous namespace)::quiet_lock", "(anonymous namespace)::quiet_lock", 13},
  {8, QZ_SYMBOL_DATA, "fixture_address::local_lock", "fixture_address::local_lock", 22},
};

static void named(const char *file, int with_lines) {
  struct library library = load(file);
  qz_symbols *symbols = open_library(&library, library.path, library.build_id);
  if (strcmp(file, "separate.so") == 0) {
    char tree[4200];
    snprintf(tree, sizeof tree, "%s/debug", directory);
    qz_symbols_add_debug_dir(symbols, tree);
  }
  for (int round = 0; round < 2; round++) /* the second round is answered from the cache */
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
      char where[128];
      snprintf(where, sizeof where, "%s, item %d", file, wanted[k].which);
      struct qz_symbol got;
      uint64_t address = (uint64_t)library.address(wanted[k].which);
      check(qz_symbols_find(symbols, address, wanted[k].use, &got) == QZ_SYMBOL_FOUND, where, "not found");
      if (wanted[k].which == 8)
        check(strstr(got.name, "local_lock") != NULL, where, got.name);
      else {
        same(where, "name", got.name, wanted[k].name);
        same(where, "full name", got.full_name, wanted[k].full_name);
      }
      check(got.entry == address && got.offset == 0, where, "entry");
      same(where, "module", got.module, library.path);
      if (with_lines) {
        same(where, "file", got.file, source);
        if (got.line != wanted[k].line) {
          printf("%s: line %u, wanted %u\n", where, got.line, wanted[k].line);
          failures++;
        }
        same(where, "detail", got.detail, "");
      } else {
        same(where, "file", got.file, "");
        same(where, "detail", got.detail, "no debug information; compile with -g");
      }
    }
  struct qz_symbol got;
  /* Only the name is requested: no separate file is read for the line. */
  check(qz_symbols_find(symbols, (uint64_t)library.address(2), QZ_SYMBOL_NAME, &got) == QZ_SYMBOL_FOUND, file,
        "by its name alone");
  same(file, "name alone", got.name, "shapes::Box::area");
  same(file, "file of the name", got.file, with_lines && strcmp(file, "separate.so") ? source : "");
  qz_symbols_find(symbols, (uint64_t)library.call_site(), QZ_SYMBOL_SITE, &got);
  same(file, "caller", got.name, "fixture_call_site");
  check(got.entry == (uint64_t)(void *)library.call_site, file, "entry of the caller");
  if (with_lines) check(got.line == 54, file, "line of the call");
  qz_symbols_find(symbols, (uint64_t)library.inlined_site(), QZ_SYMBOL_SITE, &got);
  same(file, "caller through inlined procedures", got.name, "fixture_inlined_site");
  if (with_lines) check(got.line == 201, file, "line of the call through the package's header");
  qz_symbols_find(symbols, (uint64_t)library.address(5) + 12, QZ_SYMBOL_DATA, &got);
  same(file, "name inside a variable", got.name, "public_lock+12");
  qz_symbols_find(symbols, (uint64_t)library.address(2) + 2, QZ_SYMBOL_CODE, &got);
  same(file, "name inside a procedure", got.name, "shapes::Box::area");
  check(got.offset == 2, file, "offset inside a procedure");
  qz_symbols_free(symbols);
  dlclose(library.handle);
}

static void in_pieces(void) {
  struct library library = load("pieces.so");
  qz_symbols *symbols = open_library(&library, library.path, library.build_id);
  struct qz_symbol got;
  void *(*pieces)(int);
  *(void **)&pieces = dlsym(library.handle, "pieces");
  qz_symbols_find(symbols, (uint64_t)(void *)pieces, QZ_SYMBOL_PROCEDURE, &got);
  same("in pieces", "name", got.name, "pieces");
  check(got.line == 6, "in pieces", "where it is defined");
  qz_symbols_find(symbols, (uint64_t)pieces(1), QZ_SYMBOL_SITE, &got);
  same("in pieces", "caller", got.name, "pieces");
  check(strstr(got.file, "/pieces.cc") && got.line == 8, "in pieces",
        "line of the call through the C++ library's header");
  void *(*in_lambda)(int);
  *(void **)&in_lambda = dlsym(library.handle, "in_lambda");
  qz_symbols_find(symbols, (uint64_t)in_lambda(1), QZ_SYMBOL_SITE, &got);
  check(strstr(got.file, "/pieces.cc") && got.line == 18, "in a lambda",
        "line of the call through the C++ library's header");
  check(!qz_symbols_serves(symbols, (uint64_t)in_lambda(1)), "in a lambda", "a place of the program");
  qz_symbols_free(symbols);
  dlclose(library.handle);
}

static void nameless(const char *what, const struct library *library, const char *path, const char *build_id,
                     const char *reason) {
  qz_symbols *symbols = open_library(library, path, build_id);
  struct qz_symbol got;
  uint64_t address = (uint64_t)library->address(1); /* a procedure that is not exported */
  check(qz_symbols_find(symbols, address, QZ_SYMBOL_PROCEDURE, &got) == QZ_SYMBOL_NAMELESS, what,
        "should have no name");
  char name[512];
  const char *slash = strrchr(path, '/');
  snprintf(name, sizeof name, "%s+0x%llx", slash ? slash + 1 : path, (unsigned long long)(address - library->base));
  same(what, "name", got.name, name);
  same(what, "detail", got.detail, reason);
  same(what, "file", got.file, "");
  check(got.line == 0 && got.entry == 0, what, "line or entry invented");
  qz_symbols_free(symbols);
}

static void broken_files(const struct library *library) {
  /* A real binary with overwritten bytes, and cut short: any answer is correct, except a crash. */
  FILE *in = fopen(library->path, "rb");
  static char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, in);
  fclose(in);
  char path[4200];
  snprintf(path, sizeof path, "%s/broken.so", directory);
  unsigned random = 12345;
  for (int round = 0; round < 300; round++) {
    static char copy[1 << 20];
    memcpy(copy, bytes, size);
    size_t length = size;
    for (int k = 0; k < 1 + round % 40; k++) {
      random = random * 1664525u + 1013904223u;
      copy[16 + (random >> 8) % (round % 2 ? size - 16 : 4096)] = (char)(random >> 3);
    }
    if (round % 7 == 0) length = (random >> 4) % size;
    unlink(path);
    FILE *out = fopen(path, "wb");
    fwrite(copy, 1, length, out);
    fclose(out);
    qz_symbols *symbols = open_library(library, path, "");
    struct qz_symbol got;
    for (int which = 0; which < 9; which++)
      for (int use = 0; use < 4; use++) {
        memset(&got, 0, sizeof got);
        qz_symbols_find(symbols, (uint64_t)library->address(which), use, &got);
        check(got.name && got.name[0] && got.detail && got.file, "broken file", "incomplete answer");
      }
    qz_symbols_free(symbols);
  }
  unlink(path);
}

/* Waits in C++'s library, recognized by the names of its internal procedures. */
static void waiting(void) {
  static const char *const names[][2] = {
    {"std::latch::wait() const", "std::latch::wait"},
    {"std::counting_semaphore<8l>::try_acquire_for<long, std::ratio<1l, 1000l> >(int)",
     "std::counting_semaphore::try_acquire_for"},
    {"std::__atomic_base<int>::wait(int, std::memory_order) const", "std::atomic<int>::wait"},
    {"std::atomic<node<int>*>::wait(node<int>*, std::memory_order) const", "std::atomic<node<int>*>::wait"},
    {"void std::__atomic_wait_address<int, std::latch::wait() const::{lambda()#1}>(int const*, int)",
     "std::latch::wait"},
    {"void std::__atomic_wait_address_bare<std::__atomic_semaphore::_M_acquire()::{lambda()#1}>(int const*, int)",
     "std::counting_semaphore::acquire"},
    {"std::__tree_barrier<std::__empty_completion>::wait(std::__barrier_phase_t&&) const", "std::barrier::wait"},
    {"std::latch::count_down(long)", NULL},
    {"std::atomic<int>::store(int, std::memory_order)", NULL},
    {"void std::__invoke_impl<void, void (*)(std::latch&), std::atomic<int>&>(int)", NULL},
    {"std::atomic<broken", NULL},
  };
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char got[64];
    bool waits = qz_symbols_waits_in(names[k][0], got, sizeof got);
    same(names[k][0], "what waits", waits ? got : "", names[k][1] ? names[k][1] : "");
  }
}

/* Procedures of the C library have several names each, of which people know one. */
static void public_names(void) {
  const char *names[] = {"free", "fclose", "fwrite", "puts", "munmap", "write"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    void *at = dlsym(RTLD_DEFAULT, names[k]);
    Dl_info info;
    struct library library = {0};
    if (!at || !dladdr(at, &info) || !strstr(info.dli_fname, "libc.so"))
      continue; /* a sanitizer's, or another library */
    library.base = (uint64_t)info.dli_fbase;
    dl_iterate_phdr(extent, &library);
    qz_symbols *symbols = open_library(&library, info.dli_fname, library.build_id);
    struct qz_symbol got;
    qz_symbols_find(symbols, (uint64_t)at, QZ_SYMBOL_PROCEDURE, &got);
    same("C library", "name", got.name, names[k]);
    qz_symbols_free(symbols);
  }
}

/* What follows an exported symbol without a size, in a stripped library, may be another procedure. */
static void unsized(void) {
  static const struct {
    const char *file, *expected;
    unsigned offset;
  } wanted[] = {{"nodebug.so", "fixture_unsized", 0},
                {"nodebug.so", "fixture_unsized", 6000},
                {"nodebug.so", "fixture_behind", 8192},
                {"stripped.so", "fixture_unsized", 100},
                {"stripped.so", NULL, 6000},
                {"stripped.so", NULL, 8192}};
  for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
    struct library library = load(wanted[k].file);
    qz_symbols *symbols = open_library(&library, library.path, library.build_id);
    struct qz_symbol got;
    uint64_t address = (uint64_t)(uintptr_t)dlsym(library.handle, "fixture_unsized") + wanted[k].offset;
    int found = qz_symbols_find(symbols, address, QZ_SYMBOL_NAME, &got) == QZ_SYMBOL_FOUND;
    check(found == (wanted[k].expected != NULL), wanted[k].file, "unsized symbol's reach");
    if (found && wanted[k].expected) same(wanted[k].file, "unsized symbol", got.name, wanted[k].expected);
    qz_symbols_free(symbols);
  }
}

int main(int argc, char **argv) {
  directory = argv[1];
  source = argv[2];
  named("full.so", 1);
  named("compressed.so", 1);
  named("split5.so", 1);
  named("split4.so", 1);
  named("separate.so", 1);
  named("nodebug.so", 0);
  in_pieces();
  waiting();
  public_names();

  unsized();
  struct library stripped = load("stripped.so");
  nameless("stripped", &stripped, stripped.path, stripped.build_id, "stripped: no symbol table");
  qz_symbols *symbols = open_library(&stripped, stripped.path, stripped.build_id);
  struct qz_symbol got;
  check(qz_symbols_find(symbols, (uint64_t)stripped.address(0), QZ_SYMBOL_PROCEDURE, &got) == QZ_SYMBOL_FOUND,
        "stripped", "exported name lost");
  same("stripped", "exported name", got.name, "plain_function");
  qz_symbols_free(symbols);

  struct library full = load("full.so");
  nameless("changed", &full, full.path, "00112233445566778899aabbccddeeff00112233",
           "binary changed since the recording");
  nameless("gone", &full, "/nonexistent/library.so", full.build_id, "binary no longer there");
  nameless("foreign", &full, source, "", "not a readable ELF file");
  nameless("vdso", &full, "[vdso]", "", "code that the kernel provides: no file");
  symbols = open_library(&full, full.path, full.build_id);
  check(qz_symbols_find(symbols, 4096, QZ_SYMBOL_PROCEDURE, &got) == QZ_SYMBOL_UNKNOWN, "nowhere", "status");
  same("nowhere", "name", got.name, "0x1000");
  check(got.detail[0] != 0, "nowhere", "no reason");
  /* A module that is added later answers what was unknown before. */
  check(qz_symbols_add_module(symbols, 5, 5, 0, "/x", "") != 0, "empty module", "accepted");
  qz_symbols_free(symbols);
  symbols = qz_symbols_new();
  qz_symbols_find(symbols, (uint64_t)full.address(0), QZ_SYMBOL_PROCEDURE, &got);
  qz_symbols_add_module(symbols, full.base, full.end, full.base, full.path, full.build_id);
  qz_symbols_find(symbols, (uint64_t)full.address(0), QZ_SYMBOL_PROCEDURE, &got);
  same("module declared later", "name", got.name, "plain_function");
  qz_symbols_free(symbols);

  broken_files(&full);
  return failures != 0;
}
