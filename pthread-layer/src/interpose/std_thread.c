/* What a std::thread runs, and who creates and joins it. Its start routine, and what creates and joins it, are
 * functions of libstdc++, always the same, which says nothing.
 *
 * Owns:    nothing. Writer, reader: the creating thread.
 * Must not: read beyond what libstdc++ itself reads to start the thread, but for the rest of that object's page.
 *
 * The argument is an object with a virtual function that calls the callable (std::thread::_State, GCC 6 and later): of
 * a lambda or another class the compiler makes one for each, so its address says which it is. Functions of one type
 * share it; then the function's own address lies in the object, behind the arguments.
 */
#include "pthread-layer/src/state/threads.h"
#include <link.h>
#include <string.h>

struct type_info {
  void *table;
  const char *name;
};
/* What the object's first word points to; before it: the type. */
struct table {
  void (*destroy)(void), (*remove)(void), (*run)(void);
};

#define WORDS       64u /* of the object that are looked at */
#define FRAME_WORDS 8u  /* of a frame */

static uint64_t library_low, library_high; /* libstdc++'s code */

static int note_library(struct dl_phdr_info *object, size_t bytes, void *unused) {
  if (!object->dlpi_name || !strstr(object->dlpi_name, "/libstdc++.so")) return 0;
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[k];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    library_high = object->dlpi_addr + part->p_vaddr + part->p_memsz;
    __atomic_store_n(&library_low, object->dlpi_addr + part->p_vaddr, __ATOMIC_RELEASE);
  }
  return 1;
}
static void find_library(void) { dl_iterate_phdr(note_library, NULL); }
/* Found when it is first asked for. */
static bool in_library(uint64_t address) {
  static pthread_once_t found = PTHREAD_ONCE_INIT;
  qzl_real.pthread_once(&found, find_library);
  return address >= library_low && address < library_high;
}
static int has_code(struct dl_phdr_info *object, size_t bytes, void *wanted) {
  uint64_t address = *(const uint64_t *)wanted;
  for (unsigned k = 0; k < object->dlpi_phnum; k++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[k];
    if (part->p_type == PT_LOAD && part->p_flags & PF_X &&
        address - (object->dlpi_addr + part->p_vaddr) < part->p_memsz)
      return 1;
  }
  return 0;
}

uint64_t qzl_callable(void *(*start)(void *), void *argument) {
  if (!argument || !in_library((uint64_t)(uintptr_t)start)) return (uint64_t)(uintptr_t)start;
  const uint64_t *object = argument;
  const struct table *table = (const struct table *)(uintptr_t)object[0];
  const struct type_info *type = ((const struct type_info *const *)(const void *)table)[-1];
  /* The callable comes first: P function, M member function (Itanium C++ ABI, 5.1.5). None: compiled without types. */
  const char *callable = type && type->name ? strstr(type->name, "tupleIJ") : NULL;
  uint64_t page = (uint64_t)(uintptr_t)object | 4095;
  for (unsigned k = 1; callable && (callable[7] == 'P' || callable[7] == 'M') && k < WORDS; k++) {
    if ((uint64_t)(uintptr_t)&object[k] > page) break;
    uint64_t function = object[k];
    if (function > 4095 && dl_iterate_phdr(has_code, &function)) return function;
  }
  return (uint64_t)(uintptr_t)table->run;
}

/* Whether a call stands before the address. */
static bool is_behind_call(uint64_t back) {
#if defined(__x86_64__)
  const uint8_t *code = (const uint8_t *)(uintptr_t)back;
  return code[-5] == 0xe8 || code[-6] == 0xff || code[-2] == 0xff || code[-3] == 0xff;
#else
  uint32_t word = ((const uint32_t *)(uintptr_t)back)[-1]; /* bl; blr */
  return back % 4 == 0 && (word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000);
#endif
}

/* The C++ library's functions have small frames, so the return address of their caller is near: the first word that
 * points behind a call in code that is not the library's. */
uint64_t qzl_site_beyond(uint64_t site, const void *frame_end) {
  if (!in_library(site)) return site;
  const uint64_t *word = frame_end;
  for (unsigned k = 0; k < FRAME_WORDS; k++) {
    uint64_t back = word[k];
    if (back < 4096 || in_library(back) || !dl_iterate_phdr(has_code, &back)) continue;
    if (is_behind_call(back)) return back;
  }
  return site;
}
